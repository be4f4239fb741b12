local function assembled(source)
  local places, code = {}, {}
  for _, line in ipairs(source) do
    if #line == 1 then
      places[line[1]] = #code + 1
    else
      code[#code + 1] = line
    end
  end
  for i, line in ipairs(code) do
    if line[1] == "jump" or line[1] == "jump_if" then
      code[i] = {line[1], places[line[2]]}
    end
  end
  return code
end

local function run(code)
  local stack, top, slots = {}, 0, {}
  for i = 0, 7 do slots[i] = 0 end
  local pc, steps = 1, 0
  while true do
    local op, value = code[pc][1], code[pc][2]
    pc = pc + 1
    steps = steps + 1
    if op == "push" then
      top = top + 1
      stack[top] = value
    elseif op == "load" then
      top = top + 1
      stack[top] = slots[value]
    elseif op == "store" then
      slots[value] = stack[top]
      top = top - 1
    elseif op == "add" then
      top = top - 1
      stack[top] = stack[top] + stack[top + 1]
    elseif op == "mod" then
      top = top - 1
      stack[top] = stack[top] % stack[top + 1]
    elseif op == "mul" then
      top = top - 1
      stack[top] = stack[top] * stack[top + 1]
    elseif op == "less" then
      top = top - 1
      stack[top] = stack[top] < stack[top + 1] and 1 or 0
    elseif op == "jump" then
      pc = value
    elseif op == "jump_if" then
      top = top - 1
      if stack[top + 1] ~= 0 then pc = value end
    elseif op == "halt" then
      return slots, steps
    else
      error("no instruction " .. op)
    end
  end
end

local code = assembled({
  {"push", 2}, {"store", 0},
  {"outer"},
  {"load", 0}, {"push", 3000}, {"less", 0}, {"jump_if", "body"}, {"halt", 0},
  {"body"},
  {"push", 2}, {"store", 1},
  {"inner"},
  {"load", 0}, {"load", 1}, {"load", 1}, {"mul", 0}, {"less", 0},
  {"jump_if", "prime"},
  {"push", 0}, {"load", 0}, {"load", 1}, {"mod", 0}, {"less", 0},
  {"jump_if", "on"}, {"jump", "next"},
  {"on"},
  {"load", 1}, {"push", 1}, {"add", 0}, {"store", 1}, {"jump", "inner"},
  {"prime"},
  {"load", 2}, {"load", 0}, {"add", 0}, {"store", 2},
  {"next"},
  {"load", 0}, {"push", 1}, {"add", 0}, {"store", 0}, {"jump", "outer"}})
local slots, steps = run(code)
print(slots[2] .. " " .. steps)
