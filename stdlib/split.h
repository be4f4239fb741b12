// Texts cut into strings, equal ones of which are one string: the words of a
// long text repeat, and each is then a count and no copy.
#pragma once

#include "vm/string.h"

// Appends the words between white space to *list, which may move. False after
// tl_fail.
//
//   "  two words "      "two", "words"
bool tl_split_blanks(tl_vm *vm, const tl_string *s, tl_list **list);
// Appends what lies between separators, also where that is empty. The
// separator is not empty.
//
//   "a,b,,c" at ","    "a", "b", "", "c"
bool tl_split_at(tl_vm *vm, const tl_string *s, const tl_string *separator,
                 tl_list **list);
