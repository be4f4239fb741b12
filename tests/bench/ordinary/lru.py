class Node:
    def __init__(self, key, value):
        self.key, self.value = key, value
        self.before = self.after = self


class Cache:
    def __init__(self, capacity):
        self.capacity, self.places, self.hits = capacity, {}, 0
        self.ring = Node(-1, 0)

    def unlink(self, node):
        node.before.after = node.after
        node.after.before = node.before

    def link(self, node):
        first = self.ring.after
        node.before = self.ring
        node.after = first
        first.before = node
        self.ring.after = node

    def lookup(self, key):
        if key not in self.places:
            return None
        node = self.places[key]
        self.unlink(node)
        self.link(node)
        self.hits += 1
        return node.value

    def store(self, key, value):
        if len(self.places) < self.capacity:
            node = Node(key, value)
        else:
            node = self.ring.before
            self.unlink(node)
            del self.places[node.key]
            node.key = key
            node.value = value
        self.places[key] = node
        self.link(node)


c = Cache(200)
total, seed = 0, 42
for _ in range(120_000):
    seed = (seed * 3877 + 29573) % 139968
    key = seed % 23 * (seed % 37)
    value = c.lookup(key)
    if value is None:
        value = key * key % 1009
        c.store(key, value)
    total += value
print(total, c.hits)
