# All of Tally as tally.c and tally.h. Included by the main Makefile, before the
# objects are used.

AMALGAMATION := build/amalgamation

# A line of tools/amalgamate's list: source, instruction set, flags of its own.
unit = printf '%s\t%s\t%s\n' '$(1)' '$(or $(2),-)' '$(strip $(3))';
kernel_unit = $(call unit,vm/kernels/$(1).c,$(2),$(KERNEL_FLAGS) \
  $(KERNEL_ISA_$(2)) $(KERNEL_FLAGS_$(1)))
units = $(foreach isa,$(KERNEL_ISAS),\
    $(foreach k,$(filter-out table,$(KERNEL_LOOPS)) table,\
      $(call kernel_unit,$(k),$(isa)))) \
  $(foreach k,$(KERNEL_PLAIN),$(call kernel_unit,$(k))) \
  $(foreach s,$(SOURCES),$(call unit,$(s),,$(call own_flags,$(s)))) \
  $(foreach made,embedded hint_lines,$(call unit,$(AMALGAMATION)/$(made).c))

$(AMALGAMATION)/tally.c: $(SOURCES) $(EMBEDDED) vm/hints.txt tally.h $(wildcard vm/*.h \
  vm/*/*.h vm/kernels/*.c vm/kernels/generated/* compiler/*.h stdlib/*.h \
  vm/generated/*.h) tools/amalgamate tools/embed \
  tools/ship/amalgamation.mk Makefile vm/kernels/kernels.mk
	@mkdir -p $(@D)
	@tools/embed $(EMBEDDED) > $(@D)/embedded.c
	@tools/embed vm/hints.txt > $(@D)/hint_lines.c
	@{ $(units) } > $(@D)/units
	$(call say,c )tools/amalgamate $(@D)/units $@ $(CC) -std=c11 \
	  -D_POSIX_C_SOURCE=200809L -I. $(UTF8PROC_CFLAGS)
	@rm $(@D)/units $(@D)/embedded.c $(@D)/hint_lines.c
	@cp tally.h $(@D)

## amalgamation  write all of it as two files: build/amalgamation/tally.[ch]
.PHONY: amalgamation
amalgamation: $(AMALGAMATION)/tally.c

# ONE_FILE=1: the library, and with it all programs and tests, from that file
# as a host compiles it.
ifdef ONE_FILE
OBJECTS     := $(BUILD)/tally.o
KERNEL_OBJS :=
$(BUILD)/tally.o: $(AMALGAMATION)/tally.c
	@mkdir -p $(@D)
	$(call say,cc)$(CC) -c $(CFLAGS) $(CPPFLAGS) $(WARNINGS) -fPIC \
	  $(UTF8PROC_CFLAGS) $< -o $@
endif
