def following(seed):
    return (seed * 1309 + 13849) & 65535


class Ball:
    def __init__(self, x, y, vx, vy):
        self.x, self.y, self.vx, self.vy = x, y, vx, vy

    def bounce(self):
        bounced = False
        self.x += self.vx
        self.y += self.vy
        if self.x > 500:
            self.x = 500
            self.vx = -abs(self.vx)
            bounced = True
        if self.x < 0:
            self.x = 0
            self.vx = abs(self.vx)
            bounced = True
        if self.y > 500:
            self.y = 500
            self.vy = -abs(self.vy)
            bounced = True
        if self.y < 0:
            self.y = 0
            self.vy = abs(self.vy)
            bounced = True
        return bounced


def balls(n, seed):
    every = []
    for _ in range(n):
        x = following(seed)
        y = following(x)
        vx = following(y)
        seed = following(vx)
        every.append(Ball(x % 500, y % 500, vx % 300 - 150, seed % 300 - 150))
    return every


def run(turns):
    every = balls(100, 74755)
    count = 0
    for _ in range(turns):
        for ball in every:
            if ball.bounce():
                count += 1
    return count


print(run(6000))
