// What each instruction did with its operands, for `tally explain`: a hash
// table by address, in the host's memory. While it records, instructions are
// counted, and before each one it is said where it stands.

#include "vm/bytecode/module.h"
#include "vm/observe/rejection.h"

// The note of an instruction, or the free place where it would be. Fibonacci
// hashing (Knuth, volume 3, 6.4): the multiplier is 2^64 divided by the golden
// ratio. The table is never full, so the search ends; capacity is not 0.
static tl_note *find(const tl_notes *n, const tl_ins *at) {
  // Instructions are 8 bytes, so the low bits say nothing.
  size_t i = (size_t)((uintptr_t)at >> 3) * 0x9e3779b97f4a7c15u >> 20;
  for (;; i++) {
    tl_note *note = &n->table[i & (n->capacity - 1)];
    if (note->at == at || note->at == NULL)
      return note;
  }
}

// By the address of the instruction's first word, so a note is good as long as
// its unit.
const tl_note *tl_note_find(const tl_notes *notes, const tl_ins *at) {
  if (notes == NULL || notes->capacity == 0)
    return NULL;
  const tl_note *note = find(notes, at);
  return note->at == NULL ? NULL : note;
}

// Makes room for one more note; false: no memory, so the event is forgotten. At
// most half of the places are used, so that searches stay short. Notes move, so
// a pointer to one is good until the next is made.
static bool grow(tl_vm *vm, tl_notes *n) {
  if (2 * n->count < n->capacity)
    return true;
  tl_notes wider = {.capacity = n->capacity == 0 ? 256 : 2 * n->capacity};
  size_t nbytes = wider.capacity * sizeof *wider.table;
  wider.table = tl_host_new(vm, nbytes);
  if (wider.table == NULL)
    return false;
  memset(wider.table, 0, nbytes);
  for (uint32_t i = 0; i < n->capacity; i++)
    if (n->table[i].at != NULL)
      *find(&wider, n->table[i].at) = n->table[i];
  wider.count = n->count;
  if (n->table != NULL)
    tl_host_free(vm, n->table, n->capacity * sizeof *n->table);
  *n = wider;
  return true;
}

// The note of an instruction, made if need be; NULL: not recording, or no
// memory.
static tl_note *note_at(tl_vm *vm, const tl_ins *at) {
  tl_notes *n = vm->watch->notes;
  if (n == NULL || !grow(vm, n))
    return NULL;
  tl_note *note = find(n, at);
  if (note->at == NULL) {
    note->at = at;
    n->count++;
  }
  return note;
}

// The innermost frame whose code is told of; NULL: none is. What a function of
// the library does, its caller's call has done.
static const tl_frame *told_frame(const tl_vm *vm) {
  const tl_frame *frame = vm->frame;
  if (vm->watch->notes == NULL || vm->frames == NULL || frame < vm->frames ||
      frame->function == NULL)
    return NULL;
  while (frame > vm->frames && tl_is_library(vm, frame->function->unit))
    if ((--frame)->function == NULL)
      return NULL;
  return frame;
}

// The note of the instruction under way.
static tl_note *running(tl_vm *vm) {
  const tl_frame *frame = told_frame(vm);
  return frame == NULL ? NULL : note_at(vm, frame->pc);
}

// Remembers the largest result.
static void measure(tl_note *note, const tl_array *array) {
  if ((uint64_t)array->size > note->largest)
    note->largest = (uint64_t)array->size;
}

// A new value was made for a result.
void tl_watch_fresh(tl_vm *vm, tl_slot made) {
  tl_note *note = running(vm);
  if (note == NULL)
    return;
  if (!tl_is_array(made)) {
    note->made++;
    note->made_bytes += made.object->nbytes;
    return;
  }
  note->fresh++;
  note->nbytes += made.object->nbytes;
  measure(note, made.array);
}

// A copy is noted as fresh, too (vm/events.h), so its bytes are not added here.
void tl_watch_copied(tl_vm *vm, tl_slot copy) {
  tl_note *note = running(vm);
  if (note == NULL)
    return;
  note->copies++;
  if (tl_is_array(copy))
    measure(note, copy.array);
}

// Which of the instruction's operands the object is, as a bit; 0: none.
// Operands have the bits from 0 on, the window's slots those behind, as far as
// eight go. What was moved out of its slot before is not found.
static uint8_t find_operand(const tl_vm *vm, const tl_object *object) {
  const tl_frame *frame = vm->frame;
  tl_decoded d;
  tl_decode(frame->function, tl_frame_pc(frame), &d);
  for (uint32_t i = 0; i < d.operand_count + d.window_count && i < 8; i++)
    if (frame->base[tl_operand_slot(&d, i)].object == object)
      return (uint8_t)(1u << i);
  return 0;
}

// A result was written into an operand's memory: notes which operand.
void tl_watch_inplace(tl_vm *vm, tl_slot result) {
  tl_note *note = running(vm);
  if (note == NULL)
    return;
  if (told_frame(vm) == vm->frame)
    note->taken |= find_operand(vm, result.object);
  if (!tl_is_array(result)) {
    note->changed++;
    return;
  }
  note->inplace++;
  measure(note, result.array);
}

// Words are made once for each reason, when it is met first: they need a walk
// of all references. Reasons within the library are nobody's.
void tl_watch_refused(tl_vm *vm, tl_rejection why, tl_slot operand) {
  tl_note *note = told_frame(vm) == vm->frame ? running(vm) : NULL;
  if (note == NULL)
    return;
  note->refused[why]++;
  // The words of the first time stay.
  if (note->words[why] != NULL)
    return;
  struct tl_rejection_words *words = note->words[why] =
      tl_host_new(vm, sizeof *note->words[why]);
  if (words == NULL)
    return;
  const tl_slot *place = tl_refused_slot(vm, operand);
  words->slot =
      place == NULL ? UINT32_MAX : (uint32_t)(place - vm->frame->base);
  tl_spell_rejection(vm, why, operand, place, words->text, sizeof words->text);
}

// By the host's allocator, which made all of it.
void tl_notes_close(tl_vm *vm, tl_notes *notes) {
  for (uint32_t i = 0; i < notes->capacity; i++)
    for (int k = 0; k < TL_REJECTION_COUNT; k++)
      if (notes->table[i].words[k] != NULL)
        tl_host_free(vm, notes->table[i].words[k],
                     sizeof *notes->table[i].words[k]);
  if (notes->table != NULL)
    tl_host_free(vm, notes->table, notes->capacity * sizeof *notes->table);
  tl_host_free(vm, notes, sizeof *notes);
}

// All results but the last are fused away; the last has counted its own memory.
void tl_watch_fused(tl_vm *vm, const tl_ins *begin, const tl_ins *end,
                    const tl_array *array, bool together) {
  const tl_frame *frame = vm->frame;
  if (vm->watch->notes == NULL)
    return;
  tl_decoded d;
  for (const tl_ins *at = begin; at < end; at += d.words) {
    tl_decode(frame->function, (uint32_t)(at - frame->function->code), &d);
    tl_note *note = note_at(vm, at);
    if (note == NULL)
      return;
    note->fused++;
    note->together += together;
    if (array != NULL)
      measure(note, array);
  }
}
