class Cell:
    def __init__(self, formula, value, known):
        self.formula, self.value, self.known = formula, value, known


def name_of(row, column):
    return "ABCDEFGH"[column] + f"{row}"


def made(rows):
    seed = 42
    cells = {}
    for row in range(rows):
        for column in range(8):
            seed = (seed * 3877 + 29573) % 139968
            cell = Cell(None, seed % 100, True)
            if row > 0 and column > 0:
                a = name_of(row - 1, seed % 8)
                b = name_of(row, seed % column)
                op = ("+", "-", "*")[seed // 64 % 3]
                cell = Cell((op, a, b), 0, False)
            cells[name_of(row, column)] = cell
    return cells


def value_of(cells, name):
    if cells[name].known:
        return cells[name].value
    op, left, right = cells[name].formula
    a = value_of(cells, left)
    b = value_of(cells, right)
    if op == "+":
        value = a + b
    elif op == "-":
        value = a - b
    else:
        value = a * b % 10007
    cells[name].value = value
    cells[name].known = True
    return value


def forgotten(cells):
    for name in cells:
        if cells[name].formula is not None:
            cells[name].known = False


cells = made(200)
total = 0
for turn in range(20):
    cells["A0"].value = turn
    forgotten(cells)
    for column in "ABCDEFGH":
        for row in range(200):
            value = value_of(cells, f"{column}{row}")
            total = (total * 3 + value) % 1000003
print(len(cells), total)
