local function made(n, seed)
  local a = {}
  for i = 1, n do
    local row = {}
    for j = 1, n do row[j] = (seed * (i - 1) + j - 1) % 17 - 8.0 end
    a[i] = row
  end
  return a
end

local function product(a, b)
  local n, m, k, c = #a, #b[1], #b, {}
  for i = 1, n do
    local row = {}
    for j = 1, m do
      local s = 0.0
      for l = 1, k do s = s + a[i][l] * b[l][j] end
      row[j] = s
    end
    c[i] = row
  end
  return c
end

local function transposed(a)
  local t = {}
  for j = 1, #a[1] do
    t[j] = {}
    for i = 1, #a do t[j][i] = a[i][j] end
  end
  return t
end

local a = made(90, 3)
for _ = 1, 5 do
  a = product(a, transposed(made(90, 5)))
  for i = 1, 90 do
    for j = 1, 90 do a[i][j] = a[i][j] % 10.0 end
  end
end
local sum = 0.0
for i = 1, 90 do
  for j = 1, 90 do sum = sum + a[i][j] end
end
print(string.format("%.1f %.1f", sum, a[8][10]))
