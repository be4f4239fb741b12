local SIZE, RADIUS = 2.0, 1.0
local cos, sin, floor, min, max = math.cos, math.sin, math.floor, math.min,
                                  math.max

local function simulate(n, time)
  local aircraft = {}
  for i = 0, n - 1, 2 do
    aircraft[#aircraft + 1] = {id = i, x = time, y = cos(time) * 2 + i * 3.0,
                               z = 10.0}
    aircraft[#aircraft + 1] = {id = i + 1, x = time,
                               y = sin(time) * 2 + i * 3.0, z = 10.0}
  end
  return aircraft
end

local function cell_of(x)
  return floor(x / SIZE)
end

-- A cell is one number, as tables are no keys by value.
local function cells(a, b)
  local found = {}
  local left, right = cell_of(min(a.x, b.x)), cell_of(max(a.x, b.x))
  local low, high = cell_of(min(a.y, b.y)), cell_of(max(a.y, b.y))
  for cx = left - 1, right + 1 do
    for cy = low - 1, high + 1 do
      found[#found + 1] = cx * 1000003 + cy
    end
  end
  return found
end

local function meets(a, b)
  local dx = a.now.x - b.now.x
  local dy = a.now.y - b.now.y
  local dz = a.now.z - b.now.z
  local vx = a.after.x - a.now.x - (b.after.x - b.now.x)
  local vy = a.after.y - a.now.y - (b.after.y - b.now.y)
  local vz = a.after.z - a.now.z - (b.after.z - b.now.z)
  local speed = vx * vx + vy * vy + vz * vz
  local t = speed == 0.0 and 0.0 or -(dx * vx + dy * vy + dz * vz) / speed
  if t < 0.0 then t = 0.0 end
  if t > 1.0 then t = 1.0 end
  local x, y, z = dx + t * vx, dy + t * vy, dz + t * vz
  return x * x + y * y + z * z < RADIUS * RADIUS
end

local function frame(known, aircraft)
  local grid = {}
  for _, craft in ipairs(aircraft) do
    local before = known[craft.id] or craft
    known[craft.id] = craft
    local motion = {id = craft.id, now = before, after = craft}
    for _, cell in ipairs(cells(before, craft)) do
      local list = grid[cell]
      if not list then
        list = {}
        grid[cell] = list
      end
      list[#list + 1] = motion
    end
  end
  local met, count = {}, 0
  for _, motions in pairs(grid) do
    for i = 1, #motions do
      for j = i + 1, #motions do
        local a, b = motions[i], motions[j]
        local pair = min(a.id, b.id) * 65536 + max(a.id, b.id)
        if not met[pair] and meets(a, b) then
          met[pair] = true
          count = count + 1
        end
      end
    end
  end
  return count
end

local known, total = {}, 0
for step = 0, 99 do
  total = total + frame(known, simulate(60, step / 10))
end
print(total)
