local sub, find = string.sub, string.find
local value_at
local null = {}

local function blanks(s, at)
  while at <= #s do
    local c = sub(s, at, at)
    if c ~= " " and c ~= "\n" then break end
    at = at + 1
  end
  return at
end

local function text_at(s, at)
  local begin = at + 1
  at = begin
  while sub(s, at, at) ~= '"' do at = at + 1 end
  return sub(s, begin, at - 1), at + 1
end

local function number_at(s, at)
  local begin = at
  while at <= #s and find("0123456789+-.eE", sub(s, at, at), 1, true) do
    at = at + 1
  end
  return tonumber(sub(s, begin, at - 1)), at
end

local function object_at(s, at)
  local found, key = {}, nil
  at = blanks(s, at + 1)
  if sub(s, at, at) == "}" then return found, at + 1 end
  while true do
    key, at = text_at(s, at)
    at = blanks(s, at)
    if sub(s, at, at) ~= ":" then error("a colon is missing") end
    found[key], at = value_at(s, at + 1)
    at = blanks(s, at)
    if sub(s, at, at) == "}" then return found, at + 1 end
    at = blanks(s, at + 1)
  end
end

local function array_at(s, at)
  local found = {}
  at = blanks(s, at + 1)
  if sub(s, at, at) == "]" then return found, at + 1 end
  while true do
    found[#found + 1], at = value_at(s, at)
    at = blanks(s, at)
    if sub(s, at, at) == "]" then return found, at + 1 end
    at = at + 1
  end
end

function value_at(s, at)
  at = blanks(s, at)
  local c = sub(s, at, at)
  if c == "{" then return object_at(s, at) end
  if c == "[" then return array_at(s, at) end
  if c == '"' then return text_at(s, at) end
  if c == "t" then return true, at + 4 end
  if c == "f" then return false, at + 5 end
  if c == "n" then return null, at + 4 end
  return number_at(s, at)
end

local function written(n)
  local parts = {}
  for i = 0, n - 1 do
    parts[#parts + 1] = string.format(
      '{"id": %d, "name": "item %d", "on": true, "at": [%.1f, %d, null], ' ..
      '"tags": {"a": %d}}', i, i, i * 0.5, i, i % 7)
  end
  return "[" .. table.concat(parts, ",\n ") .. "]"
end

local s = written(600)
local total = 0.0
for _ = 1, 5 do
  local all = value_at(s, 1)
  for _, item in ipairs(all) do
    total = total + item.id + item.at[1] + item.tags.a + #item.name
  end
end
print(string.format("%.1f %d", total, #s))
