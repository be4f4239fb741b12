# How the element kernels are built: files of loops once for each instruction
# set, the others once. Included by the main Makefile, which sets BUILD and
# COMPILE before and links $(KERNEL_OBJS) after.

# Compiled once for each instruction set, with TL_ISA defined as its name.
KERNEL_LOOPS := table arith integer invariant divide compare round vmath vmath_exp \
                vmath_log vmath_sin vmath_angles vmath_hyperbolic vmath_roots vmath_powers vmath_short complex complex_abs cast move mask reduce \
                extreme extreme_outer extreme_segments outer search sort_keys sort_columns gemm gemv gemv_complex \
                decimal rotate segments convolve half
# Compiled once.
KERNEL_PLAIN := isa scratch generated/erf_table rare complex_rare radix sort argsort merge overflow

# Same bits everywhere: no fused multiply-add but in matrix products, and no
# -ffast-math. Loops carry their own promise that exact aliases are safe.
KERNEL_OPT ?= -O2
KERNEL_FLAGS := $(KERNEL_OPT) -fno-asynchronous-unwind-tables \
                -ffp-contract=off -fno-math-errno
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
KERNEL_FLAGS += -fno-unroll-loops
else
KERNEL_FLAGS += -ftree-vectorize -fvect-cost-model=dynamic \
                --param vect-epilogues-nomask=0 -fno-trapping-math
# A debugger knows lines then, and not where each variable of a loop lies, which
# takes the compiler a fifth of its time.
KERNEL_DEBUG := -fno-var-tracking
# The vectors that a turn works on are interleaved.
KERNEL_FLAGS_vmath_exp := -fschedule-insns -fsched-pressure
KERNEL_FLAGS_vmath_log := -fschedule-insns -fsched-pressure
KERNEL_FLAGS_vmath_sin := -fschedule-insns -fsched-pressure
KERNEL_FLAGS_vmath_powers := -fschedule-insns
KERNEL_FLAGS_vmath_hyperbolic := -fschedule-insns -fsched-pressure
# AVX-512 has registers enough for other orders: 0.95 and 0.93 of the time.
TUNED := $(call accepts,-mtune=znver3)
KERNEL_FLAGS_vmath_log_avx512 := -fno-sched-pressure $(TUNED)
KERNEL_FLAGS_vmath_sin_avx512 := --param sched-pressure-algorithm=2 $(TUNED)
endif

# Tiles and lanes stay in registers only if short loops are spelled out.
SPELLED_OUT := -O3
KERNEL_FLAGS_gemm := $(SPELLED_OUT) -ffp-contract=fast
KERNEL_FLAGS_reduce := $(SPELLED_OUT)
KERNEL_FLAGS_segments := $(SPELLED_OUT)
KERNEL_FLAGS_extreme := $(SPELLED_OUT)
KERNEL_FLAGS_extreme_segments := $(SPELLED_OUT)
KERNEL_FLAGS_convolve := $(SPELLED_OUT)
KERNEL_FLAGS_gemv := $(SPELLED_OUT)
KERNEL_FLAGS_gemv_complex := $(SPELLED_OUT)
# Without vectors no network sorts, and checked integers are rare.
KERNEL_FLAGS_sort_columns_base := -Os
KERNEL_FLAGS_overflow := -Os
KERNEL_FLAGS_complex_rare := -Os

KERNEL_ISAS := base
ifneq ($(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),)
KERNEL_ISAS += avx2 avx512
KERNEL_ISA_avx2 := -mavx2 -mfma -mbmi2 -mf16c
KERNEL_ISA_avx512 := $(KERNEL_ISA_avx2) -mavx512f -mavx512dq -mavx512bw \
                     -mavx512vl -mprefer-vector-width=512
# GCC 12.2 fuses the halves of complex products though told not to (its bug
# 107647), so such files do without the instructions for it.
KERNEL_FLAGS_complex := -mno-avx512f -mno-fma
KERNEL_FLAGS_gemv_complex += $(KERNEL_FLAGS_complex)
endif

# Where there are wider sets, base serves few machines and is in each library: it
# is small, without kernels of several operations, and takes one row or vector at a
# time, with the same results.
ifneq ($(KERNEL_ISAS),base)
KERNEL_SET_base := -Os -DTL_SMALL=1
KERNEL_NOT_base := fused invariant sort_columns
endif

define kernel_rule
KERNEL_OBJS_$(1) := $(patsubst %,$(BUILD)/vm/kernels/%.$(1).o,\
  $(filter-out $(KERNEL_NOT_$(1)),$(KERNEL_LOOPS)))
$(BUILD)/vm/kernels/%.$(1).o: vm/kernels/%.c vm/kernels/kernels.mk
	@mkdir -p $$(@D)
	$$(COMPILE) $$(KERNEL_DEBUG) $$(KERNEL_FLAGS) $$(KERNEL_ISA_$(1)) \
	  $$(KERNEL_FLAGS_$$*) $$(KERNEL_FLAGS_$$*_$(1)) $$(KERNEL_SET_$(1)) \
	  -DTL_ISA=$(1) -c $$< -o $$@
KERNEL_OBJS += $$(KERNEL_OBJS_$(1))
endef
$(foreach isa,$(KERNEL_ISAS),$(eval $(call kernel_rule,$(isa))))

# These need no instruction set of their own.
KERNEL_PLAIN_OBJS := $(KERNEL_PLAIN:%=$(BUILD)/vm/kernels/%.o)
$(KERNEL_PLAIN_OBJS): $(BUILD)/vm/kernels/%.o: vm/kernels/%.c \
                      vm/kernels/kernels.mk
	@mkdir -p $(@D)
	$(COMPILE) $(KERNEL_DEBUG) $(KERNEL_FLAGS) $(KERNEL_FLAGS_$*) -c $< -o $@
KERNEL_OBJS += $(KERNEL_PLAIN_OBJS)

# libtally.so has the base set and loads one of the others from an object beside
# it. Libraries that are linked into a program have them all inside.
KERNELS_DIR := tally-$(VERSION)
ifneq ($(KERNEL_ISAS),base)
ifeq ($(shell uname -s)$(findstring TALLY_NO_DLOPEN,$(CPPFLAGS)),Linux)
KERNEL_BESIDE := $(filter-out base,$(KERNEL_ISAS))
endif
endif

$(BUILD)/vm/kernels/%_beside.o: vm/kernels/%.c vm/kernels/kernels.mk
	@mkdir -p $(@D)
	$(COMPILE) $(KERNEL_FLAGS) '-DTALLY_KERNELS_BESIDE="$(KERNELS_DIR)"' \
	  -c $< -o $@

ifdef KERNEL_BESIDE
KERNEL_SHARED_OBJS := $(KERNEL_OBJS_base) $(BUILD)/vm/kernels/isa_beside.o \
  $(filter-out %/isa.o,$(KERNEL_PLAIN_OBJS))
else
KERNEL_SHARED_OBJS = $(KERNEL_OBJS)
endif

define beside_rule
KERNEL_SETS += $(BUILD)/$(KERNELS_DIR)/$(1).so
$(BUILD)/$(KERNELS_DIR)/$(1).so: \
  $(KERNEL_OBJS_$(1)) $(BUILD)/vm/kernels/wide.$(1).o $(BUILD)/vm/kernels/rare.o \
  $(BUILD)/vm/kernels/complex_rare.o $(BUILD)/vm/kernels/generated/erf_table.o
	@mkdir -p $$(@D)
	$$(LINK) -shared -o $$@ $$^ -lm
endef
$(foreach isa,$(KERNEL_BESIDE),$(eval $(call beside_rule,$(isa))))
