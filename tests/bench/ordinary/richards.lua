local IDLE, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = 0, 1, 2, 3, 4, 5
local WORK, DATA = 0, 1
local remove = table.remove
local system

local function packets(n, to, kind)
  local t = {}
  for i = 1, n do
    t[i] = {to = to, kind = kind, datum = 0, data = {0, 0, 0, 0}}
  end
  return t
end

local function send(p, from)
  local task = system.tasks[p.to]
  system.queued = system.queued + 1
  p.to = from
  task.queue[#task.queue + 1] = p
  task.pending = true
end

local function run_idle(task)
  task.count = task.count - 1
  if task.count == 0 then
    task.held = true
    system.holds = system.holds + 1
  elseif task.seed & 1 == 0 then
    task.seed = task.seed >> 1
    system.tasks[DEVICE_A].held = false
  else
    task.seed = task.seed >> 1 ~ 0xd008
    system.tasks[DEVICE_B].held = false
  end
end

local function run_worker(task, p)
  if not p then
    task.waiting = true
    return
  end
  task.to = task.to == HANDLER_A and HANDLER_B or HANDLER_A
  p.to = task.to
  p.datum = 0
  for i = 1, 4 do
    task.letter = task.letter + 1
    if task.letter > 26 then task.letter = 1 end
    p.data[i] = 64 + task.letter
  end
  send(p, task.id)
end

local function run_handler(task, p)
  if p then
    local list = p.kind == WORK and task.work or task.data
    list[#list + 1] = p
  end
  local work = task.work[1]
  if work then
    local count = work.datum
    if count > 3 then
      remove(task.work, 1)
      return send(work, task.id)
    end
    if #task.data > 0 then
      local data = remove(task.data, 1)
      data.datum = work.data[count + 1]
      work.datum = count + 1
      return send(data, task.id)
    end
  end
  task.waiting = true
end

local function run_device(task, p)
  if not p then
    p = task.packet
    if not p then
      task.waiting = true
      return
    end
    task.packet = nil
    return send(p, task.id)
  end
  task.packet = p
  task.held = true
  system.holds = system.holds + 1
end

local function task(id, run, queue, pending, waiting)
  return {id = id, run = run, queue = queue, pending = pending,
          waiting = waiting, held = false, work = {}, data = {}, seed = 1,
          count = 0, letter = 0, to = HANDLER_A}
end

local function ready(t)
  return not t.held and (t.pending or not t.waiting)
end

local function schedule()
  while true do
    local id = 5
    while id >= 0 and not ready(system.tasks[id]) do id = id - 1 end
    if id < 0 then return end
    local t, p = system.tasks[id], nil
    if t.waiting then
      p = remove(t.queue, 1)
      t.waiting = false
      t.pending = #t.queue > 0
    end
    t.run(t, p)
  end
end

system = {queued = 0, holds = 0, tasks = {
  [0] = task(IDLE, run_idle, {}, false, false),
  task(WORKER, run_worker, packets(2, HANDLER_A, WORK), true, true),
  task(HANDLER_A, run_handler, packets(3, DEVICE_A, DATA), true, true),
  task(HANDLER_B, run_handler, packets(3, DEVICE_B, DATA), true, true),
  task(DEVICE_A, run_device, {}, false, true),
  task(DEVICE_B, run_device, {}, false, true)}}
system.tasks[IDLE].count = 24000
schedule()
print(system.queued .. " " .. system.holds .. " "
      .. system.tasks[WORKER].letter)
