def matched(code):
    jumps = {}
    opened = []
    for i, c in enumerate(code):
        if c == "[":
            opened.append(i)
        elif c == "]":
            start = opened.pop()
            jumps[start] = i
            jumps[i] = start
    return jumps


def run(code):
    jumps = matched(code)
    tape = bytearray(100)
    at = pc = steps = 0
    out = ""
    while pc < len(code):
        c = code[pc]
        if c == ">":
            at += 1
        elif c == "<":
            at -= 1
        elif c == "+":
            tape[at] = (tape[at] + 1) & 255
        elif c == "-":
            tape[at] = (tape[at] - 1) & 255
        elif c == ".":
            out += chr(tape[at])
        elif c == "[":
            if tape[at] == 0:
                pc = jumps[pc]
        elif c == "]":
            if tape[at] != 0:
                pc = jumps[pc]
        pc += 1
        steps += 1
    return out, steps


code = ("++++++++++[>+++++++++[>++++++++[>++++++++++++[>++++[>+>+<<-]"
        "<-]<-]<-]<-]>>>>>>>[-]++++++++[>++++++++<-]>+.+.+.")
out, steps = run(code)
print(out, steps)
