#!/bin/sh
# Tally on 64-bit ARM, emulated: the golden tests, once more with machine code at
# every poll, random programs with and without it, and the numeric kernels, whose
# outputs are the bits that they are here (but for products of matrices).
#
#   tests/arm64.sh BUILD HERE     (make check-arm64)
#
# BUILD is made by aarch64-linux-gnu-gcc, HERE is this machine's tally. What a
# test loads at run time (zlib, PCRE2 …) has to be there for ARM too. The last
# line is the sum, and the exit status 1 if anything failed.
set -u

build=${1:?usage: tests/arm64.sh BUILD HERE}
here=${2:?usage: tests/arm64.sh BUILD HERE}
emulate="qemu-aarch64-static $build/tally"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0
# Debian puts ARM's libraries beside this machine's.
export QEMU_LD_PREFIX="${QEMU_LD_PREFIX:-/}"

# conclude STATUS WHAT: counts it, and shows what a failure wrote.
conclude() {
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 20 "$out/log"
    echo "FAILED: $2"
  fi
}

for script in tests/lang/*.tly tests/lib/*.tly tests/kernels/*.tly; do
  $emulate test --timeout 3600 "$script" >"$out/log" 2>&1
  conclude $? "$script"
done

$emulate --native=always test --timeout 3600 tests/lang tests/counting \
  >"$out/log" 2>&1
conclude $? "machine code at every poll"
qemu-aarch64-static "$build/tests/fuzz/scalars" 300 >"$out/log" 2>&1
conclude $? "random programs with machine code"

for script in examples/kernels/*.tly; do
  kernel=$(basename "$script" .tly)
  [ "$kernel" = inputs ] && continue
  mkdir "$out/arm" "$out/here"
  $emulate --no-blas "$script" small "$out/arm" >"$out/log" 2>&1
  conclude $? "$script"
  case $kernel in
    cholesky|covariance2|gemm|k2mm|mlp) ;;  # made of products of matrices
    *)
      TALLY_ISA=base "$here" --no-blas "$script" small "$out/here" >/dev/null
      diff -r "$out/here" "$out/arm" >"$out/log" 2>&1
      conclude $? "the bits of $kernel"
      ;;
  esac
  rm -r "$out/arm" "$out/here"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
