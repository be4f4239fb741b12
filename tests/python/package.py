"""The package tally in Python: values, arrays, errors, limits, interrupts."""

import array
import gc
import os
import signal
import sys
import threading
import time

import tally

print(tally.eval("1 + 1"), tally.eval('(1, "a", none, true, 2.5, 1i)'))
print(tally.eval("(a: 1, b: (2,))"), tally.eval('["a", "b"]'), tally.call("sqrt", 16))
print(tally.eval("f(2) * source", f=lambda i: i + 0.5, source=10))

# Arrays: one memory on both sides.
x = array.array("d", [1, 2, 3])
print(tally.eval("sum(x * x)", x=x), tally.eval("x.shape", x=b"abc"))
y = tally.eval("x", x=x)
x[0] = 10
print(memoryview(y).tolist(), y.shape, y.dtype, len(y), y)
print(memoryview(tally.eval("reshape(arange(6), (2, 3)).T")).tolist())
print(sorted(y.__array_interface__), y.__dlpack_device__())
print(type(y.__dlpack__()).__name__, memoryview(y).readonly)
# What an array shows is not let go of before it.
try:
    x.append(1)
except BufferError as e:
    print(e)
del y
tally.eval("del(x)")
gc.collect()
x.append(4)
print(len(x))

# Functions, both ways.
f = tally.eval("(x, y) => x * y")
print(f(2, 3.5), memoryview(f(array.array("i", [1, 2]), 2)).tolist())
for wrong in (lambda: f(1), lambda: f(a=1), lambda: f(*range(70))):
    try:
        wrong()
    except (TypeError, tally.Error) as e:
        print(type(e).__name__, str(e).splitlines()[0][:60])

# Errors have their place.
try:
    tally.eval("y = 1\n[1, 2] + [1, 2, 3]\n")
except tally.Error as e:
    print(e.kind, e.line, e.column, e.message)
try:
    tally.eval("f(2)", f=lambda i: 1 / 0)
except tally.Error as e:
    print(e.kind, e.message.splitlines()[0])
try:
    tally.eval("x", x=2**70)
except tally.Error as e:
    print(e.message)


class Long(dict):
    def __len__(self):
        raise ValueError("no length")


class Lie:
    __class__ = float


print(tally.eval("x", x=Long(a=1, b=2)), type(tally.eval("x", x=Lie())).__name__)
try:
    tally.eval("import os\nos.exit(3)")
except SystemExit as e:
    print("exit", e.code)

# Limits, output, variables.
said = []
vm = tally.VM(memory=10_000_000, time=5.0, print=said.append)
try:
    vm.eval("zeros(100_000_000)")
except tally.Error as e:
    print(e.kind)
vm["x"] = [1, 2]
vm.eval("print(x, len(x))")
print(said, vm["x"], vm.stats()["live_bytes"] < 1_000_000)
for wrong in ('import io\nio.read_text("/etc/passwd")', "import python"):
    try:
        tally.VM(sandbox=True).eval(wrong)
    except tally.Error as e:
        print(e.kind, e.message[:40])
try:
    tally.VM(instructions=100_000).eval("while true { }")
except tally.Error as e:
    print(e.kind)

# A VM lives as long as what shows its memory.
a = tally.VM().eval("arange(5)")
gc.collect()
print(memoryview(a).tolist())


# Another thread may not use a VM, but lets go of what it has.
def elsewhere():
    try:
        vm.eval("1")
    except RuntimeError as e:
        print(e)
    parts.clear()


parts = [vm.eval("arange(1000)") for i in range(10)]
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
print(vm.eval("1"), vm.stats()["live_bytes"] < 20_000)

# Ctrl-C stops a script, which cannot catch it, in functions of Python's, too;
# also where whoever started the tests ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
for source in ("while true { }", "try { f(20) } catch e { 1 }"):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        tally.eval(source, f=time.sleep)
    except KeyboardInterrupt:
        print("interrupted")
print(tally.eval("1 + 2"))

# Many calls leave nothing behind.
vm = tally.VM()
vm.eval("fn g(x) = x + 1")
for i in range(20_000):
    vm.call("g", x)
before = vm.stats()["live_bytes"]
for i in range(20_000):
    vm.call("g", x)
print(vm.stats()["live_bytes"] == before, sys.getrefcount(x) < 5)

# Python within Tally within Python is one Python.
if os.environ.get("TALLY_PATH"):
    print(tally.eval('import python\npython.import("sys").maxsize') == sys.maxsize)
