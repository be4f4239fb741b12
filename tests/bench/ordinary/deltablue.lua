local STAY, EDIT, EQUAL, SCALE = 0, 1, 2, 3
local WEAKEST = 6
local now = 0

local function variable(value)
  return {value = value, stay = true, strength = WEAKEST, mark = 0, uses = {}}
end

local function input(c)
  if c.out == c.b then return c.a end
  return c.b
end

local function inputs_known(c, mark)
  if c.kind <= EDIT then return true end
  local v = input(c)
  return v.mark == mark or v.stay or not v.by
end

local function execute(c)
  if c.kind == EQUAL then
    c.out.value = input(c).value
  elseif c.kind == SCALE then
    if c.out == c.b then
      c.b.value = c.a.value * c.factor + c.offset
    else
      c.a.value = (c.b.value - c.offset) // c.factor
    end
  end
end

local function recalculate(c)
  local out = c.out
  if c.kind <= EDIT then
    out.strength = c.strength
    out.stay = c.kind == STAY
  else
    local v = input(c)
    out.strength = math.max(c.strength, v.strength)
    out.stay = v.stay
    if v.stay then execute(c) end
  end
end

local function output_for(c, mark)
  local a, b = c.a, c.b
  if c.kind <= EDIT or a.mark == mark then
    return b.mark ~= mark and c.strength < b.strength and b or nil
  end
  if b.mark == mark then return c.strength < a.strength and a or nil end
  if a.strength > b.strength then
    return c.strength < a.strength and a or nil
  end
  return c.strength < b.strength and b or nil
end

local function downstream(out, todo)
  for _, user in ipairs(out.uses) do
    if user ~= out.by and user.out then todo[#todo + 1] = user end
  end
end

local function propagate(c, mark)
  local todo = {c}
  while #todo > 0 do
    c = table.remove(todo)
    local out = c.out
    if out.mark == mark then error("a cycle") end
    recalculate(c)
    downstream(out, todo)
  end
end

local function satisfy(c, mark)
  local out = output_for(c, mark)
  c.out = out
  if not out then
    if c.strength == 0 then error("a required constraint fails") end
    return nil
  end
  if c.kind > EDIT then input(c).mark = mark end
  local aside = out.by
  if aside then aside.out = nil end
  out.by = c
  propagate(c, mark)
  out.mark = mark
  return aside
end

local function add(c)
  now = now + 1
  local mark = now
  while c do c = satisfy(c, mark) end
end

local function constraint(kind, strength, a, b, factor, offset)
  local c = {kind = kind, strength = strength, a = a, b = b, factor = factor,
             offset = offset}
  if a then a.uses[#a.uses + 1] = c end
  b.uses[#b.uses + 1] = c
  add(c)
  return c
end

local function remove(c)
  local out = c.out
  c.out = nil
  for i, user in ipairs(c.b.uses) do
    if user == c then
      table.remove(c.b.uses, i)
      break
    end
  end
  if not out then return end
  out.by = nil
  out.strength = WEAKEST
  out.stay = true
  local unsatisfied, todo = {}, {out}
  while #todo > 0 do
    local v = table.remove(todo)
    for _, user in ipairs(v.uses) do
      if not user.out then
        unsatisfied[#unsatisfied + 1] = user
      elseif user ~= v.by then
        recalculate(user)
        todo[#todo + 1] = user.out
      end
    end
  end
  table.sort(unsatisfied, function(a, b) return a.strength < b.strength end)
  for _, user in ipairs(unsatisfied) do add(user) end
end

local function plan_from(c)
  now = now + 1
  local mark, plan, todo = now, {}, {c}
  while #todo > 0 do
    c = table.remove(todo)
    local out = c.out
    if out.mark ~= mark and inputs_known(c, mark) then
      plan[#plan + 1] = c
      out.mark = mark
      downstream(out, todo)
    end
  end
  return plan
end

local function change(v, first, last)
  local edit = constraint(EDIT, 2, nil, v)
  local plan = plan_from(edit)
  for value = first, last do
    v.value = value
    for _, c in ipairs(plan) do execute(c) end
  end
  remove(edit)
end

local function chain(n)
  local first = variable(0)
  local v = first
  for _ = 1, n do
    local before = v
    v = variable(0)
    constraint(EQUAL, 0, before, v)
  end
  constraint(STAY, 4, nil, v)
  change(first, 0, 39)
  return v.value
end

local function projection(n)
  local pairs, total = {}, 0
  for i = 0, n - 1 do
    local a, b = variable(i), variable(i)
    constraint(STAY, 5, nil, a)
    constraint(SCALE, 0, a, b, 10, 1000)
    pairs[i + 1] = {a, b}
  end
  for _, p in ipairs(pairs) do
    change(p[1], 17, 18)
    total = total + p[2].value
    change(p[2], 1050, 1051)
    total = total + p[1].value
  end
  return total
end

print(chain(3000) .. " " .. projection(3000))
