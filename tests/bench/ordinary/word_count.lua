local SYLLABLES = {[0] = "ka", "lo", "Mi", "ne", "ru", "so", "Ta", "vy"}

local function text(n)
  local seed, words = 42, {}
  for i = 0, n - 1 do
    seed = (seed * 3877 + 29573) % 139968
    local a, b, c = seed % 8, seed // 8 % 8, seed // 64 % 5
    local word = SYLLABLES[a] .. SYLLABLES[b]
    if c < 3 then word = word .. SYLLABLES[c] end
    if i % 11 == 0 then word = word .. "," end
    if i % 17 == 0 then word = word .. ".\n" end
    words[i + 1] = word
  end
  return table.concat(words, " ")
end

local function counted(s)
  local counts = {}
  for line in s:gmatch("[^\n]+") do
    for word in line:lower():gmatch("%S+") do
      while #word > 0 and (".,;"):find(word:sub(-1), 1, true) do
        word = word:sub(1, -2)
      end
      if #word > 2 then counts[word] = (counts[word] or 0) + 1 end
    end
  end
  return counts
end

local counts = counted(text(120000))
local best = {}
for word in pairs(counts) do best[#best + 1] = word end
table.sort(best, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return a < b
end)
local shown = {}
for i = 1, 5 do shown[i] = best[i] .. "=" .. counts[best[i]] end
print(#best .. " " .. table.concat(shown, " "))
