local pairs_of = {}
local from, to = "ACGTMRWSYKVHDBN", "TGCAKYWSRMBDHVN"
for i = 1, #from do pairs_of[from:sub(i, i)] = to:sub(i, i) end

local function strand(n)
  local seed, parts = 42, {}
  for i = 1, n do
    seed = (seed * 3877 + 29573) % 139968
    local at = seed % 15 + 1
    parts[i] = from:sub(at, at)
  end
  return table.concat(parts)
end

local function other(dna)
  local out = {}
  for c in dna:reverse():gmatch(".") do out[#out + 1] = pairs_of[c] end
  local text, lines = table.concat(out), {}
  for i = 1, #text, 60 do lines[#lines + 1] = text:sub(i, i + 59) end
  return lines
end

local dna = strand(60000)
local check, lines = 0, nil
for _ = 1, 20 do
  lines = other(dna)
  dna = table.concat(lines)
  check = check + #lines
end
print(check .. " " .. dna:sub(1, 40) .. " " .. lines[#lines]:sub(-5))
