local function made(depth)
  if depth == 0 then return {} end
  return {left = made(depth - 1), right = made(depth - 1)}
end

local function check(tree)
  if not tree.left then return 1 end
  return 1 + check(tree.left) + check(tree.right)
end

local function run(n)
  local long = made(n)
  local total = check(made(n + 1))
  for depth = 4, n, 2 do
    for _ = 1, 1 << n - depth + 4 do total = total + check(made(depth)) end
  end
  return total + check(long)
end

print(run(12))
