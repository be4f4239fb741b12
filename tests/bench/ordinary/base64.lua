local LETTERS =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function letter(i)
  return LETTERS:sub(i + 1, i + 1)
end

local function encoded(data)
  local out, n = {}, #data
  for i = 1, n, 3 do
    local a, b, c = data[i], data[i + 1] or 0, data[i + 2] or 0
    local word = a << 16 | b << 8 | c
    out[#out + 1] = letter(word >> 18)
    out[#out + 1] = letter(word >> 12 & 63)
    out[#out + 1] = i + 1 <= n and letter(word >> 6 & 63) or "="
    out[#out + 1] = i + 2 <= n and letter(word & 63) or "="
  end
  return table.concat(out)
end

local function decoded(text)
  local places = {}
  for i = 1, #LETTERS do places[LETTERS:sub(i, i)] = i - 1 end
  local out, word, count = {}, 0, 0
  for c in text:gmatch(".") do
    if c == "=" then break end
    word = word << 6 | places[c]
    count = count + 1
    if count == 4 then
      out[#out + 1] = word >> 16
      out[#out + 1] = word >> 8 & 255
      out[#out + 1] = word & 255
      word, count = 0, 0
    end
  end
  if count == 2 then out[#out + 1] = word >> 4 end
  if count == 3 then
    out[#out + 1] = word >> 10
    out[#out + 1] = word >> 2 & 255
  end
  return out
end

local data = {}
for i = 0, 150000 do data[i + 1] = i * i % 251 end
local text = encoded(data)
local back = decoded(text)
local same = 0
for i = 1, #data do if data[i] == back[i] then same = same + 1 end end
print(#text .. " " .. text:sub(-8) .. " " .. #back .. " " .. same)
