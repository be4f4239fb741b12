class Node:
    def __init__(self, left, right):
        self.left, self.right = left, right


def made(depth):
    if depth == 0:
        return Node(None, None)
    return Node(made(depth - 1), made(depth - 1))


def check(tree):
    if tree.left is None:
        return 1
    return 1 + check(tree.left) + check(tree.right)


def run(n):
    long = made(n)
    total = check(made(n + 1))
    for depth in range(4, n + 1, 2):
        for _ in range(1 << n - depth + 4):
            total += check(made(depth))
    return total + check(long)


print(run(12))
