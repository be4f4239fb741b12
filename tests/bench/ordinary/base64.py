LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def encoded(data):
    out = []
    n = len(data)
    for i in range(0, n, 3):
        a = data[i]
        b = data[i + 1] if i + 1 < n else 0
        c = data[i + 2] if i + 2 < n else 0
        word = a << 16 | b << 8 | c
        out.append(LETTERS[word >> 18])
        out.append(LETTERS[word >> 12 & 63])
        out.append(LETTERS[word >> 6 & 63] if i + 1 < n else "=")
        out.append(LETTERS[word & 63] if i + 2 < n else "=")
    return "".join(out)


def decoded(text):
    places = {letter: i for i, letter in enumerate(LETTERS)}
    out = []
    word = count = 0
    for letter in text:
        if letter == "=":
            break
        word = word << 6 | places[letter]
        count += 1
        if count == 4:
            out.append(word >> 16)
            out.append(word >> 8 & 255)
            out.append(word & 255)
            word = count = 0
    if count == 2:
        out.append(word >> 4)
    if count == 3:
        out.append(word >> 10)
        out.append(word >> 2 & 255)
    return bytes(out)


data = bytes([i * i % 251 for i in range(150_001)])
text = encoded(data)
back = decoded(text)
print(len(text), text[-8:], len(back),
      sum(a == b for a, b in zip(back, data)))
