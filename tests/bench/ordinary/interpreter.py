def assembled(source):
    places = {}
    code = []
    for line in source:
        if len(line) == 1:
            places[line[0]] = len(code)
        else:
            code.append(line)
    for i, (op, value) in enumerate(code):
        if op in ("jump", "jump_if"):
            code[i] = (op, places[value])
    return code


def run(code):
    stack = []
    slots = [0] * 8
    pc = steps = 0
    while True:
        op, value = code[pc]
        pc += 1
        steps += 1
        if op == "push":
            stack.append(value)
        elif op == "load":
            stack.append(slots[value])
        elif op == "store":
            slots[value] = stack.pop()
        elif op == "add":
            b = stack.pop()
            stack[-1] += b
        elif op == "mod":
            b = stack.pop()
            stack[-1] %= b
        elif op == "mul":
            b = stack.pop()
            stack[-1] *= b
        elif op == "less":
            b = stack.pop()
            stack[-1] = 1 if stack[-1] < b else 0
        elif op == "jump":
            pc = value
        elif op == "jump_if":
            if stack.pop() != 0:
                pc = value
        elif op == "halt":
            return slots, steps
        else:
            raise ValueError(f"no instruction {op}")


code = assembled([
    ("push", 2), ("store", 0),
    ("outer",),
    ("load", 0), ("push", 3000), ("less", 0), ("jump_if", "body"), ("halt", 0),
    ("body",),
    ("push", 2), ("store", 1),
    ("inner",),
    ("load", 0), ("load", 1), ("load", 1), ("mul", 0), ("less", 0),
    ("jump_if", "prime"),
    ("push", 0), ("load", 0), ("load", 1), ("mod", 0), ("less", 0),
    ("jump_if", "on"), ("jump", "next"),
    ("on",),
    ("load", 1), ("push", 1), ("add", 0), ("store", 1), ("jump", "inner"),
    ("prime",),
    ("load", 2), ("load", 0), ("add", 0), ("store", 2),
    ("next",),
    ("load", 0), ("push", 1), ("add", 0), ("store", 0), ("jump", "outer")])
slots, steps = run(code)
print(slots[2], steps)
