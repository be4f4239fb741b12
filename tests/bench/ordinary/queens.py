class Board:
    def __init__(self):
        self.rows = [True] * 8
        self.up = [True] * 15
        self.down = [True] * 15
        self.at = [0] * 8

    def place(self, c):
        for r in range(8):
            if self.rows[r] and self.up[c + r] and self.down[c - r + 7]:
                self.rows[r] = self.up[c + r] = self.down[c - r + 7] = False
                self.at[c] = r
                if c == 7 or self.place(c + 1):
                    return True
                self.rows[r] = self.up[c + r] = self.down[c - r + 7] = True
        return False


def queens():
    board = Board()
    board.place(0)
    code = 0
    for r in board.at:
        code = 8 * code + r
    return code


total = 0
for _ in range(900):
    total += queens()
print(total)
