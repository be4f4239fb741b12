class Choice:
    def __init__(self, letter, most):
        self.letter, self.most = letter, most


def letters(seed, n, table):
    out = []
    line = ""
    for _ in range(n):
        seed = (seed * 3877 + 29573) % 139968
        r = seed / 139968
        for c in table:
            if r < c.most:
                line += c.letter
                break
        if len(line) == 60:
            out.append(line)
            line = ""
    if line:
        out.append(line)
    return out, seed


def cumulative(pairs):
    table = []
    total = 0.0
    for letter, p in pairs:
        total += p
        table.append(Choice(letter, total))
    return table


iub = cumulative([("a", 0.27), ("c", 0.12), ("g", 0.12), ("t", 0.27),
                  ("B", 0.02), ("D", 0.02), ("H", 0.02), ("K", 0.02),
                  ("M", 0.02), ("N", 0.02), ("R", 0.02), ("S", 0.02),
                  ("V", 0.02), ("W", 0.02), ("Y", 0.04)])
lines, seed = letters(42, 200_000, iub)
text = "\n".join(lines)
print(len(lines), len(text), seed, text[1000:1020])
