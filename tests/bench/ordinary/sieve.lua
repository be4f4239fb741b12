local function sieve(n)
  local flags, count = {}, 0
  for i = 1, n do flags[i] = true end
  for i = 2, n - 1 do
    if flags[i] then
      count = count + 1
      for j = i + i, n - 1, i do flags[j] = false end
    end
  end
  return count
end

local total = 0
for _ = 1, 10 do total = total + sieve(100000) end
print(total)
