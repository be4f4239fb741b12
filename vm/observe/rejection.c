// Why an operand's memory did not take a result, in words: see rejection.h. Who
// shares an object is found by walking all references (references.h), once for
// each message.
#include "vm/observe/rejection.h"

#include "vm/observe/references.h"

// Whether [s] is the object, or a nested array with it.
static bool has(tl_slot s, const tl_object *object) {
  if (!tl_is_heap(s))
    return false;
  for (int64_t i = 0; tl_is_nested(s) && i < s.nested->count; i++)
    if (has(s.nested->parts[i], object))
      return true;
  return s.object == object;
}

// The operand may be a part of a nested array in the slot.
const tl_slot *tl_refused_slot(const tl_vm *vm, tl_slot operand) {
  const tl_frame *f = vm->frame;
  tl_decoded d;
  tl_decode(f->function, tl_frame_pc(f), &d);
  for (uint32_t i = 0; i < d.operand_count + d.window_count; i++) {
    const tl_slot *s = &f->base[tl_operand_slot(&d, i)];
    if (has(*s, operand.object))
      return s;
  }
  // In a fused region the operand may be that of a later instruction.
  for (uint32_t i = 0; i < f->function->named_count; i++)
    if (tl_is_array(f->base[i]) && f->base[i].object == operand.object)
      return &f->base[i];
  return NULL;
}

// --- Who shares -------------------------------------------------------------

// Who else refers to an object: how many, and the first two.
typedef struct owners {
  const tl_object *wanted;
  const tl_slot *place;  // the operand's own: not another one
  int count;
  tl_reference found[2];
} owners;

// Visitor of all references.
static bool add_owner(void *context, const tl_reference *r) {
  owners *o = context;
  if (r->to.object != o->wanted || (r->at != NULL && r->at == o->place))
    return true;
  if (o->count < 2)
    o->found[o->count] = *r;
  o->count++;
  return true;
}

// "l in the script": what a variable's reference is called, without its line.
static void put_variable(tl_text *out, const tl_reference *r) {
  tl_text_add(out, r->name, strcspn(r->name, ","));
}

// "[0] of a list (l in the script)".
static void put_other(tl_vm *vm, tl_text *out, const tl_reference *r) {
  owners o = {.wanted = r->from};
  char owner[TL_REFERENCE_NAME + TL_DESCRIBE];
  bool complete;
  if (r->from == NULL) {
    put_variable(out, r);
    return;
  }
  tl_spell_owner(r, owner, sizeof owner);
  tl_text_puts(out, owner);
  tl_each_reference(vm, false, add_owner, &o, &complete);
  for (int i = 0; i < o.count && i < 2; i++) {
    if (o.found[i].from != NULL)
      continue;
    tl_text_puts(out, " (");
    put_variable(out, &o.found[i]);
    tl_text_puts(out, ")");
    return;
  }
}

// "is shared with l in the script and 2 more".
static void put_owners(tl_vm *vm, tl_text *out, tl_slot operand,
                       const tl_slot *place) {
  owners o = {.wanted = operand.object, .place = place};
  bool complete;
  tl_each_reference(vm, false, add_owner, &o, &complete);
  tl_text_puts(out, "is shared");
  for (int i = 0; i < o.count && i < 2; i++) {
    tl_text_puts(out, i == 0 ? " with " : " and ");
    put_other(vm, out, &o.found[i]);
  }
  if (o.count > 2)
    tl_text_printf(out, " and %d more", o.count - 2);
}

// --- All reasons ------------------------------------------------------------

// What the running function calls the array that a view is of.
static const char *name_of_owner(const tl_vm *vm, tl_slot view) {
  const tl_frame *f = vm->frame;
  const tl_prototype *p = f->function;
  const tl_array *owner = tl_array_owner(view.array);
  for (uint32_t i = 0; i < p->named_count; i++)
    if (p->slot_names[i] != NULL && tl_is_array(f->base[i]) &&
        f->base[i].array == owner)
      return p->slot_names[i]->text;
  return "another array";
}

// One sentence for each reason; the longest is for shared arrays, whose other
// owners are named.
static void put_reason(tl_vm *vm, tl_text *out, tl_rejection why,
                       tl_slot operand, const tl_slot *place) {
  unsigned flags = tl_is_array(operand) ? operand.array->head.flags : 0;
  bool dense =
      tl_is_array(operand) && (tl_array_tag(operand.array) & TL_DENSE) != 0;
  if (why == TL_REFUSED_LIVE)
    tl_text_puts(out, "belongs to someone else");
  else if (why == TL_REFUSED_SHARED)
    put_owners(vm, out, operand, place);
  else if (why == TL_REFUSED_SHAPE)
    tl_text_printf(out, "has another shape than the result%s: %s",
                   dense ? "" : ", or is strided", tl_described(vm, operand));
  else if (why == TL_REFUSED_DTYPE)
    tl_text_printf(out, "has items of another size than the result: %s",
                   tl_described(vm, operand));
  else if (why == TL_REFUSED_READ)
    tl_text_puts(out, "is read in another order than it would be written");
  else if ((flags & (TL_READONLY | TL_VIEW)) == TL_VIEW)
    tl_text_printf(out, "is a view of %.60s", name_of_owner(vm, operand));
  else
    tl_text_puts(out, (flags & (TL_READONLY | TL_EXTERNAL)) == TL_EXTERNAL
                          ? "is memory of the host's"
                          : "is read-only");
}

// Needs no memory: a text that is too long is cut.
void tl_spell_rejection(tl_vm *vm, tl_rejection why, tl_slot operand,
                        const tl_slot *place, char *out, size_t size) {
  tl_text text;
  tl_text_within(&text, out, size);
  put_reason(vm, &text, why, operand, place);
  out[text.length] = 0;
}
