"""Who takes part in the benchmark, how each is started, and which are here."""

import glob
import os
import platform
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS = os.path.join(HERE, "peers")

ARRAYS = ("nest", "chain", "maths", "reductions", "options", "products",
          "sorting", "programs", "small")
GROUPS = ARRAYS + ("scalars", "words")


def environment():
    """One thread each; OpenBLAS takes a processor that is younger than itself
    for the oldest it knows, so its kind is told by the instructions."""
    one = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
               NUMBA_NUM_THREADS="1")
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            flags = set(re.search(r"^flags\s*: (.*)", f.read(), re.M)[1].split())
    except (OSError, TypeError):
        flags = set()
    for flag, kind in ("avx512bw", "SkylakeX"), ("avx2", "Haswell"):
        if flag in flags:
            one.setdefault("OPENBLAS_CORETYPE", kind)
    return one


def processor():
    """Its name, and the widest vectors that it has."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            info = f.read()
        name = re.search(r"model name\s*: (.*)", info)[1]
    except (OSError, TypeError):
        return platform.machine()
    for flag, vectors in ("avx512bw", "AVX-512"), ("avx2", "AVX2"):
        if re.search(rf"^flags\s*:.*\b{flag}\b", info, re.M):
            return f"{name} with {vectors}"
    return name


class Contestant:
    """`command` is followed by the directory of inputs and a group; `version`
    is a command that prints one; `one_liner` prints 2, for the start-up."""

    def __init__(self, name, command, groups, version, one_liner):
        self.name, self.command, self.groups = name, command, groups
        self.one_liner = one_liner
        self.version = output(version)

    def is_here(self):
        return bool(self.version)


def output(command):
    """The first line that a command prints, or "" where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return ""
    lines = done.stdout.strip().splitlines()
    return lines[0] if done.returncode == 0 and lines else ""


# Those that are beside others in loops of scalars alone.
IN_LOOPS = "C -O2", "Tally --no-native"

# Fast mathematics, as a user who fuses by hand would have it; and what is
# compiled without a thought, with every rounding where the program has it.
FAST = ["-O3", "-march=native", "-ffast-math"]
PLAIN = ["-O2", "-ffp-contract=off"]


def build_c(directory, name, flags):
    """The program in C: with OpenBLAS if that is installed. None: no
    compiler."""
    program, cc = os.path.join(directory, name), os.environ.get("CC", "cc")
    sources = sorted(glob.glob(os.path.join(PEERS, "c", "*.c")))
    command = cc.split() + [*flags, *sources, "-o", program]
    for extra in (["-mprefer-vector-width=512", "-DHAVE_CBLAS", "-lopenblas"],
                  ["-DHAVE_CBLAS", "-lopenblas"], []):
        try:
            done = subprocess.run(command + extra + ["-lm"],
                                  capture_output=True)
        except OSError:
            return None
        if done.returncode == 0:
            return program
    return None


def module_version(python, name):
    return [python, "-c", f"import {name}; print({name}.__version__)"]


def contestants(tally, python, directory):
    def peer(name):
        return os.path.join(PEERS, name)

    c = build_c(directory, "peer", FAST) or ""
    plain = build_c(directory, "peer_plain", PLAIN) or ""
    version = [os.environ.get("CC", "cc").split()[-1], "--version"]
    octave = ["octave-cli", "-q", "--norc"]
    lua_groups = ("small", "scalars", "words")
    return [
        Contestant("C", [c], GROUPS, version if c else ["false"],
                   [c, "--start"]),
        Contestant("C -O2", [plain], ("scalars",),
                   version if plain else ["false"], [plain, "--start"]),
        Contestant("Tally --no-native",
                   [tally, "--no-native", peer("tally.tly")], ("scalars",),
                   [tally, "--version"],
                   [tally, "--no-native", "-e", "print(1 + 1)"]),
        Contestant("Tally", [tally, peer("tally.tly")], GROUPS,
                   [tally, "--version"], [tally, "-e", "print(1 + 1)"]),
        Contestant("NumPy", [python, peer("numpy_peer.py")], ARRAYS,
                   module_version(python, "numpy"),
                   [python, "-c", "import numpy; print(numpy.add(1, 1))"]),
        Contestant("numexpr", [python, peer("numexpr_peer.py")],
                   ("nest", "chain", "maths", "options", "programs"),
                   module_version(python, "numexpr"),
                   [python, "-c", "import numexpr; print(1 + 1)"]),
        Contestant("Numba", [python, peer("numba_peer.py")],
                   ("nest", "chain", "maths", "options", "programs", "small",
                    "scalars"), module_version(python, "numba"),
                   [python, "-c", "import numba; print(1 + 1)"]),
        Contestant("Octave", octave + [peer("octave.m")], ARRAYS,
                   octave + ["--eval", "disp(version)"],
                   octave + ["--eval", "disp(1 + 1)"]),
        Contestant("CPython", [python, peer("python_peer.py")], lua_groups,
                   [python, "-c", "import platform as p; "
                                  "print(p.python_version())"],
                   [python, "-c", "print(1 + 1)"]),
        Contestant("Lua 5.4", ["lua5.4", peer("lua.lua")], lua_groups,
                   ["lua5.4", "-e", "print(_VERSION)"],
                   ["lua5.4", "-e", "print(1 + 1)"]),
        Contestant("LuaJIT -joff", ["luajit", "-joff", peer("lua.lua")],
                   lua_groups, ["luajit", "-e", "print(jit.version)"],
                   ["luajit", "-joff", "-e", "print(1 + 1)"]),
        Contestant("LuaJIT", ["luajit", peer("lua.lua")], lua_groups,
                   ["luajit", "-e", "print(jit.version)"],
                   ["luajit", "-e", "print(1 + 1)"]),
    ]


def pinned(command, core):
    if shutil.which("taskset"):
        return ["taskset", "-c", str(core)] + command
    return command
