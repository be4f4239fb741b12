-- The scalar workloads in Lua 5.4 and LuaJIT. usage: lua lua.lua DATA GROUP …

local function bench(name, f, per)
  per = per or 1
  local check = f()
  local start = os.clock()
  f()
  local once = os.clock() - start
  local turns = once < 0.004 and math.floor(0.004 / (once + 1e-9)) + 1 or 1
  local samples = {}
  local whole = once * turns
  for r = 1, whole > 2 and 1 or whole > 0.5 and 3 or 9 do
    start = os.clock()
    for _ = 1, turns do f() end
    samples[r] = (os.clock() - start) / turns / per
  end
  table.sort(samples)
  print(string.format("%s\t%.9g\t%.9g\t\t%.17g", name,
                      samples[math.floor(#samples / 2) + 1], samples[1], check))
end

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function loopij()
  local s = 0
  for i = 0, 2999 do
    for j = 0, 2999 do s = s + i * j end
  end
  return s
end

local function sieve()
  local n = 1000000
  local f = {}
  for i = 1, n do f[i] = true end
  f[1] = false
  local i = 2
  while i * i <= n do
    if f[i] then
      for j = i * i, n, i do f[j] = false end
    end
    i = i + 1
  end
  local c = 0
  for i = 1, n do
    if f[i] then c = c + 1 end
  end
  return c
end

local function mandel()
  local total = 0
  for py = 0, 399 do
    for px = 0, 399 do
      local cx, cy = -2.0 + px * 3.0 / 400, -1.5 + py * 3.0 / 400
      local x, y, k = 0.0, 0.0, 0
      while k < 50 do
        local xx, yy = x * x, y * y
        if xx + yy > 4 then break end
        y = 2 * x * y + cy
        x = xx - yy + cx
        k = k + 1
      end
      total = total + k
    end
  end
  return total
end

-- LuaJIT has no operators for bits, and Lua 5.4 no functions.
local crc16 = load(({[true] = [[
  local bit = require("bit")
  local band, bxor, rshift = bit.band, bit.bxor, bit.rshift
  return function(data)
    local crc = 0xFFFF
    for k = 1, #data do
      crc = bxor(crc, data[k])
      for _ = 1, 8 do
        if band(crc, 1) == 1 then
          crc = bxor(rshift(crc, 1), 0x8408)
        else
          crc = rshift(crc, 1)
        end
      end
    end
    return crc
  end]], [false] = [[
  return function(data)
    local crc = 0xFFFF
    for k = 1, #data do
      crc = crc ~ data[k]
      for _ = 1, 8 do
        if crc & 1 == 1 then crc = crc >> 1 ~ 0x8408 else crc = crc >> 1 end
      end
    end
    return crc
  end]]})[jit ~= nil])()

local function square_of(n)
  local a = {}
  for i = 0, n - 1 do
    local row = {}
    for j = 0, n - 1 do row[j + 1] = (i * n + j) * 7919 % 10007 / 10007 end
    a[i + 1] = row
  end
  return a
end

local function seidel(n, steps)
  local a = square_of(n)
  for _ = 1, steps do
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] +
                   a[i][j - 1] + a[i][j] + a[i][j + 1] +
                   a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9
      end
    end
  end
  return a[2][2] + a[math.floor(n / 2) + 1][math.floor(n / 3) + 1]
end

local function tanh(x)
  local e = math.exp(2 * x)
  return (e - 1) / (e + 1)
end

local function go_fast(n, steps)
  local a = square_of(n)
  for _ = 1, steps do
    local t = 0.0
    for i = 1, n do t = t + tanh(a[i][i]) end
    t = t / n
    for i = 1, n do
      for j = 1, n do a[i][j] = 0.5 * a[i][j] + t end
    end
  end
  return a[2][2] + a[math.floor(n / 2) + 1][math.floor(n / 3) + 1]
end

local function nbody(n, steps)
  local p, v, m = square_of(n), {}, {}
  for i = 1, n do v[i], m[i] = {0.0, 0.0, 0.0}, 1.0 / n end
  for _ = 1, steps do
    for i = 1, n do
      local p_i, v_i = p[i], v[i]
      for j = i + 1, n do
        local p_j, v_j = p[j], v[j]
        local dx, dy = p_i[1] - p_j[1], p_i[2] - p_j[2]
        local dz = p_i[3] - p_j[3]
        local d = dx * dx + dy * dy + dz * dz + 0.01
        local w = 0.01 / (d * math.sqrt(d))
        v_i[1] = v_i[1] - dx * m[j] * w
        v_i[2] = v_i[2] - dy * m[j] * w
        v_i[3] = v_i[3] - dz * m[j] * w
        v_j[1] = v_j[1] + dx * m[i] * w
        v_j[2] = v_j[2] + dy * m[i] * w
        v_j[3] = v_j[3] + dz * m[i] * w
      end
    end
    for i = 1, n do
      for k = 1, 3 do p[i][k] = p[i][k] + 0.01 * v[i][k] end
    end
  end
  return p[1][1] + p[math.floor(n / 2) + 1][2] + p[n][3]
end

local function kmeans(n, steps)
  local p, c = {}, {}
  for i = 1, n do
    p[i] = {}
    for a = 1, 3 do p[i][a] = (i * 3 + a - 4) * 7919 % 10007 / 10007 end
  end
  for k = 1, 8 do c[k] = {p[k][1], p[k][2], p[k][3]} end
  for _ = 1, steps do
    local s, count = {}, {}
    for k = 1, 8 do s[k], count[k] = {0.0, 0.0, 0.0}, 0.0 end
    for i = 1, n do
      local best, at = 1e9, 1
      for k = 1, 8 do
        local d = 0.0
        for a = 1, 3 do
          local t = p[i][a] - c[k][a]
          d = d + t * t
        end
        if d < best then best, at = d, k end
      end
      for a = 1, 3 do s[at][a] = s[at][a] + p[i][a] end
      count[at] = count[at] + 1
    end
    for k = 1, 8 do
      if count[k] > 0 then
        for a = 1, 3 do c[k][a] = s[k][a] / count[k] end
      end
    end
  end
  local sum = 0.0
  for k = 1, 8 do for a = 1, 3 do sum = sum + c[k][a] end end
  return sum
end

local function repeated(n)
  local x, y, z = {}, {}, {}
  for i = 1, n do
    x[i], y[i], z[i] = 0.5 + (i - 1) * 1e-3, 0.25, 0.0
  end
  for _ = 1, 100000 do
    local t = {}
    for i = 1, n do t[i] = x[i] * y[i] + z[i] end
    z = t
  end
  return z[4]
end

local groups = {}

function groups.scalars()
  bench("fib30", function() return fib(30) end)
  bench("loopij", loopij)
  bench("sieve", sieve)
  bench("mandel", mandel)
  local data = {}
  for k = 0, 199999 do data[k + 1] = k * 7919 % 251 end
  bench("crc16_loops", function() return crc16(data) end)
  bench("seidel_loops", function() return seidel(120, 20) end)
  bench("go_fast_loops", function() return go_fast(300, 10) end)
  bench("nbody_loops", function() return nbody(40, 20) end)
  bench("kmeans_loops", function() return kmeans(2000, 5) end)
end

function groups.small()
  bench("small4_ns", function() return repeated(4) end, 1e5 * 1e-9)
  bench("small64_ns", function() return repeated(64) end, 1e5 * 1e-9)
end

function groups.words()
  local f = assert(io.open(arg[1] .. "/words.txt", "rb"))
  local text = f:read("*a")
  f:close()
  bench("words", function()
    local seen, n = {}, 0
    for w in text:gmatch("%S+") do
      if not seen[w] then
        seen[w] = true
        n = n + 1
      end
    end
    return n
  end)
end

for i = 2, #arg do
  if groups[arg[i]] then groups[arg[i]]() end
end
