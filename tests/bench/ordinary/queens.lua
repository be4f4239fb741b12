local function filled(n, value)
  local t = {}
  for i = 0, n - 1 do t[i] = value end
  return t
end

local function place(s, c)
  for r = 0, 7 do
    if s.rows[r] and s.up[c + r] and s.down[c - r + 7] then
      s.rows[r], s.up[c + r], s.down[c - r + 7] = false, false, false
      s.at[c] = r
      if c == 7 or place(s, c + 1) then return true end
      s.rows[r], s.up[c + r], s.down[c - r + 7] = true, true, true
    end
  end
  return false
end

local function queens()
  local s = {rows = filled(8, true), up = filled(15, true),
             down = filled(15, true), at = filled(8, 0)}
  place(s, 0)
  local code = 0
  for c = 0, 7 do code = 8 * code + s.at[c] end
  return code
end

local total = 0
for _ = 1, 900 do total = total + queens() end
print(total)
