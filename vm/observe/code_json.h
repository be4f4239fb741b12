// The code of a unit as JSON, for the programs in Tally that tell of it:
//
//     stdlib/inner/listing.tly   tally dis              code_json.c alone
//     stdlib/inner/explain.tly   tally explain          explain.c adds to it
//     stdlib/inner/peak.tly      tally explain --peak   peak_bound.c likewise
//     stdlib/inner/native.tly    tally dis --native     native_json.c alone
//
// Everything is appended to a text. Only memory can be missing, which
// text->failed tells.
#pragma once

#include "vm/bytecode/function.h"

// As JSON has it.
static inline const char *tl_json_bool(bool is_true) {
  return is_true ? "true" : "false";
}
// Turns what was written from [begin] on into a JSON string.
void tl_json_quote_rest(tl_text *out, size_t begin);

// Appends item [i] of what [of] points to.
typedef void tl_json_item(tl_text *out, const void *of, uint32_t i);
// Appends `"NAME": [ … ]` of [count] items, as all that follows behind ", "
// unless it is the first field of its object.
void tl_json_list(tl_text *out, const char *name, const void *of,
                  uint32_t count, tl_json_item *put);
// A string of an array of them; null for NULL.
void tl_json_name(tl_text *out, const void *of, uint32_t i);

// Appends fields of the instruction at [pc], each behind ", ".
typedef void tl_json_more(tl_text *out, void *context, const tl_prototype *p,
                          uint32_t pc, const tl_decoded *d);
// Appends fields of a function, behind others: name, handlers (start, end and
// handler, which are pcs, and the slots that each keeps and owns), slots, end
// (behind its last instruction) and code, of whose instructions each has pc,
// next, op, operands and their modes, window (its first slot and how many),
// result (-1: none) and results (how many), target (-1: it does not jump),
// falls, and [more].
void tl_json_code(tl_text *out, const tl_prototype *p, tl_json_more *more,
                  void *context);
// Appends the lines of the source, without the blanks around each, as a field.
void tl_json_lines(tl_text *out, const tl_unit *unit);

// Appends what `tally dis` lists: a unit's functions, or [only] one of them.
void tl_json_listing(tl_text *out, const tl_unit *unit,
                     const tl_prototype *only);

// Appends the typed operations of all machine code of the VM of [out].
void tl_json_native(tl_text *out);
