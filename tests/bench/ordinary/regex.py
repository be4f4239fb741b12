import re


def text(n):
    seed = 42
    words = []
    for _ in range(n):
        seed = (seed * 3877 + 29573) % 139968
        words.append(f"{seed}" if seed % 5 == 0
                     else f"agggtaaa{seed % 10}" if seed % 7 == 0
                     else f"w{seed % 1000}ord")
    return " ".join(words)


s = text(60_000)
total = 0
for pattern in ("agggtaaa", "[cgt]gggtaaa|tttaccc[acg]", r"\b\d{3,5}\b",
                r"w(\d)\1+ord", r"[aeiou][^aeiou\s]+"):
    total += sum(1 for _ in re.finditer(pattern, s))
t = re.sub(r"\d+", "#", s)
t = re.sub("w#ord", "W", t)
print(total, len(s), len(t))
