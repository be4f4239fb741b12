local function push(heap, item)
  local i = #heap + 1
  heap[i] = item
  while i > 1 do
    local up = i // 2
    if heap[up][1] <= heap[i][1] then break end
    heap[up], heap[i] = heap[i], heap[up]
    i = up
  end
end

local function pop_least(heap)
  local last = table.remove(heap)
  local n = #heap
  if n == 0 then return last end
  local least, i = heap[1], 1
  heap[1] = last
  while true do
    local small = i
    for child = 2 * i, 2 * i + 1 do
      if child <= n and heap[child][1] < heap[small][1] then small = child end
    end
    if small == i then break end
    heap[small], heap[i] = heap[i], heap[small]
    i = small
  end
  return least
end

local function graph(n, degree)
  local seed, edges = 42, {}
  for i = 0, n - 1 do
    local out = {}
    for k = 1, degree do
      seed = (seed * 3877 + 29573) % 139968
      out[k] = {seed % n, seed % 97 + 1}
    end
    out[degree + 1] = {(i + 1) % n, 100}
    edges[i] = out
  end
  return edges, n
end

local function distances(edges, n, source)
  local distance = {}
  for i = 0, n - 1 do distance[i] = 1 << 40 end
  distance[source] = 0
  local heap = {{0, source}}
  while #heap > 0 do
    local top = pop_least(heap)
    local d, node = top[1], top[2]
    if d <= distance[node] then
      for _, edge in ipairs(edges[node]) do
        local to, next = edge[1], d + edge[2]
        if next < distance[to] then
          distance[to] = next
          push(heap, {next, to})
        end
      end
    end
  end
  return distance
end

local edges, n = graph(2000, 5)
local total = 0
for source = 0, 5 do
  local distance = distances(edges, n, source)
  for i = 0, n - 1 do total = total + distance[i] end
end
print(total)
