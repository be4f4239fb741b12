// Who lends what to a slot: the states that the ownership analysis computes
// and the verifier checks.
//
// A slot owns (its OWNED bit is set), borrows (it is not), or either. While it
// borrows, one of its lenders owns: each lender is somebody in some relations.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// How a slot y stands to what it borrows from.
typedef enum tl_relation {
  // In words of the language, for y = …:
  //
  //   y = x              x SAME   no second count was made
  //   y = x[0]           x PART   an item, where x is a list or a record
  //   y = a[1:3]         a HELD   y owns its header, a retains the block
  //   y = (x, 1)         x LENDS  y owns the list, x what item 0 refers to
  //   y = ((x, 1), 2)    x INNER
  //
  // Only SAME and PART say that y's own OWNED bit may be clear.
  TL_SAME,   // that very object
  TL_PART,   // an item inside it
  TL_HELD,   // the block of the slot's view is kept by it
  TL_LENDS,  // items of the slot's list, record or closure are kept by it
  TL_INNER,  // the same of a container within that
} tl_relation;

// Slots are their own numbers; other lenders start at these.
// A frame has at most TL_MAX_SLOTS slots, and who is shifted by 5 bits
// (tl_borrow_owner), so all of these are below 2^27.
#define TL_WHO_CALLER UINT32_C(0x01000000)  // + the argument's index
#define TL_WHO_GLOBAL UINT32_C(0x02000000)  // + the module variable's index
#define TL_WHO_SELF UINT32_C(0x07000000)    // the running closure
#define TL_WHO_IMMORTAL UINT32_C(0x07000001)

// The relations of who lends to what is in a container.
// KEEPALL and KEEPOF end these, by counting what the container borrows.
#define TL_TO_ITEMS (1u << TL_LENDS | 1u << TL_INNER)

// Those in which the slot itself, and not what hangs on it, may be borrowed.
#define TL_OF_WHOLE (1u << TL_SAME | 1u << TL_PART)

// What kind of owner a number stands for. Slots are the only ones that end
// within the function; callers' arguments, the closure and immortals outlive
// it, and module variables end where they are rebound.
static inline bool tl_who_is_slot(uint32_t who) {
  return who < TL_WHO_CALLER;
}
static inline bool tl_who_is_caller(uint32_t who) {
  return who >= TL_WHO_CALLER && who < TL_WHO_GLOBAL;
}
static inline bool tl_who_is_global(uint32_t who) {
  return who >= TL_WHO_GLOBAL && who < TL_WHO_SELF;
}

typedef uint32_t tl_borrow_owner;  // who * 32 + a bit for each relation

// An entry with a single relation, and the two parts of an entry: relations are
// bits, 1 << relation.
static inline tl_borrow_owner tl_borrow_owner_of(uint32_t who,
                                                 tl_relation relation) {
  return who << 5 | 1u << relation;
}
static inline uint32_t tl_borrow_owner_who(tl_borrow_owner borrow_owner) {
  return borrow_owner >> 5;
}
static inline unsigned tl_borrow_owner_relations(tl_borrow_owner borrow_owner) {
  return borrow_owner & 31;
}

// In the order absent, owns or borrows, either: a join of two states only goes
// up.
typedef enum tl_ownership_kind {
  TL_ABSENT,  // no state: dead, consumed or never written
  TL_OWNS,
  TL_BORROWS,
  TL_EITHER,
} tl_ownership_kind;

// How many owners one slot may borrow from. A slot with more (`full`) may be
// made an owner at once, by OWN; else the verifier refuses the next read of it.
// The array is part of every state, so a larger number costs time at each join.
enum { TL_MAX_BORROW_OWNERS = 20 };

// What is known of one slot at one place of the code. The array is in order of
// who, without repetition, so that two equal sets are equal bytes.
typedef struct tl_state {
  uint8_t kind;  // tl_ownership_kind
  uint8_t count;
  bool full;      // a lender found no room: the set is not the whole truth
  bool invalid;   // for the verifier: a lender has ended
  // For the verifier: the path (+ 1) whose item was taken out and has not come
  // back; 0: none, UINT32_MAX: not known which; else several (TL_SEVERAL).
  uint32_t open;
  tl_borrow_owner
      borrow_owners[TL_MAX_BORROW_OWNERS];  // sorted, one for each who
} tl_state;

// A state without lenders, and one with a single lender.
static inline tl_state tl_state_new(tl_ownership_kind kind) {
  tl_state state;  // large: what is beyond the count is not written
  state.kind = (uint8_t)kind;
  state.count = 0;
  state.full = state.invalid = false;
  state.open = 0;
  return state;
}
static inline tl_state tl_state_borrowed(tl_ownership_kind kind, uint32_t who,
                                         tl_relation relation) {
  tl_state state = tl_state_new(kind);
  state.count = 1;
  state.borrow_owners[0] = tl_borrow_owner_of(who, relation);
  return state;
}

// Whether the slot may own a count: then its end has to be seen to.
static inline bool tl_state_owns(const tl_state *state) {
  return state->kind == TL_OWNS || state->kind == TL_EITHER;
}

// Whether one of the owners is of a kind, such as tl_who_is_slot.
static inline __attribute__((always_inline)) bool tl_state_has(
    const tl_state *state, bool (*is)(uint32_t who)) {
  for (int i = 0; i < state->count; i++)
    if (is(tl_borrow_owner_who(state->borrow_owners[i])))
      return true;
  return false;
}

// Adds an entry, or its relations to the entry that its owner has already.
// Where the set has no room, it is marked as `full` and stays as it is.
void tl_state_add(tl_state *state, tl_borrow_owner borrow_owner);

// Whether something lends in one of these relations.
// [relations] is a set of bits, such as TL_OF_WHOLE.
bool tl_state_in(const tl_state *state, unsigned relations);

// Whether [who] lends anything to the slot.
bool tl_state_borrowed_by(const tl_state *state, uint32_t who);

// The relations in which [who] lends: bit 1 << relation for each.
unsigned tl_state_relations(const tl_state *state, uint32_t who);

// [who] lends no longer in a relation of [relations].
// Others may stand in the same relations: the slot is independent only once
// none does.
void tl_state_remove(tl_state *state, uint32_t who, unsigned relations);

// Nobody lends any longer in a relation of [relations].
void tl_state_strip(tl_state *state, unsigned relations);

// [from] is called [to] from now on. False: it was not there.
// For moves: the value has another slot from now on, and its borrowers go on.
bool tl_state_rename(tl_state *state, uint32_t from, uint32_t to);

// Adds a lender [to] where [from] lends, in the same relations.
// For what may have become an alias on some path: either of the two may then be
// the one that keeps the value.
void tl_state_share(tl_state *state, uint32_t from, uint32_t to);

// Adds to [out] what lends items to the container in state [from].
void tl_state_derive_items(tl_state *out, const tl_state *from);

// The same for a container that may have that one in it.
void tl_state_derive_inner(tl_state *out, const tl_state *from);

// Adds to [out], a container, the lenders of what it stores without owning, and
// of what is in that. Nobody knows what an argument has in it.
void tl_state_derive_stored(tl_state *out, const tl_state *from);

// Whether a same or part lender is there: then the slot may borrow.
static inline bool tl_state_needs_borrow_owner(const tl_state *state) {
  return tl_state_in(state, TL_OF_WHOLE);
}

// After a borrow has gone: an owner for certain, unless there are other owners
// on other paths.
void tl_state_own_unless_borrowed(tl_state *state);

// Who keeps the object of slot [x] alive where the view in [y], in state
// [view], has got what x owned: the slot y if that owns its view object, and
// whoever y borrows that object from.
tl_state tl_state_keepers(const tl_state *view, uint32_t y, uint32_t x);

// Slot [z] may borrow from [keepers] what it borrows from [x]: what is x itself
// is a part of the keeper's. False: it borrows nothing from x.
bool tl_state_let_keep(tl_state *state, uint32_t z, uint32_t x,
                       const tl_state *keepers);

// Whether both say the same of the slot, flags included; what is beyond the
// count is not compared.
bool tl_state_equal(const tl_state *a, const tl_state *b);

// What either path may bring: sets are united, different kinds give either.
// An absent state gives way to the other. True where *state changed.
bool tl_state_join(tl_state *state, const tl_state *other);

// Adds to [out] the lenders of something that stands in [relation] to what
// slot [who] in state [from] refers to.
void tl_state_derive(tl_state *out, const tl_state *from, uint32_t who,
                     tl_relation relation);
// The same where the slot itself is out of the question.
void tl_state_derive_borrow_owners(tl_state *out, const tl_state *from,
                                   tl_relation relation);
