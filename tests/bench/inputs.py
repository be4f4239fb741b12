"""Makes the files that all contestants read; each has its own reader for them.

usage: inputs.py DIRECTORY

x y m: float64 from -1 to 1; k: int64 from 0 to 1000; i: int64 below 10**6;
words.txt: 10 MB of words of four scripts, frequent ones far more often;
table.csv: 100 MB in 10 columns; big.npy: 1 GB of x again and again; mapped.npy:
4 GB, all 0 but for some ones: pages that the file system need not keep.
"""

import array
import os
import random
import sys

HEADER = 128  # bytes of each .npy before its items


def header(dtype, count):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, " \
           f"'shape': ({count},), }}"
    head = head.ljust(HEADER - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()


def save(path, code, items):
    with open(path + ".part", "wb") as f:
        f.write(header({"d": "<f8", "q": "<i8"}[code], len(items)))
        array.array(code, items).tofile(f)
    os.rename(path + ".part", path)


def vocabulary(r):
    scripts = [[chr(97 + i) for i in range(26)], [chr(945 + i) for i in range(24)],
               [chr(1072 + i) for i in range(32)],
               [chr(0x4E00 + i) for i in range(2000)]]
    return ["".join(r.choice(scripts[(0, 0, 0, 0, 1, 2, 3, 0)[i % 8]])
                    for _ in range(r.randrange(2, 11))) for i in range(50000)]


def text(r, nbytes):
    """Word number k about k**-1.3 times as often as word number 1."""
    words, parts, size = vocabulary(r), [], 0
    while size < nbytes:
        word = words[int(r.random() ** (-1 / 0.3)) % len(words)]
        parts.append(word + ("\n" if len(parts) % 13 == 12 else " "))
        size += len(parts[-1].encode())
    return "".join(parts)


def table(r, nbytes):
    """Rows of 10 cells, in blocks of 10,000 that come again and again."""
    row = lambda: ",".join(f"{2 * r.random() - 1:.7f}" for _ in range(10))
    block = "\n".join(row() for _ in range(10000)) + "\n"
    head = ",".join(f"c{i}" for i in range(10)) + "\n"
    return head, block, nbytes // len(block)


def save_big(path, x_path):
    """x.npy's items, 12.5 times."""
    with open(x_path, "rb") as f:
        items = f.read()[HEADER:]
    with open(path + ".part", "wb") as f:
        f.write(header("<f8", 125 * 10**6))
        for _ in range(12):
            f.write(items)
        f.write(items[:len(items) // 2])
    os.rename(path + ".part", path)


def save_mapped(path):
    with open(path + ".part", "wb") as f:
        f.write(header("<f8", 2**29))
        f.truncate(HEADER + 8 * 2**29)
        for place in range(0, 2**29, 2**24):
            f.seek(HEADER + 8 * place)
            f.write(array.array("d", [1]).tobytes())
    os.rename(path + ".part", path)


def save_table(path, r):
    head, block, turns = table(r, 10**8)
    with open(path + ".part", "w", encoding="ascii") as f:
        f.write(head)
        for _ in range(turns):
            f.write(block)
    os.rename(path + ".part", path)


def main(directory):
    os.makedirs(directory, exist_ok=True)
    path = lambda name: os.path.join(directory, name)
    missing = lambda name: not os.path.exists(path(name))
    r = random.Random(12345)
    if missing("words.txt"):  # made last of these
        for name, n in ("x", 10**7), ("y", 10**7), ("m", 16 * 10**6):
            save(path(name + ".npy"), "d",
                 array.array("d", (2 * r.random() - 1 for _ in range(n))))
        for name, below in ("k", 1001), ("i", 10**6):
            save(path(name + ".npy"), "q", array.array(
                "q", (int(r.random() * below) for _ in range(10**6))))
        with open(path("words.txt"), "w", encoding="utf-8") as f:
            f.write(text(r, 10**7))
    if missing("table.csv"):
        save_table(path("table.csv"), random.Random(54321))
    if missing("big.npy"):
        save_big(path("big.npy"), path("x.npy"))
    if missing("mapped.npy"):
        save_mapped(path("mapped.npy"))


main(sys.argv[1])
