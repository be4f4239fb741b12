"""How soon NumPy answers an interrupt, beside Tally:

    beside_numpy.py BESIDE.txt TALLY [ITEMS]

Runs the right side of each line and raises a signal after 10, 100 and
1,500 milliseconds of processor time. TALLY is what interrupts.c printed of the left
sides, by their polls. Prints a table of milliseconds: for Tally what somebody
waits who interrupts at any moment (median, 99.9 %, maximum), for NumPy the longest
processor time from the signal until Python had control. BLAS has one thread.
"""

import os
import re
import signal
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # after the number of threads

DELAYS = (0.01, 0.1, 1.5)


class Interrupted(Exception):
    """The signal's handler was run, which Python does between instructions."""


def interrupt(number, frame):
    raise Interrupted


def answer(code, values, delay):
    """Seconds from the signal to control; None: the code had ended before."""
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, delay)
    try:
        eval(code, values)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return None
    except Interrupted:
        return time.process_time() - start - delay


def waits_of_tally(path):
    """From expression to [median, 99.9 %, maximum], as texts."""
    line = re.compile(r"(.*?) +\d+" + 3 * r" +([\d.]+) ms" + "$")
    found = map(line.match, open(path, encoding="utf-8"))
    return {m[1]: m.groups()[1:] for m in found if m}


def main():
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 125_000_000
    tally = waits_of_tally(sys.argv[2])
    rng = np.random.default_rng(1)
    x = rng.random(n)
    values = {
        "np": np, "rng": rng, "x": x,
        "k": rng.integers(0, 1_000_000, n // 4),
        "grid": np.linspace(0, 1, 1001),
        "wide": x[:n // 10_000 * 10_000].reshape(-1, 10_000),
        "m": x[:4_000_000].reshape(2000, 2000) + 100 * np.eye(2000),
    }
    signal.signal(signal.SIGPROF, interrupt)
    print("| expression | Tally, median | 99.9 % | maximum | NumPy, maximum |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for line in open(sys.argv[1], encoding="utf-8"):
        if line.startswith("#") or ";" not in line:
            continue
        name, code = (part.strip() for part in line.split(" ; "))
        times = [answer(code, values, delay) for delay in DELAYS]
        longest = max((1e3 * t for t in times if t is not None), default=None)
        numpy = "" if longest is None else f"{longest:,.0f}"
        print(f"| `{name}` |", " | ".join(tally.get(name, ("", "", ""))),
              f"| {numpy} |", flush=True)


main()
