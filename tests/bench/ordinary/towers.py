class Towers:
    def __init__(self, n):
        self.piles = [[], [], []]
        for disk in range(n, 0, -1):
            self.push(disk, 0)

    def push(self, disk, pile):
        pile = self.piles[pile]
        if pile and pile[-1] <= disk:
            raise ValueError("a big disk on a small one")
        pile.append(disk)

    def move(self, a, b):
        self.push(self.piles[a].pop(), b)

    def solve(self, n, a, b):
        if n == 1:
            self.move(a, b)
            return 1
        other = 3 - a - b
        count = self.solve(n - 1, a, other)
        self.move(a, b)
        return count + self.solve(n - 1, other, b) + 1


towers = Towers(17)
moves = towers.solve(17, 0, 1)
print(moves, len(towers.piles[1]))
