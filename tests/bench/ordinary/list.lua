local function made(n)
  if n == 0 then return nil end
  return {value = n, next = made(n - 1)}
end

local function shorter(x, y)
  while y do
    if not x then return true end
    x = x.next
    y = y.next
  end
  return false
end

local function tail(x, y, z)
  if shorter(y, x) then
    return tail(tail(x.next, y, z), tail(y.next, z, x), tail(z.next, x, y))
  end
  return z
end

local function length(x)
  return x and 1 + length(x.next) or 0
end

local total = 0
for _ = 1, 8 do
  total = total + length(tail(made(18), made(12), made(6)))
end
print(total)
