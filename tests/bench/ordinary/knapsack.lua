local function things(n)
  local seed, all = 42, {}
  for i = 0, n - 1 do
    seed = (seed * 3877 + 29573) % 139968
    all[i + 1] = {name = "thing " .. i, weight = seed % 37 + 3,
                  worth = seed % 101 + 5}
  end
  return all
end

local function packed(things, limit)
  local best = {[0] = {}}
  for w = 0, limit do best[0][w] = 0 end
  for i, t in ipairs(things) do
    local row, next = best[i - 1], {}
    for w = 0, limit do next[w] = row[w] end
    for w = t.weight, limit do
      local with = row[w - t.weight] + t.worth
      if with > row[w] then next[w] = with end
    end
    best[i] = next
  end
  local taken, w = {}, limit
  for i = #things, 1, -1 do
    if best[i][w] ~= best[i - 1][w] then
      taken[#taken + 1] = things[i].name
      w = w - things[i].weight
    end
  end
  return best[#things][limit], taken
end

local worth, taken = packed(things(300), 6000)
print(worth .. " " .. #taken .. " " .. taken[1])
