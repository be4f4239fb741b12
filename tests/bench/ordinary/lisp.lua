local function parse(t, i)
  if t[i] == "(" then
    local l = {}
    i = i + 1
    while t[i] ~= ")" do
      l[#l + 1], i = parse(t, i)
    end
    return l, i + 1
  end
  local v = t[i]
  return math.tointeger(tonumber(v)) or v, i + 1
end
local function value(e, env)
  local k = type(e)
  if k == "string" then return env[e] end
  if k == "number" then return e end
  local op = e[1]
  if op == "if" then
    if value(e[2], env) then return value(e[3], env) end
    return value(e[4], env)
  end
  if op == "+" then return value(e[2], env) + value(e[3], env) end
  if op == "-" then return value(e[2], env) - value(e[3], env) end
  if op == "<" then return value(e[2], env) < value(e[3], env) end
  local f = env[op]
  local inner = {}
  for k, v in pairs(env) do inner[k] = v end
  for i, p in ipairs(f.params) do inner[p] = value(e[i + 1], env) end
  return value(f.body, inner)
end
local function program(text)
  local t = {}
  for w in text:gsub("[()]", " %0 "):gmatch("%S+") do t[#t + 1] = w end
  local env, i, out = {}, 1, {}
  while i <= #t do
    local e
    e, i = parse(t, i)
    if type(e) == "table" and e[1] == "define" then
      env[e[2][1]] = {params = {table.unpack(e[2], 2)}, body = e[3]}
    else
      out[#out + 1] = value(e, env)
    end
  end
  return "(" .. table.concat(out, ", ") .. ")"
end
print(program([[
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (tak x y z) (if (< y x) (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z))
(fib 22)
(tak 12 7 1)
]]))
