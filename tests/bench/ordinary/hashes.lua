local function crc_table()
  local table = {}
  for i = 0, 255 do
    local c = i
    for _ = 1, 8 do
      c = c & 1 == 1 and c >> 1 ~ 0xedb88320 or c >> 1
    end
    table[i] = c
  end
  return table
end

local function crc32(data, table)
  local crc = 0xffffffff
  for _, byte in ipairs(data) do
    crc = table[(crc ~ byte) & 255] ~ crc >> 8
  end
  return crc ~ 0xffffffff
end

local function fnv1a(data)
  local h = 2166136261
  for _, byte in ipairs(data) do h = (h ~ byte) * 16777619 & 0xffffffff end
  return h
end

local function adler32(data)
  local a, b = 1, 0
  for _, byte in ipairs(data) do
    a = (a + byte) % 65521
    b = (b + a) % 65521
  end
  return b << 16 | a
end

local function xorshift(n)
  local x, out = 2463534242, {}
  for i = 1, n do
    x = x ~ x << 13 & 0xffffffff
    x = x ~ x >> 17
    x = x ~ x << 5 & 0xffffffff
    out[i] = x & 255
  end
  return out
end

local table = crc_table()
local data = xorshift(200000)
print(crc32(data, table) .. " " .. fnv1a(data) .. " " .. adler32(data))
