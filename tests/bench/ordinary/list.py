class Item:
    def __init__(self, value, next):
        self.value, self.next = value, next


def made(n):
    return None if n == 0 else Item(n, made(n - 1))


def shorter(x, y):
    while y is not None:
        if x is None:
            return True
        x = x.next
        y = y.next
    return False


def tail(x, y, z):
    if shorter(y, x):
        return tail(tail(x.next, y, z), tail(y.next, z, x),
                    tail(z.next, x, y))
    return z


def length(x):
    return 0 if x is None else 1 + length(x.next)


total = 0
for _ in range(8):
    total += length(tail(made(18), made(12), made(6)))
print(total)
