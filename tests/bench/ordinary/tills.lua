local function later(events, event)
  local low, high = 1, #events + 1
  while low < high do
    local middle = (low + high) // 2
    if events[middle].time > event.time then
      low = middle + 1
    else
      high = middle
    end
  end
  table.insert(events, low, event)
end

local function shortest(tills)
  local best = 1
  for i, till in ipairs(tills) do
    if #till.queue < #tills[best].queue then best = i end
  end
  return best
end

local function shop(customers)
  local seed = 42
  local tills = {}
  for i = 1, 4 do tills[i] = {queue = {}, served = 0, busy = 0} end
  local events = {{time = 0, kind = "arrive", till = -1}}
  local came, waited = 0, 0
  while #events > 0 do
    local event = table.remove(events)
    local now = event.time
    if event.kind == "arrive" then
      seed = (seed * 3877 + 29573) % 139968
      local till = shortest(tills)
      local customer = {came = now, needs = seed % 40 + 5}
      local queue = tills[till].queue
      queue[#queue + 1] = customer
      if #queue == 1 then
        later(events, {time = now + customer.needs, kind = "done", till = till})
      end
      came = came + 1
      if came < customers then
        seed = (seed * 3877 + 29573) % 139968
        later(events, {time = now + seed % 13, kind = "arrive", till = -1})
      end
    else
      local till = tills[event.till]
      local customer = table.remove(till.queue, 1)
      till.served = till.served + 1
      till.busy = till.busy + customer.needs
      waited = waited + now - customer.came
      if #till.queue > 0 then
        local needs = till.queue[1].needs
        later(events, {time = now + needs, kind = "done", till = event.till})
      end
    end
  end
  return tills, waited
end

local tills, waited = shop(30000)
local served, busy = {}, {}
for i, till in ipairs(tills) do
  served[i], busy[i] = till.served, till.busy
end
print(string.format("%d (%s) (%s)", waited, table.concat(served, ", "),
                    table.concat(busy, ", ")))
