def step(alive):
    counts = {}
    for x, y in alive:
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                if dx != 0 or dy != 0:
                    cell = x + dx, y + dy
                    counts[cell] = counts.get(cell, 0) + 1
    return {cell for cell, n in counts.items()
            if n == 3 or n == 2 and cell in alive}


alive = {(1, 0), (2, 0), (0, 1), (1, 1), (1, 2)}
for _ in range(250):
    alive = step(alive)
check = 0
for x, y in alive:
    check += x * 31 + y * 17
print(len(alive), check)
