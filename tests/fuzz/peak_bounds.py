"""Random functions: the bound of `tally explain --peak` is never less than the peak.

    tests/fuzz/peak_bounds.py TALLY [COUNT [FIRST]]    COUNT programs, from seed FIRST
    tests/fuzz/peak_bounds.py --print SEED             a program's functions

Each program has functions of arrays whose lengths only a call knows: elementwise
operations, views, updates of parts and through masks, reductions, calls, loops and
branches. What is bounded is run for several lengths: by itself for large arrays, and
under the promise that the report gives (#:peak) for all. A bound that is less than
the peak, and a promise that is broken, fails. The last line is the sum, and the exit
status 1 if anything failed.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

LENGTHS = ((1, 1), (40, 7), (700, 3), (5, 900), (3000, 4), (30000, 3), (9, 20000), (100, 100), (30000, 3))
LARGE = 8192  # items; smaller arrays may be computed one by one without a promise
FREE = 4096   # numbers, lists and headers

# The shapes of variables: of n, of m, of both, and numbers.
N, M, NM, ONE = 'N', 'M', 'NM', '1'


class Function:
    """A function as lines, made as its random numbers say."""

    def __init__(self, chance, name, callees):
        self.chance, self.name, self.callees = chance, name, callees
        self.lines, self.kinds, self.fresh = [], {}, 0
        self.typed = chance.random() < 0.8
        self.dtype = chance.choice(('float64', 'float64', 'float64', 'float32', 'int64'))
        self.params = [('x', N), ('y', N), ('v', M), ('a', NM), ('b', NM)]
        if not self.typed:  # the report is of items of 8 bytes
            self.params, self.dtype = [('x', N)], self.dtype.replace('32', '64')
        self.kinds.update(self.params)
        for _ in range(chance.randint(1, 5)):
            self.statement('  ')
        result = self.pick(N, M, NM, ONE)
        self.lines.append(f'  {result}')

    def pick(self, *kinds):
        names = [n for n, k in self.kinds.items() if k in kinds]
        return self.chance.choice(names) if names else None

    def new(self, kind):
        """A variable that is made or assigned again, of that kind."""
        c = self.chance
        again = [n for n, k in self.kinds.items() if k == kind]
        if again and c.random() < 0.5:
            return c.choice(again)
        self.fresh += 1
        return f't{self.fresh}'

    # Expressions ------------------------------------------------------------

    def leaf(self, kind):
        c, name = self.chance, self.pick(kind)
        k = c.random()
        if kind == ONE or name is None:
            return c.choice(('2', '0.5', '3', 'c')) if kind == ONE else None
        if k < 0.1 and kind == N:
            return f'{name}[::-1]'
        if k < 0.15 and kind == NM:
            return f'{name}[::-1]'
        if k < 0.2 and kind == N:
            return f'roll({name}, 1)'
        if k < 0.25 and kind == N and self.pick(NM):
            return f'{self.pick(NM)}[:, 0]'
        if k < 0.35 and kind == M and self.pick(NM):
            return f'{self.pick(NM)}[{c.choice(("0", "-1"))}]'
        return name

    def expression(self, kind, depth=0):
        """Text of that kind; None: there is none."""
        c = self.chance
        k = c.random()
        if kind == ONE:
            of = self.pick(N, M, NM)
            if depth < 2 and of and k < 0.5:
                inner = self.expression(self.kinds[of], depth + 1) or of
                return f'{c.choice(("sum", "mean", "max"))}({inner})'
            return self.leaf(ONE)
        if depth > 2 or k < 0.15:
            return self.leaf(kind)
        left = self.expression(kind, depth + 1)
        if left is None:
            return None
        if k < 0.3:
            return f'{c.choice(("sqrt", "abs", "exp", "-", "float32", "float64", "int64"))}({left})'
        if k < 0.36 and kind == NM and self.pick(N):
            return f'({left} {c.choice("+*-")} {self.expression(N, depth + 1)}[:, none])'
        if k < 0.44 and kind == NM and self.pick(M):
            return f'({left} {c.choice("+*-")} {self.expression(M, depth + 1)})'
        if k < 0.5:
            return f'where({left} > {self.leaf(ONE)}, {self.expression(kind, depth + 1)}, {self.leaf(ONE)})'
        if k < 0.54 and kind == N and self.pick(NM):
            return f'sum({self.expression(NM, depth + 1)}, axis: 1)'
        if k < 0.58 and kind != NM:
            return f'cumulative_sum({left})'
        if k < 0.64 and self.callees and kind == N:
            f = c.choice(self.callees)
            return f'{f}({left}, {c.choice(("1", "2.0"))})'
        if k < 0.68 and kind == N:
            return f'clip({left}, 0, 1)'
        right = self.expression(c.choice((kind, kind, ONE)), depth + 1)
        return f'({left} {c.choice(("+", "-", "*", "/", "//", "%"))} {right})'

    # Statements -------------------------------------------------------------

    def add(self, indent, text):
        self.lines.append(indent + text)

    def statement(self, indent):
        kinds = (self.assign, self.assign, self.assign, self.update, self.row, self.mask,
                 self.view, self.alias, self.both, self.take, self.pair, self.shift, self.select)
        if len(indent) < 6:
            kinds += (self.loop, self.branch)
        self.chance.choice(kinds)(indent)

    def assign(self, indent):
        kind = self.chance.choice((N, N, M, NM, NM, ONE))
        text = self.expression(kind)
        if text:
            name = self.new(kind)
            self.add(indent, f'{name} = {text}')
            self.kinds[name] = kind

    def alias(self, indent):
        kind = self.chance.choice((N, NM))
        old = self.pick(kind)
        if old:
            name = self.new(kind)
            self.add(indent, f'{name} = {old}')
            self.kinds[name] = kind

    def update(self, indent):
        c, name = self.chance, self.pick(N, NM)
        if name is None:
            return
        part = c.choice(('[::2]', '[1:]', '[:-1]', '[:]', '[0]'))
        how = c.choice(('+= 1', '*= 2', '= 0', '= 1'))
        self.add(indent, f'{name}{part} {how}')

    def row(self, indent):
        name, text = self.pick(NM), self.expression(M)
        if name and text:
            how = self.chance.choice(('=', '+='))
            self.add(indent, f'{name}[{self.chance.choice(("0", "-1", ":"))}] {how} {text}')

    def mask(self, indent):
        name = self.pick(N, NM)
        if name:
            of = self.chance.choice((name, self.pick(self.kinds[name])))
            self.add(indent, f'{name}[{of} > 0.5] {self.chance.choice(("+= 1", "= 0"))}')

    def both(self, indent):
        x, y = self.pick(N), self.pick(N)
        if x:
            s, t = self.new(N), self.new(N)
            if s == t:
                return
            self.add(indent, f'{s} = {x} + {y}')
            self.add(indent, f'{t} = {x} - {y} * 2')
            self.kinds[s] = self.kinds[t] = N

    def view(self, indent):
        """A part that is used once, in what has another length than all else."""
        c, x = self.chance, self.pick(N)
        if x is None:
            return
        self.fresh += 1
        name = f's{self.fresh}'
        self.add(indent, f'{name} = {x}[1:]')
        if c.random() < 0.4:
            self.add(indent, f'{x} = {x} * 2.0')
        self.add(indent, f'{name} = {name} * {x}[:-1] + {name}')
        if c.random() < 0.5:
            self.add(indent, f'{x}[0] = sum({name})')

    def take(self, indent):
        """A row that may keep all of its array alive."""
        a = self.pick(NM)
        if a:
            self.fresh += 1
            name = f'r{self.fresh}'
            self.add(indent, f'{name} = ({a} * 2.0)[0]' if self.chance.random() < 0.5 else f'{name} = {a}[0]')
            self.kinds[name] = M

    def pair(self, indent):
        a = self.pick(NM)
        if a:
            self.add(indent, f'{a}[0], {a}[-1] = {a}[-1], {a}[0]')

    def shift(self, indent):
        """Parts of an array from its other parts."""
        name = self.pick(N, NM)
        if name:
            parts = [('[1:]', '[:-1]'), ('[:]', '[::-1]'), ('[:-1]', '[1:]'), ('[::2]', '[::2]'), ('[:5]', '[-5:]')]
            if self.kinds[name] == NM:
                parts += [('[:]', '[0]'), ('[:, 1:]', '[:, :-1]'), ('[0]', '[-1]')]
            to, of = self.chance.choice(parts)
            self.add(indent, f'{name}{to} {self.chance.choice(("=", "=", "+="))} {name}{of}'
                     + self.chance.choice(('', '', ' * 0.5' if 'float' in self.dtype else ' * 2')))

    def select(self, indent):
        """Items that a mask or an index array takes, of another length than all else."""
        c, x, a = self.chance, self.pick(N), self.pick(NM)
        self.fresh += 1
        part = c.choice((f'{x}[{self.pick(N)} > 2]', f'{x}[int64({self.pick(N)} * 0)]') + (
            (f'{a}[{x} > 2]', f'{a}[:, {self.pick(M)} > 2]') if a else ()))
        if c.random() < 0.3:
            self.add(indent, f'{part} {c.choice(("= 0", "+= 1"))}')
        else:
            self.add(indent, f's{self.fresh} = {part}')
            self.add(indent, f'{x}[0] = sum(s{self.fresh}{c.choice(("", " * 2"))})')

    def block(self, indent):
        """Statements whose new variables are gone behind them."""
        before = dict(self.kinds)
        at = len(self.lines)
        for _ in range(self.chance.randint(1, 3)):
            self.statement(indent + '  ')
        if len(self.lines) == at:
            self.add(indent + '  ', 'c = 1')
        self.kinds = before

    def loop(self, indent):
        self.add(indent, f'for i in 0..{self.chance.choice(("3", "c"))} {{')
        self.block(indent)
        self.add(indent, '}')

    def branch(self, indent):
        self.add(indent, f'if c > {self.chance.choice("12")} {{')
        self.block(indent)
        if self.chance.random() < 0.6:
            self.add(indent, '} else {')
            self.block(indent)
        self.add(indent, '}')

    def text(self, promise=None):
        types = {N: 'N', M: 'M', NM: 'N * M'}
        params = [f'{n} :: `{types[k]} * {self.dtype}`' if self.typed else n for n, k in self.params]
        head = '' if promise is None else f'#:peak {promise}\n'
        return head + '\n'.join([f'fn {self.name}({", ".join(params)}, c) {{', *self.lines, '}']) + '\n'


HELPERS = '''fn smooth(x, k) = x * 0.5 + k
fn twice(x, k) {
  y = x * 2.0
  y * y + y * k
}
fn steps(x, k) {
  for i in 0..3 { x = x + k }
  x[0] = 1
  x
}
'''


def make(seed):
    chance = random.Random(seed)
    callees = ('smooth', 'twice', 'steps')
    return [Function(chance, f'f{i}', callees) for i in range(12)]


def bounds(report):
    """Of each function that the report bounds, its formula."""
    return dict(re.findall(r'^fn (f\d+), line \d+\n  #:peak (.*)$', report, re.M))


def run(tally, *args):
    done = subprocess.run((tally, *args), capture_output=True, text=True, timeout=300)
    return done.stdout, done.stderr


def program(functions, found, promise):
    """A script that prints seed, function, length, and what it needed at most."""
    out = ['import memory', HELPERS]
    for f in functions:
        if f.name in found:
            params = ', '.join(n for n, _ in f.params)
            out.append(f.text(found[f.name] if promise else None))
            out.append(f'fn bound_{f.name}({params}) = {found[f.name]}\n')
    for n, m in LENGTHS:
        for f in functions:
            if f.name not in found or not promise and min(n, n * m if f.typed else n, m if f.typed else n) < 2 and n < LARGE:
                continue
            out.append(f'x = {f.dtype}(linspace(1, 9, {n}))\ny = x + x\nv = {f.dtype}(linspace(1, 9, {m}))\n'
                       f'a = {f.dtype}(reshape(linspace(1, 9, {n * m}), ({n}, {m})))\nb = a + a\n')
            args = ', '.join(n for n, _ in f.params)
            for c in (1, 2):
                out.append(f'try {{ print("{f.name}", {n}, {m}, bound_{f.name}({args}), memory.measure(() => '
                           f'{f.name}({args}, {c})).peak_bytes) }} catch e {{ '
                           f'print("{f.name}", {n}, {m}, if e.kind == "memory" {{ -1 }} else {{ -2 }}, '
                           'replace(e.message, " ", "_")) }')
    return '\n'.join(out)


def check(tally, seed, folder, counts):
    functions = make(seed)
    path = os.path.join(folder, f'{seed}.tly')
    with open(path, 'w') as file:
        file.write(HELPERS + ''.join(f.text() for f in functions))
    report, errors = run(tally, 'explain', '--peak', path)
    found = bounds(report)
    counts['functions'] += len(functions)
    counts['bounded'] += len(found)
    bad = []
    if not found and errors:
        bad.append(errors)
    for promise in (False, True):
        with open(path, 'w') as file:
            file.write(program(functions, found, promise))
        out, errors = run(tally, path)
        if errors:
            bad.append(errors)
        for line in out.splitlines():
            name, n, m, bound, peak = line.split()
            if bound == '-2':
                continue
            way = 'promised' if promise else 'alone'
            if bound == '-1':
                bad.append(f'{name} {way} of {n}, {m}: {peak}')
                continue
            large = int(n) >= LARGE
            if (promise or large) and int(peak) > int(bound) + FREE:
                bad.append(f'{name} {way} of {n}, {m}: {bound} bytes, and {peak} were needed')
            if not promise and large:
                counts['runs'] += 1
                counts['tight'] += int(peak) + FREE >= int(bound)
    for text in bad:
        print(f'seed {seed}: {text}')
    return not bad


def main():
    if sys.argv[1] == '--print':
        print(HELPERS + '\n'.join(f.text() for f in make(int(sys.argv[2]))))
        return
    count, first = (int(a) for a in (*sys.argv[2:4], '20', '1')[:2]) if len(sys.argv) > 3 else (
        int(sys.argv[2]) if len(sys.argv) > 2 else 20, 1)
    counts = dict(functions=0, bounded=0, runs=0, tight=0)
    with tempfile.TemporaryDirectory() as folder:
        passed = sum(check(sys.argv[1], seed, folder, counts) for seed in range(first, first + count))
    print('{functions} functions, {bounded} bounded; in {tight} of {runs} runs all of it was needed'.format(**counts))
    print(f'{passed} passed, {count - passed} failed')
    sys.exit(passed != count)


main()
