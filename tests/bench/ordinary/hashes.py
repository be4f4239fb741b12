def crc_table():
    table = [0] * 256
    for i in range(256):
        c = i
        for _ in range(8):
            c = c >> 1 ^ 0xedb88320 if c & 1 == 1 else c >> 1
        table[i] = c
    return table


def crc32(data, table):
    crc = 0xffffffff
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


def fnv1a(data):
    h = 2166136261
    for byte in data:
        h = (h ^ byte) * 16777619 & 0xffffffff
    return h


def adler32(data):
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b << 16 | a


def xorshift(n):
    x = 2463534242
    out = bytearray(n)
    for i in range(n):
        x ^= x << 13 & 0xffffffff
        x ^= x >> 17
        x ^= x << 5 & 0xffffffff
        out[i] = x & 255
    return out


table = crc_table()
data = xorshift(200_000)
print(crc32(data, table), fnv1a(data), adler32(data))
