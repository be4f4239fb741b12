BODY, REDUCIBLE, SELF, IRREDUCIBLE = range(4)


class Block:
    def __init__(self):
        self.in_edges, self.out_edges = [], []


def connect(g, a, b):
    while len(g) <= max(a, b):
        g.append(Block())
    g[a].out_edges.append(b)
    g[b].in_edges.append(a)


def diamond(g, start):
    connect(g, start, start + 1)
    connect(g, start, start + 2)
    connect(g, start + 1, start + 3)
    connect(g, start + 2, start + 3)
    return start + 3


def straight(g, start, n):
    for i in range(n):
        connect(g, start + i, start + i + 1)
    return start + n


def base_loop(g, start):
    header = straight(g, start, 1)
    top = diamond(g, header)
    bottom = straight(g, top, 1)
    end = diamond(g, bottom)
    connect(g, end, header)
    return straight(g, end, 1)


def graph(size):
    g = []
    n = straight(g, 0, 2)
    for _ in range(size):
        top = n
        n = straight(g, n, 1)
        for _ in range(5):
            inner = n
            n = straight(g, n, 1)
            for _ in range(5):
                n = base_loop(g, n)
            connect(g, n, inner)
            n = straight(g, n, 1)
        connect(g, n, top)
        n = straight(g, n, 1)
    return g


def depth_first(g):
    n = len(g)
    number = [-1] * n
    order = [0] * n
    last = [0] * n
    number[0] = 0
    count = 1
    stack = [[0, 0]]
    while stack:
        block, edge = stack[-1]
        if edge < len(g[block].out_edges):
            stack[-1][1] = edge + 1
            to = g[block].out_edges[edge]
            if number[to] == -1:
                number[to] = count
                order[count] = to
                count += 1
                stack.append([to, 0])
        else:
            last[number[block]] = count - 1
            stack.pop()
    return number, order, last, count


def find(parent, x):
    root = x
    while parent[root] != root:
        root = parent[root]
    while parent[x] != root:
        parent[x], x = root, parent[x]
    return root


def loops(g):
    number, order, last, count = depth_first(g)
    back, other = [], []
    for w in range(count):
        b, o = [], []
        for v in g[order[w]].in_edges:
            v = number[v]
            if v >= 0:
                (b if w <= v <= last[w] else o).append(v)
        back.append(b)
        other.append(o)
    parent = list(range(count))
    kind = [BODY] * count
    header = [0] * count
    found = []
    for w in range(count - 1, -1, -1):
        pool = []
        in_pool = set()
        for v in back[w]:
            if v == w:
                kind[w] = SELF
            else:
                v = find(parent, v)
                if v not in in_pool:
                    in_pool.add(v)
                    pool.append(v)
        if pool:
            kind[w] = REDUCIBLE
        at = 0
        while at < len(pool):
            x = pool[at]
            at += 1
            for y in other[x]:
                y = find(parent, y)
                if not w <= y <= last[w]:
                    kind[w] = IRREDUCIBLE
                    other[w].append(y)
                elif y != w and y not in in_pool:
                    in_pool.add(y)
                    pool.append(y)
        if pool or kind[w] == SELF:
            for x in pool:
                header[x] = w
                parent[x] = w
            found.append((w, pool))
    return found, header


total = 0
for turn in range(3):
    found, header = loops(graph(40 + turn))
    total += len(found) * 1000
    for _, blocks in found:
        total += len(blocks)
    total += sum(header) % 1009
print(total)
