"""The cell magic %%tally in IPython: names in and out, values, errors, Ctrl-C."""

import os
import signal
import tempfile
import threading

home = tempfile.TemporaryDirectory()
os.environ["IPYTHONDIR"] = home.name

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

off = Config({"HistoryManager": {"enabled": False}})
shell = InteractiveShell.instance(colors="NoColor", config=off)


def cell(text):
    """Runs a cell and prints its error's class and what it shows."""
    with capture_output() as said:
        ran = shell.run_cell(text)
    e = ran.error_before_exec or ran.error_in_exec
    if isinstance(e, KeyboardInterrupt):
        print("KeyboardInterrupt")  # and Python's own frames
        return
    print(f"{type(e).__name__ if e else ''} {said.stdout}{said.stderr}".strip())


cell("%load_ext tally")
cell("from array import array\nx = array('d', [1, 2, 3])")
# The cell's last value is shown and is the next cell's _.
cell("%%tally x\nx * 2")
cell("_.shape")
cell("%%tally\nprint(x)\nz = 3")
cell("%%tally\nz;\n")
# Results are Python's; what the cell reads must be.
cell('%%tally x -o y --out t\ny = x + z\nt = "text"')
cell("y, t, memoryview(y)[0]")
cell("%%tally x nope\n1")
cell("%%tally -o nope\n1")
# Errors are shown with place and line, and stop the cell. After each goes on.
cell("%%tally\nz = 4\nx + [1, 2]\n")
cell("%%tally\nif z == 4 {\n")
cell("def f(a): return 1 / a")
cell("import tally\ntry: get_ipython().run_cell_magic('tally', 'f', 'f(0)')\n"
     "except tally.Error as e: print(e.kind, e.line, e.message.splitlines()[0])")
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
cell("%%tally\nwhile true { }")
cell("%%tally\nz")
