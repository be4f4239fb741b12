// Files mapped into memory: their bytes are read when they are touched, and
// belong to the system's cache of files.
//
// A file may become shorter while it is mapped, and a disk may fail; touching
// what is not there raises SIGBUS in the thread that does.
//
//     kernel reads x[i] ─▶ SIGBUS ─▶ handler: zeros over the rest,
//                                    marks the VM (TL_FILE_LOST)
//     kernel ends       ─▶ next poll: tl_mapping_fail raises kind io
//     error unwinds     ─▶ tl_mapping_restore maps the file again, so that
//                          whatever reads it later fails again
//
// The handler is installed with the process's first mapping and hands every
// other SIGBUS to the one before it. A host may do without: see
// tally_options.no_signals.
#pragma once

#include "vm/io.h"

// Bits of tl_vm.interrupted, which other threads and signal handlers set.
enum {
  TL_INTERRUPTED = 1,  // by the host, or a key
  TL_FILE_LOST = 2,    // a mapped file is not there any more
  TL_ASKED = 4,        // the host asks what the run is at
};

typedef struct tl_mapping tl_mapping;

// Maps the file that [reader] has open, from its first byte to its last; the
// reader's descriptor is the mapping's from then on. [own] gives pages that may
// be written without changing the file; else they are read-only. Fails (kind
// io) where the system refuses, too many files are mapped, or the host allows
// no signal handler.
bool tl_mapping_open(tl_reader *reader, bool own, tl_mapping **out);
// The first byte of the mapped file.
char *tl_mapping_data(const tl_mapping *mapping);
// Whether its pages may be written.
bool tl_mapping_is_own(const tl_mapping *mapping);
// Ends a mapping: the release function of the array over it
// (tl_array_external), whose [context] is the mapping.
void tl_mapping_release(void *context, void *data);

// The VM was marked: fails (kind io), naming the file and the first byte that
// is gone.
bool tl_mapping_fail(tl_vm *vm);
// An error unwinds: maps what was lost again, so that touching it fails again.
void tl_mapping_restore(tl_vm *vm);
