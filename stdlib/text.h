// What the string functions of the library share: appending code points, and
// classes of them.
#pragma once

#include "vm/values/list.h"
#include "vm/string.h"

// Appends a code point in UTF-8; an invalid one appends nothing.
// Failures are noted in the text, as for all that is added to one.
void tl_text_point(tl_text *text, int32_t point);

// Appends a string of these bytes, valid UTF-8, to *list, which may move.
bool tl_list_push_text(tl_vm *vm, tl_list **list, const char *text,
                       size_t nbytes);
// Appends bytes [begin, end) of a string, which are valid UTF-8, likewise.
bool tl_list_push_cut(tl_vm *vm, tl_list **list, const tl_string *s,
                      size_t begin, size_t end);

// Whether a code point is white space, as split and strip see it.
bool tl_is_blank(int32_t point);
// Whether a code point is a letter (Unicode's categories L).
bool tl_is_letter(int32_t point);
// Whether a code point is a mark (Unicode's categories M).
bool tl_is_mark(int32_t point);

// The forms that letters are changed to.
typedef enum tl_case { TL_UPPER, TL_LOWER, TL_TITLE } tl_case;
// *out is [string] with its letters in that case, owned.
bool tl_change_case(tl_vm *vm, const tl_string *string, tl_case to,
                    tl_slot *out);
