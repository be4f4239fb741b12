local sqrt = math.sqrt

local function body(x, y, z, vx, vy, vz, mass)
  return {x = x, y = y, z = z, vx = vx * 365.24, vy = vy * 365.24,
          vz = vz * 365.24, mass = mass * 39.47841760435743}
end

local function system()
  local bodies = {
    body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    body(4.84, -1.16, -0.10, 0.00166, 0.00770, -0.0000690, 0.000955),
    body(8.34, 4.12, -0.40, -0.00277, 0.00500, 0.0000230, 0.000286),
    body(12.9, -15.1, -0.22, 0.00296, 0.00238, -0.0000297, 0.0000437),
    body(15.4, -25.9, 0.18, 0.00268, 0.00163, -0.0000952, 0.0000515)}
  local px, py, pz = 0.0, 0.0, 0.0
  for _, b in ipairs(bodies) do
    px = px + b.vx * b.mass
    py = py + b.vy * b.mass
    pz = pz + b.vz * b.mass
  end
  local sun = bodies[1]
  sun.vx, sun.vy, sun.vz = -px / sun.mass, -py / sun.mass, -pz / sun.mass
  return bodies
end

local function advance(bodies, dt)
  local n = #bodies
  for i = 1, n do
    local b = bodies[i]
    for j = i + 1, n do
      local c = bodies[j]
      local dx = b.x - c.x
      local dy = b.y - c.y
      local dz = b.z - c.z
      local d2 = dx * dx + dy * dy + dz * dz
      local mag = dt / (d2 * sqrt(d2))
      local mi = b.mass * mag
      local mj = c.mass * mag
      b.vx = b.vx - dx * mj
      b.vy = b.vy - dy * mj
      b.vz = b.vz - dz * mj
      c.vx = c.vx + dx * mi
      c.vy = c.vy + dy * mi
      c.vz = c.vz + dz * mi
    end
  end
  for _, b in ipairs(bodies) do
    b.x = b.x + dt * b.vx
    b.y = b.y + dt * b.vy
    b.z = b.z + dt * b.vz
  end
end

local function energy(bodies)
  local e = 0.0
  for i, b in ipairs(bodies) do
    e = e + 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz)
    for j = i + 1, #bodies do
      local c = bodies[j]
      local dx, dy, dz = b.x - c.x, b.y - c.y, b.z - c.z
      e = e - b.mass * c.mass / sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  return e
end

local bodies = system()
for _ = 1, 20000 do advance(bodies, 0.01) end
print(string.format("%.9f", energy(bodies)))
