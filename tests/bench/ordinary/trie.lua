local function node()
  return {next = {}, order = {}, ends = 0}
end

local root, size = node(), 1

local function put_in(word)
  local at = root
  for c in word:gmatch(".") do
    local to = at.next[c]
    if not to then
      to = node()
      at.next[c] = to
      at.order[#at.order + 1] = c
      size = size + 1
    end
    at = to
  end
  at.ends = at.ends + 1
end

local function reached(word)
  local at = root
  for c in word:gmatch(".") do
    at = at.next[c]
    if not at then return nil end
  end
  return at
end

local function below(at, prefix)
  local found = {}
  if at.ends > 0 then found[1] = prefix end
  for _, c in ipairs(at.order) do
    for _, word in ipairs(below(at.next[c], prefix .. c)) do
      found[#found + 1] = word
    end
  end
  return found
end

local function words(n)
  local seed, all = 42, {}
  for i = 1, n do
    local word = ""
    for _ = 1, seed // 64 % 5 + 3 do
      seed = (seed * 3877 + 29573) % 139968
      local at = seed // 16 % 8 + 1
      word = word .. ("abcdefgh"):sub(at, at)
    end
    all[i] = word
  end
  return all
end

local all = words(15000)
for _, word in ipairs(all) do put_in(word) end
local hits = 0
for _, word in ipairs(all) do
  if reached(word) then hits = hits + 1 end
  if reached(word:reverse()) then hits = hits + 1 end
end
local found = below(reached("ab"), "ab")
print(size .. " " .. hits .. " " .. #found .. " " .. found[#found])
