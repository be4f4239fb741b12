// Changes what finished bytecode says of ownership, one thing at a time, and
// runs what the verifier lets pass:
//
//   mutants COUNT [FIRST]    of the random programs of seeds FIRST, FIRST + 1 …
//
// A mode becomes another, an instruction that settles or drops disappears or
// names another slot, an entry of the unwind map or of a handler is moved or
// removed, a summary says something else. The verifier must refuse it, or the
// run must be sound: it may print anything, but nothing may crash, stay behind
// or, in a build with TALLY_AUDIT, be counted wrongly.
// The last line is the sum, and the exit status 1 if anything failed.
#define _DEFAULT_SOURCE 1  // for anonymous mappings
#define _DARWIN_C_SOURCE 1

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "compiler/resolver.h"
#include "tests/fuzz/host.h"
#include "tests/fuzz/writer.h"
#include "vm/interp/interp.h"

enum { EACH = 16, STATEMENTS = 5 };

typedef struct chance {
  uint64_t state;
} chance;

static uint32_t below(chance *c, uint32_t n) {
  c->state = c->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return n == 0 ? 0 : (uint32_t)(c->state >> 33) % n;
}

// --- Changing code ----------------------------------------------------------

static bool owns_or_drops(int op) {
  return op == TL_BC_DROP || op == TL_BC_SETTLE || op == TL_BC_KEEP ||
         op == TL_BC_LEAVE || op == TL_BC_INHERIT || op == TL_BC_HOLD ||
         op == TL_BC_DETACH || op == TL_BC_OWN || op == TL_BC_KEEPALL ||
         op == TL_BC_KEEPOF;
}

// The pc of an instruction that [wanted] picks, UINT32_MAX: there is none.
static uint32_t pick_ins(chance *c, const tl_prototype *p,
                         bool (*wanted)(int op)) {
  uint32_t found = UINT32_MAX, count = 0;
  tl_decoded d;
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    if (wanted(d.op) && below(c, ++count) == 0)
      found = pc;
  }
  return found;
}

static bool has_modes(int op) {
  return !owns_or_drops(op) || op == TL_BC_DROP;
}

static bool is_move(int op) {
  return op == TL_BC_MOV || op == TL_BC_MOVB;
}

static const char *change_mode(chance *c, tl_prototype *p) {
  uint32_t pc = pick_ins(c, p, has_modes);
  if (pc == UINT32_MAX)
    return NULL;
  unsigned at = 2 * below(c, 4);
  uint8_t *modes = &p->code[pc].modes;
  unsigned mode = *modes >> at & 3;
  if (mode == TL_MODE_CONST)
    return NULL;
  unsigned other = (mode + 1 + below(c, 2)) % 3;
  *modes = (uint8_t)((*modes & ~(3u << at)) | other << at);
  return "a mode";
}

static const char *remove_ins(chance *c, tl_prototype *p) {
  uint32_t pc = pick_ins(c, p, owns_or_drops);
  if (pc == UINT32_MAX)
    return NULL;
  p->code[pc] = (tl_ins){.op = TL_BC_JMP};
  return "an instruction removed";
}

static const char *change_slot(chance *c, tl_prototype *p) {
  uint32_t pc = pick_ins(c, p, owns_or_drops);
  if (pc == UINT32_MAX)
    return NULL;
  uint16_t slot = (uint16_t)(16 * below(c, p->slot_count));
  if (p->code[pc].op != TL_BC_DROP && below(c, 2) == 0)
    p->code[pc].b = slot;
  else
    p->code[pc].a = slot;
  return "a slot";
}

static const char *change_move(chance *c, tl_prototype *p) {
  uint32_t pc = pick_ins(c, p, is_move);
  if (pc == UINT32_MAX)
    return NULL;
  tl_ins *ins = &p->code[pc];
  bool was_move = ins->op == TL_BC_MOV;
  ins->op = was_move ? TL_BC_MOVB : TL_BC_MOV;
  ins->modes = was_move           ? TL_MODE_BORROW
               : below(c, 2) == 0 ? TL_MODE_CONSUME
                                  : TL_MODE_EITHER;
  return "a move";
}

static const char *make_drop(chance *c, tl_prototype *p) {
  uint32_t pc = pick_ins(c, p, owns_or_drops);
  if (pc == UINT32_MAX)
    return NULL;
  unsigned mode = below(c, 2) == 0 ? TL_MODE_CONSUME : TL_MODE_EITHER;
  p->code[pc] = (tl_ins){.op = TL_BC_DROP,
                         .modes = (uint8_t)(mode << 4),
                         .a = (uint16_t)(16 * below(c, p->slot_count))};
  return "a drop";
}

static const char *change_range(chance *c, tl_prototype *p) {
  if (p->range_count == 0)
    return NULL;
  tl_unwind_range *r = &p->ranges[below(c, p->range_count)];
  switch (below(c, 5)) {
    case 0:
      r->end = r->start;
      return "a range emptied";
    case 1:
      r->end += 1 + below(c, 3);
      return "a range longer";
    case 2:
      r->end -= r->end > r->start;
      return "a range shorter";
    case 3:
      r->either ^= 1;
      return "a range's bit";
    default:
      r->slot = (uint16_t)below(c, p->slot_count);
      return "a range's slot";
  }
}

static const char *change_handler(chance *c, tl_prototype *p) {
  if (p->handler_count == 0)
    return NULL;
  tl_handler *h = &p->handlers[below(c, p->handler_count)];
  if (below(c, 2) == 0 && h->own_count > 0) {
    h->own_count--;
    return "a handler's owner";
  }
  if (h->kept_count == 0)
    return NULL;
  h->kept_count--;
  return "a handler's slot";
}

static const char *change_summary(chance *c, tl_prototype *p) {
  tl_summary *s = &p->summary;
  switch (below(c, 4)) {
    case 0:
      s->may_own = !s->may_own;
      return "a summary's result";
    case 1:
      s->may_borrow = !s->may_borrow;
      return "a summary's result";
    case 2:
      if (s->borrow_owner_count == 0)
        return NULL;
      s->borrow_owner_count--;
      return "a summary's lender";
    default: {
      if (p->param_count == 0 || s->param_modes == NULL)
        return NULL;
      uint8_t *mode = &s->param_modes[below(c, p->param_count)];
      *mode = *mode == TL_MODE_BORROW ? TL_MODE_EITHER : TL_MODE_BORROW;
      return "a parameter's mode";
    }
  }
}

// What stands behind an operation that is done with the next one is that, or it
// is none.
static const char *change_pair(chance *c, tl_prototype *p) {
  uint32_t pc = pick_ins(c, p, tl_may_join);
  if (pc == UINT32_MAX)
    return NULL;
  p->code[pc].modes ^= TL_WITH_NEXT;
  return "a pair";
}

// What was changed; NULL: nothing.
static const char *change(chance *c, tl_unit *unit) {
  static const char *(*const changes[])(chance * c, tl_prototype * p) = {
      change_mode,  change_mode,    remove_ins,     change_slot, change_move,
      change_range, change_handler, change_summary, make_drop,   change_pair};
  enum { COUNT = sizeof changes / sizeof *changes };
  tl_prototype *p = unit->prototypes[below(c, unit->prototype_count)];
  // What is compiled is verified; a mutant is new to the verifier, and callers
  // are verified against what their callees are said to do.
  for (uint32_t i = 0; i < unit->prototype_count; i++)
    unit->prototypes[i]->verified = 0;
  return changes[below(c, COUNT)](c, p);
}

// --- Running ----------------------------------------------------------------

static int64_t bytes;  // allocated and not given back

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  (void)context;
  bytes += (int64_t)new_size - (int64_t)old_size;
  if (new_size != 0)
    return realloc(block, new_size);
  free(block);
  return NULL;
}

static int load(void *context, const char *name, char **text, size_t *nbytes) {
  return fuzz_host_load(resize, context, name, text, nbytes);
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

typedef struct progress {
  uint64_t seed, refused, accepted, failed;
  uint32_t mutant;
  char what[64];
} progress;

static void try_mutant(progress *p, const char *source, size_t nbytes) {
  chance c = {.state = p->seed * 1000 + p->mutant};
  for (int i = 0; i < 4; i++) below(&c, 2);
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = write_nothing;
  options.load = load;
  options.capabilities = 0;
  options.threads = 1;
  bytes = 0;
  tally_vm *vm = NULL;
  fuzz_host host;
  if (tally_open(&options, &vm) != TALLY_OK || !fuzz_host_open(&host, vm))
    abort();
  tl_unit *unit =
      tl_compile(vm, vm->main, "mutant", source, nbytes, TL_UNIT_SCRIPT);
  const char *what = NULL;
  for (int i = 0; i < 20 && unit != NULL && what == NULL; i++)
    what = change(&c, unit);
  tl_slot value;
  if (what != NULL) {
    snprintf(p->what, sizeof p->what, "%s", what);
    vm->budget = 1000000;
    if (tl_run_unit(vm, unit, &value)) {
      tl_drop(vm, value);
      p->accepted++;
    } else if (vm->error.status == TALLY_ERR_HOST) {
      p->refused++;
    } else {
      p->accepted++;
    }
  }
  fuzz_host_close(&host);
  size_t held = tally_close(vm) + (size_t)host.tokens;
  if (bytes != 0 || held != 0) {
    printf("FAILED: seed %llu, mutant %u (%s): %lld bytes, %zu values left\n",
           (unsigned long long)p->seed, p->mutant, p->what, (long long)bytes,
           held);
    p->failed++;
  }
}

static void work(progress *p, uint64_t end) {
  for (; p->seed < end; p->seed++, p->mutant = 0) {
    char *source = NULL;
    size_t nbytes = 0;
    FILE *to = open_memstream(&source, &nbytes);
    tl_write_program(p->seed, STATEMENTS, true, to);
    fclose(to);
    for (; p->mutant < EACH; p->mutant++) try_mutant(p, source, nbytes);
    free(source);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: mutants COUNT [FIRST]\n", stderr);
    return 2;
  }
  progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return 2;
  p->seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t end = p->seed + strtoull(argv[1], NULL, 10);
  while (p->seed < end) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      work(p, end);
      exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
      return 2;
    if (p->seed < end) {
      printf("FAILED: seed %llu, mutant %u (%s): the process died (%d)\n",
             (unsigned long long)p->seed, p->mutant, p->what, status);
      p->failed++;
      p->mutant++;
    }
  }
  printf("the verifier refused %llu, and let %llu run\n",
         (unsigned long long)p->refused, (unsigned long long)p->accepted);
  printf("%llu passed, %llu failed\n",
         (unsigned long long)(p->refused + p->accepted),
         (unsigned long long)p->failed);
  return p->failed == 0 ? 0 : 1;
}
