IDLE, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = range(6)
WORK, DATA = 0, 1


class Packet:
    def __init__(self, to, kind):
        self.to, self.kind, self.datum = to, kind, 0
        self.data = [0, 0, 0, 0]


class Task:
    def __init__(self, id, queue, pending, waiting):
        self.id, self.queue = id, queue
        self.pending, self.waiting, self.held = pending, waiting, False

    def ready(self):
        return not self.held and (self.pending or not self.waiting)


class Idle(Task):
    def __init__(self, count):
        Task.__init__(self, IDLE, [], False, False)
        self.seed, self.count = 1, count

    def run(self, system, packet):
        self.count -= 1
        if self.count == 0:
            self.held = True
            system.holds += 1
        elif self.seed & 1 == 0:
            self.seed >>= 1
            system.tasks[DEVICE_A].held = False
        else:
            self.seed = self.seed >> 1 ^ 0xd008
            system.tasks[DEVICE_B].held = False


class Worker(Task):
    def __init__(self, queue):
        Task.__init__(self, WORKER, queue, True, True)
        self.to, self.letter = HANDLER_A, 0

    def run(self, system, packet):
        if packet is None:
            self.waiting = True
            return
        self.to = HANDLER_B if self.to == HANDLER_A else HANDLER_A
        packet.to = self.to
        packet.datum = 0
        for i in range(4):
            self.letter += 1
            if self.letter > 26:
                self.letter = 1
            packet.data[i] = 64 + self.letter
        system.send(packet, self.id)


class Handler(Task):
    def __init__(self, id, queue):
        Task.__init__(self, id, queue, True, True)
        self.work, self.data = [], []

    def run(self, system, packet):
        if packet is not None:
            if packet.kind == WORK:
                self.work.append(packet)
            else:
                self.data.append(packet)
        if self.work:
            work = self.work[0]
            count = work.datum
            if count > 3:
                self.work.pop(0)
                system.send(work, self.id)
                return
            if self.data:
                data = self.data.pop(0)
                data.datum = work.data[count]
                work.datum = count + 1
                system.send(data, self.id)
                return
        self.waiting = True


class Device(Task):
    def __init__(self, id):
        Task.__init__(self, id, [], False, True)
        self.packet = None

    def run(self, system, packet):
        if packet is None:
            packet = self.packet
            if packet is None:
                self.waiting = True
                return
            self.packet = None
            system.send(packet, self.id)
            return
        self.packet = packet
        self.held = True
        system.holds += 1


class System:
    def __init__(self, count):
        def packets(n, to, kind):
            return [Packet(to, kind) for _ in range(n)]

        self.queued = self.holds = 0
        self.tasks = [Idle(count), Worker(packets(2, HANDLER_A, WORK)),
                      Handler(HANDLER_A, packets(3, DEVICE_A, DATA)),
                      Handler(HANDLER_B, packets(3, DEVICE_B, DATA)),
                      Device(DEVICE_A), Device(DEVICE_B)]

    def send(self, packet, sender):
        task = self.tasks[packet.to]
        self.queued += 1
        packet.to = sender
        task.queue.append(packet)
        task.pending = True

    def schedule(self):
        while True:
            id = 5
            while id >= 0 and not self.tasks[id].ready():
                id -= 1
            if id < 0:
                return
            task, packet = self.tasks[id], None
            if task.waiting:
                packet = task.queue.pop(0)
                task.waiting = False
                task.pending = len(task.queue) > 0
            task.run(self, packet)


system = System(24000)
system.schedule()
print(system.queued, system.holds, system.tasks[WORKER].letter)
