local function mandelbrot(size)
  local check = 0
  for y = 0, size - 1 do
    local ci = 2.0 * y / size - 1.0
    local bits, count = 0, 0
    for x = 0, size - 1 do
      local cr = 2.0 * x / size - 1.5
      local zr, zi, zr2, zi2 = 0.0, 0.0, 0.0, 0.0
      local inside = 1
      for _ = 1, 50 do
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > 4.0 then inside = 0; break end
      end
      bits = bits << 1 | inside
      count = count + 1
      if count == 8 then
        check = (check * 31 ~ bits) & 0xffffff
        bits, count = 0, 0
      end
    end
  end
  return check
end

print(mandelbrot(256))
