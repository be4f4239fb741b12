// Peak contracts: #:peak N above a function or a statement promises that it
// needs at most N bytes more than were alive when it began. An allocation that
// would break the promise fails (kind memory), and the message names what is
// alive and since which line.
//
//     #:peak 2 * x.nbytes                begins with the call, with N computed
//     fn smooth(x) {                     from the parameters
//       y = x[1:] + x[:-1]
//       z = exp(y) * x[1:]               "#:peak: 160000 bytes are promised …:
//       sort(z) + sort(y)                 y 80128 since line 3, z …"
//     }
//
// The promises that hold form a stack, as the frames do that made them, and the
// lowest ceiling of all is what the memory asks about (tl_memory.ceiling). None
// is ended by an instruction: whether its frame is still there, and still in
// the statement, is looked at when memory reaches the ceiling, or when another
// begins. So calls, errors and returns cost nothing.
#pragma once

#include "vm/bytecode/function.h"

// Numbers, lists and the headers of arrays need some bytes that nobody would
// count: so many are free.
enum { TL_PEAK_FREE = 4096 };

// Begins a promise of [nbytes] for the running frame: as long as it runs, or
// while it runs what stands at the bytes [begin, end) of its source, if end is
// not UINT32_MAX. With --no-reuse it promises nothing. False after tl_fail (kind
// memory): it could not be noted.
bool tl_peak_contract_begin(tl_vm *vm, uint64_t nbytes, uint32_t begin,
                            uint32_t end);
