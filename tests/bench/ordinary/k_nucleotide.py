def strand(n):
    seed = 42
    parts = []
    for _ in range(n):
        seed = (seed * 3877 + 29573) % 139968
        parts.append("ACGTACGAAT"[seed % 10])
    return "".join(parts)


def counts(dna, k):
    found = {}
    for i in range(len(dna) - k + 1):
        part = dna[i:i + k]
        found[part] = found.get(part, 0) + 1
    return found


dna = strand(60_000)
check = 0
for k in (1, 2, 3, 4, 6, 12):
    found = counts(dna, k)
    best = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    check = (check * 31 + len(found) * 7 + best[0][1]) % 1000003
one = counts(dna, 4)
print(check, one["AACG"], counts(dna, 6).get("GGTATT", 0))
