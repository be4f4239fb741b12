local function strand(n)
  local seed, parts = 42, {}
  for i = 1, n do
    seed = (seed * 3877 + 29573) % 139968
    local at = seed % 10 + 1
    parts[i] = ("ACGTACGAAT"):sub(at, at)
  end
  return table.concat(parts)
end

local function counts(dna, k)
  local found = {}
  for i = 1, #dna - k + 1 do
    local part = dna:sub(i, i + k - 1)
    found[part] = (found[part] or 0) + 1
  end
  return found
end

local dna = strand(60000)
local check = 0
for _, k in ipairs({1, 2, 3, 4, 6, 12}) do
  local best = {}
  for part, n in pairs(counts(dna, k)) do best[#best + 1] = {part, n} end
  table.sort(best, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  check = (check * 31 + #best * 7 + best[1][2]) % 1000003
end
local one = counts(dna, 4)
print(check .. " " .. one["AACG"] .. " " .. (counts(dna, 6)["GGTATT"] or 0))
