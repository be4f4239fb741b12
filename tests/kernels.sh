#!/bin/sh
# The kernels of examples/kernels, at the size asked for (small), and the programs
# of examples/slices:
#
#   tests/kernels.sh build/release/tally [SIZE]
#
# Each agrees with its check values, and its outputs are the same bits with every
# instruction set that the machine has and with 1 and 2 threads. Products of
# matrices differ where multiplications are not fused (base), so the kernels that
# are made of them are compared among the others. And each refuses wrong sizes.
# What kernels compute of any items is what the scripts of tests/kernels say, and
# some others, which run with each set, too.
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=${1:?usage: tests/kernels.sh TALLY [SIZE]}
size=${2:-small}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAILED: $*"; }

# has_products KERNEL
has_products() {
  case $1 in
    cholesky|covariance2|gemm|k2mm|mlp) true ;;
    *) false ;;
  esac
}

# compare FOLDER/KERNEL ISA THREADS SIZE: runs it; the first run is what others
# are like.
compare() {
  name=$(basename "$1")
  like=$out/$name
  if has_products "$name" && [ "$2" = base ]; then like=$out/$name.base; fi
  new=$out/new
  rm -rf "$new"
  mkdir "$new"
  if ! TALLY_ISA=$2 "$tally" --threads "$3" --no-blas \
    "examples/$1.tly" "$4" "$new" >"$out/text" 2>&1; then
    fail "$1 with $2, $3 threads: $(tail -n 3 "$out/text")"
    return
  fi
  if [ ! -d "$like" ]; then mv "$new" "$like"; pass
  elif diff -r "$like" "$new" >"$out/text"; then pass
  else fail "$1 differs with $2, $3 threads: $(cat "$out/text")"
  fi
}

# refuses KERNEL CALL MESSAGE: the call of its function is this error.
refuses() {
  "$tally" -e "import \"examples/kernels/$1.tly\" as kernel
kernel.$2" >"$out/text" 2>&1
  if [ $? = 1 ] && grep -qF "$3" "$out/text"; then pass
  else fail "kernel.$2 of $1, not '$3': $(tail -n 4 "$out/text")"
  fi
}

for script in examples/kernels/*.tly examples/slices/*.tly; do
  kernel=${script#examples/}
  kernel=${kernel%.tly}
  this=$size
  case $kernel in
    kernels/inputs) continue ;;
    slices/*) this=small ;;
  esac
  for isa in base avx2 avx512; do
    for threads in 1 2; do compare "$kernel" "$isa" "$threads" "$this"; done
  done
done

# Products that are shared among threads, with a loaded library where there is
# one and without.
cat >"$out/products.tly" <<'END'
import io
import os
import random
random.seed(7)
for dtype in (float64, float32, complex128) {
  for m, n, k in ((193, 700, 300), (1000, 131, 257), (97, 2000, 100)) {
    a = astype(random.normal((m, k)), dtype)
    b = astype(random.normal((n, k)), dtype)
    name = "{os.args[0]}/{dtype}_{m}"
    io.write_npy("{name}.npy", a @ b.T)
    io.write_npy("{name}_own.npy", a.T @ a)
    vectors = concat((a @ b[0], b[::-1, ::2] @ a[0, ::2], b[:, 0] @ b))
    io.write_npy("{name}_vectors.npy", vectors)
  }
}
END
for blas in '' --no-blas; do
  for threads in 1 2; do
    mkdir "$out/threads$threads$blas"
    # shellcheck disable=SC2086  # no word where it is empty
    "$tally" $blas --threads "$threads" "$out/products.tly" \
      "$out/threads$threads$blas" || fail "products with $threads threads"
  done
  if diff -r "$out/threads1$blas" "$out/threads2$blas"; then pass
  else fail "products differ with 2 threads $blas"
  fi
done
# Matrices by vectors are the same bits with every instruction set.
for isa in base avx2; do
  mkdir "$out/$isa"
  TALLY_ISA=$isa "$tally" --no-blas "$out/products.tly" "$out/$isa" ||
    fail "products with $isa"
  for file in "$out/$isa"/*_vectors.npy; do
    if cmp "$file" "$out/threads1--no-blas/${file##*/}"; then pass
    else fail "${file##*/} differs with $isa"
    fi
  done
done

# The widest set is that of the golden tests; the auditor takes too long for two.
case ${CFLAGS-} in
  *AUDIT*) sets=base ;;
  *) sets='base avx2' ;;
esac
for isa in $sets; do
  TALLY_ISA=$isa TALLY_BLAS=off "$tally" test tests/kernels \
    tests/lib/short_rows.tly tests/lib/sort_networks.tly >"$out/text" 2>&1
  sed '$d' "$out/text"
  last=$(tail -n 1 "$out/text")
  case $last in
    *[0-9]\ passed,\ *[0-9]\ failed)
      passed=$((passed + ${last%% passed*}))
      bad=${last##*passed, }
      failed=$((failed + ${bad%% failed})) ;;
    *) fail "tests/kernels with $isa: $last" ;;
  esac
done

m='zeros((2, 3))' n='zeros((3, 3))' v='zeros(4)'
refuses atax "atax($m, $v, 1)" 'x: expected N * float64, got 4 * float64'
refuses azimint_naive "azimint(zeros(3), $v, 2)" 'r: expected N * float64'
refuses cavity_flow "cavity_flow($m, $m, $n, 1, 1)" 'p: expected Y * X * float64'
refuses cholesky "cholesky($m)" 'A: expected N * N * float64, got 2 * 3'
refuses compute "compute([[1, 2]], [[1], [2]])" 'Y: expected M * N * int64'
refuses conv2d_bias "conv2d(zeros((1, 4, 4, 3), dtype: float32),
  zeros((2, 3, 3, 1), dtype: float32), zeros(1, dtype: float32))" \
  'w: expected K * K * CI * CO * float32'
refuses covariance "covariance($v)" 'X: expected N * M * float64, got 4'
refuses covariance2 "covariance($v)" 'X: expected N * M * float64, got 4'
refuses crc16 "crc16($v)" 'data: expected N * int64, got 4 * float64'
refuses deriche "deriche($v)" 'image: expected W * H * float64, got 4'
refuses fdtd_2d "fdtd_2d($m, $m, $n, 1)" 'hz: expected X * Y * float64'
refuses floyd_warshall "floyd_warshall(zeros((2, 3), dtype: int32))" \
  'D: expected N * N * int32, got 2 * 3'
refuses gemm "gemm($m, $m, $m)" 'B: expected K * J * float64, got 2 * 3'
refuses gemver "gemver($n, $v, $v, $v, $v, $v, $v)" 'u1: expected N * float64'
refuses go_fast "go_fast($m, 1)" 'A: expected N * N * float64, got 2 * 3'
refuses gramschmidt "gramschmidt($v)" 'A: expected M * N * float64, got 4'
refuses jacobi_1d "jacobi_1d($v, zeros(5), 1)" 'B: expected N * float64'
refuses jacobi_2d "jacobi_2d($m, $n, 1)" 'B: expected N * M * float64'
refuses k2mm "k2mm($n, $n, $m, $n)" 'C: expected J * L * float64, got 2 * 3'
refuses lu "lu($m)" 'A: expected N * N * float64, got 2 * 3'
refuses mandelbrot1 "mandelbrot($m, 1)" 'c: expected Y * X * complex128'
refuses mlp "mlp($m, $m, $v, $m, $v, $m, $v)" 'x: expected N * S0 * float32'
refuses nbody "nbody($v, $m, $m, 1)" 'X: expected N * 3 * float64, got 2 * 3'
refuses seidel_2d "seidel_2d($v, 1)" 'A: expected N * M * float64, got 4'
refuses spmv "spmv([0, 1], [0], [1.0, 2.0], [1.0])" \
  'val: expected K * float64, got 2'
refuses syrk "syrk($m, $n)" 'C: expected N * N * float64, got 3 * 3'
refuses trisolv "trisolv($n, $m[:, :2])" 'B: expected R * N * float64'
for script in examples/kernels/*.tly examples/slices/*.tly; do
  if [ "$script" = examples/kernels/inputs.tly ]; then continue; fi
  "$tally" "$script" huge >"$out/text" 2>&1
  if [ $? = 1 ] && grep -qF '("huge",) is not a size' "$out/text"; then pass
  else fail "$script huge: $(tail -n 2 "$out/text")"
  fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
