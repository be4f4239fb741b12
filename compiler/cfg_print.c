// The control-flow graph as text, as tests compare it.
//
//   b1:
//     t2 = loadk #3
//     i = add i!, t2!
//     -> b2
#include <ctype.h>

#include "compiler/cfg.h"
#include "vm/string.h"

// A variable by its name, a temporary as t and its number.
static void print_slot(const tl_cfg_function *f, int32_t slot, tl_text *out) {
  const tl_prototype *p = f->prototype;
  if (slot < f->variable_count && p != NULL && p->slot_names != NULL &&
      p->slot_names[slot] != NULL)
    tl_text_puts(out, p->slot_names[slot]->text);
  else
    tl_text_printf(out, "t%d", (int)slot);
}

// The opcode's name in small letters.
static void print_op(int op, tl_text *out) {
  for (const char *c = tl_opcodes[op].name; *c != '\0'; c++)
    tl_text_putc(out, (char)tolower((unsigned char)*c));
}

// One line: result, opcode, operands with their modes (! consumed, ? decided
// by the run), extra, handler, and who owns if it fails.
static void print_ins(const tl_cfg_function *f, const tl_cfg_ins *ins,
                      tl_text *out) {
  static const char *const pragmas[] = {"", "!", "?", ""};
  tl_text_puts(out, "  ");
  if (ins->result >= 0) {
    print_slot(f, ins->result, out);
    tl_text_puts(out, " = ");
  }
  print_op(ins->op, out);
  for (int32_t i = 0; i < ins->operand_count; i++) {
    tl_text_puts(out, i == 0 ? " " : ", ");
    print_slot(f, ins->operands[i], out);
    if (ins->modes != NULL)
      tl_text_puts(out, pragmas[ins->modes[i] & 3]);
  }
  if (ins->extra != 0)
    tl_text_printf(out, " #%u", (unsigned)ins->extra);
  // Without a handler an error leaves the function.
  if (ins->fails != TL_NEVER && ins->handler >= 0)
    tl_text_printf(out, " catch b%d", (int)ins->handler);
  if (ins->owned_count > 0) {
    tl_text_puts(out, " owned:");
    for (int32_t i = 0; i < ins->owned_count; i++) {
      tl_text_putc(out, ' ');
      print_slot(f, ins->owned[i].slot, out);
      if (ins->owned[i].either)
        tl_text_putc(out, '?');
    }
  }
  tl_text_putc(out, '\n');
}

// A word and the slots behind it; nothing where there are none.
static void print_slots(const tl_cfg_function *f, const char *what,
                        const int32_t *slots, int32_t count, tl_text *out) {
  if (count == 0)
    return;
  tl_text_puts(out, what);
  for (int32_t i = 0; i < count; i++) {
    tl_text_putc(out, ' ');
    print_slot(f, slots[i], out);
  }
}

bool tl_cfg_print(const tl_cfg_function *f, tl_text *out) {
  for (int32_t b = 0; b < f->block_count; b++) {
    const tl_cfg_block *block = &f->blocks[b];
    tl_text_printf(out, "b%d:", (int)b);
    if (block->is_handler) {
      tl_text_puts(out, " handler");
      print_slots(f, " keeps", block->kept, block->kept_count, out);
      print_slots(f, " owns", block->own, block->own_count, out);
    }
    tl_text_putc(out, '\n');
    for (int32_t i = 0; i < block->count; i++)
      print_ins(f, &block->ins[i], out);
    // Blocks that end in RET or RAISE have no targets.
    if (block->targets[0] >= 0)
      tl_text_printf(out, "  -> b%d", (int)block->targets[0]);
    if (block->targets[1] >= 0)
      tl_text_printf(out, ", b%d", (int)block->targets[1]);
    if (block->targets[0] >= 0)
      tl_text_putc(out, '\n');
  }
  return !out->failed;
}
