// Texts cut into strings, equal ones of which are one string.
#ifndef TALLY_STDLIB_SPLIT_H
#define TALLY_STDLIB_SPLIT_H

#include "vm/values/list.h"
#include "vm/values/string.h"

// Appends the words between white space, or what lies between separators, which
// are not empty.
bool tl_split_blanks(tl_vm *vm, const tl_string *s, tl_list **list);
bool tl_split_at(tl_vm *vm, const tl_string *s, const tl_string *separator,
                 tl_list **list);

#endif
