class Node:
    def __init__(self):
        self.next, self.ends = {}, 0


class Trie:
    def __init__(self):
        self.root, self.size = Node(), 1

    def put_in(self, word):
        at = self.root
        for c in word:
            if c not in at.next:
                at.next[c] = Node()
                self.size += 1
            at = at.next[c]
        at.ends += 1

    def reached(self, word):
        at = self.root
        for c in word:
            if c not in at.next:
                return None
            at = at.next[c]
        return at


def below(at, prefix):
    found = []
    if at.ends > 0:
        found.append(prefix)
    for c, to in at.next.items():
        found += below(to, prefix + c)
    return found


def words(n):
    seed = 42
    every = []
    for _ in range(n):
        word = ""
        for _ in range(seed // 64 % 5 + 3):
            seed = (seed * 3877 + 29573) % 139968
            word += "abcdefgh"[seed // 16 % 8]
        every.append(word)
    return every


every = words(15000)
trie = Trie()
for word in every:
    trie.put_in(word)
hits = 0
for word in every:
    if trie.reached(word) is not None:
        hits += 1
    if trie.reached(word[::-1]) is not None:
        hits += 1
found = below(trie.reached("ab"), "ab")
print(trie.size, hits, len(found), found[-1])
