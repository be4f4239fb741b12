def made(n, seed):
    return [[(seed * i + j) % 17 - 8.0 for j in range(n)] for i in range(n)]


def product(a, b):
    n, m, k = len(a), len(b[0]), len(b)
    c = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            s = 0.0
            for l in range(k):
                s += a[i][l] * b[l][j]
            c[i][j] = s
    return c


def transposed(a):
    return [[row[j] for row in a] for j in range(len(a[0]))]


a = made(90, 3)
for _ in range(5):
    a = product(a, transposed(made(90, 5)))
    for i in range(90):
        for j in range(90):
            a[i][j] %= 10.0
print(f"{sum(sum(row) for row in a):.1f} {a[7][9]:.1f}")
