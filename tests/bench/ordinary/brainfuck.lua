local function matched(code)
  local jumps, open = {}, {}
  for i = 1, #code do
    local c = code:sub(i, i)
    if c == "[" then
      open[#open + 1] = i
    elseif c == "]" then
      local start = table.remove(open)
      jumps[start] = i
      jumps[i] = start
    end
  end
  return jumps
end

local function run(code)
  local jumps, tape, sub = matched(code), {}, string.sub
  for i = 0, 99 do tape[i] = 0 end
  local at, pc, steps, out = 0, 1, 0, ""
  while pc <= #code do
    local c = sub(code, pc, pc)
    if c == ">" then
      at = at + 1
    elseif c == "<" then
      at = at - 1
    elseif c == "+" then
      tape[at] = (tape[at] + 1) & 255
    elseif c == "-" then
      tape[at] = (tape[at] - 1) & 255
    elseif c == "." then
      out = out .. string.char(tape[at])
    elseif c == "[" then
      if tape[at] == 0 then pc = jumps[pc] end
    elseif c == "]" then
      if tape[at] ~= 0 then pc = jumps[pc] end
    end
    pc = pc + 1
    steps = steps + 1
  end
  return out, steps
end

local code = "++++++++++[>+++++++++[>++++++++[>++++++++++++[>++++[>+>+<<-]"
  .. "<-]<-]<-]<-]>>>>>>>[-]++++++++[>++++++++<-]>+.+.+."
local out, steps = run(code)
print(out .. " " .. steps)
