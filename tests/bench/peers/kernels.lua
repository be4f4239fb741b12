-- Kernels of examples/kernels that can be written as plain loops, in Lua 5.4.
-- usage: lua5.4 kernels.lua NAME small|bench
-- Prints the seconds of the computation alone, and the check values of each
-- output: name, items, sum, weighted sum, least, largest.

local sqrt = math.sqrt

local function item(s, k)
  local q = k + 100003 * s
  return (7919 * q * q + 104729 * q + 12345) % 1000003
end

-- Input number s: a list, or a list of rows.
local function F(s, n, m)
  local out, k = {}, 0
  for i = 1, n do
    if m then
      local row = {}
      for j = 1, m do
        row[j] = item(s, k) / 1000003
        k = k + 1
      end
      out[i] = row
    else
      out[i] = item(s, k) / 1000003
      k = k + 1
    end
  end
  return out
end

local function zeros(n, m)
  local out = {}
  for i = 1, n do
    local row = {}
    for j = 1, m do row[j] = 0.0 end
    out[i] = row
  end
  return out
end

local kernels = {}

function kernels.crc16(bench)
  local data = {}
  for k = 0, (bench and 200000 or 100) - 1 do data[k + 1] = item(1, k) % 256 end
  return function()
    local crc = 0xFFFF
    for _, byte in ipairs(data) do
      crc = crc ~ byte
      for _ = 1, 8 do
        if crc & 1 == 1 then crc = (crc >> 1) ~ 0x8408 else crc = crc >> 1 end
      end
    end
    crc = crc ~ 0xFFFF
    return {crc = {(crc & 0xFF) << 8 | crc >> 8}}
  end
end

function kernels.seidel_2d(bench)
  local n, steps = bench and 120 or 20, bench and 20 or 5
  local A = F(1, n, n)
  return function()
    for _ = 1, steps do
      for i = 2, n - 1 do
        local up, row, down = A[i - 1], A[i], A[i + 1]
        for j = 2, n - 1 do
          row[j] = (up[j - 1] + up[j] + up[j + 1] + row[j - 1] + row[j] +
                    row[j + 1] + down[j - 1] + down[j] + down[j + 1]) / 9
        end
      end
    end
    return {A = A}
  end
end

function kernels.deriche(bench)
  local w, h = bench and 1200 or 40, bench and 900 or 30
  local image = F(1, w, h)
  local alpha = 0.25
  local e = math.exp(-alpha)
  local k = (1 - e) ^ 2 / (1 + 2 * alpha * e - e ^ 2)
  local a1, a2, a3, a4 = k, k * e * (alpha - 1), k * e * (alpha + 1), -k * e * e
  local b1, b2 = 2 * e, -e * e

  local function smooth(x, f, n)
    f[1] = a1 * x[1]
    f[2] = a1 * x[2] + a2 * x[1] + b1 * f[1]
    for j = 3, n do
      f[j] = a1 * x[j] + a2 * x[j - 1] + b1 * f[j - 1] + b2 * f[j - 2]
    end
    local g1, g2 = a3 * x[n], 0.0  -- one and two items on
    f[n - 1] = f[n - 1] + g1
    for j = n - 2, 1, -1 do
      local g = a3 * x[j + 1] + a4 * x[j + 2] + b1 * g1 + b2 * g2
      f[j] = f[j] + g
      g1, g2 = g, g1
    end
  end

  return function()
    local out = {}
    for i = 1, w do
      out[i] = {}
      smooth(image[i], out[i], h)
    end
    local column, smoothed = {}, {}
    for j = 1, h do
      for i = 1, w do column[i] = out[i][j] end
      smooth(column, smoothed, w)
      for i = 1, w do out[i][j] = smoothed[i] end
    end
    return {out = out}
  end
end

function kernels.nbody(bench)
  local n, steps = bench and 150 or 10, bench and 60 or 10
  local mass, dt, eps2 = 20 / n, 0.02, 0.1 ^ 2
  local X, V = F(1, n, 3), F(2, n, 3)

  local function acceleration(out)
    for i = 1, n do
      local x, y, z = X[i][1], X[i][2], X[i][3]
      local ax, ay, az = 0.0, 0.0, 0.0
      for j = 1, n do
        local p = X[j]
        local dx, dy, dz = p[1] - x, p[2] - y, p[3] - z
        local r2 = dx * dx + dy * dy + dz * dz + eps2
        local f = mass / (r2 * sqrt(r2))
        ax, ay, az = ax + dx * f, ay + dy * f, az + dz * f
      end
      local a = out[i]
      a[1], a[2], a[3] = ax, ay, az
    end
  end

  local function energies()
    local ke, pe = 0.0, 0.0
    for i = 1, n do
      local v, p = V[i], X[i]
      ke = ke + mass * (v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
      for j = i + 1, n do
        local q = X[j]
        local dx, dy, dz = q[1] - p[1], q[2] - p[2], q[3] - p[3]
        pe = pe - mass * mass / sqrt(dx * dx + dy * dy + dz * dz)
      end
    end
    return 0.5 * ke, pe
  end

  return function()
    for c = 1, 3 do
      local mean = 0.0
      for i = 1, n do mean = mean + V[i][c] end
      mean = mean / n
      for i = 1, n do V[i][c] = V[i][c] - mean end
    end
    local KE, PE, acc = {}, {}, zeros(n, 3)
    acceleration(acc)
    KE[1], PE[1] = energies()
    for step = 2, steps + 1 do
      for i = 1, n do
        local v, x, a = V[i], X[i], acc[i]
        for c = 1, 3 do
          v[c] = v[c] + a[c] * dt / 2
          x[c] = x[c] + v[c] * dt
        end
      end
      acceleration(acc)
      for i = 1, n do
        local v, a = V[i], acc[i]
        for c = 1, 3 do v[c] = v[c] + a[c] * dt / 2 end
      end
      KE[step], PE[step] = energies()
    end
    return {KE = KE, PE = PE, X = X}
  end
end

function kernels.lu(bench)
  local n = bench and 240 or 20
  local A = F(1, n, n)
  for i = 1, n do A[i][i] = A[i][i] + n end
  return function()
    for i = 1, n do
      local row = A[i]
      for j = 1, i - 1 do
        local sum = row[j]
        for k = 1, j - 1 do sum = sum - row[k] * A[k][j] end
        row[j] = sum / A[j][j]
      end
      for j = i, n do
        local sum = row[j]
        for k = 1, i - 1 do sum = sum - row[k] * A[k][j] end
        row[j] = sum
      end
    end
    return {LU = A}
  end
end

function kernels.cholesky(bench)
  local n = bench and 300 or 20
  local B, A = F(1, n, n), zeros(n, n)
  for i = 1, n do
    for j = 1, n do
      local sum = i == j and n or 0
      for k = 1, n do sum = sum + B[i][k] * B[j][k] end
      A[i][j] = sum
    end
  end
  return function()
    for i = 1, n do
      local row = A[i]
      for j = 1, i - 1 do
        local other, sum = A[j], row[j]
        for k = 1, j - 1 do sum = sum - row[k] * other[k] end
        row[j] = sum / other[j]
      end
      local sum = row[i]
      for k = 1, i - 1 do sum = sum - row[k] * row[k] end
      row[i] = sqrt(sum)
      for j = i + 1, n do row[j] = 0.0 end
    end
    return {L = A}
  end
end

function kernels.gramschmidt(bench)
  local m, n = bench and 300 or 20, bench and 240 or 16
  local A = F(1, m, n)
  return function()
    local Q, R = zeros(m, n), zeros(n, n)
    for k = 1, n do
      local sum = 0.0
      for i = 1, m do sum = sum + A[i][k] * A[i][k] end
      local size = sqrt(sum)
      R[k][k] = size
      for i = 1, m do Q[i][k] = A[i][k] / size end
      for j = k + 1, n do
        sum = 0.0
        for i = 1, m do sum = sum + Q[i][k] * A[i][j] end
        R[k][j] = sum
        for i = 1, m do
          local row = A[i]
          row[j] = row[j] - Q[i][k] * sum
        end
      end
    end
    return {Q = Q, R = R}
  end
end

-- The sums are taken with what they lose (Neumaier), as others take them right.
local function check(name, y)
  local n, sums, lost = 0, {0.0, 0.0}, {0.0, 0.0}
  local least, largest = math.huge, -math.huge
  local function add(which, x)
    local s = sums[which] + x
    if math.abs(sums[which]) >= math.abs(x) then
      lost[which] = lost[which] + ((sums[which] - s) + x)
    else
      lost[which] = lost[which] + ((x - s) + sums[which])
    end
    sums[which] = s
  end
  local function take(x)
    add(1, x)
    add(2, x * (n % 97 + 1))
    least, largest, n = math.min(least, x), math.max(largest, x), n + 1
  end
  for _, row in ipairs(y) do
    if type(row) == "table" then
      for _, x in ipairs(row) do take(x) end
    else
      take(row)
    end
  end
  print(string.format("output %s %d %.17g %.17g %.17g %.17g", name, n,
                      sums[1] + lost[1], sums[2] + lost[2], least, largest))
end

local name, size = arg[1], arg[2]
if not kernels[name] or size ~= "small" and size ~= "bench" then
  io.stderr:write("usage: lua5.4 kernels.lua NAME small|bench\n")
  os.exit(2)
end
local kernel = kernels[name](size == "bench")
local start = os.clock()
local outputs = kernel()
local seconds = os.clock() - start
for output, y in pairs(outputs) do check(output, y) end
print(string.format("time %.6f s", seconds))
