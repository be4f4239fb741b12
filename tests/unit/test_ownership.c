// The ownership analysis on graphs written by hand: the named cases of peak,
// borrowing, reuse and errors. Each expects the whole annotated graph.
#include "tests/unit/graph_text.h"

// One function without calls.
static void check_one(void **state, int params, int slots, const char *code,
                      const char *expected) {
  graph g;
  open_graph(&g, *state);
  tl_cfg_function *f = add_function(&g, params, slots, code);
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, f, expected);
  close_graph(&g);
}

// T1: x + (x + (x + x)): each sum is written into the one inside it.
static void t1_temporaries_are_taken_over(void **state) {
  check_one(state, 0, 5,
            "0: 0 = TAKEG\n"
            "   1 = ADD 0 0\n"
            "   2 = ADD 0 1\n"
            "   3 = ADD 0 2\n"
            "   SHOW 0\n"
            "   RET 3\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = add t0, t0 owned: t0\n"
            "  t2 = add t0, t1! owned: t0 t1\n"
            "  t3 = add t0, t2! owned: t0 t2\n"
            "  show t0 owned: t0 t3\n"
            "  drop t0!\n"
            "  ret t3!\n");
}

// T3: a = x + a in a loop is written in place each turn.
static void t3_a_loop_reuses_its_array(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = ADD 0 0\n"
            "   JMP -> 1\n"
            "1: 2 = LOADI\n"
            "   JT 2 -> 2 3\n"
            "2: 3 = ADD 0 1\n"
            "   1 = MOV 3\n"
            "   JMP -> 1\n"
            "3: SHOW 0\n"
            "   RET 1\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = add t0, t0 owned: t0\n"
            "  jmp\n"
            "  -> b1\n"
            "b1:\n"
            "  t2 = loadi\n"
            "  jt t2 owned: t0 t1\n"
            "  -> b2, b3\n"
            "b2:\n"
            "  t3 = add t0, t1! owned: t0 t1\n"
            "  t1 = mov t3!\n"
            "  jmp owned: t0 t1\n"
            "  -> b1\n"
            "b3:\n"
            "  show t0 owned: t0 t1\n"
            "  drop t0!\n"
            "  ret t1!\n");
}

// T6: the arm that has no use for a drops it first of all.
static void t6_a_branch_drops_what_it_does_not_use(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = LOADI\n"
            "   JT 1 -> 1 2\n"
            "1: 2 = ADD 0 0\n"
            "   JMP -> 3\n"
            "2: 2 = LOADI\n"
            "   JMP -> 3\n"
            "3: RET 2\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = loadi\n"
            "  jt t1 owned: t0\n"
            "  -> b1, b2\n"
            "b1:\n"
            "  t2 = add t0, t0! owned: t0\n"
            "  jmp\n"
            "  -> b3\n"
            "b2:\n"
            "  drop t0!\n"
            "  t2 = loadi\n"
            "  jmp\n"
            "  -> b3\n"
            "b3:\n"
            "  ret t2?\n");
}

// P1: an alias of x or of y owns nothing while both live.
static void p1_a_chosen_alias_borrows(void **state) {
  check_one(state, 0, 6,
            "0: 0 = TAKEG\n"
            "   1 = TAKEG #1\n"
            "   2 = LOADI\n"
            "   JT 2 -> 1 2\n"
            "1: 3 = MOV 0\n"
            "   JMP -> 3\n"
            "2: 3 = MOV 1\n"
            "   JMP -> 3\n"
            "3: 4 = ADD 3 3\n"
            "   SHOW 0\n"
            "   SHOW 1\n"
            "   RET 4\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = takeg #1 owned: t0\n"
            "  t2 = loadi\n"
            "  jt t2 owned: t0 t1\n"
            "  -> b1, b2\n"
            "b1:\n"
            "  t3 = mov t0\n"
            "  jmp\n"
            "  -> b3\n"
            "b2:\n"
            "  t3 = mov t1\n"
            "  jmp\n"
            "  -> b3\n"
            "b3:\n"
            "  t4 = add t3, t3 owned: t0 t1\n"
            "  show t0 owned: t0 t1 t4\n"
            "  drop t0!\n"
            "  show t1 owned: t1 t4\n"
            "  drop t1!\n"
            "  ret t4!\n");
}

// P3: items of a list that lives on are borrowed: nothing is dropped.
static void p3_a_loop_borrows_from_a_live_list(void **state) {
  check_one(state, 1, 5,
            "0: 1 = MOV 0\n"
            "   JMP -> 1\n"
            "1: MORE 1 -> 2 3\n"
            "2: 2 = NEXT 1\n"
            "   3 = ADD 2 2\n"
            "   JMP -> 1\n"
            "3: RET 0\n",
            "b0:\n"
            "  t1 = mov t0\n"
            "  jmp\n"
            "  -> b1\n"
            "b1:\n"
            "  more t1\n"
            "  -> b2, b3\n"
            "b2:\n"
            "  t2 = next t1\n"
            "  t3 = add t2, t2? owned: t2?\n"
            "  drop t3!\n"
            "  jmp\n"
            "  -> b1\n"
            "b3:\n"
            "  ret t0\n");
}

// P3: a dying list gives its items away; what is left goes with it.
static void p3_a_dying_list_is_drained(void **state) {
  check_one(state, 0, 5,
            "0: 0 = LIST\n"
            "   1 = MOV 0\n"
            "   JMP -> 1\n"
            "1: MORE 1 -> 2 3\n"
            "2: 2 = NEXT 1\n"
            "   SHOW 2\n"
            "   JMP -> 1\n"
            "3: 3 = LOADI\n"
            "   RET 3\n",
            "b0:\n"
            "  t0 = list\n"
            "  t1 = mov t0!\n"
            "  jmp\n"
            "  -> b1\n"
            "b1:\n"
            "  more t1 owned: t1\n"
            "  -> b2, b3\n"
            "b2:\n"
            "  t2 = next t1! owned: t1\n"
            "  show t2 owned: t1 t2?\n"
            "  drop t2?\n"
            "  jmp owned: t1\n"
            "  -> b1\n"
            "b3:\n"
            "  drop t1!\n"
            "  t3 = loadi\n"
            "  ret t3\n");
}

// P4: the handler keeps x; the temporary is dropped on the way.
static void p4_errors_find_what_they_must_drop(void **state) {
  check_one(state, 0, 5,
            "0: 0 = TAKEG\n"
            "   1 = ADD 0 0 ^1\n"
            "   2 = ADD 0 1 ^1\n"
            "   JMP -> 2\n"
            "1: handler\n"
            "   2 = CATCH\n"
            "   JMP -> 2\n"
            "2: SHOW 0\n"
            "   RET 2\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = add t0, t0 catch b1\n"
            "  t2 = add t0, t1! catch b1 owned: t1\n"
            "  jmp\n"
            "  -> b2\n"
            "b1: handler keeps t0\n"
            "  t2 = catch\n"
            "  jmp\n"
            "  -> b2\n"
            "b2:\n"
            "  show t0 owned: t0 t2\n"
            "  drop t0!\n"
            "  ret t2!\n");
}

// P5: what a module variable lends is owned before unknown code runs, if a
// function assigns the variable.
static void check_p5(tl_vm *vm, const char *other, const char *expected) {
  graph g;
  open_graph(&g, vm);
  tl_cfg_function *f = add_function(&g, 0, 4,
                                    "0: 0 = GETG\n"
                                    "   1 = LOADK\n"
                                    "   2 = CALL 1\n"
                                    "   3 = ADD 0 2\n"
                                    "   RET 3\n");
  add_function(&g, 0, 1, other);
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, f, expected);
  close_graph(&g);
}

static void p5_a_value_outlives_its_variable(void **state) {
  check_p5(*state,
           "0: 0 = LOADK\n"
           "   SETG 0\n"
           "   RET 0\n",
           "b0:\n"
           "  t0 = getg\n"
           "  t1 = loadk\n"
           "  own t0\n"
           "  t2 = call t1 owned: t0\n"
           "  t3 = add t0!, t2! owned: t0 t2\n"
           "  ret t3!\n");
}

static void p5_a_steady_variable_lends_on(void **state) {
  check_p5(*state,
           "0: 0 = LOADK\n"
           "   RET 0\n",
           "b0:\n"
           "  t0 = getg\n"
           "  t1 = loadk\n"
           "  t2 = call t1\n"
           "  t3 = add t0, t2! owned: t2\n"
           "  ret t3!\n");
}

// P6: an item that was read is kept before its list changes.
static void p6_an_item_outlives_its_replacement(void **state) {
  check_one(state, 0, 6,
            "0: 0 = LIST\n"
            "   1 = LOADI\n"
            "   2 = GETEL 0 1\n"
            "   3 = LOADI\n"
            "   0 = SETEL 0 3 1\n"
            "   SHOW 2\n"
            "   RET 0\n",
            "b0:\n"
            "  t0 = list\n"
            "  t1 = loadi\n"
            "  t2 = getel t0, t1 owned: t0\n"
            "  t3 = loadi\n"
            "  detach t2, t0 owned: t0 t2?\n"
            "  t0 = replace t0!, t3, t1, t2 owned: t0 t2?\n"
            "  show t2 owned: t0 t2\n"
            "  drop t2!\n"
            "  ret t0!\n");
}

// P6: a, b = b, a moves and counts nothing.
static void p6_names_swap_by_moving(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = TAKEG #1\n"
            "   2 = MOV 1\n"
            "   3 = MOV 0\n"
            "   0 = MOV 2\n"
            "   1 = MOV 3\n"
            "   SHOW 0\n"
            "   RET 1\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = takeg #1 owned: t0\n"
            "  t2 = mov t1!\n"
            "  t3 = mov t0!\n"
            "  t0 = mov t2!\n"
            "  t1 = mov t3!\n"
            "  show t0 owned: t0 t1\n"
            "  drop t0!\n"
            "  ret t1!\n");
}

// R3: update, read, update: the target is consumed each time.
static void r3_updates_are_in_place(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = LOADI\n"
            "   0 = SETEL 0 1 1\n"
            "   2 = GETEL 0 1\n"
            "   SHOW 2\n"
            "   0 = SETEL 0 1 1\n"
            "   RET 0\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = loadi\n"
            "  t0 = setel t0!, t1, t1 owned: t0\n"
            "  t2 = getel t0, t1 owned: t0\n"
            "  show t2 owned: t0 t2?\n"
            "  drop t2?\n"
            "  t0 = setel t0!, t1, t1 owned: t0\n"
            "  ret t0!\n");
}

// R7: a view that lives is copied out before its source is written.
static void r7_a_view_is_detached_from_its_source(void **state) {
  check_one(state, 0, 6,
            "0: 0 = TAKEG\n"
            "   1 = LOADI\n"
            "   2 = GETEL 0 1\n"
            "   3 = LOADI\n"
            "   4 = GETEL 0 3\n"
            "   0 = SETEL 0 4 1\n"
            "   0 = SETEL 0 2 3\n"
            "   RET 0\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = loadi\n"
            "  t2 = getel t0, t1 owned: t0\n"
            "  t3 = loadi\n"
            "  t4 = getel t0, t3 owned: t0 t2?\n"
            "  detach t2, t0 owned: t0 t2? t4?\n"
            "  t0 = replace t0!, t4?, t1, t2 owned: t0 t2? t4?\n"
            "  t0 = setel t0!, t2!, t3 owned: t0 t2\n"
            "  ret t0!\n");
}

// x[x] = 1: the target is copied, not changed while it is read.
static void an_index_that_is_the_target_gets_its_own_count(void **state) {
  check_one(state, 0, 3,
            "0: 0 = TAKEG\n"
            "   1 = LOADI\n"
            "   0 = SETEL 0 1 0\n"
            "   RET 0\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = loadi\n"
            "  t3 = mov t0\n"
            "  own t3\n"
            "  t0 = setel t0!, t1, t3! owned: t0 t3\n"
            "  ret t0!\n");
}

// y = x: the last use of x passes the ownership on.
static void a_dying_alias_hands_over(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = MOV 0\n"
            "   SHOW 0\n"
            "   2 = LOADI\n"
            "   SHOW 2\n"
            "   1 = SETEL 1 2 2\n"
            "   RET 1\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = mov t0\n"
            "  show t0 owned: t0\n"
            "  settle t0, t1\n"
            "  t2 = loadi\n"
            "  show t2 owned: t1\n"
            "  t1 = setel t1!, t2, t2 owned: t1\n"
            "  ret t1!\n");
}

// A view of an array that dies holds the block.
static void a_view_takes_its_dead_array_along(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = LOADI\n"
            "   2 = GETEL 0 1\n"
            "   SHOW 0\n"
            "   SHOW 2\n"
            "   RET 1\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = loadi\n"
            "  t2 = getel t0, t1 owned: t0\n"
            "  show t0 owned: t0 t2?\n"
            "  leave t0, t2\n"
            "  show t2 owned: t2\n"
            "  drop t2!\n"
            "  ret t1\n");
}

// E1: a result in the place of an operand that stays sets it aside.
static void e1_a_result_never_hides_its_operand(void **state) {
  check_one(state, 0, 2,
            "0: 0 = TAKEG\n"
            "   0 = GETEL 0 0\n"
            "   RET 0\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t2 = mov t0!\n"
            "  t0 = getel t2, t2 owned: t2\n"
            "  leave t2, t0\n"
            "  ret t0!\n");
}

// A parameter that nothing reads is given back at the entry.
static void unused_parameters_die_at_once(void **state) {
  check_one(state, 2, 3,
            "0: 2 = ADD 0 0\n"
            "   RET 2\n",
            "b0:\n"
            "  drop t1?\n"
            "  t2 = add t0, t0? owned: t0?\n"
            "  ret t2!\n");
}

// Settling the value, which dies, makes its alias the owner: the target.
static void a_target_may_become_an_owner(void **state) {
  check_one(state, 0, 4,
            "0: 0 = TAKEG\n"
            "   1 = MOV 0\n"
            "   2 = LOADI\n"
            "   1 = SETPATH 1 0 2 ^1\n"
            "   JMP -> 2\n"
            "1: handler\n"
            "   3 = CATCH\n"
            "   JMP -> 2\n"
            "2: RET 1\n",
            "b0:\n"
            "  t0 = takeg\n"
            "  t1 = mov t0\n"
            "  t2 = loadi\n"
            "  settle t0, t1\n"
            "  t1 = setpath t1!, t0, t2 catch b1\n"
            "  jmp\n"
            "  -> b2\n"
            "b1: handler keeps t1\n"
            "  t3 = catch #2\n"
            "  drop t3!\n"
            "  jmp\n"
            "  -> b2\n"
            "b2:\n"
            "  ret t1!\n");
}

// A value that dies on the way back is dropped in a block of its own.
static void an_edge_back_gets_a_block(void **state) {
  check_one(state, 1, 5,
            "0: 1 = ADD 0 0\n"
            "   JMP -> 1\n"
            "1: 1 = ADD 0 0\n"
            "   2 = LOADI\n"
            "   JT 2 -> 1 2\n"
            "2: RET 1\n",
            "b0:\n"
            "  t1 = add t0, t0\n"
            "  drop t1!\n"
            "  jmp\n"
            "  -> b1\n"
            "b1:\n"
            "  t1 = add t0, t0\n"
            "  t2 = loadi\n"
            "  jt t2 owned: t1\n"
            "  -> b3, b2\n"
            "b2:\n"
            "  ret t1!\n"
            "b3:\n"
            "  drop t1!\n"
            "  jmp\n"
            "  -> b1\n");
}

// T5: a temporary goes to the callee; an argument that lives is lent.
static void t5_a_known_call_takes_a_dying_argument(void **state) {
  graph g;
  open_graph(&g, *state);
  tl_cfg_function *caller = add_function(&g, 0, 5,
                                         "0: 0 = TAKEG\n"
                                         "   1 = ADD 0 0\n"
                                         "   2 = CALLK 1 #1\n"
                                         "   3 = CALLK 0 #1\n"
                                         "   SHOW 0\n"
                                         "   SHOW 2\n"
                                         "   RET 3\n");
  tl_cfg_function *callee = add_function(&g, 1, 3,
                                         "0: 1 = ADD 0 0\n"
                                         "   2 = ADD 1 1\n"
                                         "   RET 2\n");
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, caller,
        "b0:\n"
        "  t0 = takeg\n"
        "  t1 = add t0, t0 owned: t0\n"
        "  t2 = callk t1! #1 owned: t0\n"
        "  t3 = callk t0 #1 owned: t0 t2\n"
        "  show t0 owned: t0 t2 t3\n"
        "  drop t0!\n"
        "  show t2 owned: t2 t3\n"
        "  drop t2!\n"
        "  ret t3!\n");
  check(&g, callee,
        "b0:\n"
        "  t1 = add t0, t0? owned: t0?\n"
        "  t2 = add t1, t1! owned: t1\n"
        "  ret t2!\n");
  close_graph(&g);
}

// P2: a function that returns one of its arguments counts nothing.
static void p2_a_result_may_be_borrowed(void **state) {
  graph g;
  open_graph(&g, *state);
  tl_cfg_function *caller = add_function(&g, 0, 5,
                                         "0: 0 = TAKEG\n"
                                         "   1 = TAKEG #1\n"
                                         "   2 = CALLK 0 1 #1\n"
                                         "   SHOW 2\n"
                                         "   SHOW 0\n"
                                         "   RET 1\n");
  tl_cfg_function *callee = add_function(&g, 2, 4,
                                         "0: 2 = LOADI\n"
                                         "   JT 2 -> 1 2\n"
                                         "1: RET 0\n"
                                         "2: RET 1\n");
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, caller,
        "b0:\n"
        "  t0 = takeg\n"
        "  t1 = takeg #1 owned: t0\n"
        "  t2 = callk t0, t1 #1 owned: t0 t1\n"
        "  show t2 owned: t0 t1\n"
        "  show t0 owned: t0 t1\n"
        "  drop t0!\n"
        "  ret t1!\n");
  check(&g, callee,
        "b0:\n"
        "  t2 = loadi\n"
        "  jt t2\n"
        "  -> b1, b2\n"
        "b1:\n"
        "  ret t0\n"
        "b2:\n"
        "  ret t1\n");
  close_graph(&g);
}

// A callee's summary is known before its callers are looked at, so that what it
// returns is theirs for certain. Later functions call earlier ones here.
static void callees_are_known_first(void **state) {
  graph g;
  open_graph(&g, *state);
  add_function(&g, 1, 2,
               "0: 1 = ADD 0 0\n"
               "   RET 1\n");
  add_function(&g, 1, 2,
               "0: 1 = CALLK 0 #0\n"
               "   RET 1\n");
  tl_cfg_function *caller = add_function(&g, 1, 2,
                                         "0: 1 = CALLK 0 #1\n"
                                         "   SHOW 1\n"
                                         "   RET 0\n");
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, caller,
        "b0:\n"
        "  t1 = callk t0 #1\n"
        "  show t1 owned: t1\n"
        "  drop t1!\n"
        "  ret t0\n");
  close_graph(&g);
}

// R2: f(x, x): one place gets a count of its own, the last takes x.
static void r2_an_argument_given_twice_is_owned_twice(void **state) {
  graph g;
  open_graph(&g, *state);
  tl_cfg_function *caller = add_function(&g, 0, 3,
                                         "0: 0 = TAKEG\n"
                                         "   1 = CALLK 0 0 #1\n"
                                         "   RET 1\n");
  tl_cfg_function *callee = add_function(&g, 2, 4,
                                         "0: 2 = LOADI\n"
                                         "   0 = SETEL 0 2 2\n"
                                         "   1 = SETEL 1 2 2\n"
                                         "   3 = ADD 0 1\n"
                                         "   RET 3\n");
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, caller,
        "b0:\n"
        "  t0 = takeg\n"
        "  t4 = mov t0\n"
        "  own t4\n"
        "  t1 = callk t4!, t0! #1\n"
        "  ret t1!\n");
  check(&g, callee,
        "b0:\n"
        "  t2 = loadi\n"
        "  t0 = setel t0?, t2, t2 owned: t0? t1?\n"
        "  t1 = setel t1?, t2, t2 owned: t0 t1?\n"
        "  t3 = add t0!, t1! owned: t0 t1\n"
        "  ret t3!\n");
  close_graph(&g);
}

// Borrow inference: nothing needs room after the last use.
static void a_parameter_that_is_only_read_is_lent(void **state) {
  graph g;
  open_graph(&g, *state);
  tl_cfg_function *caller = add_function(&g, 0, 3,
                                         "0: 0 = TAKEG\n"
                                         "   1 = CALLK 0 #1\n"
                                         "   RET 1\n");
  tl_cfg_function *callee = add_function(&g, 1, 3,
                                         "0: JT 0 -> 1 2\n"
                                         "1: 1 = LOADI\n"
                                         "   RET 1\n"
                                         "2: 1 = LOADI\n"
                                         "   RET 1\n");
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, caller,
        "b0:\n"
        "  t0 = takeg\n"
        "  t1 = callk t0 #1 owned: t0\n"
        "  drop t0!\n"
        "  ret t1\n");
  check(&g, callee,
        "b0:\n"
        "  jt t0\n"
        "  -> b1, b2\n"
        "b1:\n"
        "  t1 = loadi\n"
        "  ret t1\n"
        "b2:\n"
        "  t1 = loadi\n"
        "  ret t1\n");
  close_graph(&g);
}

// E2: where a call fails its arguments are no longer the caller's.
static void e2_a_call_gives_its_arguments_away(void **state) {
  graph g;
  open_graph(&g, *state);
  tl_cfg_function *caller = add_function(&g, 0, 6,
                                         "0: 0 = TAKEG\n"
                                         "   1 = ADD 0 0\n"
                                         "   2 = ADD 0 0\n"
                                         "   3 = CALLK 1 2 #1\n"
                                         "   RET 3\n");
  tl_cfg_function *callee = add_function(&g, 2, 3,
                                         "0: 2 = ADD 0 1\n"
                                         "   RET 2\n");
  assert_true(tl_ownership(&g.program, NULL, NULL));
  check(&g, caller,
        "b0:\n"
        "  t0 = takeg\n"
        "  t1 = add t0, t0 owned: t0\n"
        "  t2 = add t0, t0! owned: t0 t1\n"
        "  t3 = callk t1!, t2! #1\n"
        "  ret t3!\n");
  check(&g, callee,
        "b0:\n"
        "  t2 = add t0?, t1? owned: t0? t1?\n"
        "  ret t2!\n");
  close_graph(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(t1_temporaries_are_taken_over),
      FIXTURE_TEST(t3_a_loop_reuses_its_array),
      FIXTURE_TEST(t6_a_branch_drops_what_it_does_not_use),
      FIXTURE_TEST(p1_a_chosen_alias_borrows),
      FIXTURE_TEST(p3_a_loop_borrows_from_a_live_list),
      FIXTURE_TEST(p3_a_dying_list_is_drained),
      FIXTURE_TEST(p4_errors_find_what_they_must_drop),
      FIXTURE_TEST(p5_a_value_outlives_its_variable),
      FIXTURE_TEST(p5_a_steady_variable_lends_on),
      FIXTURE_TEST(p6_an_item_outlives_its_replacement),
      FIXTURE_TEST(p6_names_swap_by_moving),
      FIXTURE_TEST(r3_updates_are_in_place),
      FIXTURE_TEST(r7_a_view_is_detached_from_its_source),
      FIXTURE_TEST(an_index_that_is_the_target_gets_its_own_count),
      FIXTURE_TEST(a_dying_alias_hands_over),
      FIXTURE_TEST(a_view_takes_its_dead_array_along),
      FIXTURE_TEST(e1_a_result_never_hides_its_operand),
      FIXTURE_TEST(unused_parameters_die_at_once),
      FIXTURE_TEST(a_target_may_become_an_owner),
      FIXTURE_TEST(an_edge_back_gets_a_block),
      FIXTURE_TEST(t5_a_known_call_takes_a_dying_argument),
      FIXTURE_TEST(p2_a_result_may_be_borrowed),
      FIXTURE_TEST(callees_are_known_first),
      FIXTURE_TEST(r2_an_argument_given_twice_is_owned_twice),
      FIXTURE_TEST(a_parameter_that_is_only_read_is_lent),
      FIXTURE_TEST(e2_a_call_gives_its_arguments_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
