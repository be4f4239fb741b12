class Thing:
    def __init__(self, name, weight, worth):
        self.name, self.weight, self.worth = name, weight, worth


def things(n):
    seed = 42
    every = []
    for i in range(n):
        seed = (seed * 3877 + 29573) % 139968
        every.append(Thing(f"thing {i}", seed % 37 + 3, seed % 101 + 5))
    return every


def packed(things, limit):
    best = [[0] * (limit + 1)]
    for t in things:
        row = best[-1]
        following = row[:]
        for w in range(t.weight, limit + 1):
            taking = row[w - t.weight] + t.worth
            if taking > row[w]:
                following[w] = taking
        best.append(following)
    taken = []
    w = limit
    for i in range(len(things), 0, -1):
        if best[i][w] != best[i - 1][w]:
            taken.append(things[i - 1].name)
            w -= things[i - 1].weight
    return best[-1][limit], taken


worth, taken = packed(things(300), 6000)
print(worth, len(taken), taken[0])
