local BODY, REDUCIBLE, SELF, IRREDUCIBLE = 0, 1, 2, 3

local function connect(g, a, b)
  while g.n <= math.max(a, b) do
    g[g.n] = {in_edges = {}, out_edges = {}}
    g.n = g.n + 1
  end
  local out, into = g[a].out_edges, g[b].in_edges
  out[#out + 1] = b
  into[#into + 1] = a
end

local function diamond(g, start)
  connect(g, start, start + 1)
  connect(g, start, start + 2)
  connect(g, start + 1, start + 3)
  connect(g, start + 2, start + 3)
  return start + 3
end

local function straight(g, start, n)
  for i = 0, n - 1 do connect(g, start + i, start + i + 1) end
  return start + n
end

local function base_loop(g, from)
  local header = straight(g, from, 1)
  local top = diamond(g, header)
  local bottom = straight(g, top, 1)
  local last = diamond(g, bottom)
  connect(g, last, header)
  return straight(g, last, 1)
end

local function graph(size)
  local g = {n = 0}
  local n = straight(g, 0, 2)
  for _ = 1, size do
    local top = n
    n = straight(g, n, 1)
    for _ = 1, 5 do
      local inner = n
      n = straight(g, n, 1)
      for _ = 1, 5 do n = base_loop(g, n) end
      connect(g, n, inner)
      n = straight(g, n, 1)
    end
    connect(g, n, top)
    n = straight(g, n, 1)
  end
  return g
end

local function depth_first(g)
  local number, order, last = {}, {}, {}
  for i = 0, g.n - 1 do number[i] = -1 end
  number[0], order[0] = 0, 0
  local count = 1
  local stack = {{0, 0}}
  while #stack > 0 do
    local top = stack[#stack]
    local block, edge = top[1], top[2]
    local to = g[block].out_edges[edge + 1]
    if to then
      top[2] = edge + 1
      if number[to] == -1 then
        number[to] = count
        order[count] = to
        count = count + 1
        stack[#stack + 1] = {to, 0}
      end
    else
      last[number[block]] = count - 1
      stack[#stack] = nil
    end
  end
  return number, order, last, count
end

local function find(parent, x)
  local root = x
  while parent[root] ~= root do root = parent[root] end
  while parent[x] ~= root do parent[x], x = root, parent[x] end
  return root
end

local function loops(g)
  local number, order, last, count = depth_first(g)
  local back, other, parent, kind, header = {}, {}, {}, {}, {}
  for w = 0, count - 1 do
    local b, o = {}, {}
    for _, v in ipairs(g[order[w]].in_edges) do
      v = number[v]
      if v >= 0 then
        local list = w <= v and v <= last[w] and b or o
        list[#list + 1] = v
      end
    end
    back[w], other[w], parent[w], kind[w], header[w] = b, o, w, BODY, 0
  end
  local found = {}
  for w = count - 1, 0, -1 do
    local pool, in_pool = {}, {}
    for _, v in ipairs(back[w]) do
      if v == w then
        kind[w] = SELF
      else
        v = find(parent, v)
        if not in_pool[v] then
          in_pool[v] = true
          pool[#pool + 1] = v
        end
      end
    end
    if #pool > 0 then kind[w] = REDUCIBLE end
    local at = 1
    while at <= #pool do
      local x = pool[at]
      at = at + 1
      for _, y in ipairs(other[x]) do
        y = find(parent, y)
        if not (w <= y and y <= last[w]) then
          kind[w] = IRREDUCIBLE
          other[w][#other[w] + 1] = y
        elseif y ~= w and not in_pool[y] then
          in_pool[y] = true
          pool[#pool + 1] = y
        end
      end
    end
    if #pool > 0 or kind[w] == SELF then
      for _, x in ipairs(pool) do header[x], parent[x] = w, w end
      found[#found + 1] = {w, pool}
    end
  end
  return found, header, count
end

local total = 0
for turn = 0, 2 do
  local found, header, count = loops(graph(40 + turn))
  total = total + #found * 1000
  for _, l in ipairs(found) do total = total + #l[2] end
  local sum = 0
  for i = 0, count - 1 do sum = sum + header[i] end
  total = total + sum % 1009
end
print(total)
