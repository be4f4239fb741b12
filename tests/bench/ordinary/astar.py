class Node:
    __slots__ = "x", "y", "wall", "cost", "guess", "before", "done"

    def __init__(self, x, y, wall):
        self.x, self.y, self.wall = x, y, wall
        self.cost, self.guess, self.before, self.done = 1 << 30, 0, -1, False


def push(heap, nodes, at):
    heap.append(at)
    i = len(heap) - 1
    while i > 0:
        up = (i - 1) // 2
        if nodes[heap[up]].guess <= nodes[heap[i]].guess:
            break
        heap[up], heap[i] = heap[i], heap[up]
        i = up


def pop_least(heap, nodes):
    last = heap.pop()
    n = len(heap)
    if n == 0:
        return last
    least = heap[0]
    heap[0] = last
    i = 0
    while True:
        small = i
        for child in range(2 * i + 1, 2 * i + 3):
            if (child < n
                    and nodes[heap[child]].guess < nodes[heap[small]].guess):
                small = child
        if small == i:
            break
        heap[small], heap[i] = heap[i], heap[small]
        i = small
    return least


def map_of(width, height, seed):
    nodes = []
    for y in range(height):
        for x in range(width):
            seed = (seed * 3877 + 29573) % 139968
            wall = seed % 10 < 2 and 0 < x + y < width + height - 2
            nodes.append(Node(x, y, wall))
    return nodes


def search(nodes, width, height):
    goal = len(nodes) - 1
    nodes[0].cost = 0
    heap = [0]
    looked = 0
    while len(heap) > 0:
        at = pop_least(heap, nodes)
        if at == goal:
            break
        node = nodes[at]
        if node.done:
            continue
        node.done = True
        looked += 1
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            x, y = node.x + dx, node.y + dy
            if x < 0 or y < 0 or x >= width or y >= height:
                continue
            to = nodes[y * width + x]
            if to.wall or to.done:
                continue
            cost = node.cost + 1
            if cost < to.cost:
                to.cost = cost
                to.before = at
                to.guess = (cost + abs(nodes[goal].x - x)
                            + abs(nodes[goal].y - y))
                push(heap, nodes, y * width + x)
    return looked


def length(nodes):
    at, steps = len(nodes) - 1, 0
    while nodes[at].before >= 0:
        at, steps = nodes[at].before, steps + 1
    return steps


total, every = 0, 0
for turn in range(40):
    nodes = map_of(40, 40, 42 + turn)
    every += search(nodes, 40, 40)
    total += length(nodes)
print(total, every)
