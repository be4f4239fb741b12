def push(heap, item):
    heap.append(item)
    i = len(heap) - 1
    while i > 0:
        up = (i - 1) // 2
        if heap[up][0] <= heap[i][0]:
            break
        heap[up], heap[i] = heap[i], heap[up]
        i = up


def pop_least(heap):
    last = heap.pop()
    if not heap:
        return last
    least = heap[0]
    heap[0] = last
    i = 0
    n = len(heap)
    while True:
        small = i
        for child in range(2 * i + 1, 2 * i + 3):
            if child < n and heap[child][0] < heap[small][0]:
                small = child
        if small == i:
            break
        heap[small], heap[i] = heap[i], heap[small]
        i = small
    return least


def graph(n, degree):
    seed = 42
    edges = []
    for i in range(n):
        out = []
        for _ in range(degree):
            seed = (seed * 3877 + 29573) % 139968
            out.append((seed % n, seed % 97 + 1))
        out.append(((i + 1) % n, 100))
        edges.append(out)
    return edges


def distances(edges, source):
    far = 1 << 40
    distance = [far] * len(edges)
    distance[source] = 0
    heap = [(0, source)]
    while heap:
        d, node = pop_least(heap)
        if d > distance[node]:
            continue
        for to, weight in edges[node]:
            further = d + weight
            if further < distance[to]:
                distance[to] = further
                push(heap, (further, to))
    return distance


edges = graph(2000, 5)
total = 0
for source in range(6):
    total += sum(distances(edges, source))
print(total)
