// Bounds of peak memory: symbols, products of them, and sums.
//
// Built for size.
#include <inttypes.h>
#include <string.h>

#include "vm/observe/peak_internal.h"

// Names are compared as texts: a parameter and a variable from outside may have
// one name in a function, but then they are one variable.
int tl_peak_symbol_of(tl_peak_symbols *s, const tl_string *name, int axis) {
  for (int i = 0; i < s->count; i++)
    if (s->of[i].axis == axis && strcmp(s->of[i].name->text, name->text) == 0)
      return i;
  if (s->count == TL_PEAK_SYMBOLS)
    return -1;
  s->of[s->count] = (tl_peak_symbol){name, axis};
  return s->count++;
}

// The term of those powers; NULL: there is none.
static tl_product *find_term(tl_sum *sum, const tl_product *p) {
  for (int i = 0; i < sum->count; i++)
    if (memcmp(sum->terms[i].power, p->power, sizeof p->power) == 0)
      return &sum->terms[i];
  return NULL;
}

// A term for those powers, of factor 0; NULL: there is no room. The powers come
// from [p], the factor is for the caller to set.
static tl_product *add_term(tl_sum *sum, const tl_product *p) {
  tl_product *term = find_term(sum, p);
  if (term != NULL)
    return term;
  if (sum->count == TL_PEAK_TERMS) {
    sum->lost = true;
    return NULL;
  }
  term = &sum->terms[sum->count++];
  *term = *p;
  term->by = 0;
  return term;
}

// A product of 0 bytes needs no term. On overflow the factor is what wrapped:
// [lost] says not to look at it.
void tl_sum_add(tl_sum *sum, const tl_product *p) {
  tl_product *term = p->by == 0 ? NULL : add_term(sum, p);
  if (term != NULL && __builtin_add_overflow(term->by, p->by, &term->by))
    sum->lost = true;
}

// Term by term. The sum is at least as large as both, and larger than the
// larger one where each has more of another product.
//
//     max(8 n + 4 m, 16 n)  =  16 n + 4 m      and not 16 n, which is less
//                                              where 4 m > 8 n
void tl_sum_max(tl_sum *sum, const tl_sum *other) {
  for (int i = 0; i < other->count; i++) {
    tl_product *term = add_term(sum, &other->terms[i]);
    if (term != NULL && term->by < other->terms[i].by)
      term->by = other->terms[i].by;
  }
  sum->lost = sum->lost || other->lost;
}

// In floating point, as nothing but an order is asked for.
double tl_sum_weigh(const tl_sum *sum) {
  double all = 0;
  for (int i = 0; i < sum->count; i++) {
    double term = (double)sum->terms[i].by;
    for (int k = 0; k < TL_PEAK_SYMBOLS; k++)
      for (int n = 0; n < sum->terms[i].power[k]; n++) term *= 1000;
    all += term;
  }
  return all;
}

// --- Writing -----------------------------------------------------------------

// As the language has it, so that the formula can be copied behind #:peak.
static void put_symbol(tl_text *out, const tl_peak_symbol *s) {
  tl_text_puts(out, s->name->text);
  if (s->axis == TL_PEAK_SIZE)
    tl_text_puts(out, ".size");
  else if (s->axis >= 0)
    tl_text_printf(out, ".shape[%d]", s->axis);
}

void tl_product_put(tl_text *out, const tl_product *p,
                    const tl_peak_symbols *s) {
  tl_text_printf(out, "%" PRIu64, p->by);
  for (int k = 0; k < s->count; k++) {
    for (int n = 0; n < p->power[k]; n++) {
      tl_text_puts(out, " * ");
      put_symbol(out, &s->of[k]);
    }
  }
}

void tl_sum_put(tl_text *out, const tl_sum *sum, const tl_peak_symbols *s) {
  for (int i = 0; i < sum->count; i++) {
    tl_text_puts(out, i == 0 ? "" : " + ");
    tl_product_put(out, &sum->terms[i], s);
  }
  if (sum->count == 0)
    tl_text_puts(out, "0");
}
