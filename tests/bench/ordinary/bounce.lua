local function following(seed)
  return (seed * 1309 + 13849) & 65535
end

local function balls(n, seed)
  local all = {}
  for i = 1, n do
    local x = following(seed)
    local y = following(x)
    local vx = following(y)
    seed = following(vx)
    all[i] = {x = x % 500, y = y % 500, vx = vx % 300 - 150,
              vy = seed % 300 - 150}
  end
  return all
end

local abs = math.abs

local function bounce(b)
  local bounced = false
  b.x = b.x + b.vx
  b.y = b.y + b.vy
  if b.x > 500 then b.x = 500; b.vx = -abs(b.vx); bounced = true end
  if b.x < 0 then b.x = 0; b.vx = abs(b.vx); bounced = true end
  if b.y > 500 then b.y = 500; b.vy = -abs(b.vy); bounced = true end
  if b.y < 0 then b.y = 0; b.vy = abs(b.vy); bounced = true end
  return bounced
end

local function run(turns)
  local all, count = balls(100, 74755), 0
  for _ = 1, turns do
    for _, b in ipairs(all) do
      if bounce(b) then count = count + 1 end
    end
  end
  return count
end

print(run(6000))
