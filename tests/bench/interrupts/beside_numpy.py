"""How soon NumPy answers an interrupt: beside_numpy.py BESIDE.txt [ITEMS]

Runs the right side of each line and raises a signal after 10, 100 and
1,500 milliseconds of processor time, as interrupts.c does to the left side. Prints
the expression, how often it was interrupted, and the median and the maximum of
the processor time from the signal until Python had control. BLAS has one thread.
"""

import os
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


def main():
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 125_000_000
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
    for line in open(sys.argv[1], encoding="utf-8"):
        if line.startswith("#") or ";" not in line:
            continue
        name, code = (part.strip() for part in line.split(" ; "))
        times = [answer(code, values, delay) for delay in DELAYS]
        times = sorted(t for t in times if t is not None)
        if times:
            print(f"{name:<36} {len(times):5} {1e3 * times[len(times) // 2]:9.2f} ms"
                  f" {1e3 * times[-1]:9.2f} ms", flush=True)


main()
