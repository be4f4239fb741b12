// Control-flow graphs of functions, written as text by a test.
// One instruction a line, blocks numbered from 0:
//
//   0: 2 = ADD 0 1 ^1          result, operands; ^ the handler's block
//      JT 2 -> 1 2             targets
//   1: handler                 a block that catches
//      3 = CALLK 0 1 #1        # the extra word
#ifndef TALLY_TESTS_UNIT_GRAPH_TEXT_H
#define TALLY_TESTS_UNIT_GRAPH_TEXT_H

#include <ctype.h>
#include <stdio.h>

#include "compiler/cfg.h"
#include "tests/unit/fixture.h"

typedef struct graph {
  tl_vm *vm;
  tl_arena arena;
  tl_cfg_program program;
} graph;

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  (void)context, (void)old_size;
  if (new_size != 0)
    return realloc(block, new_size);
  free(block);
  return NULL;
}

static void open_graph(graph *g, tl_vm *vm) {
  g->vm = vm;
  tl_arena_open(&g->arena, resize, NULL);
  g->program = (tl_cfg_program){
      .arena = &g->arena,
      .functions = TL_ARENA_ARRAY(&g->arena, tl_cfg_function *, 4),
      .global_count = 2,
  };
}

static int opcode(const char **text) {
  char name[32];
  int n = 0;
  while (isupper((unsigned char)**text) || isdigit((unsigned char)**text))
    name[n++] = *(*text)++;
  name[n] = 0;
  for (int op = 0; op < TL_OPCODE_COUNT; op++)
    if (strcmp(name, tl_opcodes[op].name) == 0)
      return op;
  fail_msg("no opcode %s", name);
  return 0;
}

static int32_t number(const char **text) {
  char *end;
  long n = strtol(*text, &end, 10);
  *text = end;
  return (int32_t)n;
}

static void skip_spaces(const char **text) {
  while (**text == ' ') ++*text;
}

static void read_ins(graph *g, tl_cfg_block *block, const char **text) {
  tl_cfg_ins *ins = &block->ins[block->count++];
  *ins = (tl_cfg_ins){.result = -1, .window = -1, .handler = -1};
  ins->operands = TL_ARENA_ARRAY(&g->arena, int32_t, 8);
  ins->modes = TL_ARENA_ARRAY(&g->arena, uint8_t, 8);
  if (isdigit((unsigned char)**text)) {
    ins->result = number(text);
    skip_spaces(text);
    assert_int_equal(*(*text)++, '=');
    skip_spaces(text);
  }
  ins->op = (uint8_t)opcode(text);
  ins->fails = tl_opcodes[ins->op].fails;
  for (skip_spaces(text); **text != '\n' && **text != 0; skip_spaces(text)) {
    if (**text == '#') {
      ++*text;
      ins->extra = (uint32_t)number(text);
    } else if (**text == '^') {
      ++*text;
      ins->handler = number(text);
    } else if (**text == '-') {
      *text += 2;
      for (int i = 0; i < 2 && **text == ' '; i++)
        block->targets[i] = number(text);
    } else {
      ins->operands[ins->operand_count++] = number(text);
    }
  }
}

static tl_cfg_function *add_function(graph *g, int params, int slots,
                                     const char *text) {
  tl_cfg_function *f = TL_ARENA_NEW(&g->arena, tl_cfg_function);
  f->index = g->program.function_count;
  g->program.functions[g->program.function_count++] = f;
  f->param_count = f->variable_count = params;
  f->slot_count = slots;
  f->block_capacity = 16;
  f->blocks = TL_ARENA_ARRAY(&g->arena, tl_cfg_block, 16);
  tl_cfg_block *block = NULL;
  while (*text != 0) {
    skip_spaces(&text);
    const char *colon = text;
    while (isdigit((unsigned char)*colon)) colon++;
    if (*colon == ':') {
      block = &f->blocks[f->block_count];
      block->order = f->block_count++;
      block->targets[0] = block->targets[1] = -1;
      block->ins = TL_ARENA_ARRAY(&g->arena, tl_cfg_ins, 32);
      text = colon + 1;
      skip_spaces(&text);
    }
    if (strncmp(text, "handler", 7) == 0) {
      block->is_handler = true;
      text += 7;
    } else {
      read_ins(g, block, &text);
    }
    if (*text == '\n')
      text++;
  }
  return f;
}

// --- Printing ---------------------------------------------------------------
//
//   b1:
//     t2 = loadk #3
//     i = add i!, t2!
//     -> b2

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

// As text, in the form in which check() expects it.
static bool print_graph(const tl_cfg_function *f, tl_text *out) {
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

// The graph as printed, without the margin.
static void check(graph *g, const tl_cfg_function *f, const char *expected) {
  tl_text text;
  tl_text_open(&text, g->vm);
  assert_true(print_graph(f, &text));
  tl_text_putc(&text, '\0');
  assert_string_equal(text.bytes, expected);
  tl_text_close(&text);
}

static void close_graph(graph *g) {
  tl_arena_close(&g->arena);
}

#endif
