local sub = string.sub

local function tokens(s)
  local found, i, n = {}, 1, #s
  while i <= n do
    local c = sub(s, i, i)
    if c == " " then
      i = i + 1
    elseif c >= "0" and c <= "9" then
      local begin = i
      while i <= n and sub(s, i, i) >= "0" and sub(s, i, i) <= "9" do
        i = i + 1
      end
      found[#found + 1] = {kind = "number",
                           value = tonumber(sub(s, begin, i - 1))}
    elseif c >= "a" and c <= "z" then
      local begin = i
      while i <= n and sub(s, i, i) >= "a" and sub(s, i, i) <= "z" do
        i = i + 1
      end
      found[#found + 1] = {kind = "name", value = sub(s, begin, i - 1)}
    else
      found[#found + 1] = {kind = c}
      i = i + 1
    end
  end
  found[#found + 1] = {kind = "end"}
  return found
end

local LEVELS = {["+"] = 1, ["-"] = 1, ["*"] = 2, ["%"] = 2}
local binary

local function primary(p)
  local t = p.tokens[p.at]
  p.at = p.at + 1
  if t.kind == "(" then
    local node = binary(p, 0)
    if p.tokens[p.at].kind ~= ")" then error("a parenthesis is missing") end
    p.at = p.at + 1
    return node
  end
  if t.kind == "-" then return {op = "neg", left = primary(p)} end
  if t.kind == "number" or t.kind == "name" then
    return {op = t.kind, value = t.value}
  end
  error("unexpected " .. t.kind)
end

function binary(p, level)
  local left = primary(p)
  while true do
    local op = p.tokens[p.at].kind
    if (LEVELS[op] or 0) <= level then return left end
    p.at = p.at + 1
    local right = binary(p, LEVELS[op])
    left = {op = op, left = left, right = right}
  end
end

local function value(node, names)
  local op = node.op
  if op == "number" then return node.value end
  if op == "name" then return names[node.value] end
  if op == "neg" then return -value(node.left, names) end
  local a, b = value(node.left, names), value(node.right, names)
  if op == "+" then return a + b end
  if op == "-" then return a - b end
  if op == "*" then return a * b end
  return a % b
end

local texts = {"(alpha + 3) * 14 - beta % (7 + 2)",
               "-alpha * (beta - 12) + 4 * (alpha - -beta * 2) % 1001",
               "1 + 2 * 3 - (4 + 5 * (6 - 7)) * alpha + beta * beta % 97"}
local total = 0
for turn = 0, 999 do
  local names = {alpha = turn, beta = turn % 17 + 1}
  for _, text in ipairs(texts) do
    local tree = binary({tokens = tokens(text), at = 1}, 0)
    total = total + value(tree, names)
    names.alpha = names.alpha + 1
    total = total + value(tree, names)
  end
end
print(total)
