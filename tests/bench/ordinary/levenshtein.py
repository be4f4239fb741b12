def distance(a, b):
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        diagonal = row[0]
        row[0] = i
        for j in range(1, len(b) + 1):
            cost = diagonal if a[i - 1] == b[j - 1] else diagonal + 1
            diagonal = row[j]
            row[j] = min(cost, row[j] + 1, row[j - 1] + 1)
    return row[-1]


words = ["kitten", "sitting", "saturday", "sunday", "rosettacode",
         "raisethysword", "intention", "execution", "distance", "difference"]
total = 0
for _ in range(40):
    for a in words:
        for b in words:
            total += distance(a, b)
print(total)
