from math import cos, floor, sin

SIZE, RADIUS = 2.0, 1.0


class Craft:
    def __init__(self, id, x, y, z):
        self.id, self.x, self.y, self.z = id, x, y, z


class Motion:
    def __init__(self, id, now, then):
        self.id, self.now, self.then = id, now, then


def simulate(n, time):
    aircraft = []
    for i in range(0, n, 2):
        aircraft.append(Craft(i, time, cos(time) * 2 + i * 3.0, 10.0))
        aircraft.append(Craft(i + 1, time, sin(time) * 2 + i * 3.0, 10.0))
    return aircraft


def cell_of(x):
    return floor(x / SIZE)


def cells(a, b):
    found = []
    left, right = cell_of(min(a.x, b.x)), cell_of(max(a.x, b.x))
    low, high = cell_of(min(a.y, b.y)), cell_of(max(a.y, b.y))
    for cx in range(left - 1, right + 2):
        for cy in range(low - 1, high + 2):
            found.append((cx, cy))
    return found


def meets(a, b):
    dx = a.now.x - b.now.x
    dy = a.now.y - b.now.y
    dz = a.now.z - b.now.z
    vx = a.then.x - a.now.x - (b.then.x - b.now.x)
    vy = a.then.y - a.now.y - (b.then.y - b.now.y)
    vz = a.then.z - a.now.z - (b.then.z - b.now.z)
    speed = vx * vx + vy * vy + vz * vz
    t = 0.0 if speed == 0.0 else -(dx * vx + dy * vy + dz * vz) / speed
    if t < 0.0:
        t = 0.0
    if t > 1.0:
        t = 1.0
    x, y, z = dx + t * vx, dy + t * vy, dz + t * vz
    return x * x + y * y + z * z < RADIUS * RADIUS


def frame(known, aircraft):
    grid = {}
    for craft in aircraft:
        before = known.get(craft.id, craft)
        known[craft.id] = craft
        motion = Motion(craft.id, before, craft)
        for cell in cells(before, craft):
            grid.setdefault(cell, []).append(motion)
    met = set()
    for motions in grid.values():
        for i in range(len(motions)):
            for j in range(i + 1, len(motions)):
                a, b = motions[i], motions[j]
                pair = min(a.id, b.id), max(a.id, b.id)
                if pair not in met and meets(a, b):
                    met.add(pair)
    return len(met)


known = {}
total = 0
for step in range(100):
    total += frame(known, simulate(60, step / 10))
print(total)
