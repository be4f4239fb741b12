local function count(m) local n = 0 while m ~= 0 do m = m & (m - 1) n = n + 1 end return n end
local function solve(board, rows, cols, boxes)
  local best, best_mask, best_n = -1, 0, 10
  for i = 0, 80 do
    if board[i] == 0 then
      local mask = ~(rows[i // 9] | cols[i % 9] | boxes[i // 27 * 3 + i % 9 // 3]) & 0x1ff
      local n = count(mask)
      if n < best_n then best, best_mask, best_n = i, mask, n end
      if n <= 1 then break end
    end
  end
  if best < 0 then return true end
  local r, c, b = best // 9, best % 9, best // 27 * 3 + best % 9 // 3
  for d = 0, 8 do
    local bit = 1 << d
    if best_mask & bit ~= 0 then
      board[best] = d + 1
      rows[r] = rows[r] | bit; cols[c] = cols[c] | bit; boxes[b] = boxes[b] | bit
      if solve(board, rows, cols, boxes) then return true end
      rows[r] = rows[r] ~ bit; cols[c] = cols[c] ~ bit; boxes[b] = boxes[b] ~ bit
      board[best] = 0
    end
  end
  return false
end
local function zeros(n) local t = {} for i = 0, n - 1 do t[i] = 0 end return t end
local puzzles = {
  "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......",
  "52...6.........7.13...........4..8..6......5...........418.........3..2...87.....",
  "6.....8.3.4.7.................5.4.7.3..2.....1.6.......2.....5.....8.6......1...."}
local text
for turn = 1, 10 do
  for _, p in ipairs(puzzles) do
    local board, rows, cols, boxes = zeros(81), zeros(9), zeros(9), zeros(9)
    for i = 0, 80 do
      local ch = p:sub(i + 1, i + 1)
      if ch ~= "." then
        local d = tonumber(ch)
        board[i] = d
        local bit = 1 << (d - 1)
        local b = i // 27 * 3 + i % 9 // 3
        rows[i // 9] = rows[i // 9] | bit; cols[i % 9] = cols[i % 9] | bit; boxes[b] = boxes[b] | bit
      end
    end
    assert(solve(board, rows, cols, boxes))
    local t = {}
    for i = 0, 80 do t[#t + 1] = string.format("%d", board[i]) end
    text = table.concat(t)
  end
end
print(text)
