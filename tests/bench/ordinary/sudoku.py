def solve(board, rows, cols, boxes):
    best, best_mask, best_n = -1, 0, 10
    for i in range(81):
        if board[i] == 0:
            mask = ~(rows[i // 9] | cols[i % 9] | boxes[i // 27 * 3 + i % 9 // 3]) & 0x1ff
            n = mask.bit_count()
            if n < best_n: best, best_mask, best_n = i, mask, n
            if n <= 1: break
    if best < 0: return True
    r, c, b = best // 9, best % 9, best // 27 * 3 + best % 9 // 3
    for d in range(9):
        bit = 1 << d
        if best_mask & bit:
            board[best] = d + 1
            rows[r] |= bit; cols[c] |= bit; boxes[b] |= bit
            if solve(board, rows, cols, boxes): return True
            rows[r] ^= bit; cols[c] ^= bit; boxes[b] ^= bit
            board[best] = 0
    return False
def start(text):
    board, rows, cols, boxes = [0] * 81, [0] * 9, [0] * 9, [0] * 9
    for i, ch in enumerate(text):
        if ch != ".":
            d = int(ch)
            board[i] = d
            bit = 1 << (d - 1)
            rows[i // 9] |= bit; cols[i % 9] |= bit; boxes[i // 27 * 3 + i % 9 // 3] |= bit
    return solve(board, rows, cols, boxes), board


puzzles = (
    "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......",
    "52...6.........7.13...........4..8..6......5...........418.........3..2...87.....",
    "6.....8.3.4.7.................5.4.7.3..2.....1.6.......2.....5.....8.6......1....")
text = ""
for turn in range(10):
    for p in puzzles:
        ok, b = start(p)
        text = "".join(map(str, b))
        assert ok
print(text)
