# The shared library, and what `make install` puts where. Included by the main
# Makefile.

SOVERSION := $(firstword $(subst ., ,$(VERSION)))
LIBDIR    ?= $(PREFIX)/lib
MANDIR    ?= $(PREFIX)/share/man

# Its names carry the version that had them first, and its file the one that
# programs are linked with.
ifeq ($(shell uname -s),Darwin)
SHARED_ENDING := .dylib
SHARED_FLAGS  := -dynamiclib -install_name $(LIBDIR)/libtally.$(SOVERSION).dylib
SHARED_FULL   := libtally.$(VERSION).dylib
SHARED_MAJOR  := libtally.$(SOVERSION).dylib
else
SHARED_ENDING := .so
SHARED_FLAGS  := -shared -Wl,-soname,libtally.so.$(SOVERSION) \
                 -Wl,--version-script=tools/ship/tally.map -Wl,--gc-sections
# Code and constants in one segment: no page is filled up between them.
SHARED_FLAGS  += -Wl,-z,noseparate-code
SHARED_FULL   := libtally.so.$(VERSION)
SHARED_MAJOR  := libtally.so.$(SOVERSION)

# The tables of kernels and functions hold thousands of addresses: packed they
# take 3 bytes each instead of 24, and a program starts sooner, where linker and C
# library know how.
RELR := -Wl,-z,pack-relative-relocs
PACKED := $(shell t=$$(mktemp) && echo 'int main(void) { return 0; }' | \
  $(CC) -x c - -pie -fPIE -Wl,--fatal-warnings $(RELR) -o $$t 2>/dev/null && \
  $$t && echo '$(RELR)'; rm -f $$t)
SHARED_FLAGS += $(PACKED)
endif

# As few bytes as can be: array loops for any processor of the kind, without its
# vectors and without those of several operations.
## small     build build/small/libtally.so and .a as small as they get
.PHONY: small
small:
	$(SUBMAKE) BUILD=build/small KERNEL_ISAS=base KERNEL_OPT=-Os SPELLED_OUT= \
	  CPPFLAGS='-DTALLY_NO_ISA -DTL_SMALL=1' CFLAGS=-Os \
	  programs

ifdef ONE_FILE
KERNEL_SHARED_OBJS :=
KERNEL_SETS        :=
endif
programs: $(KERNEL_SETS)

$(BUILD)/libtally.so: $(OBJECTS) $(KERNEL_SHARED_OBJS) tools/ship/tally.map
	$(LINK) $(SHARED_FLAGS) -o $@ $(filter %.o,$^) $(LIBS)
	@ln -sf libtally.so $(BUILD)/$(SHARED_MAJOR)

# Native modules of Tally's own, which scripts find beside the library.
ifeq ($(SHARED_ENDING),.so)
NATIVE := $(BUILD)/$(KERNELS_DIR)/python.so
programs: $(NATIVE)
$(NATIVE): $(wildcard stdlib/native/*.[ch]) tally.h Makefile
	@mkdir -p $(@D)
	$(call say,ld)$(CC) $(BASE) $(CFLAGS) $(LDFLAGS) -shared -o $@ \
	  $(filter %.c,$^) -ldl -pthread
endif

# Of C++ and libtorch (Debian: libtorch-dev), so not among the programs.
## torch     build the module torch, for scripts that import it
TORCH := $(BUILD)/$(KERNELS_DIR)/torch.so
.PHONY: torch torch-test
torch: $(TORCH)
$(TORCH): $(wildcard stdlib/native/torch/*) tally.h
	@mkdir -p $(@D)
	$(call say,c++)$(CXX) -std=c++17 -O1 -I. -Wall -Wextra $(WERROR) -fPIC \
	  -shared $(TORCH_FLAGS) -o $@ stdlib/native/torch/torch.cpp -ltorch \
	  -ltorch_cpu -lc10
## torch-test  the tests of that module, where libtorch is installed
torch-test: programs
	@if echo '#include <ATen/ATen.h>' | $(CXX) -std=c++17 $(TORCH_FLAGS) \
	  -x c++ -fsyntax-only - 2>/dev/null; then \
	  $(MAKE) --no-print-directory torch && \
	  $(BUILD)/tally test tests/torch examples/torch; \
	else echo 'torch: skipped, libtorch-dev is not installed'; fi

to = $(DESTDIR)$(1)
fill = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
  -e 's|@VERSION@|$(VERSION)|g' -e 's|@SHARED_ENDING@|$(SHARED_ENDING)|g'

# What is installed has no debug information: that stays in $(BUILD). Nor does it
# name twice what it exports, where the system's strip knows that by itself.
STRIP ?= strip
bare  = $(STRIP) $(if $(filter Darwin,$(shell uname -s)),-S -x) $(call to,$(1))

# The installed command is small, for it needs the shared library, which it
# finds from where it lies itself: the tree can be moved as a whole.
RUNPATH = $(patsubst $(PREFIX)/%,\$$ORIGIN/../%,$(LIBDIR))
LINK_COMMAND = $(LINK) $(if $(findstring sanitize,$(CFLAGS)),,$(PACKED)) \
  -Wl,-rpath,$(RUNPATH) -o $(call to,$(PREFIX)/bin/tally) $(REPL) \
  $(BUILD)/libtally.so $(LIBS)

# Where the system's loader searches the folder it has to know of a new library;
# what it does not search is said. Nothing to do below DESTDIR.
define tell_loader
@PATH=$$PATH:/sbin:/usr/sbin; \
if [ -z '$(DESTDIR)' ] && command -v ldconfig >/dev/null; then \
  if ! ldconfig -v -N 2>/dev/null | grep -q '^$(LIBDIR):'; then \
    echo 'tally: link programs with -Wl,-rpath,$(LIBDIR):' \
      'the loader does not search there'; \
  elif [ "$$(id -u)" = 0 ]; then echo ldconfig && ldconfig; \
  else echo 'tally: run ldconfig as root, for programs to find the library'; \
  fi; \
fi
endef

## install   to PREFIX (/usr/local), below DESTDIR if that is set
install: programs
	install -d $(call to,$(PREFIX)/bin) $(call to,$(PREFIX)/include) \
	  $(call to,$(LIBDIR)/pkgconfig) $(call to,$(LIBDIR)/cmake/tally) \
	  $(call to,$(MANDIR)/man1) $(call to,$(MANDIR)/man7)
	$(LINK_COMMAND)
	$(call bare,$(PREFIX)/bin/tally)
	install -m 644 tally.h tally_bind.h $(call to,$(PREFIX)/include)
	install -m 644 $(BUILD)/libtally.a $(call to,$(LIBDIR))
	$(STRIP) -S $(call to,$(LIBDIR)/libtally.a)
	install -m 755 $(BUILD)/libtally.so $(call to,$(LIBDIR)/$(SHARED_FULL))
	$(call bare,$(LIBDIR)/$(SHARED_FULL))
	$(if $(KERNEL_SETS),install -d $(call to,$(LIBDIR)/$(KERNELS_DIR)) && \
	  install -m 755 $(KERNEL_SETS) $(call to,$(LIBDIR)/$(KERNELS_DIR)) && \
	  $(call bare,$(LIBDIR)/$(KERNELS_DIR)/*))
	$(if $(NATIVE),install -d $(call to,$(LIBDIR)/$(KERNELS_DIR)) && \
	  install -m 755 $(NATIVE) $(call to,$(LIBDIR)/$(KERNELS_DIR)) && \
	  $(call bare,$(LIBDIR)/$(KERNELS_DIR)/python.so))
	ln -sf $(SHARED_FULL) $(call to,$(LIBDIR)/$(SHARED_MAJOR))
	ln -sf $(SHARED_MAJOR) $(call to,$(LIBDIR)/libtally$(SHARED_ENDING))
	$(fill) tools/ship/tally.pc.in > $(call to,$(LIBDIR)/pkgconfig/tally.pc)
	$(fill) tools/ship/tally-config.cmake.in \
	  > $(call to,$(LIBDIR)/cmake/tally/tally-config.cmake)
	$(fill) tools/ship/tally-config-version.cmake.in \
	  > $(call to,$(LIBDIR)/cmake/tally/tally-config-version.cmake)
	$(fill) tools/ship/tally.1 > $(call to,$(MANDIR)/man1/tally.1)
	$(BUILD)/tally doc --man > $(call to,$(MANDIR)/man7/tally.7)
	$(tell_loader)

## uninstall remove what install put there
uninstall:
	rm -f $(call to,$(PREFIX)/bin/tally) $(call to,$(PREFIX)/include/tally.h) \
	  $(call to,$(PREFIX)/include/tally_bind.h) \
	  $(call to,$(LIBDIR)/libtally.a) $(call to,$(LIBDIR)/$(SHARED_FULL)) \
	  $(call to,$(LIBDIR)/$(SHARED_MAJOR)) \
	  $(call to,$(LIBDIR)/libtally$(SHARED_ENDING)) \
	  $(call to,$(LIBDIR)/pkgconfig/tally.pc) $(call to,$(MANDIR)/man1/tally.1) \
	  $(call to,$(MANDIR)/man7/tally.7)
	rm -rf $(call to,$(LIBDIR)/cmake/tally) $(call to,$(LIBDIR)/$(KERNELS_DIR))
