local function counted(text)
  local counts = {}
  for c in text:gmatch(".") do counts[c] = (counts[c] or 0) + 1 end
  return counts
end

local function tree(counts)
  local nodes = {}
  for c, n in pairs(counts) do nodes[#nodes + 1] = {count = n, letters = c} end
  table.sort(nodes, function(a, b)
    if a.count ~= b.count then return a.count > b.count end
    return a.letters < b.letters
  end)
  while #nodes > 1 do
    local a = table.remove(nodes)
    local b = table.remove(nodes)
    local made = {count = a.count + b.count, letters = a.letters .. b.letters,
                  left = a, right = b}
    local i = #nodes + 1
    while i > 1 and nodes[i - 1].count < made.count do i = i - 1 end
    table.insert(nodes, i, made)
  end
  return nodes[1]
end

local function codes(node, prefix, found)
  if not node.left then
    found[node.letters] = prefix
    return
  end
  codes(node.left, prefix .. "0", found)
  codes(node.right, prefix .. "1", found)
end

local function decoded(bits, root)
  local out = {}
  local node = root
  for bit in bits:gmatch(".") do
    node = bit == "0" and node.left or node.right
    if not node.left then
      out[#out + 1] = node.letters
      node = root
    end
  end
  return table.concat(out)
end

local function text(n)
  local letters = "etaoin shrdlu"
  local seed = 42
  local out = {}
  for i = 1, n do
    seed = (seed * 3877 + 29573) % 139968
    local at = math.min(seed % 13, seed // 13 % 13) + 1
    out[i] = letters:sub(at, at)
  end
  return table.concat(out)
end

local s = text(60000)
local root = tree(counted(s))
local found = {}
codes(root, "", found)
local out = {}
for c in s:gmatch(".") do out[#out + 1] = found[c] end
local bits = table.concat(out)
print(string.format("%d %s %s %s", #bits, decoded(bits, root) == s,
                    found["e"], found["u"]))
