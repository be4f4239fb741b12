from math import sqrt


class Body:
    def __init__(self, x, y, z, vx, vy, vz, mass):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx * 365.24, vy * 365.24, vz * 365.24
        self.mass = mass * 39.47841760435743


def system():
    bodies = [
        Body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        Body(4.84, -1.16, -0.10, 0.00166, 0.00770, -0.0000690, 0.000955),
        Body(8.34, 4.12, -0.40, -0.00277, 0.00500, 0.0000230, 0.000286),
        Body(12.9, -15.1, -0.22, 0.00296, 0.00238, -0.0000297, 0.0000437),
        Body(15.4, -25.9, 0.18, 0.00268, 0.00163, -0.0000952, 0.0000515)]
    px = py = pz = 0.0
    for b in bodies:
        px += b.vx * b.mass
        py += b.vy * b.mass
        pz += b.vz * b.mass
    sun = bodies[0]
    sun.vx, sun.vy, sun.vz = -px / sun.mass, -py / sun.mass, -pz / sun.mass
    return bodies


def advance(bodies, dt):
    n = len(bodies)
    for i in range(n):
        b = bodies[i]
        for j in range(i + 1, n):
            c = bodies[j]
            dx = b.x - c.x
            dy = b.y - c.y
            dz = b.z - c.z
            d2 = dx * dx + dy * dy + dz * dz
            mag = dt / (d2 * sqrt(d2))
            mi = b.mass * mag
            mj = c.mass * mag
            b.vx -= dx * mj
            b.vy -= dy * mj
            b.vz -= dz * mj
            c.vx += dx * mi
            c.vy += dy * mi
            c.vz += dz * mi
    for b in bodies:
        b.x += dt * b.vx
        b.y += dt * b.vy
        b.z += dt * b.vz


def energy(bodies):
    e = 0.0
    for i, b in enumerate(bodies):
        e += 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz)
        for c in bodies[i + 1:]:
            dx, dy, dz = b.x - c.x, b.y - c.y, b.z - c.z
            e -= b.mass * c.mass / sqrt(dx * dx + dy * dy + dz * dz)
    return e


bodies = system()
for _ in range(20_000):
    advance(bodies, 0.01)
print(f"{energy(bodies):.9f}")
