STAY, EDIT, EQUAL, SCALE = range(4)
WEAKEST = 6


class Variable:
    def __init__(self, value):
        self.value, self.stay, self.strength = value, True, WEAKEST
        self.mark, self.by, self.uses = 0, None, []


class Constraint:
    def __init__(self, kind, strength, a, b, factor, offset):
        self.kind, self.strength, self.a, self.b = kind, strength, a, b
        self.factor, self.offset, self.out = factor, offset, None

    def input(self):
        return self.a if self.out is self.b else self.b

    def inputs_known(self, mark):
        if self.kind <= EDIT:
            return True
        v = self.input()
        return v.mark == mark or v.stay or v.by is None

    def execute(self):
        if self.kind == EQUAL:
            self.out.value = self.input().value
        elif self.kind == SCALE:
            if self.out is self.b:
                self.b.value = self.a.value * self.factor + self.offset
            else:
                self.a.value = (self.b.value - self.offset) // self.factor

    def recalculate(self):
        out = self.out
        if self.kind <= EDIT:
            out.strength = self.strength
            out.stay = self.kind == STAY
        else:
            v = self.input()
            out.strength = max(self.strength, v.strength)
            out.stay = v.stay
            if v.stay:
                self.execute()

    def output_for(self, mark):
        a, b = self.a, self.b
        if self.kind <= EDIT:
            return b if b.mark != mark and self.strength < b.strength else None
        if a.mark == mark:
            return b if b.mark != mark and self.strength < b.strength else None
        if b.mark == mark:
            return a if self.strength < a.strength else None
        if a.strength > b.strength:
            return a if self.strength < a.strength else None
        return b if self.strength < b.strength else None


class Solver:
    def __init__(self):
        self.mark = 0

    def constraint(self, kind, strength, a, b, factor=1, offset=0):
        c = Constraint(kind, strength, a, b, factor, offset)
        if a is not None:
            a.uses.append(c)
        b.uses.append(c)
        self.add(c)
        return c

    def satisfy(self, c, mark):
        c.out = out = c.output_for(mark)
        if out is None:
            if c.strength == 0:
                raise ValueError("a required constraint fails")
            return None
        if c.kind > EDIT:
            c.input().mark = mark
        aside = out.by
        if aside is not None:
            aside.out = None
        out.by = c
        self.propagate(c, mark)
        out.mark = mark
        return aside

    def add(self, c):
        self.mark += 1
        mark = self.mark
        while c is not None:
            c = self.satisfy(c, mark)

    def propagate(self, c, mark):
        todo = [c]
        while todo:
            c = todo.pop()
            out = c.out
            if out.mark == mark:
                raise ValueError("a cycle")
            c.recalculate()
            for user in out.uses:
                if user is not out.by and user.out is not None:
                    todo.append(user)

    def remove(self, c):
        out = c.out
        c.out = None
        c.b.uses.remove(c)
        if out is None:
            return
        out.by = None
        out.strength = WEAKEST
        out.stay = True
        unsatisfied = []
        todo = [out]
        while todo:
            v = todo.pop()
            for user in v.uses:
                if user.out is None:
                    unsatisfied.append(user)
                elif user is not v.by:
                    user.recalculate()
                    todo.append(user.out)
        for user in sorted(unsatisfied, key=lambda u: u.strength):
            self.add(user)

    def plan_from(self, c):
        self.mark += 1
        mark = self.mark
        plan = []
        todo = [c]
        while todo:
            c = todo.pop()
            out = c.out
            if out.mark != mark and c.inputs_known(mark):
                plan.append(c)
                out.mark = mark
                for user in out.uses:
                    if user is not out.by and user.out is not None:
                        todo.append(user)
        return plan

    def change(self, v, values):
        edit = self.constraint(EDIT, 2, None, v)
        plan = self.plan_from(edit)
        for value in values:
            v.value = value
            for c in plan:
                c.execute()
        self.remove(edit)


def chain(n):
    s = Solver()
    first = v = Variable(0)
    for _ in range(n):
        before, v = v, Variable(0)
        s.constraint(EQUAL, 0, before, v)
    s.constraint(STAY, 4, None, v)
    s.change(first, range(40))
    return v.value


def projection(n):
    s = Solver()
    pairs = []
    for i in range(n):
        a, b = Variable(i), Variable(i)
        s.constraint(STAY, 5, None, a)
        s.constraint(SCALE, 0, a, b, 10, 1000)
        pairs.append((a, b))
    total = 0
    for a, b in pairs:
        s.change(a, range(17, 19))
        total += b.value
        s.change(b, range(1050, 1052))
        total += a.value
    return total


print(chain(3000), projection(3000))
