local piles = {[0] = {}, {}, {}}

local function push(disk, pile)
  local p = piles[pile]
  if #p > 0 and p[#p] <= disk then error("a big disk on a small one") end
  p[#p + 1] = disk
end

local function move(a, b)
  push(table.remove(piles[a]), b)
end

local function solve(n, a, b)
  if n == 1 then
    move(a, b)
    return 1
  end
  local other = 3 - a - b
  local count = solve(n - 1, a, other)
  move(a, b)
  return count + solve(n - 1, other, b) + 1
end

for disk = 17, 1, -1 do push(disk, 0) end
local moves = solve(17, 0, 1)
print(moves .. " " .. #piles[1])
