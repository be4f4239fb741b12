local function fannkuch(n)
  local perm, count, p = {}, {}, {}
  for i = 0, n - 1 do perm[i], count[i] = i, 0 end
  local most, check, turn, r = 0, 0, 0, n
  while true do
    while r ~= 1 do
      count[r - 1] = r
      r = r - 1
    end
    for i = 0, n - 1 do p[i] = perm[i] end
    local flips, k = 0, p[0]
    while k ~= 0 do
      local i, j = 0, k
      while i < j do
        p[i], p[j] = p[j], p[i]
        i = i + 1
        j = j - 1
      end
      flips = flips + 1
      k = p[0]
    end
    most = math.max(most, flips)
    check = check + (turn % 2 == 0 and flips or -flips)
    while true do
      if r == n then return check, most end
      local first = perm[0]
      for i = 0, r - 1 do perm[i] = perm[i + 1] end
      perm[r] = first
      count[r] = count[r] - 1
      if count[r] > 0 then break end
      r = r + 1
    end
    turn = turn + 1
  end
end

local check, most = fannkuch(9)
print(check .. " " .. most)
