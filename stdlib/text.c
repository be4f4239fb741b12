// What the string functions of the library share: see text.h.
//
// Built for speed.
#include "stdlib/text.h"

#include <utf8proc.h>

// Up to four bytes of UTF-8, of which letters have two; utf8proc refuses
// surrogates and what lies beyond U+10FFFF with 0.
void tl_text_point(tl_text *text, int32_t point) {
  if (point >= 0x80 && point < 0x800) {
    const char two[] = {(char)(0xc0 | point >> 6), (char)(0x80 | (point & 63))};
    tl_text_add(text, two, sizeof two);
    return;
  }
  utf8proc_uint8_t bytes[4];
  utf8proc_ssize_t n = utf8proc_encode_char(point, bytes);
  tl_text_add(text, (const char *)bytes, n > 0 ? (size_t)n : 0);
}

// The list counts the new string; the caller never has it.
bool tl_list_push_text(tl_vm *vm, tl_list **list, const char *text,
                       size_t nbytes) {
  tl_slot string;
  return tl_string_part(vm, text, nbytes, &string) &&
         tl_list_push_own(vm, list, string);
}

// Letters are shared, and what is known of the string is known of its part.
bool tl_list_push_cut(tl_vm *vm, tl_list **list, const tl_string *s,
                      size_t begin, size_t end) {
  tl_slot string;
  if (!tl_string_cut(vm, s, begin, end, &string))
    return false;
  tl_list *to = *list;
  if (to->length == to->capacity || (to->length & 0xfff) == 0xfff)
    return tl_list_push_own(vm, list, string);
  tl_list_put(vm, to, &string);
  return true;
}

// Unicode's separators besides the control characters that ASCII has for white
// space.
bool tl_is_blank(int32_t point) {
  if (point < 128)
    return point == ' ' || (point >= 9 && point <= 13);
  utf8proc_category_t category = utf8proc_category(point);
  return point == 0x85 || category == UTF8PROC_CATEGORY_ZS ||
         category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}
