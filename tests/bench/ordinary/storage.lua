local seed, count

local function tree(depth)
  count = count + 1
  local t = {}
  if depth == 1 then
    seed = (seed * 1309 + 13849) & 65535
    for i = 1, seed % 10 + 1 do t[i] = 0 end
  else
    for i = 1, 4 do t[i] = tree(depth - 1) end
  end
  return t
end

local total = 0
for _ = 1, 30 do
  seed, count = 74755, 0
  local made = tree(7)
  total = total + count + #made[4][3][2]
end
print(total .. " " .. seed)
