class Storage:
    def __init__(self):
        self.seed, self.count = 74755, 0

    def tree(self, depth):
        self.count += 1
        if depth == 1:
            self.seed = (self.seed * 1309 + 13849) & 65535
            return [0] * (self.seed % 10 + 1)
        return [self.tree(depth - 1) for _ in range(4)]


total = 0
for _ in range(30):
    storage = Storage()
    made = storage.tree(7)
    total += storage.count + len(made[3][2][1])
print(total, storage.seed)
