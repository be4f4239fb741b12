def tokens(s): return s.replace("(", " ( ").replace(")", " ) ").split()
def parse(t, i):
    if t[i] == "(":
        l = []
        i += 1
        while t[i] != ")":
            e, i = parse(t, i)
            l.append(e)
        return l, i + 1
    v = t[i]
    return (int(v) if v[0] in "0123456789" else v), i + 1
def value(e, env):
    k = type(e)
    if k == str: return env[e]
    if k == int: return e
    op = e[0]
    if op == "if": return value(e[2], env) if value(e[1], env) else value(e[3], env)
    if op == "+": return value(e[1], env) + value(e[2], env)
    if op == "-": return value(e[1], env) - value(e[2], env)
    if op == "<": return value(e[1], env) < value(e[2], env)
    f = env[op]
    inner = dict(env)
    for i, p in enumerate(f["params"]): inner[p] = value(e[i + 1], env)
    return value(f["body"], inner)
def program(text):
    t = tokens(text)
    env = {}
    i = 0
    out = []
    while i < len(t):
        e, i = parse(t, i)
        if type(e) != str and e[0] == "define": env[e[1][0]] = {"params": e[1][1:], "body": e[2]}
        else: out.append(value(e, env))
    return tuple(out)
print(program("""
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (tak x y z) (if (< y x) (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z))
(fib 22)
(tak 12 7 1)
"""))
