-- A cell is one number, as tables are no keys by value.
local WIDTH = 65536

local function step(alive)
  local counts = {}
  for cell in pairs(alive) do
    for dx = -1, 1 do
      for dy = -1, 1 do
        if dx ~= 0 or dy ~= 0 then
          local near = cell + dx * WIDTH + dy
          counts[near] = (counts[near] or 0) + 1
        end
      end
    end
  end
  local next = {}
  for cell, n in pairs(counts) do
    if n == 3 or n == 2 and alive[cell] then next[cell] = true end
  end
  return next
end

local function cell(x, y) return (x + 1000) * WIDTH + y + 1000 end

local alive = {}
for _, at in ipairs({{1, 0}, {2, 0}, {0, 1}, {1, 1}, {1, 2}}) do
  alive[cell(at[1], at[2])] = true
end
for _ = 1, 250 do alive = step(alive) end
local count, check = 0, 0
for at in pairs(alive) do
  count = count + 1
  check = check + (at // WIDTH - 1000) * 31 + (at % WIDTH - 1000) * 17
end
print(count .. " " .. check)
