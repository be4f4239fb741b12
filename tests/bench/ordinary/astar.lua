local function push(heap, nodes, at)
  heap[#heap + 1] = at
  local i = #heap
  while i > 1 do
    local up = i // 2
    if nodes[heap[up]].guess <= nodes[heap[i]].guess then break end
    heap[up], heap[i] = heap[i], heap[up]
    i = up
  end
end

local function pop_least(heap, nodes)
  local last = table.remove(heap)
  local n = #heap
  if n == 0 then return last end
  local least = heap[1]
  heap[1] = last
  local i = 1
  while true do
    local small = i
    for child = 2 * i, 2 * i + 1 do
      if child <= n
        and nodes[heap[child]].guess < nodes[heap[small]].guess then
        small = child
      end
    end
    if small == i then break end
    heap[small], heap[i] = heap[i], heap[small]
    i = small
  end
  return least
end

local function map_of(width, height, seed)
  local nodes = {}
  for y = 0, height - 1 do
    for x = 0, width - 1 do
      seed = (seed * 3877 + 29573) % 139968
      local wall = seed % 10 < 2 and x + y > 0 and x + y < width + height - 2
      nodes[#nodes + 1] = {x = x, y = y, wall = wall, cost = 1 << 30,
                           guess = 0, before = -1, done = false}
    end
  end
  return nodes
end

local STEPS = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}

local function search(nodes, width, height)
  local goal = #nodes
  nodes[1].cost = 0
  local heap, looked = {1}, 0
  while #heap > 0 do
    local at = pop_least(heap, nodes)
    if at == goal then break end
    local node = nodes[at]
    if not node.done then
      node.done = true
      looked = looked + 1
      for _, step in ipairs(STEPS) do
        local x, y = node.x + step[1], node.y + step[2]
        if x >= 0 and y >= 0 and x < width and y < height then
          local to = nodes[y * width + x + 1]
          local cost = node.cost + 1
          if not to.wall and not to.done and cost < to.cost then
            to.cost = cost
            to.before = at
            to.guess = cost + math.abs(nodes[goal].x - x)
              + math.abs(nodes[goal].y - y)
            push(heap, nodes, y * width + x + 1)
          end
        end
      end
    end
  end
  return looked
end

local function length(nodes)
  local at, steps = #nodes, 0
  while nodes[at].before >= 0 do
    at, steps = nodes[at].before, steps + 1
  end
  return steps
end

local total, all = 0, 0
for turn = 0, 39 do
  local nodes = map_of(40, 40, 42 + turn)
  all = all + search(nodes, 40, 40)
  total = total + length(nodes)
end
print(total .. " " .. all)
