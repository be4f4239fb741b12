# Builds Tally. `make help` lists the targets.
#
# Everything that is made goes below $(BUILD); `make` also puts links to the
# three results beside this file. GNU make 3.81 or later.

CC      ?= cc
CFLAGS  ?= -O2 -g
BUILD   ?= build/release
PREFIX  ?= /usr/local
WERROR  ?= -Werror

VERSION := $(shell sed -n 's/^.define TALLY_VERSION "\(.*\)".*/\1/p' tally.h)

# Sanitized, and every count recounted after every instruction. Kernels too are
# compiled in a hurry then: loops spelled out with checks in them take minutes.
# Products need -O2, where they are fused as their results in the tests are.
CHECK_CFLAGS = -O1 -g -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DTALLY_AUDIT=1
HASTE = KERNEL_OPT=-O1 SPELLED_OUT=-O2

pkg = $(shell pkg-config $(1) $(2) 2>/dev/null || echo $(3))
UTF8PROC_CFLAGS := $(call pkg,--cflags,libutf8proc)
UTF8PROC_LIBS   := $(call pkg,--libs,libutf8proc,-lutf8proc)
CMOCKA_CFLAGS    = $(call pkg,--cflags,cmocka)
CMOCKA_LIBS      = $(call pkg,--libs,cmocka,-lcmocka)

WARNINGS = -Wall -Wextra -Wpedantic -Wconversion $(WERROR)

# No contraction into fused multiply-adds: results are the same on every
# machine. No errno from libm: a loop that sets it is never vectorised.
# Position-independent, so that both libraries share one set of objects. No
# tables for unwinding, which C has no use for (debuggers have their own). Each
# function by itself, so that a linker can leave out what nobody calls.
BASE = -std=c11 -D_POSIX_C_SOURCE=200809L -I. $(WARNINGS) -ffp-contract=off \
  -fno-math-errno -fno-asynchronous-unwind-tables -fPIC -fvisibility=hidden \
  -ffunction-sections -fdata-sections -pthread $(UTF8PROC_CFLAGS)
LIBS = $(UTF8PROC_LIBS) -lm -ldl -pthread

# One short line for each file; all of it with `make V=1`.
say = $(if $(V),,@echo "  $(1) $@" && )
COMPILE = $(call say,cc)$(CC) $(BASE) $(CFLAGS) $(CPPFLAGS) -MMD -MP
LINK = $(call say,ld)$(CC) $(CFLAGS) $(LDFLAGS)

# $(call accepts,FLAGS) is those of FLAGS that this compiler knows.
accepts = $(foreach flag,$(1),$(shell $(CC) -Werror $(flag) -S -o /dev/null \
  -x c /dev/null >/dev/null 2>&1 && echo $(flag)))

# vm/kernels has rules of its own, one object per instruction set: its
# kernels.mk lists them in KERNEL_OBJS.
SOURCES   := $(filter-out vm/kernels/%,$(wildcard vm/*.c vm/*/*.c)) \
  $(wildcard compiler/*.c stdlib/*.c)
OBJECTS   := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o \
  $(BUILD)/hint_lines.o
MODULES   := $(wildcard stdlib/*.tly stdlib/global/*.tly stdlib/inner/*.tly)
DOCS      := $(shell grep -l '^ *///' stdlib/*.c vm/*.h)
EMBEDDED  := $(MODULES) $(DOCS)
REPL      := $(patsubst %.c,$(BUILD)/%.o,$(wildcard repl/*.c)) $(BUILD)/texts.o
UNIT      := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_*.c))
FUZZ      := $(addprefix $(BUILD)/tests/fuzz/,programs mutants targets pure \
             scalars starved ulps)
HOSTS     := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c)) \
             $(patsubst %.cpp,$(BUILD)/%_cpp,$(wildcard examples/*.cpp))

# Where nobody said how many jobs at once (`make -j1`), there is one for each core.
ifeq (0,$(MAKELEVEL)$(findstring j,$(filter -j%,$(MAKEFLAGS))))
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif
SUBMAKE = @+$(MAKE) --no-print-directory

.PHONY: all programs tests threaded docs demo house test check check-threads \
  check-arm64 one-file audit fuzz torture tidy coverage bench bench-check bench-record format install \
  uninstall clean help
.DELETE_ON_ERROR:

## all       build tally, libtally.a and libtally.so (the default)
all: programs
	@ln -sf $(BUILD)/tally $(BUILD)/libtally.a $(BUILD)/libtally.so .

include vm/kernels/kernels.mk
include tools/ship/amalgamation.mk

programs: $(BUILD)/tally $(BUILD)/libtally.a $(BUILD)/libtally.so
tests: programs $(UNIT) $(FUZZ) $(HOSTS)
# What tests/threads.sh runs.
threaded: programs $(HOSTS) $(addprefix $(BUILD)/tests/unit/test_,pool api_limits \
  api_interrupts api_exchange)

# Not with sanitizers: there GNU ld 2.40 asks for all memory while it packs.
# Native modules that a script imports see the functions of tally.h in it.
$(BUILD)/tally: $(REPL) $(BUILD)/libtally.a
	$(LINK) -rdynamic $(if $(findstring sanitize,$(CFLAGS)),,$(PACKED)) -o $@ $^ $(LIBS)

$(BUILD)/libtally.a: $(OBJECTS) $(KERNEL_OBJS)
	@rm -f $@
	$(call say,ar)ar rcs $@ $^

include tools/ship/ship.mk

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(COMPILE) $(CLOSER) $(if $(filter $<,$(FAST)),$(EVEN),$(SMALLER) $(HARDENED)) \
	  $(APART) $(if $(filter stdlib/% vm/engine/%,$<),$(COPIES)) \
	  $(call own_flags,$<) -c $< -o $@

# A slot's two words are written one by one and read so: as a vector they would
# miss the processor's store forwarding. GCC makes vectors of such copies twice, the
# second time where it turns scalars to vectors (stv).
APART := $(call accepts,-fno-tree-slp-vectorize -fno-slp-vectorize) $(call accepts,-mno-stv)

# Here calls clear what has room for all axes that there may be: the C library does
# that, as instructions that repeat are a few bytes shorter and begin many times as
# slowly.
COPIES := $(call accepts,-mstringop-strategy=libcall)

# Loops begin at 16 bytes; functions, and what is jumped to within them, anywhere.
CLOSER := $(call accepts,-falign-jumps=1 -falign-labels=1 -falign-functions=1)
# What is built for speed begins where the processor fetches instructions: else
# each change moves the loops behind it, and some of them lose a tenth.
EVEN := $(call accepts,-falign-functions=16)

# Flags follow folders: in these loops over items or instructions run, so they
# are built for speed, and all else for as few bytes as can be. A source that
# must differ says so in its first lines ("// Built for size."), and flags of its
# own stand there too ("// Flags: -f…").
SPEED := vm vm/array vm/bytecode vm/engine vm/index vm/interp vm/memory \
  vm/region vm/values
SMALLER := $(if $(filter -O2 -Os,$(CFLAGS)),$(lastword -Os $(call accepts,-Oz)))
# What is built for size reads what strangers wrote: its frames are guarded and its
# copies checked. In loops over items the guards would cost more than is free.
HARDENED := $(call accepts,-fstack-protector) $(if $(SMALLER),\
  $(if $(findstring sanitize,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
marked = $(shell grep -l '^// $(1)' $(SOURCES))
FAST := $(foreach folder,$(SPEED),$(wildcard $(folder)/*.c))
FAST := $(filter-out $(call marked,Built for size),$(FAST)) \
  $(call marked,Built for speed)
FLAGGED := $(call marked,Flags: )
own_flags = $(if $(filter $(1),$(FLAGGED)),$(call accepts,$(shell \
  sed -n 's|^// Flags: ||p' $(1))))

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(COMPILE) $(CMOCKA_CFLAGS) -o $@ $< $(BUILD)/libtally.a \
	  $(if $(filter %/test_mapping,$@),$(REFUSED)) \
	  $(CMOCKA_LIBS) $(LDFLAGS) $(LIBS)
ifeq ($(shell uname -s),Linux)
REFUSED = -DREFUSES=1 -Wl,--wrap=mmap
endif

FUZZ_PARTS = $(wildcard tests/fuzz/writer*.c) tests/fuzz/host.c \
  tests/fuzz/system_calls.c
$(filter-out %/targets,$(FUZZ)): $(BUILD)/tests/fuzz/%: tests/fuzz/%.c \
  $(FUZZ_PARTS) $(wildcard tests/fuzz/*.h) $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(COMPILE) $(if $(filter %/ulps,$@),$(MPFR)) -o $@ $< $(FUZZ_PARTS) \
	  $(BUILD)/libtally.a $(WRAPPED) $(LDFLAGS) $(LIBS) \
	  $(if $(filter %/ulps,$@),$(MPFR_LIBS))
MPFR_LIBS := $(call pkg,--libs,mpfr)
MPFR := $(if $(MPFR_LIBS),-DHAVE_MPFR $(call pkg,--cflags,mpfr))

# Calls of the system go by way of tests/fuzz/system_calls.c, which refuses some.
ifeq ($(shell uname -s),Linux)
WRAPPED := $(shell sed -n 's/^WRAP.[^,]*, \([a-z_]*\),.*/-Wl,--wrap=\1/p' \
  tests/fuzz/system_calls.c) -Wl,--wrap=close
endif

# All targets in one program, which libFuzzer or its own main runs.
TARGET_PARTS = $(wildcard tests/fuzz/targets/*.c) $(FUZZ_PARTS)
$(BUILD)/tests/fuzz/targets: $(TARGET_PARTS) $(wildcard tests/fuzz/*.h) \
  $(wildcard tests/fuzz/targets/*.h) $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(COMPILE) $(FUZZ_SEARCH) -o $@ $(TARGET_PARTS) $(BUILD)/libtally.a \
	  $(WRAPPED) $(LDFLAGS) $(LIBS)

# The hosts in C++, where there is a compiler for it.
$(BUILD)/examples/%_cpp: examples/%.cpp tally.h $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(call say,c++)if command -v $(firstword $(CXX)) >/dev/null; then \
	  $(CXX) -std=c++17 -I. -Wall -Wextra -Wpedantic $(WERROR) $(CFLAGS) \
	  -pthread -o $@ $< $(BUILD)/libtally.a $(LDFLAGS) $(LIBS); \
	else echo 'echo skipped' > $@; fi

$(BUILD)/examples/%: examples/%.c $(BUILD)/libtally.a
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< $(BUILD)/libtally.a $(LDFLAGS) $(LIBS)

# The modules of the library that are written in Tally and the documentation of
# those in C, and hints for messages, as C arrays.
$(BUILD)/embedded.c: $(EMBEDDED) stdlib stdlib/global stdlib/inner tools/embed
	@mkdir -p $(@D)
	@tools/embed $(EMBEDDED) > $@

$(BUILD)/hint_lines.c: vm/hints.txt tools/embed
	@mkdir -p $(@D)
	@tools/embed $< > $@

$(BUILD)/%.o: $(BUILD)/%.c
	$(COMPILE) -c $< -o $@

# What the command has in it of other languages, as strings: of signs such as
# '\342', which fit a char with a sign and without.
REPL_TEXTS := doc.css doc.js $(notdir $(wildcard repl/*.tly repl/*.txt))
$(BUILD)/texts.c: $(addprefix repl/,$(REPL_TEXTS)) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "repl/program.h"'; \
	for text in $(REPL_TEXTS); do \
	  name=$${text%.tly}; \
	  echo "const char tl_$${name%.txt}[] = {" | tr . _; \
	  od -An -v -to1 repl/$$text | sed "s/ *\([0-7][0-7]*\)/'\\\\\1',/g"; \
	  echo '0};'; done; } > $@

## demo      install what is missing, build, and run the solar cycle example
demo:
	@CC='$(CC)' tools/setup
	$(SUBMAKE) all
	./tally examples/sunspots.tly

## test      the same set-up, then build and run all tests
test:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) all tests
	@CC='$(CC)' tests/run $(BUILD)

## check     all tests under the sanitizers and the auditor of counts
check:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) BUILD=build/check $(HASTE) CFLAGS='$(CHECK_CFLAGS)' tests
	@CC='$(CC)' CFLAGS='$(CHECK_CFLAGS)' tests/run build/check

## one-file  all tests of build/amalgamation/tally.c, compiled as a host would
one-file:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) BUILD=build/one ONE_FILE=1 CFLAGS=-O2 tests
	@CC='$(CC)' ONE_FILE=1 tests/run build/one

## check-threads  the hosts and what uses threads under the thread sanitizer
check-threads:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) BUILD=build/tsan $(HASTE) CFLAGS='-O1 -g -fsanitize=thread' \
	  threaded
	@tests/threads.sh build/tsan

# For the compiler to find: apt-get install gcc-aarch64-linux-gnu
# qemu-user-static; dpkg --add-architecture arm64; apt-get update; apt-get
# install libutf8proc-dev:arm64 zlib1g:arm64 libzstd1:arm64 libpcre2-8-0:arm64
## check-arm64  golden tests and kernels on 64-bit ARM, emulated by QEMU
check-arm64: all
	$(SUBMAKE) CC=aarch64-linux-gnu-gcc BUILD=build/arm64 programs \
	  build/arm64/tests/fuzz/scalars
	@tests/arm64.sh build/arm64 $(BUILD)/tally

# Counts recounted, but no sanitizers: several times as fast.
AUDIT_CFLAGS = -O2 -g -DTALLY_AUDIT=1

## audit     all tests and examples under the auditor of counts alone
audit:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) BUILD=build/audit CFLAGS='$(AUDIT_CFLAGS)' tests
	@CC='$(CC)' CFLAGS='$(AUDIT_CFLAGS)' tests/run build/audit

## fuzz      PROGRAMS random programs (200000), mutants of a tenth of them,
##           as many damaged files of each format, and all scripts with up to
##           a 500th of them of their allocations refused
PROGRAMS ?= 200000
FIRST ?= 1
fuzz:
	$(SUBMAKE) BUILD=build/audit CFLAGS='$(AUDIT_CFLAGS)' tests
	build/audit/tests/fuzz/programs $(PROGRAMS) $(FIRST)
	build/audit/tests/fuzz/mutants $$(($(PROGRAMS) / 10)) $(FIRST)
	tests/fuzz/search replay build/audit/tests/fuzz/targets \
	  $$(($(PROGRAMS) / 100))
	build/audit/tests/fuzz/pure $(PROGRAMS) $(FIRST)
	build/audit/tests/fuzz/scalars $(PROGRAMS) $(FIRST)
	build/audit/tests/fuzz/starved $$(($(PROGRAMS) / 500)) $(FIRST) \
	  tests/counting/*.tly tests/lang/*.tly tests/lib/*.tly examples/*.tly

# libFuzzer, the library and the kernels with sanitizers. Needs clang. All but the
# kernels count how often each block ran: libFuzzer goes through all counters after
# each run, and those of loops in three sets were two of five. Comparisons are not
# traced: that took half of the time, and words of the language and of file formats
# come from dictionaries and seeds. Definitions of tests/fuzz/targets/main.c stand
# before libFuzzer's.
UNCOUNTED = '-O1 -fno-sanitize=fuzzer-no-link'
FUZZING = BUILD=build/fuzzing CC=clang KERNEL_OPT=$(UNCOUNTED) \
  SPELLED_OUT=$(UNCOUNTED) WERROR= \
  FUZZ_SEARCH='-DFUZZ_SEARCH -fsanitize=fuzzer -Wl,-z,muldefs' \
  CFLAGS='-O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined \
  -fno-sanitize-coverage=trace-cmp -fno-sanitize-recover=undefined \
  -fno-omit-frame-pointer'
## fuzz-NAME random bytes for SECONDS (60) to a target, one of those that
##           tests/fuzz/search names: fuzz-source, fuzz-npy, …
SECONDS ?= 60
fuzz-%:
	$(SUBMAKE) $(FUZZING) build/fuzzing/tests/fuzz/targets
	@tests/fuzz/search fuzz build/fuzzing/tests/fuzz/targets $* $(SECONDS)

## torture   all of `make fuzz` and fuzz-…, each allocation and call of the
##           system refused, errors of functions in ulps: MINUTES (10) of each
MINUTES ?= 10
torture:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) BUILD=build/audit CFLAGS='$(AUDIT_CFLAGS)' tests
	@tests/torture build/audit $(MINUTES)

## tidy      clang-tidy over all sources, where it is installed
tidy:
	@tools/tidy

# Not optimised, and no function is put in place of its calls, so that lines and
# branches are those of the sources.
## coverage  which lines and branches of vm/ and compiler/ the tests reach
coverage:
	@CC='$(CC)' tools/setup --tests
	$(SUBMAKE) BUILD=build/coverage KERNEL_OPT=-O1 SPELLED_OUT=-O0 \
	  CFLAGS='-O0 --coverage -Dalways_inline=' tests
	@tools/coverage build/coverage

## docs      the reference of all built-in functions, a page for the browser
docs: programs
	@mkdir -p build
	@$(BUILD)/tally doc --html build/docs
	@echo "open build/docs/index.html"

## bench     measure beside the peers (installs them); tables in build/bench
bench:
	@CC='$(CC)' tools/setup
	$(SUBMAKE) all
	@CC='$(CC)' tests/bench/install
	@CC='$(CC)' tests/bench/run
	@CC='$(CC)' tests/bench/embed/run $(BUILD)
	@tests/bench/library
	@tests/bench/scaling >/dev/null
	@tests/bench/items >/dev/null
	@tests/bench/counting --build $(BUILD) >/dev/null

## bench-check  compare small programs' instruction counts with recorded ones,
##              and texts of many shapes with ones four times as long
bench-check:
	@CC='$(CC)' tools/setup
	$(SUBMAKE) all
	@CC='$(CC)' tests/bench/counts $(BUILD)/tally
	@tests/bench/growth $(BUILD)/tally

## house     measure the structure against tests/house.txt: layers, cycles, lines
house:
	@CC='$(CC)' tools/setup
	$(SUBMAKE) all
	@tools/house $(BUILD)

## bench-record  record the counts
bench-record:
	@CC='$(CC)' tools/setup
	$(SUBMAKE) all
	@CC='$(CC)' tests/bench/counts $(BUILD)/tally --record

## format    lay out all C as .clang-format says
format:
	clang-format -i $$(find vm compiler stdlib repl tests examples \
	  -name '*.[ch]') tally.h

## clean     remove everything that was made
clean:
	rm -rf build tally libtally.a libtally.so

## help      show this list
help:
	@sed -n 's/^## \( *\)/make \1/p' Makefile tools/ship/*.mk | \
	  sed 's/^make   /       /'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
