// Strings of .npy files: code points of 32 bits, zeros behind.
#pragma once

#include "stdlib/npy_header.h"
#include "vm/array/string_item.h"

// Item [index] of a from [width] code points without the zeros at their end.
// [text] takes 4 bytes for each of them.
// Fails (kind value) for numbers that are no code points, with the item and the
// place in it.
bool tl_npy_store_text(tl_reader *reader, tl_array *a, int64_t index,
                       const uint32_t *points, int64_t width, char *text);

// The code point at text[*at], which is moved behind it.
uint32_t tl_npy_next_point(const char *text, size_t *at);
// How many code points a string has: its width in a file.
int64_t tl_npy_count_points(const tl_string_item *item);

// An axis of structs as a file has them, its texts as strings. *out is owned.
// [p] is the struct array over the file's bytes, of one axis; nothing of *out
// refers to it.
bool tl_npy_open_texts(tl_reader *reader, const tl_npy *from, tl_slot p,
                       tl_slot *out);
// The other way round, for structs of columns; *texts says which are texts.
// *out is a struct array in one block, laid out as the file wants it; owned.
bool tl_npy_close_texts(tl_vm *vm, const char *function, tl_slot p,
                        tl_npy_texts *texts, tl_slot *out);
