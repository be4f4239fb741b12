class Event:
    def __init__(self, time, kind, who):
        self.time, self.kind, self.who = time, kind, who


class Customer:
    def __init__(self, arrived, work):
        self.arrived, self.work = arrived, work
        self.served = self.left = -1.0


class Counter:
    def __init__(self):
        self.customer, self.busy, self.done = -1, 0.0, 0


class Bank:
    def __init__(self, most):
        self.seed, self.most = 7, most
        self.events, self.customers, self.queue = [], [], []
        self.head = self.longest = 0
        self.counters = [Counter() for _ in range(5)]

    def random(self):
        self.seed = (self.seed * 1103515245 + 12345) & 0x7fffffff
        return self.seed / 0x80000000

    def schedule(self, time, kind, who):
        low, high = 0, len(self.events)
        while low < high:
            middle = (low + high) // 2
            if self.events[middle].time > time:
                low = middle + 1
            else:
                high = middle
        self.events.insert(low, Event(time, kind, who))

    def arrive(self, time):
        who = len(self.customers)
        self.customers.append(Customer(time, 0.5 + 3.0 * self.random()))
        free = -1
        for i, counter in enumerate(self.counters):
            if counter.customer == -1:
                free = i
                break
        if free >= 0:
            self.serve(time, free, who)
        else:
            self.queue.append(who)
            self.longest = max(self.longest, len(self.queue) - self.head)
        r = self.random()
        if who + 1 < self.most:
            self.schedule(time + 0.9 * r, "arrive", 0)

    def serve(self, time, counter, who):
        self.counters[counter].customer = who
        customer = self.customers[who]
        customer.served = time
        self.schedule(time + customer.work, "leave", counter)

    def leave(self, time, index):
        counter = self.counters[index]
        customer = self.customers[counter.customer]
        customer.left = time
        counter.busy += customer.work
        counter.done += 1
        counter.customer = -1
        if self.head < len(self.queue):
            who = self.queue[self.head]
            self.head += 1
            self.serve(time, index, who)

    def run(self):
        self.schedule(0.0, "arrive", 0)
        while self.events:
            event = self.events.pop()
            if event.kind == "arrive":
                self.arrive(event.time)
            else:
                self.leave(event.time, event.who)
        wait = 0.0
        for c in self.customers:
            wait += c.served - c.arrived
        busy = 0.0
        for c in self.counters:
            busy += c.busy
        print(f"{wait / self.most:.6f} {busy:.3f} {self.longest}")


Bank(20_000).run()
