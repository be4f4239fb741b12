class Node:
    def __init__(self, count, letters, left=None, right=None):
        self.count, self.letters = count, letters
        self.left, self.right = left, right


def counted(text):
    counts = {}
    for c in text:
        counts[c] = counts.get(c, 0) + 1
    return counts


def tree(counts):
    nodes = sorted((Node(n, c) for c, n in counts.items()),
                   key=lambda node: (-node.count, node.letters))
    while len(nodes) > 1:
        a = nodes.pop()
        b = nodes.pop()
        made = Node(a.count + b.count, a.letters + b.letters, a, b)
        i = len(nodes)
        while i > 0 and nodes[i - 1].count < made.count:
            i -= 1
        nodes.insert(i, made)
    return nodes[0]


def codes(node, prefix, found):
    if node.left is None:
        found[node.letters] = prefix
        return
    codes(node.left, prefix + "0", found)
    codes(node.right, prefix + "1", found)


def decoded(bits, root):
    out = []
    node = root
    for bit in bits:
        node = node.left if bit == "0" else node.right
        if node.left is None:
            out.append(node.letters)
            node = root
    return "".join(out)


def text(n):
    seed = 42
    out = []
    for _ in range(n):
        seed = (seed * 3877 + 29573) % 139968
        out.append("etaoin shrdlu"[min(seed % 13, seed // 13 % 13)])
    return "".join(out)


s = text(60_000)
root = tree(counted(s))
table = {}
codes(root, "", table)
bits = "".join([table[c] for c in s])
print(len(bits), str(decoded(bits, root) == s).lower(), table["e"], table["u"])
