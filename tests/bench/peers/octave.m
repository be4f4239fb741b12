% The general workloads in Octave. usage: octave-cli octave.m DATA GROUP ...
% Octave's arrays lie by columns: what is called axis 1 here is its dimension 1.
1;

function v = status(key)
  text = fileread('/proc/self/status');
  found = regexp(text, [key ':\s+(\d+)'], 'tokens');
  v = str2double(found{1}{1}) * 1024;
end

function bench(name, f, per)
  if nargin < 3, per = 1; end
  resident = status('VmRSS');
  id = fopen('/proc/self/clear_refs', 'w');
  if id > 0, fputs(id, '5'); fclose(id); end
  check = f();
  peak = max(0, status('VmHWM') - resident);
  start = cputime; f(); once = cputime - start;
  turns = 1;
  if once < 0.004, turns = min(2000, floor(0.004 / (once + 1e-7)) + 1); end
  runs = 7;
  if once > 0.5, runs = 3; end
  if once > 2, runs = 1; end
  samples = zeros(1, runs);
  for r = 1:runs
    start = cputime;
    for i = 1:turns, f(); end
    samples(r) = (cputime - start) / turns / per;
  end
  printf("%s\t%.9g\t%.9g\t%d\t%.17g\n", name, median(samples), min(samples), ...
         peak, check);
  fflush(stdout);
end

function v = items(name, type)
  global directory
  f = fopen([directory '/' name '.npy']);
  fseek(f, 128, SEEK_SET);
  v = fread(f, Inf, ['*' type]);
  fclose(f);
end

function c = at(v, i), c = double(v(i)); end

function nest()
  x = ones(1000, 1000, 100, 'int8');
  bench('nest8', @() at(x + (x + (x + (x + (x + x)))), 7));
end

function chain()
  X = items('x', 'double'); Y = items('y', 'double');
  n = [1000 100000 10000000]; size = {'1e3', '1e5', '1e7'};
  for k = 1:3
    x = X(1:n(k)); y = Y(1:n(k)); i = n(k) / 2 + 1;
    bench(['poly_' size{k}], @() at((1.5 * x - 0.5) .* x + 0.25, i));
    bench(['hyp_' size{k}], @() at(sqrt(x .* x + y .* y), i));
    bench(['where_' size{k}], @() at(merge(x > 0, x .* y, x - y), i));
  end
end

function maths()
  X = items('x', 'double'); Y = items('y', 'double');
  bench('texp_sum', @() sum(exp(-X .* X) .* cos(Y)));
  x = X(1:100000); x1 = x + 1; per = 1e5 * 1e-9;
  bench('exp_ns', @() at(exp(x), 778), per);
  bench('log_ns', @() at(log(x1), 778), per);
  bench('sin_ns', @() at(sin(x), 778), per);
  bench('tanh_ns', @() at(tanh(x), 778), per);
end

function c = place_of_max(M, dimension)
  [~, i] = max(M, [], dimension);
  c = i(8) - 1;
end

function reductions()
  M = reshape(items('m', 'double'), 4000, 4000);
  for axis = 0:1
    d = 2 - axis; name = num2str(axis);
    bench(['sum' name], @() at(sum(M, d), 8));
    bench(['mean' name], @() at(mean(M, d), 8));
    bench(['max' name], @() at(max(M, [], d), 8));
    bench(['argmax' name], @() place_of_max(M, d));
    bench(['var' name], @() at(var(M, 1, d), 8));
  end
  X = items('x', 'double'); Y = items('y', 'double');
  bench('cumsum', @() at(cumsum(X), 10000000));
  some = Y > 0; never = Y > 2; always = true(10000000, 1);
  bench('any', @() double(any(never)));
  bench('all', @() double(all(always)));
  bench('count', @() nnz(some));
end

function p = cdf(d)
  k = 1 ./ (1 + 0.2316419 * abs(d));
  p = 0.3989422804014327 * exp(-0.5 * d .* d) .* k .* (0.319381530 + k .* ...
      (-0.356563782 + k .* (1.781477937 + k .* (-1.821255978 + ...
                                                k * 1.330274429))));
  p = merge(d > 0, 1 - p, p);
end

function c = black_scholes(s, k, t)
  r = 0.05; v = 0.2; q = v * sqrt(t);
  d1 = (log(s ./ k) + (r + 0.5 * v * v) * t) ./ q; d2 = d1 - q;
  e = k .* exp(-r * t); n1 = cdf(d1); n2 = cdf(d2);
  call = s .* n1 - e .* n2; put = e .* (1 - n2) - s .* (1 - n1);
  c = call(778) + put(779);
end

function options()
  X = items('x', 'double'); Y = items('y', 'double');
  s = 100 + 40 * X(1:1000000); k = 100 + 40 * Y(1:1000000);
  t = 1.25 + X(end:-1:end - 999999);
  bench('bs', @() black_scholes(s, k, t));
end

function products()
  X = items('x', 'double'); Y = items('y', 'double');
  A = reshape(X(1:1000000), 1000, 1000); B = reshape(Y(1:1000000), 1000, 1000);
  bench('mm1000', @() at(B * A, 778));
  a = A(1:100, 1:100); b = B(1:100, 1:100);
  bench('mm100', @() at(b * a, 778));
end

function c = place_sorted(x)
  [~, i] = sort(x);
  c = i(778) - 1;
end

function sorting()
  X = items('x', 'double'); Y = items('y', 'double');
  x = X(1:1000000); y = Y(1:1000000); ordered = sort(x); mask = Y > 0;
  keys = double(items('k', 'int64')); places = double(items('i', 'int64')) + 1;
  bench('sort', @() at(sort(x), 778));
  bench('argsort', @() place_sorted(x));
  bench('unique', @() numel(unique(keys)));
  bench('searchsorted', @() at(lookup(ordered, y), 778));
  bench('bincount', @() at(accumarray(keys + 1, 1), 78));
  bench('histogram', @() at(histc(x, linspace(-1, 1, 101)), 51));
  bench('gather', @() at(x(places), 778));
  bench('scatter_add', @() at(accumarray(places, x, [1000000 1]), 778));
  bench('compress', @() numel(X(mask)));
end

function c = jacobi(a)
  for s = 1:100
    b = a;
    b(2:end-1, 2:end-1) = 0.25 * (a(1:end-2, 2:end-1) + a(3:end, 2:end-1) + ...
                                  a(2:end-1, 1:end-2) + a(2:end-1, 3:end));
    a = b;
  end
  c = a(501, 501);
end

function s = kmeans_sum(p)
  c = p(:, 1:16);
  for round = 1:10
    d = zeros(16, columns(p));
    for k = 1:16, d(k, :) = sum((p - c(:, k)) .^ 2, 1); end
    [~, nearest] = min(d, [], 1);
    n = accumarray(nearest', 1, [16 1]);
    for j = 1:8
      c(j, :) = (accumarray(nearest', p(j, :)', [16 1]) ./ n)';
    end
  end
  s = sum(sum(c .* c));
end

function s = nbody(p, m)
  v = zeros(3, 100);
  for step = 1:200
    x = p(1, :) - p(1, :)'; y = p(2, :) - p(2, :)'; z = p(3, :) - p(3, :)';
    r = x .* x + y .* y + z .* z + 0.01; w = m ./ (r .* sqrt(r));
    a = [sum(x .* w, 2)'; sum(y .* w, 2)'; sum(z .* w, 2)'];
    v = v + 0.001 * a; p = p + 0.001 * v;
  end
  s = sum(sum(p .* p));
end

function s = life(a)
  for step = 1:100
    r = circshift(a, 1, 1) + a + circshift(a, -1, 1);
    t = circshift(r, 1, 2) + r + circshift(r, -1, 2) - a;
    a = uint8((t == 3) | ((t == 2) & (a == 1)));
  end
  s = double(sum(a(:)));
end

function programs()
  X = items('x', 'double'); Y = items('y', 'double');
  x = reshape(X(1:1000000), 1000, 1000);
  bench('jacobi', @() jacobi(x));
  p = reshape(X(1:1600000), 8, 200000);
  bench('kmeans', @() kmeans_sum(p));
  bodies = reshape(X(1:300), 3, 100); m = Y(1:100)' + 1.5;
  bench('nbody', @() nbody(bodies, m));
  cells = uint8(x > 0.4);
  bench('life', @() life(cells));
end

function c = repeated(n)
  x = 0.5 + (0:n - 1) * 1e-3; y = 0.25 * ones(1, n); z = zeros(1, n);
  for i = 1:20000, z = x .* y + z; end
  c = z(4);
end

function small()
  bench('small4_ns', @() repeated(4), 2e4 * 1e-9);
  bench('small64_ns', @() repeated(64), 2e4 * 1e-9);
end

global directory
given = argv();
directory = given{end - 1};
feval(given{end});
