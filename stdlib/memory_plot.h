// A recorded timeline as a picture.
#ifndef TALLY_STDLIB_MEMORY_PLOT_H
#define TALLY_STDLIB_MEMORY_PLOT_H

#include "vm/values/string.h"
#include "vm/api/watch.h"

// For a terminal of [width] columns (at least 40), and for a page. Only memory
// can be missing, which text->failed tells.
void tl_plot_text(tl_text *text, const tl_timeline *timeline, int width);
void tl_plot_svg(tl_text *text, const tl_timeline *timeline);

// 8123456 as "8.12 MB": three digits, decimal units.
enum { TL_SPELLED = 24 };
void tl_spell_bytes(uint64_t nbytes, char out[TL_SPELLED]);

// Text inside an SVG element: < > & " are escaped, control characters blank.
void tl_svg_text(tl_text *text, const char *from);

#endif
