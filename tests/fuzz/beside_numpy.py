"""Random well-typed array programs, by Tally and by NumPy, bit for bit.

    tests/fuzz/beside_numpy.py TALLY [COUNT [FIRST]]    COUNT programs, from seed FIRST
    tests/fuzz/beside_numpy.py --print SEED             a program, in both languages

Each program makes some arrays and changes them: elementwise operations, casts,
broadcasting, views, updates of parts and through masks, reductions that round
nowhere, loops. Every result is compared by its dtype, shape and bytes. Tally runs
the programs as they are, without reuse and fusion, with one thread and with two,
and with each instruction set: all must print what NumPy computes. One program in
a hundred has arrays long enough for several threads.
The last line is the sum, and the exit status 1 if anything failed.
"""
import os
import random
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print('skipped: needs NumPy\n0 passed, 0 failed')
    sys.exit(0)

FLOATS = ('float64', 'float32')
INTS = ('int64', 'int32', 'uint8')
WAYS = (
    ('as it is', {}, ()),
    ('without reuse', {}, ('--no-reuse',)),
    ('one thread', {}, ('--threads', '1')),
    ('two threads', {}, ('--threads', '2')),
    ('base', {'TALLY_ISA': 'base'}, ()),
    ('avx2', {'TALLY_ISA': 'avx2'}, ()),
)


class Program:
    """One program as lines of (Tally, Python), made as its seed says."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.lines, self.kinds = [], {}
        many = seed % 100 == 0
        self.n = self.chance.choice((70000, 300000) if many else
                                    (1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 100))
        self.m = 1 if many else self.chance.choice((1, 2, 3, 5, 8))
        for i in range(self.chance.randint(2, 3)):
            self.make('abc'[i])
        for _ in range(self.chance.randint(3, 9)):
            self.chance.choice((self.operate, self.operate, self.operate,
                                self.update, self.mask, self.loop, self.cast,
                                self.view, self.choose))()

    def add(self, tally, python=None):
        self.lines.append((tally, python or tally))

    def pick(self, *dtypes):
        names = [n for n, k in self.kinds.items() if not dtypes or k in dtypes]
        return self.chance.choice(names) if names else None

    def make(self, name):
        n, m, c = self.n, self.m, self.chance
        dtype = c.choice(FLOATS + FLOATS + INTS)
        step, shift = c.choice((1, 3, 7, 11)), c.randint(0, 50)
        size = n * m
        self.add(f'{name} = reshape((arange({size}) * {step} + {shift}) % 101,'
                 f' ({m}, {n}))',
                 f'{name} = ((np.arange({size}) * {step} + {shift}) % 101)'
                 f'.reshape({m}, {n})')
        if dtype in FLOATS:
            self.add(f'{name} = {dtype}({name} / 7 - 3)',
                     f'{name} = ({name} / 7 - 3).astype(np.{dtype})')
        else:
            self.add(f'{name} = {dtype}({name})',
                     f'{name} = {name}.astype(np.{dtype})')
        self.kinds[name] = dtype

    def term(self, dtype, depth=0):
        """An expression of that dtype and of the full shape, in both."""
        c = self.chance
        if depth > 2 or c.random() < 0.3:
            name = self.pick(dtype)
            return c.choice(((name, name),
                             (f'{name}[:, ::-1]', f'{name}[:, ::-1]'),
                             (f'{name}.T.T', f'{name}.T.T'),
                             (f'{name}[::-1]', f'{name}[::-1]')))
        x = self.term(dtype, depth + 1)
        y = self.term(dtype, depth + 1)
        if dtype in FLOATS:
            op = c.choice('+-*/+-*mMqa')
        else:
            op = c.choice('+-*+-*mM&|^')
        both = lambda form: (form.format(x[0], y[0]), form.format(x[1], y[1]))
        if op in '+-*/&|^':
            return both('({} ' + op + ' {})') if op not in '&|^' else (
                both('{}({{}}, {{}})'.format({'&': 'bitwise_and',
                     '|': 'bitwise_or', '^': 'bitwise_xor'}[op]))[0],
                both('({} ' + op + ' {})')[1])
        if op in 'mM':
            # Of two zeros NumPy gives the second or the first, as it is built.
            name = 'minimum' if op == 'm' else 'maximum'
            return both(name + '({}, {})')[0], both(name + '({}, {})')[1]
        name = 'sqrt' if op == 'q' else 'abs'
        return (f'{name}(abs({x[0]}))', f'np.{name}(np.abs({x[1]}))')

    def target(self):
        """Where a result goes: a new name, or an old one."""
        return self.chance.choice('abcdef')

    def operate(self):
        dtype = self.kinds[self.pick()]
        tally, python = self.term(dtype)
        name = self.target()
        self.add(f'{name} = {tally}', f'{name} = np.array({python})')
        self.kinds[name] = dtype

    def update(self):
        name, c = self.pick(), self.chance
        tally, python = self.term(self.kinds[name], 1)
        low = c.randint(0, self.n - 1)
        high = c.randint(low, self.n)
        part = c.choice((f'[:, {low}:{high}]', f'[0, {low}:]', '[:, ::2]',
                         '[::-1]'))
        op = c.choice(('=', '=', '+=', '-='))
        self.add(f'{name}{part} {op} ({tally}){part}',
                 f'{name}{part} {op} np.array({python}){part}')

    def mask(self):
        dtype = self.kinds[self.pick()]
        name = self.pick(dtype)
        tally, python = self.term(dtype, 1)
        self.add(f'{name}[{tally} > {name}] = {dtype}(5)',
                 f'{name}[{python} > {name}] = np.{dtype}(5)')

    def choose(self):
        dtype = self.kinds[self.pick()]
        x, y, z = (self.term(dtype, 1) for _ in range(3))
        w = self.pick(dtype)
        name = self.target()
        self.add(f'{name} = where({x[0]} > {w}, {y[0]}, {z[0]})',
                 f'{name} = np.where({x[1]} > {w}, {y[1]}, {z[1]})')
        self.kinds[name] = dtype

    def cast(self):
        name, to = self.pick(), self.target()
        dtype = self.chance.choice(FLOATS)
        self.add(f'{to} = {dtype}({name})', f'{to} = {name}.astype(np.{dtype})')
        self.kinds[to] = dtype

    def view(self):
        """Rows are rolled, or sorted, or come from a row that is broadcast."""
        name, to = self.pick(), self.target()
        k, dtype = self.chance.randint(0, 5), self.kinds[self.pick()]
        name = self.pick(dtype)
        # Not of floats: which zero is the largest is not said.
        largest = () if dtype in FLOATS else (
            (f'{name} + max({name}, axis: 1, keepdims: true)',
             f'{name} + {name}.max(axis=1, keepdims=True)'),
            (f'{name} - min({name}, axis: 0)', f'{name} - {name}.min(axis=0)'))
        tally, python = self.chance.choice(largest + (
            (f'roll({name}, {k}, axis: 1)', f'np.roll({name}, {k}, axis=1)'),
            (f'{name} + {name}[0]', f'{name} + {name}[0]'),
            (f'{name} - {name}[:, :1]', f'{name} - {name}[:, :1]'),
            (f'{name} * {name}[:1]', f'{name} * {name}[:1]')))
        self.add(f'{to} = {tally}', f'{to} = np.array({python})')
        self.kinds[to] = dtype

    def loop(self):
        name = self.pick()
        tally, python = self.term(self.kinds[name], 2)
        times = self.chance.randint(1, 4)
        self.add(f'for i in 0..{times} {{ {name} = {name} + {tally} }}',
                 f'for i in range({times}): {name} = {name} + {python}')

    def tally(self):
        shown = '\n'.join(f'show({name})' for name in sorted(self.kinds))
        return '\n'.join(line for line, _ in self.lines) + '\n' + shown + '\n'

    def numpy(self):
        """What the program must print."""
        names = {'np': np,
                 'minimum': lambda x, y: np.where(np.isnan(x) | (x <= y), x, y),
                 'maximum': lambda x, y: np.where(np.isnan(x) | (x >= y), x, y)}
        with np.errstate(all='ignore'):
            exec('\n'.join(line for _, line in self.lines), names)
            return [show(names[name]) for name in sorted(self.kinds)]


def show(x):
    if x.dtype.kind == 'f':
        x = np.where(np.isnan(x), x.dtype.type(0.125), x)
    crc = zlib.crc32(np.ascontiguousarray(x).tobytes())
    return f'{x.dtype} {x.shape[0]} {x.shape[1]} {crc}'


PRELUDE = '''import binary
fn show(x) {
  if x.dtype == `float64` { x = where(isnan(x), 0.125, x) }
  if x.dtype == `float32` { x = where(isnan(x), float32(0.125), x) }
  print(x.dtype, x.shape[0], x.shape[1], binary.crc32(binary.encode(x)))
}
'''


def run(tally, programs, way):
    """The lines that each program prints in a way of running it."""
    _, environment, options = way
    with tempfile.NamedTemporaryFile('w', suffix='.tly') as script:
        script.write(PRELUDE)
        for i, program in enumerate(programs):
            # A function each, so that names are forgotten.
            script.write(f'fn p{i}() {{\n{program.tally()}}}\n')
            script.write(f'print("#")\ntry {{ p{i}() }} catch e {{'
                         ' print(e.kind, e.message) }\n')
        script.flush()
        done = subprocess.run([tally, *options, script.name],
                              env={**os.environ, **environment},
                              capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr[:2000])
    parts = done.stdout.split('#\n')[1:]
    return [part.splitlines() for part in parts]


def main():
    if sys.argv[1:2] == ['--print']:
        program = Program(int(sys.argv[2]))
        print(PRELUDE + program.tally())
        print('\n'.join('# ' + line for _, line in program.lines))
        return 0
    tally = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    for begin in range(first, first + count, 200):
        seeds = range(begin, min(begin + 200, first + count))
        programs = [Program(seed) for seed in seeds]
        expected = [program.numpy() for program in programs]
        for way in WAYS:
            got = run(tally, programs, way)
            for i, seed in enumerate(seeds):
                if i < len(got) and got[i] == expected[i]:
                    passed += 1
                else:
                    failed += 1
                    if failed <= 10:
                        print(f'FAILED: seed {seed}, {way[0]}: '
                              f'{got[i] if i < len(got) else "nothing"}, '
                              f'expected {expected[i]}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
