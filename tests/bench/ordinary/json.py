def blanks(s, at):
    while at < len(s) and (s[at] == " " or s[at] == "\n"):
        at += 1
    return at


def text_at(s, at):
    begin = at = at + 1
    while s[at] != '"':
        at += 1
    return s[begin:at], at + 1


def number_at(s, at):
    begin = at
    while at < len(s) and s[at] in "0123456789+-.eE":
        at += 1
    return float(s[begin:at]), at


def object_at(s, at):
    found = {}
    at = blanks(s, at + 1)
    if s[at] == "}":
        return found, at + 1
    while True:
        key, at = text_at(s, at)
        at = blanks(s, at)
        if s[at] != ":":
            raise ValueError("a colon is missing")
        found[key], at = value_at(s, at + 1)
        at = blanks(s, at)
        if s[at] == "}":
            return found, at + 1
        at = blanks(s, at + 1)


def array_at(s, at):
    found = []
    at = blanks(s, at + 1)
    if s[at] == "]":
        return found, at + 1
    while True:
        item, at = value_at(s, at)
        found.append(item)
        at = blanks(s, at)
        if s[at] == "]":
            return found, at + 1
        at += 1


def value_at(s, at):
    at = blanks(s, at)
    c = s[at]
    if c == "{":
        return object_at(s, at)
    if c == "[":
        return array_at(s, at)
    if c == '"':
        return text_at(s, at)
    if c == "t":
        return True, at + 4
    if c == "f":
        return False, at + 5
    if c == "n":
        return None, at + 4
    return number_at(s, at)


def written(n):
    parts = [f'{{"id": {i}, "name": "item {i}", "on": true, '
             f'"at": [{i * 0.5}, {i}, null], "tags": {{"a": {i % 7}}}}}'
             for i in range(n)]
    return "[" + ",\n ".join(parts) + "]"


s = written(600)
total = 0.0
for _ in range(5):
    every, at = value_at(s, 0)
    for item in every:
        total += (item["id"] + item["at"][0] + item["tags"]["a"]
                  + len(item["name"]))
print(f"{total:.1f} {len(s)}")
