def sieve(n):
    flags = [True] * n
    count = 0
    for i in range(2, n):
        if flags[i]:
            count += 1
            for j in range(i + i, n, i):
                flags[j] = False
    return count


total = 0
for _ in range(10):
    total += sieve(100_000)
print(total)
