// The auditor on frames set up by hand: it aborts where an instruction reads
// what nobody owns, or a container with an item that nobody owns, and where a
// count is wrong. In a child, since it aborts.
#define _DEFAULT_SOURCE 1

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fixture.h"
#include "vm/interp/interp.h"

// A frame before t2 = t0 + t1, where those of [owners] own what is in them.
typedef struct scene {
  tl_unit unit;
  tl_prototype main, *prototypes[1];
  tl_ins code[1];
  tl_frame frame;
  tl_slot slots[3];
  uint64_t owners;
} scene;

static void open_scene(scene *s, tl_vm *vm) {
  memset(s, 0, sizeof *s);
  s->code[0] = (tl_ins){.op = TL_BC_ADD, .a = 2 * 16, .c = 1 * 16};
  s->prototypes[0] = &s->main;
  s->unit = (tl_unit){.prototypes = s->prototypes, .prototype_count = 1};
  s->main = (tl_prototype){.unit = &s->unit, .slot_count = 3};
  s->main.code = s->code;
  s->main.code_count = 1;
  s->main.owners_at = &s->owners;
  s->unit.file = s->main.name = text_slot(vm, "scene").string;
  s->slots[0] = s->slots[1] = s->slots[2] = tl_none();
  s->frame = (tl_frame){.base = s->slots, .function = &s->main};
  vm->frames = vm->frame = &s->frame;
}

static void close_scene(scene *s, tl_vm *vm) {
  tl_drop(vm, tl_own_string(s->main.name));
  vm->frames = vm->frame = NULL;
}

// What the auditor says before it aborts; nothing where it finds nothing wrong.
static const char *audit(tl_vm *vm, const scene *s) {
  static char said[4096];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    tl_audit(vm, s->code);
    _exit(0);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t n;
  while ((n = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
    length += (size_t)n;
  said[length] = 0;
  close(ends[0]);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  bool aborts = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  assert_int_equal(aborts, length > 0);
  return said;
}

static void what_is_read_somebody_owns(void **state) {
  tl_vm *vm = *state;
  scene s;
  open_scene(&s, vm);
  s.slots[0] = text_slot(vm, "owned");
  s.slots[1] = tl_borrow(s.slots[0]);
  s.owners = 1;
  assert_string_equal(audit(vm, &s), "");
  // The owner's bit is set, but the code says that it was consumed.
  s.owners = 0;
  assert_non_null(strstr(audit(vm, &s), "slot 0 is read, but nobody owns"));
  tl_drop(vm, s.slots[0]);
  close_scene(&s, vm);
}

// Its bit is an old one, so it does not speak for what was there.
static void what_was_consumed_is_not_read_again(void **state) {
  tl_vm *vm = *state;
  scene s;
  open_scene(&s, vm);
  s.slots[1] = text_slot(vm, "consumed");
  assert_non_null(strstr(audit(vm, &s), "slot 1 is read, but nobody owns"));
  s.owners = 1 << 1;
  assert_string_equal(audit(vm, &s), "");
  // It went on to another slot, which keeps it alive.
  s.slots[2] = s.slots[1];
  s.owners = 1 << 2;
  assert_string_equal(audit(vm, &s), "");
  tl_drop(vm, s.slots[2]);
  close_scene(&s, vm);
}

static void a_borrow_is_read_while_its_lender_lives(void **state) {
  tl_vm *vm = *state;
  scene s;
  open_scene(&s, vm);
  tl_slot borrow_owner = text_slot(vm, "lender");
  s.slots[1] = tl_borrow(borrow_owner);
  assert_non_null(strstr(audit(vm, &s), "slot 1 is read, but nobody owns"));
  s.slots[2] = borrow_owner;
  s.owners = 1 << 2;
  assert_string_equal(audit(vm, &s), "");
  tl_drop(vm, borrow_owner);
  close_scene(&s, vm);
}

static void items_that_are_lent_somebody_owns(void **state) {
  tl_vm *vm = *state;
  scene s;
  open_scene(&s, vm);
  tl_slot item = text_slot(vm, "item"), borrowed = tl_borrow(item);
  tl_list *list = tl_list_new(vm, 1);
  list->items[0] = tl_borrow_item(vm, &list->head, &borrowed, TL_CAUSE_ITEM);
  list->length = 1;
  s.slots[0] = tl_own_list(list);
  s.owners = 1;
  assert_non_null(strstr(audit(vm, &s), "or an item of it"));
  s.slots[2] = item;
  s.owners = 1 | 1 << 2;
  assert_string_equal(audit(vm, &s), "");
  tl_drop(vm, s.slots[0]);
  tl_drop(vm, item);
  close_scene(&s, vm);
}

static void counts_are_what_owns(void **state) {
  tl_vm *vm = *state;
  scene s;
  open_scene(&s, vm);
  s.slots[0] = text_slot(vm, "once");
  s.slots[1] = s.slots[0];
  s.owners = 3;
  assert_non_null(strstr(audit(vm, &s), "count 1, but 2 references own it"));
  s.owners = 1;
  s.slots[1] = tl_borrow(s.slots[0]);
  s.slots[0].object->count = 2;
  assert_non_null(strstr(audit(vm, &s), "count 2, but 1 references own it"));
  s.slots[0].object->count = 1;
  tl_drop(vm, s.slots[0]);
  close_scene(&s, vm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(what_is_read_somebody_owns),
      FIXTURE_TEST(what_was_consumed_is_not_read_again),
      FIXTURE_TEST(a_borrow_is_read_while_its_lender_lives),
      FIXTURE_TEST(items_that_are_lent_somebody_owns),
      FIXTURE_TEST(counts_are_what_owns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
