// #:inplace: where the pragmas stand, and which contracts are known to fail.
//
// The check reads finished bytecode and its modes: an operand that is only
// borrowed cannot give its memory to a result. It reports only what fails for
// certain, so it must also know that operands are arrays; that is found from
// the instructions that write a slot (axes_of).
#include "compiler/stages.h"

#include <limits.h>

#include "compiler/lexer.h"
#include "vm/observe/in_place_contract.h"
#include "vm/observe/rejection.h"
#include "vm/region/region.h"
#include "vm/suggest.h"

// --- Finding ----------------------------------------------------------------

// The words that may follow #:.
static const char *const words[] = {"inplace", "peak"};

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// The offset of the next line from [at] on that begins with #:, or UINT32_MAX.
static uint32_t next_mark(const tl_source *source, uint32_t at) {
  while (at < source->nbytes) {
    while (at < source->nbytes && is_blank(source->text[at])) at++;
    if (at + 1 < source->nbytes && source->text[at] == '#' &&
        source->text[at + 1] == ':')
      return at;
    // Only at the start of a line: behind code #: is a comment like any other.
    const char *end =
        memchr(source->text + at, '\n', (size_t)(source->nbytes - at));
    if (end == NULL)
      break;
    at = (uint32_t)(end - source->text) + 1;
  }
  return UINT32_MAX;
}

// Whether the word behind #: is known; false after a diagnostic.
static bool check_word(tl_builder *b, uint32_t at) {
  const char *text = b->source->text + at + 2;
  const char *end = b->source->text + b->source->nbytes;
  while (text < end && (*text == ' ' || *text == '\t')) text++;
  size_t n = 0;
  while (text + n < end && !is_blank(text[n]) && text[n] != '\n') n++;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == n && memcmp(words[i], text, n) == 0)
      return true;
  // A near word is proposed.
  tl_suggestion near;
  char proposal[80];
  tl_suggest_begin(&near, text, n);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    tl_suggest_offer(&near, words[i], strlen(words[i]));
  tl_span span = {at, at + 2 + (uint32_t)n, at};
  tl_diagnose(b->diagnostics, TALLY_ERR_NAME, span, "there is no mark #:%.*s%s",
              tl_clip(text, n, 40), text,
              tl_suggest_text(&near, proposal, sizeof proposal));
  return false;
}

// Where the statement that begins with token [first] ends. Brackets are passed
// over whole, so a function's body belongs to it.
static uint32_t statement_end(const tl_tokens *tokens, uint32_t first) {
  uint32_t end = tokens->items[first].end;
  for (uint32_t i = first; i < tokens->count; i++) {
    const tl_token *t = &tokens->items[i];
    bool closes = t->kind == TL_TOKEN_PAREN_END ||
                  t->kind == TL_TOKEN_BRACKET_END ||
                  t->kind == TL_TOKEN_BRACE_END;
    if (t->kind == TL_TOKEN_END || t->kind == TL_TOKEN_SEMICOLON || closes ||
        (i > first && (t->flags & TL_TOKEN_AFTER_NEWLINE) != 0))
      break;
    bool opens = t->kind == TL_TOKEN_PAREN || t->kind == TL_TOKEN_BRACKET ||
                 t->kind == TL_TOKEN_BRACE;
    if (opens && t->other > i && t->other < tokens->count)
      i = t->other;
    end = tokens->items[i].end;
  }
  return end;
}

// Adds a contract to the unit. [reach] is the furthest end among it and those
// before, so that one bisection answers for contracts within others, too.
// False: no memory.
static bool add_contract(tl_builder *b, tl_contract contract) {
  tl_unit *unit = b->unit;
  uint32_t n = unit->contract_count;
  if ((n & (n - 1)) == 0) {  // full: there is room for a power of two
    tl_contract *all =
        tl_unit_room(b, (n == 0 ? 1 : 2 * (size_t)n) * sizeof *all);
    if (all == NULL)
      return false;
    if (n > 0)
      memcpy(all, unit->contracts, n * sizeof *all);
    unit->contracts = all;
  }
  if (n > 0 && unit->contracts[n - 1].reach > contract.end)
    contract.reach = unit->contracts[n - 1].reach;
  unit->contracts[n] = contract;
  unit->contract_count = n + 1;
  b->vm->has_contracts = true;
  return true;
}

// Goes through pragmas and tokens side by side, from the first at [mark] on.
// False after a diagnostic or without memory.
static bool find_all(tl_builder *b, const tl_tokens *tokens, uint32_t mark) {
  bool ok = true;
  uint32_t i = 0;
  for (; ok && mark != UINT32_MAX; mark = next_mark(b->source, mark + 2)) {
    while (i < tokens->count && tokens->items[i].end <= mark) i++;
    const tl_token *t =
        &tokens->items[i < tokens->count ? i : tokens->count - 1];
    // A line of a string that begins with #: is text, and #:peak a statement.
    if (t->begin <= mark && t->kind != TL_TOKEN_END)
      continue;  // inside a string
    if (!check_word(b, mark)) {
      ok = false;
    } else if (t->kind == TL_TOKEN_END || t->kind == TL_TOKEN_BRACE_END) {
      tl_diagnose(b->diagnostics, TALLY_ERR_SYNTAX,
                  (tl_span){mark, mark + 2, mark},
                  "#:inplace stands above no statement");
      ok = false;
    } else {
      uint32_t end = statement_end(tokens, i);
      ok = add_contract(b, (tl_contract){t->begin, end, end});
    }
  }
  return ok;
}

// Most texts have no pragma: then nothing is lexed again.
bool tl_find_pragmas(tl_builder *b) {
  tl_tokens tokens = {.items = NULL};
  uint32_t mark = next_mark(b->source, 0);
  if (mark == UINT32_MAX)
    return true;
  bool ok =
      tl_lex(&tokens, b->arena, b->source, false) && find_all(b, &tokens, mark);
  tl_tokens_release(&tokens, b->arena);
  return ok;
}

// --- Checking ---------------------------------------------------------------

// The smaller of the two.
static int least(int a, int b) {
  return a < b ? a : b;
}

// How many axes a parameter's type says there are at least.
static int axes_of_type(const tl_type *pattern) {
  int axes = 0;
  for (; pattern != NULL &&
         (pattern->kind == TL_TYPE_FIXED || pattern->kind == TL_TYPE_SYMBOL);
       pattern = pattern->of)
    axes++;
  return axes;
}

static int axes_of(const tl_prototype *p, uint32_t slot, int depth);

// How many axes an instruction's result has at least; 0: it may be no array.
// [depth] bounds the search through operands.
static int axes_made(const tl_prototype *p, const tl_decoded *d, int depth) {
  bool writes = tl_opcodes[d->op].result == TL_DEF_TARGET;
  if (d->op == TL_BC_STACK || d->op == TL_BC_STACKLIST)
    return 1;
  if (d->op == TL_BC_LOADK && tl_is_array(p->constants[d->extra]))
    return tl_ndim(p->constants[d->extra].array);
  if (writes)  // what it was before
    return INT_MAX;
  // Elementwise operations and moves: at least the axes of their operands.
  bool follows = tl_region_op(d->op, d->extra) != TL_OP_COUNT ||
                 d->op == TL_BC_MOV || d->op == TL_BC_MOVB;
  int most = 0;
  for (uint32_t i = 0; depth > 0 && follows && i < d->operand_count; i++) {
    int axes = (int32_t)d->operands[i] == d->result
                   ? 0
                   : axes_of(p, d->operands[i], depth - 1);
    most = axes > most ? axes : most;
  }
  return most;
}

// How many axes all arrays that are ever written into the slot have at least;
// 0: something else may be written.
static int axes_of(const tl_prototype *p, uint32_t slot, int depth) {
  int axes = INT_MAX;
  if (slot < p->param_count)
    axes = axes_of_type(p->params[slot].pattern);
  tl_decoded d;
  for (uint32_t pc = 0; axes > 0 && pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    if (tl_decoded_sets(&d, slot))
      axes = least(axes, axes_made(p, &d, depth));
  }
  return axes == INT_MAX ? 0 : axes;
}

// Whether the slot holds an array for certain.
static bool is_array(const tl_prototype *p, uint32_t slot) {
  // Three steps back are enough for what people write in a line.
  return axes_of(p, slot, 3) > 0;
}

// Whether an update copies, since what it writes may be shared: appends to
// [why] what is shared and by whom, as all that follow say what fails.
static bool is_copying_update(const tl_prototype *p, uint32_t pc,
                              const tl_decoded *d, tl_text *why) {
  // A consumed target is written in place; PUSH is for lists that are being
  // made.
  if (tl_opcodes[d->op].result != TL_DEF_TARGET || d->op == TL_BC_PUSH ||
      d->modes[0] != TL_MODE_BORROW)
    return false;
  tl_spell_operand(why, p, pc, (uint32_t)d->result);
  tl_text_printf(why, " is shared here: ");
  tl_spell_holder(why, p, pc, (uint32_t)d->result);
  return true;
}

// Whether an elementwise operation on arrays, none of which ends here, needs a
// new array.
static bool is_new_result(const tl_prototype *p, uint32_t pc,
                          const tl_decoded *d, tl_text *why) {
  int32_t array = -1;
  if (tl_region_op(d->op, d->extra) == TL_OP_COUNT)
    return false;
  for (uint32_t i = 0; i < d->operand_count; i++) {
    // An operand that ends here may give its memory.
    if (d->modes[i] != TL_MODE_BORROW && d->modes[i] != TL_MODE_CONST)
      return false;
    if (array < 0 && is_array(p, d->operands[i]))
      array = d->operands[i];
  }
  if (array < 0)
    return false;
  tl_text_printf(why, "the result needs a new array: ");
  tl_spell_keeper(why, p, pc, (uint32_t)array);
  return true;
}

// Whether what was last written into the slot before [end] is a literal array
// of integers.
static bool is_index_array(const tl_prototype *p, uint32_t slot, uint32_t end) {
  uint32_t at;
  tl_decoded d;
  if (!tl_writers_find(&(tl_writers){.p = p}, end, slot, &at, &d) ||
      d.op != TL_BC_LOADK)
    return false;
  const tl_slot *k = &p->constants[d.extra];
  return tl_is_array(*k) && tl_dtype_is_integer(tl_array_dtype(k->array));
}

// Whether items are copied: x[[0, 1]] of an array that lives on; those of one
// that ends here may stay in its memory.
static bool is_choice(const tl_prototype *p, uint32_t pc, const tl_decoded *d,
                      tl_text *why) {
  if (d->op != TL_BC_INDEX || d->modes[0] != TL_MODE_BORROW ||
      tl_path_portion(&p->unit->paths[d->extra]) != TL_PORTION_CHOICE ||
      !is_array(p, d->operands[0]) || !is_index_array(p, d->window, pc))
    return false;
  tl_spell_choice(why, p, pc, d->operands[0]);
  return true;
}

// Whether an instruction makes an array whatever the values are.
static bool is_maker(const tl_prototype *p, const tl_decoded *d, tl_text *why) {
  if (d->op == TL_BC_STACK || d->op == TL_BC_STACKLIST) {
    tl_text_printf(why, "%s", TL_WHY_STACK);
    return true;
  }
  if (d->op != TL_BC_MATMUL)
    return false;
  // Of two vectors it is a number.
  int left = axes_of(p, d->operands[0], 3);
  int right = axes_of(p, d->operands[1], 3);
  if (left == 0 || right == 0 || left + right < 3)
    return false;
  tl_text_printf(why, "%s", TL_WHY_PRODUCT);
  return true;
}

// Reports the instruction if it breaks its contract for certain. False after a
// diagnostic, or with b->failed without memory.
static bool check(tl_builder *b, const tl_prototype *p, uint32_t pc,
                  const tl_decoded *d, const tl_place_entry *place) {
  tl_text why;
  tl_text_open(&why, b->vm);
  bool breaks = is_copying_update(p, pc, d, &why) ||
                is_new_result(p, pc, d, &why) || is_maker(p, d, &why) ||
                is_choice(p, pc, d, &why);
  b->failed = b->failed || why.failed;
  if (breaks && !why.failed)
    tl_diagnose(b->diagnostics, TALLY_ERR_MEMORY,
                (tl_span){place->begin, place->end, place->at},
                "#:inplace: %.*s", tl_clip(why.bytes, why.length, 400),
                why.bytes);
  tl_text_close(&why);
  return !breaks;
}

// Goes over the code of all functions; all contracts that fail are reported.
bool tl_check_pragmas(tl_builder *b) {
  const tl_unit *unit = b->unit;
  bool ok = true;
  for (uint32_t i = 0; unit->contract_count > 0 && i < unit->prototype_count;
       i++) {
    tl_prototype *p = unit->prototypes[i];
    tl_decoded d;
    for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
      tl_decode(p, pc, &d);
      // What no contract covers may allocate.
      if (!tl_has_contract(p, pc))
        continue;
      p->has_contracts = true;
      ok = check(b, p, pc, &d, tl_place_at(p, pc)) && ok;
    }
  }
  return ok;
}
