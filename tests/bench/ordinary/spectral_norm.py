from math import sqrt


def item(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v):
    n = len(v)
    out = [0.0] * n
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += item(i, j) * v[j]
        out[i] = s
    return out


def transposed_times(v):
    n = len(v)
    out = [0.0] * n
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += item(j, i) * v[j]
        out[i] = s
    return out


def norm(n):
    u = [1.0] * n
    for _ in range(10):
        v = transposed_times(times(u))
        u = transposed_times(times(v))
    uv = vv = 0.0
    for i in range(n):
        uv += u[i] * v[i]
        vv += v[i] * v[i]
    return sqrt(uv / vv)


print(f"{norm(130):.9f}")
