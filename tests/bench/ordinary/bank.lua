local s

local function random()
  s.seed = (s.seed * 1103515245 + 12345) & 0x7fffffff
  return s.seed / 0x80000000
end

local function schedule(time, kind, who)
  local low, high = 1, #s.events + 1
  while low < high do
    local middle = (low + high) // 2
    if s.events[middle].time > time then low = middle + 1 else high = middle end
  end
  table.insert(s.events, low, {time = time, kind = kind, who = who})
end

local function serve(time, counter, who)
  s.counters[counter].customer = who
  local customer = s.customers[who]
  customer.served = time
  schedule(time + customer.work, "leave", counter)
end

local function arrive(time)
  local who = #s.customers + 1
  s.customers[who] = {arrived = time, work = 0.5 + 3.0 * random()}
  local free
  for i, counter in ipairs(s.counters) do
    if not counter.customer then
      free = i
      break
    end
  end
  if free then
    serve(time, free, who)
  else
    s.queue[#s.queue + 1] = who
    s.longest = math.max(s.longest, #s.queue - s.head)
  end
  local r = random()
  if who < s.most then schedule(time + 0.9 * r, "arrive", 0) end
end

local function leave(time, index)
  local counter = s.counters[index]
  local customer = s.customers[counter.customer]
  customer.left = time
  counter.busy = counter.busy + customer.work
  counter.done = counter.done + 1
  counter.customer = nil
  if s.head < #s.queue then
    s.head = s.head + 1
    serve(time, index, s.queue[s.head])
  end
end

local function run(most)
  s = {seed = 7, most = most, events = {}, customers = {}, queue = {},
       head = 0, longest = 0, counters = {}}
  for i = 1, 5 do s.counters[i] = {busy = 0.0, done = 0} end
  schedule(0.0, "arrive", 0)
  while #s.events > 0 do
    local event = table.remove(s.events)
    if event.kind == "arrive" then
      arrive(event.time)
    else
      leave(event.time, event.who)
    end
  end
  local wait, busy = 0.0, 0.0
  for _, c in ipairs(s.customers) do wait = wait + (c.served - c.arrived) end
  for _, c in ipairs(s.counters) do busy = busy + c.busy end
  print(string.format("%.6f %.3f %d", wait / most, busy, s.longest))
end

run(20000)
