local function letters(seed, n, table)
  local out, line = {}, ""
  for _ = 1, n do
    seed = (seed * 3877 + 29573) % 139968
    local r = seed / 139968
    for _, c in ipairs(table) do
      if r < c.most then
        line = line .. c.letter
        break
      end
    end
    if #line == 60 then
      out[#out + 1] = line
      line = ""
    end
  end
  if line ~= "" then out[#out + 1] = line end
  return out, seed
end

local function cumulative(pairs)
  local table, sum = {}, 0.0
  for i, p in ipairs(pairs) do
    sum = sum + p[2]
    table[i] = {letter = p[1], most = sum}
  end
  return table
end

local iub = cumulative({{"a", 0.27}, {"c", 0.12}, {"g", 0.12}, {"t", 0.27},
                        {"B", 0.02}, {"D", 0.02}, {"H", 0.02}, {"K", 0.02},
                        {"M", 0.02}, {"N", 0.02}, {"R", 0.02}, {"S", 0.02},
                        {"V", 0.02}, {"W", 0.02}, {"Y", 0.04}})
local lines, seed = letters(42, 200000, iub)
local text = table.concat(lines, "\n")
print(#lines .. " " .. #text .. " " .. seed .. " " .. text:sub(1001, 1020))
