def fannkuch(n):
    perm = list(range(n))
    count = [0] * n
    most = check = turn = 0
    r = n
    while True:
        while r != 1:
            count[r - 1] = r
            r -= 1
        p = perm[:]
        flips = 0
        k = p[0]
        while k != 0:
            i, j = 0, k
            while i < j:
                p[i], p[j] = p[j], p[i]
                i += 1
                j -= 1
            flips += 1
            k = p[0]
        most = max(most, flips)
        check += flips if turn % 2 == 0 else -flips
        while True:
            if r == n:
                return check, most
            first = perm[0]
            for i in range(r):
                perm[i] = perm[i + 1]
            perm[r] = first
            count[r] -= 1
            if count[r] > 0:
                break
            r += 1
        turn += 1


check, most = fannkuch(9)
print(check, most)
