local function swap(v, i, j)
  v[i], v[j] = v[j], v[i]
end

local function permute(v, n, count)
  count = count + 1
  if n > 0 then
    count = permute(v, n - 1, count)
    for i = n - 1, 0, -1 do
      swap(v, n - 1, i)
      count = permute(v, n - 1, count)
      swap(v, n - 1, i)
    end
  end
  return count
end

local total = 0
for _ = 1, 3 do
  local v = {}
  for i = 0, 7 do v[i] = i end
  total = total + permute(v, 8, 0) + v[3]
end
print(total)
