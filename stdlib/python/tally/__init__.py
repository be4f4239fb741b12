"""Tally in Python: arrays both ways without a copy, errors with their place.

    import tally
    tally.eval("sum(x * x)", x=numpy.arange(10))
    scale = tally.eval("x => x * 2")
    numpy.asarray(scale([1, 2, 3]))

An array of Tally's is read by the buffer protocol (numpy.asarray, memoryview),
__dlpack__ or __array_interface__, and keeps its VM open. tally.VM has limits:
tally.VM(memory=1 << 30, time=10.0, sandbox=True). In IPython %load_ext tally
adds the cell magic %%tally, and %%tally? tells of it.
"""

import threading

from tally import _tally
from tally._tally import VM

__all__ = ["VM", "Error", "eval", "run", "call", "vm"]
__version__ = _tally.version


class Error(Exception):
    """An error of a script: str() is its report, with place and source line.

    kind is a word of Tally's ("shape", "memory", "host"); line and column count
    from 1, and are 0 where there is no place.
    """

    def __init__(self, report, kind="", message="", file="", line=0, column=0):
        super().__init__(report)
        self.report = report
        self.kind = kind
        self.message = message
        self.file = file
        self.line = line
        self.column = column


# The C part makes its errors with this class, by the six arguments above.
_tally.set_error_class(Error)
# One VM for each thread: no other may use it.
_own = threading.local()


def vm():
    """The VM of this thread, which eval, run and call use.

    It is opened by the first use, without limits, and closed when the thread
    ends, or with the last array that shows its memory. A value that is given to
    another thread outlives its own there, and its VM is then never closed.
    """
    if not hasattr(_own, "vm"):
        _own.vm = VM()
    return _own.vm


def eval(source, /, **variables):
    """Runs a text and gives its last expression's value.

    The variables stay for later texts. Numbers and texts are copied; whatever
    has the buffer protocol is read where it lies, and may not be resized while
    the script has it. Errors: tally.Error, KeyboardInterrupt, SystemExit.
    """
    return vm().eval(source, **variables)


def run(path, *arguments):
    """Runs the script at a path, whose os.args are the arguments: texts."""
    return vm().run(path, *arguments)


def call(name, *arguments):
    """Calls a function by its name: one of an earlier text's, or the library's."""
    return vm().call(name, *arguments)


def load_ipython_extension(shell):
    """Adds the cell magic %%tally to IPython, which calls this: %load_ext tally."""
    from IPython.core.error import UsageError
    from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

    # Defined here, since tally.eval needs no IPython. Its text is %%tally?'s.
    @magic_arguments("%tally")
    @argument("names", nargs="*", help="Python's variables that the cell reads")
    @argument("-o", "--out", action="append", default=[], metavar="NAME",
              help="a variable of the cell's that Python gets; may be repeated")
    def cell(line, text):
        """Runs a cell of Tally, as tally.eval does, and shows its last value.

        A semicolon at the cell's end hides the value. An error is shown as
        Tally tells it, without the frames of Python.

            %%tally x -o y
            y = x * 2
        """
        given = parse_argstring(cell, line)
        missing = [name for name in given.names if name not in shell.user_ns]
        if missing:
            raise UsageError(f"no variable of Python's: {', '.join(missing)}")
        try:
            value = eval(text, **{name: shell.user_ns[name] for name in given.names})
            shell.push({name: vm()[name] for name in given.out})
        except Error as e:
            e._render_traceback_ = e.report.splitlines
            raise
        return None if text.rstrip().endswith(";") else value

    shell.register_magic_function(cell, "cell", "tally")
