// What a run did: where each operation's result lived, and why. The notes of an
// instruction are counts; here they become words, with the operand and the
// reason of the first time.
#include <inttypes.h>

#include "vm/observe/explain_internal.h"

// Reasons where nothing more is known of the operand.
static const char *const rejections[TL_REJECTION_COUNT] = {
    "the operand is used later", "the operand is shared",
    "the result has another shape", "the items have another size",
    "the operand is a view or read-only"};

// Adds a note to what is known; of texts the first of each reason stays.
static void add_note(tl_observed *s, const tl_note *n, uint32_t pc) {
  s->inplace += n->inplace;
  s->fresh += n->fresh;
  s->copies += n->copies;
  s->nbytes += n->nbytes;
  s->changed += n->changed;
  s->made += n->made;
  s->made_bytes += n->made_bytes;
  for (int i = 0; i < TL_REJECTION_COUNT; i++) {
    s->refused[i] += n->refused[i];
    // The first words of each reason stay.
    if (s->words[i] == NULL && n->words[i] != NULL) {
      s->words[i] = n->words[i];
      s->words_pc[i] = pc;
    }
  }
  if (n->largest > s->largest)
    s->largest = n->largest;
  if (n->taken != 0) {
    s->taken = n->taken;
    s->taken_pc = pc;
  }
}

// The memory of a region's result is noted where its run began, and shown for
// the result alone; so is what its instructions did when they ran one by one,
// the store behind the result too.
tl_observed tl_explain_observe(const tl_explainer *e, const tl_explained *o) {
  tl_observed s = {.fused = o->note == NULL ? 0 : o->note->fused};
  bool in_region = o->region != NULL && s.fused > 0;
  bool inner = in_region && o->pc != tl_explain_result(e, o->region);
  if (o->note != NULL && !inner)
    add_note(&s, o->note, o->pc);
  if (!in_region || inner)
    return s;
  for (uint32_t pc = o->region->start; pc < o->region->end; pc++) {
    const tl_note *n = tl_explain_note(e, pc);
    // An operation that always ran by itself has a line of its own.
    if (n != NULL && n->fused > 0 && pc != o->pc)
      add_note(&s, n, pc);
  }
  return s;
}

// "once" or "12 times".
static void put_times(tl_text *out, uint64_t count) {
  tl_text_printf(out, count == 1 ? "once" : "%" PRIu64 " times", count);
}

// " of x or y": the operands whose memory was taken.
static void put_taken(const tl_explainer *e, const tl_observed *s) {
  tl_decoded d;
  int count = 0;
  tl_decode(e->p, s->taken_pc, &d);
  for (uint32_t i = 0; i < d.operand_count + d.window_count && i < 8; i++) {
    if ((s->taken >> i & 1) == 0)
      continue;
    tl_text_puts(e->out, count++ == 0 ? " of " : " or ");
    tl_explain_operand(
        e, s->taken_pc,
        i < d.operand_count ? d.operands[i] : d.window + i - d.operand_count);
  }
}

// Says which operand could not give its memory, and why, as seen the first
// time.
static void put_rejection(const tl_explainer *e, const tl_explained *o,
                          const tl_observed *s, int why) {
  const struct tl_rejection_words *words = s->words[why];
  if (why == TL_REFUSED_LIVE && tl_explain_is_update(o->d.op)) {
    tl_explain_holder(e, o->pc, (uint32_t)o->d.result);
    return;
  }
  // Nothing more is known than the reason.
  if (words == NULL || (why == TL_REFUSED_LIVE && words->slot == UINT32_MAX)) {
    tl_text_puts(e->out, rejections[why]);
    return;
  }
  if (why == TL_REFUSED_LIVE) {
    tl_explain_keeper(e, s->words_pc[why], s->words_pc[why], words->slot);
    return;
  }
  if (words->slot == UINT32_MAX && tl_explain_is_update(o->d.op)) {
    tl_text_puts(e->out, "an array in ");
    tl_explain_operand(e, o->pc, (uint32_t)o->d.result);
  } else if (words->slot == UINT32_MAX)
    tl_text_puts(e->out, "an operand");
  else
    tl_explain_operand(e, s->words_pc[why], words->slot);
  tl_text_printf(e->out, " %s", words->text);
}

// The range among the operands, if there is one; else UINT32_MAX.
static uint32_t range_of(const tl_explainer *e, const tl_explained *o) {
  tl_decoded d;
  uint32_t from;
  for (uint32_t i = 0; i < o->d.operand_count + o->d.window_count; i++) {
    uint32_t slot = i < o->d.operand_count
                        ? (uint32_t)o->d.operands[i]
                        : o->d.window + i - o->d.operand_count;
    if (!tl_explain_definition(e, o->pc, slot, &from))
      continue;
    tl_decode(e->p, from, &d);
    if (d.op == TL_BC_RANGE)
      return slot;
  }
  return UINT32_MAX;
}

// In order: fused runs, results in place, new arrays with the reasons, why
// nothing was fused, copies.
void tl_explain_ran(const tl_explainer *e, const tl_explained *o) {
  tl_observed s = tl_explain_observe(e, o);
  uint64_t inplace = s.inplace + s.changed, fresh = s.fresh + s.made;
  bool first = true, inner = o->region != NULL && s.fused > 0 &&
                             o->pc != tl_explain_result(e, o->region);
  if (s.fused > 0) {
    tl_text_puts(e->out, "fused ");
    put_times(e->out, s.fused);
    first = false;
    if (o->note->together > 0 && !inner) {
      tl_text_puts(e->out, ", together ");
      put_times(e->out, o->note->together);
    }
  }
  // A range is written out as an array, and the result may lie in that:
  // together one new array.
  uint32_t range = s.fresh == s.inplace ? range_of(e, o) : UINT32_MAX;
  if (inplace > 0 && !inner && range == UINT32_MAX) {
    tl_text_puts(e->out, first ? "in place" : "; in place");
    put_taken(e, &s);
    tl_text_puts(e->out, " ");
    put_times(e->out, inplace);
    first = false;
  }
  if (fresh > 0 && !inner) {
    // A copy is a fresh value too: said once.
    bool copied = s.copies == fresh;
    tl_text_puts(e->out, first ? "" : "; ");
    tl_text_puts(e->out, copied ? "copied " : "fresh ");
    if (copied)
      s.copies = 0;
    put_times(e->out, fresh);
    tl_text_printf(e->out, ", %" PRIu64 " bytes", s.nbytes + s.made_bytes);
    first = false;
    const char *sep = ": ";
    if (range != UINT32_MAX) {
      tl_text_puts(e->out, sep);
      tl_explain_operand(e, o->pc, range);
      tl_text_puts(e->out, " counted out");
      sep = ", ";
    }
    for (int i = 0; i < TL_REJECTION_COUNT; i++) {
      if (s.refused[i] == 0)
        continue;
      tl_text_puts(e->out, sep);
      put_rejection(e, o, &s, i);
      sep = ", ";
    }
  }
  if (o->region != NULL && s.fused == 0 && s.changed + s.made == 0) {
    tl_text_puts(e->out, first ? "not " : "; not ");
    tl_text_puts(e->out, o->region->is_part ? "together: " : "fused: ");
    first = false;
    // Small regions run fused only where a plan is cached already.
    if (s.largest < TL_REGION_LARGE)
      tl_text_printf(e->out, "fewer than %d items, and not often enough",
                     TL_REGION_LARGE);
    else if (o->region->is_part)
      tl_text_puts(e->out,
                   "what they read or their shapes differ, or it would take "
                   "more memory");
    else
      tl_text_puts(e->out, "shapes, dtypes or arguments did not fit");
  }
  if (s.copies > 0) {
    tl_text_puts(e->out, first ? "copied " : ", copied ");
    put_times(e->out, s.copies);
    first = false;
  }
  if (first)
    tl_text_puts(e->out, "no array was met here");
}
