SYLLABLES = ["ka", "lo", "Mi", "ne", "ru", "so", "Ta", "vy"]


def text(n):
    seed = 42
    words = []
    for i in range(n):
        seed = (seed * 3877 + 29573) % 139968
        a, b, c = seed % 8, seed // 8 % 8, seed // 64 % 5
        word = SYLLABLES[a] + SYLLABLES[b]
        if c < 3:
            word += SYLLABLES[c]
        if i % 11 == 0:
            word += ","
        if i % 17 == 0:
            word += ".\n"
        words.append(word)
    return " ".join(words)


def counted(s):
    counts = {}
    for line in s.split("\n"):
        for word in line.lower().split():
            while word and word[-1] in ".,;":
                word = word[:-1]
            if len(word) > 2:
                counts[word] = counts.get(word, 0) + 1
    return counts


s = text(120_000)
counts = counted(s)
best = sorted(counts, key=lambda word: (-counts[word], word))
print(len(counts), " ".join(f"{word}={counts[word]}" for word in best[:5]))
