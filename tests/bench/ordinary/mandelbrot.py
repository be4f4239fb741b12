def mandelbrot(size):
    check = 0
    for y in range(size):
        ci = 2.0 * y / size - 1.0
        bits = count = 0
        for x in range(size):
            cr = 2.0 * x / size - 1.5
            zr = zi = zr2 = zi2 = 0.0
            inside = 1
            for _ in range(50):
                zi = 2.0 * zr * zi + ci
                zr = zr2 - zi2 + cr
                zr2 = zr * zr
                zi2 = zi * zi
                if zr2 + zi2 > 4.0:
                    inside = 0
                    break
            bits = bits << 1 | inside
            count += 1
            if count == 8:
                check = (check * 31 ^ bits) & 0xffffff
                bits = count = 0
    return check


print(mandelbrot(256))
