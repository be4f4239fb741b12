local COLUMNS = "ABCDEFGH"

local function name_of(row, column)
  return COLUMNS:sub(column + 1, column + 1) .. row
end

local function made(rows)
  local seed = 42
  local cells, count = {}, 0
  for row = 0, rows - 1 do
    for column = 0, 7 do
      seed = (seed * 3877 + 29573) % 139968
      local cell = {value = seed % 100, known = true}
      if row > 0 and column > 0 then
        local a = name_of(row - 1, seed % 8)
        local b = name_of(row, seed % column)
        local op = ({"+", "-", "*"})[seed // 64 % 3 + 1]
        cell = {formula = {op, a, b}, value = 0, known = false}
      end
      cells[name_of(row, column)] = cell
      count = count + 1
    end
  end
  return cells, count
end

local function value_of(cells, name)
  if cells[name].known then return cells[name].value end
  local op, left, right = table.unpack(cells[name].formula)
  local a = value_of(cells, left)
  local b = value_of(cells, right)
  local value
  if op == "+" then
    value = a + b
  elseif op == "-" then
    value = a - b
  else
    value = a * b % 10007
  end
  cells[name].value = value
  cells[name].known = true
  return value
end

local function forgotten(cells)
  for name in pairs(cells) do
    if cells[name].formula then cells[name].known = false end
  end
end

local cells, count = made(200)
local total = 0
for turn = 0, 19 do
  cells["A0"].value = turn
  forgotten(cells)
  for column in COLUMNS:gmatch(".") do
    for row = 0, 199 do
      total = (total * 3 + value_of(cells, column .. row)) % 1000003
    end
  end
end
print(count .. " " .. total)
