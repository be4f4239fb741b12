pairs = {}
for a, b in zip("ACGTMRWSYKVHDBN", "TGCAKYWSRMBDHVN"):
    pairs[a] = b


def strand(n):
    seed = 42
    parts = []
    for _ in range(n):
        seed = (seed * 3877 + 29573) % 139968
        parts.append("ACGTMRWSYKVHDBN"[seed % 15])
    return "".join(parts)


def other(dna):
    out = [pairs[c] for c in reversed(dna)]
    text = "".join(out)
    return [text[i:i + 60] for i in range(0, len(text), 60)]


dna = strand(60_000)
check = 0
for _ in range(20):
    lines = other(dna)
    dna = "".join(lines)
    check += len(lines)
print(check, dna[:40], lines[-1][-5:])
