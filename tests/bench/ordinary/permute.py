def swap(v, i, j):
    v[i], v[j] = v[j], v[i]


def permute(v, n, count):
    count += 1
    if n > 0:
        count = permute(v, n - 1, count)
        for i in range(n - 1, -1, -1):
            swap(v, n - 1, i)
            count = permute(v, n - 1, count)
            swap(v, n - 1, i)
    return count


total = 0
for _ in range(3):
    v = list(range(8))
    total += permute(v, 8, 0) + v[3]
print(total)
