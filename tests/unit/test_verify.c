// The verifier on bytecode written by hand: good code passes, and code that
// breaks a rule is refused with the function, the instruction and the rule. The
// last test fails where a rule of verify_rules.h has been broken by none; those
// of form are in test_verify_form.c.
#include "tests/unit/bytecode.h"

#include "stdlib/families.h"

static void good_code_passes(void **state) {
  OPEN(TAKE(0), ins(TL_BC_ADD, 1, 0, 0, C), RETURN(1));
  owns(&p, 1, 2, 0);
  accept(*state, &p);
}

static void an_operand_is_consumed_once(void **state) {
  OPEN(TAKE(0), ins(TL_BC_ADD, 1, 0, 0, B | C), RETURN(1));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "instruction 1 (ADD): t0 is consumed twice");
}

static void what_was_consumed_is_not_read(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOV, 1, 0, 0, B), ins(TL_BC_MOVB, 2, 0, 0, 0),
       RETURN(1));
  refuse(*state, &p, "t0 is read but has no value");
}

static void a_borrow_is_not_consumed(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), ins(TL_BC_DROP, 1, 0, 0, A),
       RETURN(0));
  refuse(*state, &p, "t1 is dropped but does not own for certain");
}

static void a_borrow_ends_before_its_lender(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), ins(TL_BC_DROP, 0, 0, 0, A),
       ins(TL_BC_RET, 1, 0, 0, 0));
  refuse(*state, &p, "t1 is read but its lender has ended");
}

static void a_lender_is_not_consumed_beside_its_borrower(void **state) {
  OPEN(TAKE(0), ins(TL_BC_GETEL, 1, 0, 2, 0),
       ins(TL_BC_MATMUL, 3, 0, 1, B), RETURN(3));
  code[0] = ins(TL_BC_LOADI, 2, 0, 0, 0);
  tl_ins longer[] = {code[0], TAKE(0), code[1], code[2], code[3]};
  p.main.code = longer;
  p.main.code_count = 5;
  owns(&p, 2, 4, 0);
  p.ranges[p.main.range_count++] = (tl_unwind_range){3, 4, 1, 1};
  refuse(*state, &p, "t1 is read, but its lender is consumed");
  // What reads all of its operands before one ends may.
  longer[3] = ins(TL_BC_ADD, 3, 0, 1, B | TL_MODE_EITHER << 2);
  accept(*state, &p);
  longer[3] = ins(TL_BC_ADD, 3, 0, 1, B);
  longer[4] = RETURN(1);
  refuse(*state, &p, "t1 is read but its lender has ended");
}

static void settling_makes_a_borrower_independent(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), ins(TL_BC_SETTLE, 0, 1, 0, 0),
       RETURN(1));
  accept(*state, &p);
}

// Two slots may own one object, each with a count of its own: a third that only
// one of them lends to can take over from the other.
static void settling_may_find_an_alias_by_chance(void **state) {
  OPEN(TAKE(0), ins(TL_BC_GETG, 1, 0, 0, 0), ins(TL_BC_SETTLE, 0, 1, 0, 0),
       ins(TL_BC_DROP, 0, 0, 0, A), RETURN(1));
  refuse(*state, &p, "t0 is dropped but does not own for certain");
}

static void paths_agree_on_what_owns(void **state) {
  OPEN(ins(TL_BC_LOADI, 1, 0, 0, 0), TAKE(0), jump(TL_BC_JT, 1, 1, 0),
       ins(TL_BC_DROP, 0, 0, 0, A), ins(TL_BC_RET, 1, 0, 0, 0));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "t0 owns on one path only");
}

static void nothing_is_left_at_the_return(void **state) {
  OPEN(TAKE(0), ins(TL_BC_LOADI, 1, 0, 0, 0), ins(TL_BC_RET, 1, 0, 0, 0));
  refuse(*state, &p, "t0 still owns at the return");
}

static void an_owner_is_not_overwritten(void **state) {
  OPEN(TAKE(0), ins(TL_BC_LOADI, 0, 0, 0, 0), RETURN(0));
  refuse(*state, &p, "t0 is overwritten while it owns");
}

static void the_map_forgets_nobody(void **state) {
  OPEN(TAKE(0), TAKE(1), ins(TL_BC_DROP, 0, 0, 0, A), RETURN(1));
  refuse(*state, &p, "instruction 1 (TAKEG): the unwind map forgets t0");
}

static void the_map_drops_owners_only(void **state) {
  OPEN(ins(TL_BC_LOADI, 0, 0, 0, 0), TAKE(1), RETURN(1));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "the unwind map drops t0, which does not own");
}

static void a_target_that_owns_is_consumed(void **state) {
  OPEN(ins(TL_BC_LOADI, 1, 0, 0, 0), TAKE(0), ins(TL_BC_SETEL, 0, 1, 1, 0),
       RETURN(0));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "the target t0 may own but is not consumed");
}

static void a_rebound_variable_lends_no_argument(void **state) {
  OPEN(ins(TL_BC_GETG, 1, 0, 0, 0), ins(TL_BC_LOADI, 2, 0, 0, 0),
       (tl_ins){TL_BC_CALL, 0, 0, 32, 1}, (tl_ins){.op = TL_BC_EXTRA},
       RETURN(0));
  refuse(*state, &p, "t1 is lent by a module variable that may be rebound");
}

static void a_parameter_that_borrows_is_lent(void **state) {
  OPEN(TAKE(1), (tl_ins){TL_BC_CALLK, 0, 0, 1, 0},
       (tl_ins){TL_BC_EXTRA, 0, 0, 0, 0}, RETURN(0));
  p.constants[0] = (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = &p.callee};
  p.callee_modes[0] = TL_MODE_BORROW;
  refuse(*state, &p, "t1 is given to a parameter that borrows");
}

static void a_value_takes_what_it_is_given(void **state) {
  OPEN(ins(TL_BC_LOADK, 0, 0, 0, 0), TAKE(1), RETURN(1));
  p.constants[0] = (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = &p.callee};
  accept(*state, &p);
  p.callee_modes[0] = TL_MODE_BORROW;
  refuse(*state, &p, "instruction 0 (LOADK): a function that becomes a value");
}

static void what_only_borrows_may_be_mapped_by_its_bit(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), TAKE(2),
       ins(TL_BC_DROP, 0, 0, 0, A), RETURN(2));
  owns(&p, 2, 3, 0);
  owns(&p, 2, 3, 1);
  p.ranges[1].either = 1;
  accept(*state, &p);
  p.ranges[1].either = 0;
  refuse(*state, &p, "the unwind map drops t1, which does not own");
}

static void a_handler_keeps_lenders_too(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), TAKE(2),
       ins(TL_BC_DROP, 0, 0, 0, A), RETURN(2), ins(TL_BC_CATCH, 3, 0, 0, 0),
       RETURN(3));
  owns(&p, 2, 3, 0);
  p.kept[0] = 1;
  p.handler = (tl_handler){2, 3, 5, 1, 0, p.kept, p.own};
  p.main.handlers = &p.handler;
  p.main.handler_count = 1;
  refuse(*state, &p, "the handler keeps t1 but not its lender");
}

static void the_unwinder_owns_for_the_handler(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), TAKE(2),
       ins(TL_BC_DROP, 0, 0, 0, A), RETURN(2), ins(TL_BC_CATCH, 3, 0, 0, 0),
       ins(TL_BC_DROP, 3, 0, 0, A), RETURN(1));
  owns(&p, 2, 3, 0);
  p.kept[0] = p.own[0] = 1;
  p.handler = (tl_handler){2, 3, 5, 1, 1, p.kept, p.own};
  p.main.handlers = &p.handler;
  p.main.handler_count = 1;
  accept(*state, &p);
}

// r.x taken, changed and put back, with [between] before the put.
static void check_taken(tl_vm *vm, tl_ins between, int put_path,
                        const char *rule) {
  OPEN(TAKE(0), ins(TL_BC_TAKE, 1, 0, 0, B), ins(TL_BC_EXTRA, 0, 0, 0, 0),
       between, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       ins(TL_BC_DROP, 3, 0, 0, EITHER_A),
       ins(TL_BC_SETPATH, 0, 1, 2, A | TL_MODE_EITHER),
       ins(TL_BC_EXTRA, 0, 0, 0, 0), RETURN(0));
  tl_string *x = tl_string_from(vm, "x"), *y = tl_string_from(vm, "y");
  tl_string *names[] = {x, y};
  tl_step steps[] = {{.field = x}, {.field = y}};
  tl_path paths[] = {{.step_count = 1, .steps = &steps[0]},
                     {.step_count = 1, .steps = &steps[1]}};
  code[4].b = between.c / 16;
  code[3].c = 0;
  code[7].b = (uint16_t)put_path;
  p.unit.paths = paths;
  p.unit.path_count = 2;
  p.unit.names = names;
  p.unit.name_count = 2;
  owns(&p, 1, 7, 0);
  p.ranges[p.main.range_count++] = (tl_unwind_range){3, 7, 1, 1};
  if (rule == NULL)
    accept(vm, &p);
  else
    refuse(vm, &p, rule);
  tl_drop(vm, tl_own_string(x));
  tl_drop(vm, tl_own_string(y));
}

static void a_taken_item_comes_back(void **state) {
  const char *rule = "t0 is read while an item is taken out of it";
  // c stands for the name: 0 is x, 1 is y.
  check_taken(*state, ins(TL_BC_GETF, 3, 0, 1, 0), 0, NULL);
  check_taken(*state, ins(TL_BC_GETF, 3, 0, 0, 0), 0, rule);
  check_taken(*state, ins(TL_BC_FORMAT, 3, 0, 0, 0), 0, rule);
  check_taken(*state, ins(TL_BC_GETF, 3, 0, 1, 0), 1, rule);
}

static void what_lost_an_item_is_not_returned(void **state) {
  OPEN(TAKE(0), ins(TL_BC_LOADI, 1, 0, 0, 0), ins(TL_BC_TAKEEL, 2, 0, 1, B),
       ins(TL_BC_EXTRA, 0, 0, 0, 0), ins(TL_BC_DROP, 2, 0, 0, EITHER_A),
       RETURN(0));
  tl_index_item item = {.kind = TL_ITEM_VALUE};
  tl_step step = {.item_count = 1, .items = &item};
  tl_path path = {1, 1, &step, false};
  p.unit.paths = &path;
  p.unit.path_count = 1;
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "t0 is read while an item is taken out of it");
}

// t0 goes to a library function, is given back to slot [back] where that
// fails, and is dropped by the handler.
static void check_given_back(tl_vm *vm, const char *function, int back,
                             const char *rule) {
  OPEN(TAKE(0), ins(TL_BC_MOV, 3, 0, 0, B), ins(TL_BC_LOADI, 4, 0, 0, 0),
       ins(TL_BC_CALLB, 2, 0, 0, 0), ins(TL_BC_EXTRA, back, 0, 0, 0), RETURN(2),
       ins(TL_BC_CATCH, 1, 0, 0, 0), ins(TL_BC_DROP, 1, 0, 0, A), RETURN(0));
  code[3].b = 2;
  code[3].c = 1;
  p.kept[0] = 0;
  p.handler = (tl_handler){3, 4, 6, 1, 0, p.kept, p.own};
  p.main.handlers = &p.handler;
  p.main.handler_count = 1;
  const tl_builtin *builtin =
      tl_builtin_find(&tl_standard_library, NULL, function, strlen(function));
  p.constants[0] = tl_builtin_slot(builtin);
  if (rule == NULL)
    accept(vm, &p);
  else
    refuse(vm, &p, rule);
}

static void a_function_gives_back_what_it_has_not_taken(void **state) {
  check_given_back(*state, "append", 0, NULL);
  check_given_back(*state, "append", 1, "t0 is read but has no value");
  check_given_back(*state, "stack", 0, "the function called gives nothing");
}

static void the_summary_tells_of_borrows(void **state) {
  OPEN(ins(TL_BC_LOADI, 0, 0, 0, 0), ins(TL_BC_RET, 0, 0, 0, 0));
  refuse(*state, &p, "t0 may be borrowed, which the summary leaves out");
}

static void a_drop_may_test_the_bit(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), ins(TL_BC_DROP, 1, 0, 0, EITHER_A),
       RETURN(0));
  accept(*state, &p);
}

// --- Consuming --------------------------------------------------------------

static void only_owners_are_consumed(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), ins(TL_BC_ADD, 2, 1, 0, B),
       RETURN(2));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "instruction 2 (ADD): t1 is consumed but does not own");
}

static void what_is_consumed_is_not_also_read(void **state) {
  OPEN(TAKE(0), ins(TL_BC_GETEL, 1, 0, 0, B), RETURN(1));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "t0 is consumed and read");
}

static void a_raised_error_stays(void **state) {
  OPEN(TAKE(0), ins(TL_BC_RAISE, 0, 0, 0, A));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "t0 is consumed where it must stay");
}

static void what_is_called_stays(void **state) {
  OPEN(TAKE(1), (tl_ins){TL_BC_CALL, B, 0, 16, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(0));
  refuse(*state, &p, "t1 is consumed where it must stay");
}

static void drops_have_something_to_drop(void **state) {
  OPEN(ins(TL_BC_DROP, 3, 0, 0, A), RETURN(0));
  refuse(*state, &p, "t3 is dropped but has no value");
}

static void drops_consume(void **state) {
  OPEN(TAKE(0), ins(TL_BC_DROP, 0, 0, 0, 0), RETURN(0));
  refuse(*state, &p, "t0 is dropped without a mode");
}

static void nothing_settles_with_itself(void **state) {
  OPEN(TAKE(0), ins(TL_BC_SETTLE, 0, 0, 0, 0), RETURN(0));
  refuse(*state, &p, "t0 is settled against itself");
}

static void what_settles_is_there(void **state) {
  OPEN(TAKE(0), ins(TL_BC_KEEP, 3, 0, 0, 0), RETURN(0));
  refuse(*state, &p, "t3 is settled but has no value");
}

// LEAVE ends a container: an item that lives on owns, and another does not.
static void leaving_ends_the_container(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       ins(TL_BC_HOLD, 1, 0, 0, 0), ins(TL_BC_LEAVE, 0, 1, 0, 0), RETURN(1));
  owns(&p, 2, 3, 0);
  accept(*state, &p);
}

static void what_was_left_is_not_read(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       ins(TL_BC_LEAVE, 0, 1, 0, 0), ins(TL_BC_RET, 0, 0, 0, 0));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "t0 is read but has no value");
}

static void what_else_the_left_lent_has_ended(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_MOVB, 2, 0, 0, 0),
       ins(TL_BC_GETEL, 1, 0, 3, 0), ins(TL_BC_LEAVE, 0, 1, 0, 0),
       ins(TL_BC_RET, 2, 0, 0, 0));
  owns(&p, 3, 4, 0);
  refuse(*state, &p, "t2 is read but its lender has ended");
}

// In [start, end) the slot may own.
static void may_own(program *p, uint32_t start, uint32_t end, uint16_t slot) {
  p->ranges[p->main.range_count++] = (tl_unwind_range){start, end, slot, 1};
}

// A list that borrows what is in it.
#define LIST(d, count) \
  (tl_ins){TL_BC_LIST, 0, 16 * (d), count, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0)

// INHERIT: two items of a list outlive it.
#define PART(...)                                                           \
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0), \
       ins(TL_BC_GETEL, 2, 0, 3, 0), ins(TL_BC_HOLD, 1, 0, 0, 0),           \
       ins(TL_BC_HOLD, 2, 0, 0, 0), ins(TL_BC_INHERIT, 0, 1, 0, 0),         \
       __VA_ARGS__);                                                        \
  owns(&p, 2, 4, 0);                                                        \
  may_own(&p, 3, 4, 1)

static void two_items_outlive_their_list(void **state) {
  PART(ins(TL_BC_LEAVE, 0, 2, 0, 0), ins(TL_BC_DROP, 1, 0, 0, EITHER_A),
       ins(TL_BC_DROP, 2, 0, 0, EITHER_A), TAKE(4), RETURN(4));
  accept(*state, &p);
}

// UNPACK writes two slots, t1 and t2.
#define UNPACK(of, modes) \
  ins(TL_BC_UNPACK, 1, of, 0, modes), (tl_ins){TL_BC_EXTRA, 0, 0, 2, 0}

static void items_are_owned_where_their_list_ends(void **state) {
  OPEN(TAKE(0), UNPACK(0, B), ins(TL_BC_DROP, 2, 0, 0, A), RETURN(1));
  owns(&p, 1, 2, 0);
  accept(*state, &p);
}

static void no_item_is_left(void **state) {
  OPEN(TAKE(0), UNPACK(0, B), RETURN(1));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "t2 still owns at the return");
}

static void items_of_a_list_that_goes_on_are_borrowed(void **state) {
  OPEN(TAKE(0), UNPACK(0, 0), ins(TL_BC_DROP, 0, 0, 0, A),
       ins(TL_BC_RET, 2, 0, 0, EITHER_A));
  owns(&p, 1, 2, 0);
  refuse(*state, &p, "t2 is read but its lender has ended");
}

static void no_item_overwrites_an_owner(void **state) {
  OPEN(TAKE(0), TAKE(2), UNPACK(0, B), RETURN(1));
  owns(&p, 1, 3, 0);
  owns(&p, 2, 3, 2);
  refuse(*state, &p, "t2");
}

static void what_is_parted_ends_at_once(void **state) {
  PART(ins(TL_BC_DROP, 2, 0, 0, EITHER_A), RETURN(1));
  refuse(*state, &p, "t0 has given items to its heirs but does not end");
}

static void what_is_parted_is_in_no_list(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       ins(TL_BC_MOVB, 5, 0, 0, 0), LIST(4, 1), ins(TL_BC_HOLD, 1, 0, 0, 0),
       ins(TL_BC_INHERIT, 0, 1, 0, 0), ins(TL_BC_LEAVE, 0, 4, 0, 0), RETURN(4));
  owns(&p, 2, 5, 0);
  may_own(&p, 3, 5, 1);
  refuse(*state, &p, "t0 has given items to its heirs but does not end");
}

// REPLACE: t1, an item of t0, lives on when another takes its place.
#define REPLACE(x, value, index, successor)          \
  ins(TL_BC_REPLACE, x, value, index, A), (tl_ins) { \
    TL_BC_EXTRA, 0, 16 * (successor), 0, 0           \
  }

static void a_replaced_item_outlives_its_list(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       ins(TL_BC_DETACH, 1, 0, 0, 0), REPLACE(0, 3, 3, 1),
       ins(TL_BC_DROP, 0, 0, 0, A), RETURN(1));
  owns(&p, 2, 5, 0);
  may_own(&p, 3, 5, 1);
  accept(*state, &p);
}

static void another_item_does_not(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       ins(TL_BC_MOVB, 2, 1, 0, 0), ins(TL_BC_DETACH, 1, 0, 0, 0),
       REPLACE(0, 3, 3, 1), ins(TL_BC_DROP, 1, 0, 0, A),
       ins(TL_BC_DROP, 0, 0, 0, A), ins(TL_BC_RET, 2, 0, 0, 0));
  owns(&p, 2, 6, 0);
  may_own(&p, 3, 6, 1);
  refuse(*state, &p, "t2 is read but its lender has ended");
}

static void nothing_replaces_itself(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), REPLACE(0, 3, 3, 0), RETURN(0));
  refuse(*state, &p, "t0 is consumed and read");
}

static void a_view_is_no_replaced_item(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       REPLACE(0, 3, 3, 1), RETURN(1));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "t1 is read, but its lender is consumed");
}

static void lent_items_end_with_their_lender(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 2, 0, 0, 0), LIST(1, 1),
       ins(TL_BC_DROP, 0, 0, 0, A), RETURN(1));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "t1 is read but its lender has ended");
}

static void kept_items_outlive_their_lender(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 2, 0, 0, 0), LIST(1, 1),
       ins(TL_BC_KEEPALL, 1, 0, 0, 0), ins(TL_BC_DROP, 0, 0, 0, A), RETURN(1));
  owns(&p, 2, 3, 0);
  accept(*state, &p);
}

static void left_items_outlive_their_lender(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 2, 0, 0, 0), LIST(1, 1),
       ins(TL_BC_LEAVE, 0, 1, 0, 0), RETURN(1));
  owns(&p, 2, 3, 0);
  accept(*state, &p);
}

// A list within a list borrows t0.
#define NESTED(...)                                      \
  OPEN(TAKE(0), ins(TL_BC_MOVB, 2, 0, 0, 0), LIST(1, 1), \
       ins(TL_BC_MOV, 5, 1, 0, B), LIST(4, 1), __VA_ARGS__)

static void items_within_an_item_end_with_their_lender(void **state) {
  NESTED(ins(TL_BC_DROP, 0, 0, 0, A), RETURN(4));
  owns(&p, 2, 6, 0);
  refuse(*state, &p, "t4 is read but its lender has ended");
}

static void an_item_is_lent_what_is_in_it(void **state) {
  NESTED(ins(TL_BC_LOADI, 3, 0, 0, 0), ins(TL_BC_GETEL, 1, 4, 3, A),
         ins(TL_BC_DROP, 0, 0, 0, A), ins(TL_BC_RET, 1, 0, 0, EITHER_A));
  owns(&p, 2, 6, 0);
  refuse(*state, &p, "t1 is ");
}

static void items_kept_within_an_item_outlive_their_lender(void **state) {
  NESTED(ins(TL_BC_KEEPOF, 0, 4, 0, 0), ins(TL_BC_DROP, 0, 0, 0, A), RETURN(4));
  owns(&p, 2, 7, 0);
  accept(*state, &p);
}

static void what_lends_to_a_list_is_not_stored_in_it(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 2, 0, 0, 0), ins(TL_BC_MOV, 3, 0, 0, B),
       LIST(1, 2), RETURN(1));
  refuse(*state, &p, "what t3 lends to the result is consumed");
}

// Two names of one view: when what owns the view ends, so does the other.
static void an_alias_ends_with_the_view(void **state) {
  OPEN(ins(TL_BC_LOADI, 3, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 1, 0, 3, 0),
       ins(TL_BC_MOVB, 2, 1, 0, 0), ins(TL_BC_HOLD, 1, 0, 0, 0),
       ins(TL_BC_KEEP, 0, 1, 0, 0), ins(TL_BC_DROP, 0, 0, 0, EITHER_A),
       ins(TL_BC_DROP, 1, 0, 0, EITHER_A), ins(TL_BC_CHECKSET, 2, 0, 0, 0),
       ins(TL_BC_RET, 3, 0, 0, 0));
  owns(&p, 2, 3, 0);
  refuse(*state, &p, "instruction 8 (CHECKSET): its index is out of range");
  tl_string *name = tl_string_from(*state, "x"), *names[] = {name};
  p.unit.names = names;
  p.unit.name_count = 1;
  refuse(*state, &p, "instruction 8 (CHECKSET): t2 is read but its lender has");
  tl_drop(*state, tl_own_string(name));
}

// More than a set holds may own what is borrowed: then it proves nothing.
static void too_many_lenders_prove_nothing(void **state) {
  enum { OWNERS = TL_MAX_BORROW_OWNERS + 1, X = OWNERS, C = OWNERS + 1 };
  tl_ins code[4 * OWNERS + 8];
  uint32_t n = 0;
  program p;
  for (int limit = TL_MAX_BORROW_OWNERS; limit <= OWNERS; limit++) {
    n = 0;
    open_program(&p, code, 0);
    tl_unwind_range ranges[OWNERS];
    p.main.ranges = ranges;
    code[n++] = ins(TL_BC_LOADI, C, 0, 0, 0);
    for (int i = 0; i < limit; i++) {
      code[n++] = TAKE(i);
      ranges[i] = (tl_unwind_range){n, 0, (uint16_t)i, 0};
    }
    code[n++] = ins(TL_BC_MOVB, X, 0, 0, 0);
    for (int i = 1; i < limit; i++) {
      code[n++] = jump(TL_BC_JF, C, 1, 0);
      code[n++] = ins(TL_BC_MOVB, X, i, 0, 0);
    }
    for (int i = 0; i < limit; i++) ranges[i].end = n;
    code[n++] = ins(TL_BC_MOVB, C, X, 0, 0);
    for (int i = 1; i < limit; i++) code[n++] = ins(TL_BC_DROP, i, 0, 0, A);
    code[n++] = RETURN(0);
    p.main.range_count = (uint32_t)limit;
    p.main.code_count = n;
    p.main.slot_count = OWNERS + 2;
    if (limit == TL_MAX_BORROW_OWNERS)
      accept(*state, &p);
    else
      refuse(*state, &p, "(MOVB): t21 is read but its lender has ended");
  }
}

// But what has just been made may be owned at once, for no lender has ended;
// also where it is moved first.
static void too_many_lenders_are_owned_at_once(void **state) {
  enum { OWNERS = TL_MAX_BORROW_OWNERS + 1, L = OWNERS };
  tl_ins code[4 * OWNERS + 8];
  program p;
  for (int way = 0; way < 3; way++) {
    bool late = way == 1, moved = way == 2;
    uint32_t n = 0;
    open_program(&p, code, 0);
    tl_unwind_range ranges[OWNERS + 1];
    p.main.ranges = ranges;
    for (int i = 0; i < OWNERS; i++) {
      code[n++] = TAKE(i);
      ranges[i] = (tl_unwind_range){n, 0, (uint16_t)i, 0};
    }
    for (int i = 0; i < OWNERS; i++)
      code[n++] = ins(TL_BC_MOVB, L + 1 + i, i, 0, 0);
    for (int i = 0; i < OWNERS; i++) ranges[i].end = n + 1;
    code[n++] = (tl_ins){TL_BC_LIST, 0, 16 * L, OWNERS, 0};
    code[n++] = ins(TL_BC_EXTRA, 0, 0, 0, 0);
    if (late)
      code[n++] = ins(TL_BC_DROP, 0, 0, 0, A);
    if (moved)
      code[n++] = ins(TL_BC_MOV, L + 1, L, 0, B);
    code[n++] = ins(TL_BC_OWN, L + moved, 0, 0, 0);
    for (int i = late; i < OWNERS; i++) code[n++] = ins(TL_BC_DROP, i, 0, 0, A);
    code[n++] = RETURN(L + moved);
    p.main.range_count = OWNERS;
    p.main.code_count = n;
    p.main.slot_count = 2 * OWNERS + 1;
    if (!late)
      accept(*state, &p);
    else
      refuse(*state, &p, "(OWN): t21 is read but its lender has ended");
  }
}

// --- Calls, groups and module variables -------------------------------------

static void a_view_is_not_given_without_its_block(void **state) {
  OPEN(ins(TL_BC_LOADI, 2, 0, 0, 0), TAKE(0), ins(TL_BC_GETEL, 4, 0, 2, 0),
       (tl_ins){TL_BC_CALLK, 0, 48, 1, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(3));
  p.constants[0] = (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = &p.callee};
  owns(&p, 2, 4, 0);
  refuse(*state, &p, "t4 is given away, but its block is lent");
}

static void what_comes_back_finds_its_slot_empty(void **state) {
  OPEN(TAKE(5), TAKE(3), ins(TL_BC_LOADI, 4, 0, 0, 0),
       ins(TL_BC_CALLB, 2, 0, 0, 0), ins(TL_BC_EXTRA, 5, 0, 0, 0),
       ins(TL_BC_DROP, 5, 0, 0, A), RETURN(2));
  code[3].b = 2;
  code[3].c = 1;
  owns(&p, 1, 5, 5);
  p.constants[0] =
      tl_builtin_slot(tl_builtin_find(&tl_standard_library, NULL, "append", 6));
  refuse(*state, &p, "t5 is given back while it owns");
}

// Whoever calls a member of a group knows no summary.
static void a_group_takes_what_it_is_given(void **state) {
  OPEN((tl_ins){TL_BC_CLOSURE, 0, 0, 0, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(0));
  tl_prototype *members[] = {&p.callee};
  tl_group group = {.member_count = 1, .members = members};
  p.unit.groups = &group;
  p.unit.group_count = 1;
  accept(*state, &p);
  p.callee_modes[0] = TL_MODE_BORROW;
  refuse(*state, &p, "(CLOSURE): a function that becomes a value borrows only");
}

static void the_summary_tells_of_rebinding(void **state) {
  OPEN(TAKE(0), RETURN(0));
  p.main.summary.rebinds_any = false;
  refuse(*state, &p, "(TAKEG): the summary leaves out a rebound variable");
}

// Code that is not known leaves steady variables alone, and so must all
// functions but the module's own code, which nobody calls.
static void invariant_variables_stay(void **state) {
  OPEN(ins(TL_BC_GETG, 0, 0, 0, 0), ins(TL_BC_LOADI, 1, 0, 0, 0),
       (tl_ins){TL_BC_CALL, 0, 32, 16, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       ins(TL_BC_ADD, 3, 0, 2, C), RETURN(3));
  uint64_t invariant = 1;
  owns(&p, 4, 5, 2);
  refuse(*state, &p, "t0 is read but its lender has ended");
  p.unit.invariant = &invariant;
  p.unit.invariant_words = 1;
  refuse(*state, &p, "t0 is read but its lender has ended");
  uint32_t call = 2;  // who assigns it must find that this call relies on it
  p.main.relying = &call;
  p.main.relying_count = 1;
  accept(*state, &p);
}

static void functions_assign_no_steady_variable(void **state) {
  OPEN(TAKE(0), RETURN(0));
  uint64_t invariant = 1;
  p.unit.invariant = &invariant;
  p.unit.invariant_words = 1;
  accept(*state, &p);
  p.main.index = 1;
  refuse(*state, &p, "(TAKEG): a function assigns what its unit takes for");
}

static void own_code_is_not_called(void **state) {
  OPEN((tl_ins){TL_BC_CALLK, 0, 0, 0, 0}, ins(TL_BC_EXTRA, 0, 0, 0, 0),
       RETURN(0));
  uint64_t invariant = 1;
  p.constants[0] = (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = &p.main};
  p.unit.invariant = &invariant;
  p.unit.invariant_words = 1;
  refuse(*state, &p, "(CALLK): the module's own code is no function to call");
}

static void the_summary_tells_of_unknown_code(void **state) {
  OPEN(ins(TL_BC_LOADI, 1, 0, 0, 0), (tl_ins){TL_BC_CALL, 0, 0, 16, 0},
       ins(TL_BC_EXTRA, 0, 0, 0, 0), RETURN(0));
  p.main.summary.rebinds_any = false;
  refuse(*state, &p, "the summary leaves out that anything is rebound");
}

// --- Returns and errors -----------------------------------------------------

static void a_borrow_is_not_returned_as_owned(void **state) {
  OPEN(TAKE(0), ins(TL_BC_MOVB, 1, 0, 0, 0), RETURN(1));
  refuse(*state, &p, "t1 is returned but does not own for certain");
}

static void an_owner_is_not_returned_as_borrowed(void **state) {
  OPEN(TAKE(0), ins(TL_BC_RET, 0, 0, 0, 0));
  refuse(*state, &p, "t0 owns but is returned as a borrow");
}

static void the_summary_tells_of_owners(void **state) {
  OPEN(TAKE(0), RETURN(0));
  p.main.summary.may_own = false;
  refuse(*state, &p, "t0 may own, which the summary leaves out");
}

static void the_summary_tells_who_lends(void **state) {
  OPEN(ins(TL_BC_GETG, 0, 0, 0, 0), ins(TL_BC_RET, 0, 0, 0, 0));
  p.main.summary.may_borrow = true;
  refuse(*state, &p, "t0 is lent by what the summary leaves out");
}

static void the_map_tests_the_bit_of_what_may_own(void **state) {
  OPEN(TAKE(1), ins(TL_BC_DROP, 0, 0, 0, EITHER_A), RETURN(1));
  p.main.param_count = 1;
  owns(&p, 0, 1, 0);
  refuse(*state, &p, "the unwind map is sure that t0 owns");
  p.ranges[0].either = 1;
  accept(*state, &p);
}

// t0 owns, t1 is taken within a `try` whose handler keeps [kept].
static void check_handler(tl_vm *vm, uint16_t kept, bool param, bool mapped,
                          const char *rule) {
  OPEN(
      param ? ins(TL_BC_LOADI, 3, 0, 0, 0) : TAKE(0), TAKE(1),
      ins(TL_BC_DROP, 0, 0, 0, EITHER_A), RETURN(1),
      ins(TL_BC_CATCH, 3, 0, 0, 0),
      kept == 0 ? ins(TL_BC_DROP, 0, 0, 0, EITHER_A) : jump(TL_BC_JMP, 0, 0, 0),
      RETURN(3));
  if (param)
    p.main.param_count = 1;
  if (mapped)
    owns(&p, 1, 2, 0);
  p.ranges[0].either = param;
  p.kept[0] = kept;
  p.handler = (tl_handler){1, 2, 4, 1, 0, p.kept, p.own};
  p.main.handlers = &p.handler;
  p.main.handler_count = 1;
  refuse(vm, &p, rule);
}

static void handlers_keep_what_can_be_kept(void **state) {
  check_handler(*state, 0, false, true,
                "the unwind map drops t0, which is kept");
  check_handler(*state, 2, false, true,
                "the handler keeps t2, which has no valid value");
  check_handler(*state, 0, true, false, "the handler keeps t0, which may own");
}

static void every_rule_has_a_test(void **state) {
  (void)state;
  check_broken(TL_RULE_OF_FORM, TL_RULE_COUNT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(good_code_passes),
      FIXTURE_TEST(an_operand_is_consumed_once),
      FIXTURE_TEST(what_was_consumed_is_not_read),
      FIXTURE_TEST(a_borrow_is_not_consumed),
      FIXTURE_TEST(a_borrow_ends_before_its_lender),
      FIXTURE_TEST(a_lender_is_not_consumed_beside_its_borrower),
      FIXTURE_TEST(settling_makes_a_borrower_independent),
      FIXTURE_TEST(settling_may_find_an_alias_by_chance),
      FIXTURE_TEST(paths_agree_on_what_owns),
      FIXTURE_TEST(nothing_is_left_at_the_return),
      FIXTURE_TEST(an_owner_is_not_overwritten),
      FIXTURE_TEST(the_map_forgets_nobody),
      FIXTURE_TEST(the_map_drops_owners_only),
      FIXTURE_TEST(a_target_that_owns_is_consumed),
      FIXTURE_TEST(a_rebound_variable_lends_no_argument),
      FIXTURE_TEST(a_parameter_that_borrows_is_lent),
      FIXTURE_TEST(a_value_takes_what_it_is_given),
      FIXTURE_TEST(what_only_borrows_may_be_mapped_by_its_bit),
      FIXTURE_TEST(a_handler_keeps_lenders_too),
      FIXTURE_TEST(the_unwinder_owns_for_the_handler),
      FIXTURE_TEST(a_taken_item_comes_back),
      FIXTURE_TEST(what_lost_an_item_is_not_returned),
      FIXTURE_TEST(a_function_gives_back_what_it_has_not_taken),
      FIXTURE_TEST(the_summary_tells_of_borrows),
      FIXTURE_TEST(a_drop_may_test_the_bit),
      FIXTURE_TEST(only_owners_are_consumed),
      FIXTURE_TEST(what_is_consumed_is_not_also_read),
      FIXTURE_TEST(a_raised_error_stays),
      FIXTURE_TEST(what_is_called_stays),
      FIXTURE_TEST(drops_have_something_to_drop),
      FIXTURE_TEST(drops_consume),
      FIXTURE_TEST(nothing_settles_with_itself),
      FIXTURE_TEST(what_settles_is_there),
      FIXTURE_TEST(leaving_ends_the_container),
      FIXTURE_TEST(what_was_left_is_not_read),
      FIXTURE_TEST(lent_items_end_with_their_lender),
      FIXTURE_TEST(kept_items_outlive_their_lender),
      FIXTURE_TEST(left_items_outlive_their_lender),
      FIXTURE_TEST(items_within_an_item_end_with_their_lender),
      FIXTURE_TEST(an_item_is_lent_what_is_in_it),
      FIXTURE_TEST(items_kept_within_an_item_outlive_their_lender),
      FIXTURE_TEST(what_lends_to_a_list_is_not_stored_in_it),
      FIXTURE_TEST(what_else_the_left_lent_has_ended),
      FIXTURE_TEST(two_items_outlive_their_list),
      FIXTURE_TEST(items_are_owned_where_their_list_ends),
      FIXTURE_TEST(no_item_is_left),
      FIXTURE_TEST(items_of_a_list_that_goes_on_are_borrowed),
      FIXTURE_TEST(no_item_overwrites_an_owner),
      FIXTURE_TEST(what_is_parted_ends_at_once),
      FIXTURE_TEST(what_is_parted_is_in_no_list),
      FIXTURE_TEST(a_replaced_item_outlives_its_list),
      FIXTURE_TEST(another_item_does_not),
      FIXTURE_TEST(nothing_replaces_itself),
      FIXTURE_TEST(a_view_is_no_replaced_item),
      FIXTURE_TEST(an_alias_ends_with_the_view),
      FIXTURE_TEST(too_many_lenders_prove_nothing),
      FIXTURE_TEST(too_many_lenders_are_owned_at_once),
      FIXTURE_TEST(a_view_is_not_given_without_its_block),
      FIXTURE_TEST(what_comes_back_finds_its_slot_empty),
      FIXTURE_TEST(a_group_takes_what_it_is_given),
      FIXTURE_TEST(the_summary_tells_of_rebinding),
      FIXTURE_TEST(the_summary_tells_of_unknown_code),
      FIXTURE_TEST(invariant_variables_stay),
      FIXTURE_TEST(functions_assign_no_steady_variable),
      FIXTURE_TEST(own_code_is_not_called),
      FIXTURE_TEST(a_borrow_is_not_returned_as_owned),
      FIXTURE_TEST(an_owner_is_not_returned_as_borrowed),
      FIXTURE_TEST(the_summary_tells_of_owners),
      FIXTURE_TEST(the_summary_tells_who_lends),
      FIXTURE_TEST(the_map_tests_the_bit_of_what_may_own),
      FIXTURE_TEST(handlers_keep_what_can_be_kept),
      FIXTURE_TEST(every_rule_has_a_test),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
