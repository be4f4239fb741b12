"""What the drivers share: running a contestant, medians, how figures look."""

import math
import os
import statistics
import subprocess
import sys
import time

import contestants as who


def rows_of(contestant, group, data, core):
    """What one process prints: workload, median, least, bytes, check value."""
    command = who.pinned(contestant.command + [data, group], core)
    done = subprocess.run(command, capture_output=True, text=True,
                          env=who.environment())
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if done.returncode != 0:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        print(f"{contestant.name} fails at {group}: {last}", file=sys.stderr)
    return [r for r in rows if len(r) == 5]


# What waits for memory differs by half from one process to the next, whoever
# runs it: pages lie elsewhere, neighbours take the cache. A group that takes no
# longer than this, all contestants together, is measured as often as that.
SHORT, TIMES = 4.0, 5


def measure_group(peers, group, data, core, found):
    for peer in peers:
        for name, median, _, peak, check in rows_of(peer, group, data, core):
            found.setdefault(name, {}).setdefault(peer.name, []).append(
                (float(median), float(peak) if peak else None, float(check)))


def measure(peers, groups, data, rounds, core):
    """{workload: {name: [(seconds, bytes or None, check), …]}}"""
    found = {}
    for turn in range(rounds):
        for group in groups:
            order = peers[turn % len(peers):] + peers[:turn % len(peers)]
            order = [peer for peer in order if group in peer.groups]
            begin = time.monotonic()
            measure_group(order, group, data, core, found)
            if time.monotonic() - begin <= SHORT:
                for _ in range(TIMES - 1):
                    measure_group(order, group, data, core, found)
            print(f"round {turn + 1} of {rounds}: {group}", file=sys.stderr)
    return found


def span(seconds, name=""):
    if name.endswith("_ns"):
        return f"{seconds:.3g} ns"
    for unit, size in ("s", 1), ("ms", 1e-3), ("µs", 1e-6):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def medians(found):
    """{workload: {name: seconds}}"""
    return {name: {peer: statistics.median(t[0] for t in turns)
                   for peer, turns in by_peer.items()}
            for name, by_peer in found.items()}


def ratio(a, b):
    return "" if a is None or not b else f"{a / b:.2f}" if a < 100 * b \
        else f"{a / b:.0f}"


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(v) for v in values))


def disagreements(found):
    """Workloads whose check values differ. Those of nanoseconds may run fewer
    turns in one than in another; C and Octave may round otherwise."""
    wrong = []
    for name, by_peer in found.items():
        checks = {p: t[0][2] for p, t in by_peer.items()}
        if name.startswith("small") or "Tally" not in checks:
            continue
        reference = checks["Tally"]
        for peer, value in checks.items():
            if abs(value - reference) > 1e-4 * max(1, abs(reference)):
                wrong.append(f"{name}: {value:.10g} in {peer}, "
                             f"{reference:.10g} in Tally")
    return wrong


def write(path, lines):
    """The file is whole or not there."""
    with open(path + ".part", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    os.rename(path + ".part", path)
