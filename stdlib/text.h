// What the string functions of the library share (string.c,
// string_case.c).
#ifndef TALLY_STDLIB_TEXT_H
#define TALLY_STDLIB_TEXT_H

#include "vm/values/list.h"
#include "vm/values/string.h"

// The code point that text begins with, and how many bytes it takes.
size_t tl_text_decode(const char *text, size_t nbytes, int32_t *point);
void tl_text_point(tl_text *text, int32_t point);
// Closes the text; *out is its string.
bool tl_text_give(tl_text *text, tl_slot *out);

bool tl_list_push_text(tl_vm *vm, tl_list **list, const char *text,
                       size_t nbytes);
// *out owns the list if ok, else it is dropped (it may be NULL). Returns ok.
bool tl_list_give(tl_vm *vm, tl_list *list, bool ok, tl_slot *out);

// White space, as split and strip see it.
bool tl_is_blank(int32_t point);
bool tl_is_letter(int32_t point);
bool tl_is_mark(int32_t point);

typedef enum tl_case { TL_UPPER, TL_LOWER, TL_TITLE } tl_case;
// *out is the string [s] with its letters so; [function] is for the error where
// it is none.
bool tl_change_case(tl_vm *vm, const char *function, tl_slot s, tl_case to,
                    tl_slot *out);

#endif
