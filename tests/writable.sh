#!/bin/sh
# The library has no variables that VMs share, but for those named here:
# tests/writable.sh TALLY. Compares the symbols in writable sections of the
# objects that TALLY is made of (beside it, in libtally.a).
set -eu
LC_ALL=C
export LC_ALL
archive=$(dirname "$1")/libtally.a

# Written once, under a lock or by one atomic store:
#   compress fft_library lapack blas module_regex plot_pixels: the functions of
#     a system's library, when it is loaded, and the lock
#   distributions: tables of the normal distribution
#   library: the index of built-ins by name
#   isa: the kernels of this processor
# With an order of their own:
#   mapping: the mapped files, for the handler of SIGBUS
#   io: the hook that makes calls fail, which tests set
# Written and never read:
#   lower_emit: what an instruction goes to when there is no memory for it
known='blas.o loaded
blas.o once
compress.o zlib
compress.o zlib_library
compress.o zstd
compress.o zstd_library
distributions.o edges
distributions.o heights
distributions.o tables_made
fft_library.o from
fft_library.o functions
fft_library.o library
fft_library.o planning
fft_library.o to
io.o fault_context
io.o fault_hook
isa.o tl_kernels_chosen
lapack.o all
lapack.o once
library.o builtin_index
lower_emit.o dummy
lower_emit.o dummy_operands
mapping.o handler_count
mapping.o handlers
mapping.o installing
mapping.o page_mask
mapping.o places
mapping.o used
module_regex.o pcre
module_regex.o pcre_library
plot_pixels.o functions
plot_pixels.o library'

if ! command -v objdump >/dev/null || [ ! -f "$archive" ]; then
  echo "skipped: writable.sh needs objdump and libtally.a"
  echo "0 passed, 0 failed"
  exit
fi
# What constants with addresses lie in is written by the loader alone
# (.data.rel.ro). Instrumented code has variables of its own.
found=$(objdump -t "$archive" 2>/dev/null | awk '
  /file format/ { sub(":.*", "", $1); object = $1 }
  $3 == "O" || $2 == "O" {
    section = $2 == "O" ? $3 : $4
    if (section ~ /^\.(data|bss|tdata|tbss)/ && section !~ /^\.data\.rel\.ro/)
      print object, $NF
  }' | sed 's/\.[0-9]*$//' | grep -v ' \(__\|\.\)' | sort -u)
if [ -z "$found" ] || printf '%s\n' "$found" | grep -q '__asan'; then
  echo "skipped: no symbols of this kind of object"
  echo "0 passed, 0 failed"
  exit
fi
new=$(printf '%s\n' "$found" | grep -vxF "$known" || true)
if [ -n "$new" ]; then
  echo "FAILED: variables that VMs share:"
  printf '%s\n' "$new"
  echo "0 passed, 1 failed"
  exit 1
fi
echo "1 passed, 0 failed"
