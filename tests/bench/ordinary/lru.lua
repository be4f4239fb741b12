local function cache(capacity)
  local ring = {key = -1}
  ring.before, ring.after = ring, ring
  return {capacity = capacity, places = {}, count = 0, hits = 0, ring = ring}
end

local function unlink(node)
  node.before.after = node.after
  node.after.before = node.before
end

local function link(c, node)
  local first = c.ring.after
  node.before = c.ring
  node.after = first
  first.before = node
  c.ring.after = node
end

local function lookup(c, key)
  local node = c.places[key]
  if not node then return nil end
  unlink(node)
  link(c, node)
  c.hits = c.hits + 1
  return node.value
end

local function store(c, key, value)
  local node
  if c.count < c.capacity then
    c.count = c.count + 1
    node = {key = key, value = value}
  else
    node = c.ring.before
    unlink(node)
    c.places[node.key] = nil
    node.key = key
    node.value = value
  end
  c.places[key] = node
  link(c, node)
end

local c = cache(200)
local total, seed = 0, 42
for _ = 1, 120000 do
  seed = (seed * 3877 + 29573) % 139968
  local key = seed % 23 * (seed % 37)
  local value = lookup(c, key)
  if not value then
    value = key * key % 1009
    store(c, key, value)
  end
  total = total + value
end
print(total .. " " .. c.hits)
