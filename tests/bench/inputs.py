"""Makes the files that all contestants read; each has its own reader for them.

usage: inputs.py DIRECTORY

x y m: float64 from -1 to 1; k: int64 from 0 to 1000; i: int64 below 10**6;
words.txt: 10 MB of words of four scripts, frequent ones far more often.
"""

import array
import os
import random
import sys

HEADER = 128  # bytes of each .npy before its items


def save(path, code, items):
    dtype = {"d": "<f8", "q": "<i8"}[code]
    head = f"{{'descr': '{dtype}', 'fortran_order': False, " \
           f"'shape': ({len(items)},), }}"
    head = head.ljust(HEADER - 11) + "\n"
    with open(path + ".part", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
        f.write(head.encode())
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


def main(directory):
    done = os.path.join(directory, "words.txt")
    if os.path.exists(done):
        return
    os.makedirs(directory, exist_ok=True)
    r = random.Random(12345)
    for name, n in ("x", 10**7), ("y", 10**7), ("m", 16 * 10**6):
        save(os.path.join(directory, name + ".npy"), "d",
             array.array("d", (2 * r.random() - 1 for _ in range(n))))
    for name, below in ("k", 1001), ("i", 10**6):
        save(os.path.join(directory, name + ".npy"), "q",
             array.array("q", (int(r.random() * below) for _ in range(10**6))))
    with open(done, "w", encoding="utf-8") as f:
        f.write(text(r, 10**7))


main(sys.argv[1])
