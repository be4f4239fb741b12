local byte, min = string.byte, math.min

local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local cost = byte(a, i) == byte(b, j) and diagonal or diagonal + 1
      diagonal = row[j]
      row[j] = min(cost, row[j] + 1, row[j - 1] + 1)
    end
  end
  return row[#b]
end

local words = {"kitten", "sitting", "saturday", "sunday", "rosettacode",
               "raisethysword", "intention", "execution", "distance",
               "difference"}
local total = 0
for _ = 1, 40 do
  for _, a in ipairs(words) do
    for _, b in ipairs(words) do total = total + distance(a, b) end
  end
end
print(total)
