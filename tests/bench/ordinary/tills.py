class Event:
    def __init__(self, time, kind, till):
        self.time, self.kind, self.till = time, kind, till


class Customer:
    def __init__(self, came, needs):
        self.came, self.needs = came, needs


class Till:
    def __init__(self):
        self.queue, self.served, self.busy = [], 0, 0


def later(events, event):
    low, high = 0, len(events)
    while low < high:
        middle = (low + high) // 2
        if events[middle].time > event.time:
            low = middle + 1
        else:
            high = middle
    events.insert(low, event)


def shortest(tills):
    best = 0
    for i, till in enumerate(tills):
        if len(till.queue) < len(tills[best].queue):
            best = i
    return best


def shop(customers):
    seed = 42
    tills = [Till() for _ in range(4)]
    events = [Event(0, "arrive", -1)]
    came, waited = 0, 0
    while len(events) > 0:
        event = events.pop()
        now = event.time
        if event.kind == "arrive":
            seed = (seed * 3877 + 29573) % 139968
            till = shortest(tills)
            customer = Customer(now, seed % 40 + 5)
            tills[till].queue.append(customer)
            if len(tills[till].queue) == 1:
                later(events, Event(now + customer.needs, "done", till))
            came += 1
            if came < customers:
                seed = (seed * 3877 + 29573) % 139968
                later(events, Event(now + seed % 13, "arrive", -1))
        else:
            till = event.till
            customer = tills[till].queue.pop(0)
            tills[till].served += 1
            tills[till].busy += customer.needs
            waited += now - customer.came
            if len(tills[till].queue) > 0:
                coming = tills[till].queue[0]
                later(events, Event(now + coming.needs, "done", till))
    return tills, waited


tills, waited = shop(30_000)
print(waited, tuple(t.served for t in tills), tuple(t.busy for t in tills))
