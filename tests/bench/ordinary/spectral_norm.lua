local function item(i, j)
  return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)
end

local function times(v)
  local n, out = #v, {}
  for i = 1, n do
    local s = 0.0
    for j = 1, n do s = s + item(i - 1, j - 1) * v[j] end
    out[i] = s
  end
  return out
end

local function transposed_times(v)
  local n, out = #v, {}
  for i = 1, n do
    local s = 0.0
    for j = 1, n do s = s + item(j - 1, i - 1) * v[j] end
    out[i] = s
  end
  return out
end

local function norm(n)
  local u, v = {}, nil
  for i = 1, n do u[i] = 1.0 end
  for _ = 1, 10 do
    v = transposed_times(times(u))
    u = transposed_times(times(v))
  end
  local uv, vv = 0.0, 0.0
  for i = 1, n do
    uv = uv + u[i] * v[i]
    vv = vv + v[i] * v[i]
  end
  return math.sqrt(uv / vv)
end

print(string.format("%.9f", norm(130)))
