class Token:
    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class Node:
    def __init__(self, op, value=None, left=None, right=None):
        self.op, self.value, self.left, self.right = op, value, left, right


def tokens(s):
    found = []
    i = 0
    while i < len(s):
        c = s[i]
        if c == " ":
            i += 1
        elif "0" <= c <= "9":
            begin = i
            while i < len(s) and "0" <= s[i] <= "9":
                i += 1
            found.append(Token("number", int(s[begin:i])))
        elif "a" <= c <= "z":
            begin = i
            while i < len(s) and "a" <= s[i] <= "z":
                i += 1
            found.append(Token("name", s[begin:i]))
        else:
            found.append(Token(c, None))
            i += 1
    found.append(Token("end", None))
    return found


LEVELS = {"+": 1, "-": 1, "*": 2, "%": 2}


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0

    def primary(self):
        t = self.tokens[self.at]
        self.at += 1
        if t.kind == "(":
            node = self.binary(0)
            if self.tokens[self.at].kind != ")":
                raise ValueError("a parenthesis is missing")
            self.at += 1
            return node
        if t.kind == "-":
            return Node("neg", left=self.primary())
        if t.kind == "number" or t.kind == "name":
            return Node(t.kind, t.value)
        raise ValueError(f"unexpected {t.kind}")

    def binary(self, level):
        left = self.primary()
        while True:
            op = self.tokens[self.at].kind
            if LEVELS.get(op, 0) <= level:
                return left
            self.at += 1
            right = self.binary(LEVELS[op])
            left = Node(op, left=left, right=right)


def value(node, names):
    op = node.op
    if op == "number":
        return node.value
    if op == "name":
        return names[node.value]
    if op == "neg":
        return -value(node.left, names)
    a = value(node.left, names)
    b = value(node.right, names)
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    return a % b


texts = ["(alpha + 3) * 14 - beta % (7 + 2)",
         "-alpha * (beta - 12) + 4 * (alpha - -beta * 2) % 1001",
         "1 + 2 * 3 - (4 + 5 * (6 - 7)) * alpha + beta * beta % 97"]
total = 0
for turn in range(1000):
    names = {"alpha": turn, "beta": turn % 17 + 1}
    for text in texts:
        tree = Parser(text).binary(0)
        total += value(tree, names)
        names["alpha"] += 1
        total += value(tree, names)
print(total)
