// The rules of the verifier in words, and how a breach of one is reported.
#include <stdio.h>

#include "vm/verify/verify.h"

const char *const tl_rule_texts[TL_RULE_COUNT] = {
#define RULE(NAME, text) [TL_RULE_##NAME] = text,
    TL_RULES(RULE)
#undef RULE
};

// What a listing calls the slot: its variable, or t and its number.
// Borrowed from the function, or written into [buffer].
static const char *slot_name(const tl_checker *c, uint32_t slot, char *buffer,
                             size_t size) {
  const tl_prototype *p = c->p;
  if (slot < p->named_count && p->slot_names[slot] != NULL)
    return p->slot_names[slot]->text;
  snprintf(buffer, size, "t%u", slot);
  return buffer;
}

// The rule's text has at most one %s. It is split by hand, since a format
// that is no literal would get past the compiler's warnings. The kind is host:
// the fault is the compiler's or a forged bytecode's, never the script's.
bool tl_refuse(tl_checker *c, uint32_t slot, tl_verify_rule broken) {
  if (c->is_trial)
    return false;
  const char *format = tl_rule_texts[broken];
  char name[16], rule[200];
  const char *op =
      c->ins.op < TL_OPCODE_COUNT ? tl_opcodes[c->ins.op].name : "no opcode";
  const char *mark = strstr(format, "%s");
  if (mark == NULL)
    snprintf(rule, sizeof rule, "%s", format);
  else
    snprintf(rule, sizeof rule, "%.*s%.80s%s", (int)(mark - format), format,
             slot_name(c, slot, name, sizeof name), mark + 2);
  const tl_string *function = c->p->name;
  return tl_fail(
      c->vm, TALLY_ERR_HOST,
      "%s: instruction %u (%s): %s; this is a fault of the compiler",
      function != NULL && function->length > 0 ? function->text : "fn", c->pc,
      op, rule);
}
