// Regular expressions, by PCRE2, which is loaded when first needed.
//
// Patterns and texts are UTF-8. PCRE2 counts its steps and its memory, so that
// no pattern can run for long or take much; each match is one step of the VM's
// own. A call opens a matcher, asks it for one match after the other with
// next_match, and closes it.

#include "stdlib/families.h"
#include "stdlib/shared_library.h"
#include "stdlib/text.h"
#include "vm/poll.h"
#include "vm/values/record.h"

// --- PCRE2 ------------------------------------------------------------------

// pcre2.h, for 8-bit code units.
static struct {
  void *(*compile)(const char *pattern, size_t nbytes, uint32_t options,
                   int *error, size_t *at, void *context);
  void (*code_free)(void *code);
  void *(*data_of)(const void *code, void *context);
  void (*data_free)(void *data);
  int (*match)(const void *code, const char *text, size_t nbytes, size_t from,
               uint32_t options, void *data, void *context);
  size_t *(*places)(void *data);
  void *(*context_new)(void *general);
  void (*context_free)(void *context);
  void *(*general_new)(void *(*alloc)(size_t nbytes, void *vm),
                       void (*free)(void *block, void *vm), void *vm);
  void (*general_free)(void *general);
  void *(*compiler_new)(void *general);
  void (*compiler_free)(void *compiler);
  int (*set_match_limit)(void *context, uint32_t limit);
  int (*set_heap_limit)(void *context, uint32_t kibibytes);
  int (*set_offset_limit)(void *context, size_t last);
  int (*info)(const void *code, uint32_t what, void *where);
  int (*message)(int error, char *text, size_t room);
  int (*compile_machine)(void *code, uint32_t options);
} pcre;

#define PCRE(X)                             \
  X(pcre2_compile_8)                        \
  X(pcre2_code_free_8)                      \
  X(pcre2_match_data_create_from_pattern_8) \
  X(pcre2_match_data_free_8)                \
  X(pcre2_match_8)                          \
  X(pcre2_get_ovector_pointer_8)            \
  X(pcre2_match_context_create_8)           \
  X(pcre2_match_context_free_8)             \
  X(pcre2_general_context_create_8)         \
  X(pcre2_general_context_free_8)           \
  X(pcre2_compile_context_create_8)         \
  X(pcre2_compile_context_free_8)           \
  X(pcre2_set_match_limit_8)                \
  X(pcre2_set_heap_limit_8)                 \
  X(pcre2_set_offset_limit_8)               \
  X(pcre2_pattern_info_8)                   \
  X(pcre2_get_error_message_8)              \
  X(pcre2_jit_compile_8)
#ifdef TALLY_WITH_PCRE2
// The functions in the order of the fields above.
PCRE(TL_LIBRARY_DECLARE)
#endif

// Debian's and macOS's names of the library.
static tl_shared_library pcre_library = {
    .names =
        (const char *const[]){"libpcre2-8.so.0", "libpcre2-8.so",
                              "libpcre2-8.0.dylib", "libpcre2-8.dylib", NULL},
    .symbols = (const char *const[]){PCRE(TL_LIBRARY_SYMBOL) NULL},
    .functions = (void (**)(void)) & pcre,
#ifdef TALLY_WITH_PCRE2
    .linked = (void (*const[])(void)){PCRE(TL_LIBRARY_LINKED)},
#endif
    .about = "PCRE2 (Debian's package libpcre2-8-0)",
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

enum {
  OPTION_CASELESS = 0x8,
  OPTION_UCP = 0x20000,
  OPTION_UTF = 0x80000,
  OPTION_NEVER_BACKSLASH_C = 0x100000,
  OPTION_USE_OFFSET_LIMIT = 0x800000,
  OPTION_NOTEMPTY_ATSTART = 0x8,
  OPTION_ANCHORED = INT32_MIN,
  OPTION_NO_UTF_CHECK = 0x40000000,
  OPTION_NO_MACHINE_CODE = 0x2000,
  MACHINE_COMPLETE = 1,
  NO_MATCH = -1,
  NO_MACHINE_STACK = -46,
  NO_MEMORY = -48,
  NO_MEMORY_TO_COMPILE = 121,
  MATCH_LIMIT = 2000000,  // steps of backtracking
  HEAP_LIMIT = 65536,     // KiB
  INFO_CAPTURES = 4,
  PATTERNS = 16,  // that the VM holds
  // Bytes of a pattern: PCRE2 has read all of a longer one before it says that
  // it is too large, and cannot be stopped.
  LONGEST = 1 << 20,
  MACHINE_FROM = 16384,  // bytes matched; machine code takes as long to make
  PIECE = 64,            // places where a match may begin, between two polls
  STOPPED = -1000,       // a status of our own: tl_fail has been called
};

// A compiled pattern with what a match needs. The VM holds the last ones, the
// newest first.
typedef struct compiled {
  struct tl_kept kept;
  struct compiled *next;    // in the VM
  size_t matched;           // bytes of text, and some for each match
  tl_string *pattern;       // counted
  bool ignore_case, leads;  // leads_search
  void *code, *data, *context;
  void *general;  // through which PCRE2 allocates
} compiled;

// One call of a function: the text, the pattern, and the last match.
typedef struct matcher {
  tl_vm *vm;
  const char *function;
  const tl_string *text;
  compiled *compiled;  // its own while it matches
  size_t *places;      // pairs of begin and end, of the match and its groups
  uint32_t groups;
  bool empty;  // the last match was
} matcher;

// PCRE2's allocator.
static void *pcre_alloc(size_t nbytes, void *vm) {
  return tl_library_alloc(vm, nbytes);
}

// PCRE2's release of memory, which the VM counts: [vm] is the context that was
// given to general_new.
static void pcre_free(void *block, void *vm) {
  tl_library_free(vm, block);
}

// Memory was short.
static bool no_memory(const matcher *m) {
  return tl_fail_memory(m->vm, 4096, "a pattern");
}

// Fails with PCRE2's message; -47 and -63 are its limits of steps and memory
// (kind limit).
static bool matcher_fail(const matcher *m, int error) {
  char text[160] = "";
  if (error == NO_MEMORY)
    return no_memory(m);
  pcre.message(error, text, sizeof text);
  return tl_fail(
      m->vm, error == -47 || error == -63 ? TALLY_ERR_LIMIT : TALLY_ERR_VALUE,
      "%s: %s", m->function, text);
}

// Frees a pattern; parts may be NULL.
static void compiled_free(tl_vm *vm, compiled *c) {
  if (c->data)
    pcre.data_free(c->data);
  if (c->context)
    pcre.context_free(c->context);
  if (c->code)
    pcre.code_free(c->code);
  if (c->general)
    pcre.general_free(c->general);
  tl_drop(vm, tl_own_string(c->pattern));
  tl_free(vm, c, sizeof *c);
}

// Frees a pattern and those behind it.
static void free_all(tl_vm *vm, struct tl_kept *kept) {
  for (compiled *c = (compiled *)(void *)kept, *next; c != NULL; c = next) {
    next = c->next;
    compiled_free(vm, c);
  }
}

// Gives the pattern to the VM, which forgets the one that was used the longest
// ago.
static void matcher_close(matcher *m) {
  compiled *c = m->compiled;
  c->next = (compiled *)(void *)m->vm->pattern;
  m->vm->pattern = &c->kept;
  for (int i = 1; i < PATTERNS && c != NULL; i++) c = c->next;
  if (c != NULL && c->next != NULL) {
    compiled_free(m->vm, c->next);
    c->next = NULL;
  }
}

// Compiles the pattern and makes the data of a match. False after tl_fail,
// with the place of a mistake.
static bool compile(matcher *m, compiled *c) {
  int error;
  size_t at;
  const tl_string *pattern = c->pattern;
  // Classes such as \d are Unicode's; \C, which splits code points, is
  // forbidden.
  uint32_t options = OPTION_UTF | OPTION_UCP | OPTION_NEVER_BACKSLASH_C |
                     OPTION_USE_OFFSET_LIMIT |
                     (c->ignore_case ? OPTION_CASELESS : 0);
  c->general = pcre.general_new(pcre_alloc, pcre_free, m->vm);
  void *compiler = c->general ? pcre.compiler_new(c->general) : NULL;
  if (!compiler)
    return no_memory(m);
  c->code = pcre.compile(pattern->text, pattern->length, options, &error, &at,
                         compiler);
  pcre.compiler_free(compiler);
  if (!c->code && error == NO_MEMORY_TO_COMPILE)
    return no_memory(m);
  if (!c->code) {
    char why[160] = "";
    pcre.message(error, why, sizeof why);
    return tl_fail(m->vm, TALLY_ERR_VALUE,
                   "%s: the pattern \"%s\" is wrong at byte %zu: %s",
                   m->function, pattern->text, at, why);
  }
  c->data = pcre.data_of(c->code, c->general);
  c->context = pcre.context_new(c->general);
  if (!c->data || !c->context)
    return no_memory(m);
  pcre.set_match_limit(c->context, MATCH_LIMIT);
  pcre.set_heap_limit(c->context, HEAP_LIMIT);
  return true;
}

// Whether the pattern depends on where the search began (\G) or may say itself
// where it goes on, as (*COMMIT) and (*SKIP) do: pieces would change what it
// finds. Goes by the length, as a pattern may have zero bytes. Either sign may
// be a literal in truth, which only costs the polls.
static bool leads_search(const tl_string *pattern) {
  for (size_t i = 0; i + 1 < pattern->length; i++)
    if (memcmp(pattern->text + i, "\\G", 2) == 0 ||
        memcmp(pattern->text + i, "(*", 2) == 0)
      return true;
  return false;
}

// A new compiled pattern; NULL after tl_fail.
static compiled *compiled_new(matcher *m, tl_string *pattern, bool ignore) {
  if (pattern->length > LONGEST) {
    tl_fail(m->vm, TALLY_ERR_VALUE,
            "%s: the pattern has %zu bytes, but may have at most %d",
            m->function, (size_t)pattern->length, LONGEST);
    return NULL;
  }
  // The pattern is copied: the argument may end before the compiled one does.
  compiled *c = tl_alloc(m->vm, sizeof *c, "a pattern");
  if (!c)
    return NULL;
  *c = (compiled){.kept = {free_all},
                  .ignore_case = ignore,
                  .leads = leads_search(pattern)};
  c->pattern = tl_string_new(m->vm, pattern->text, pattern->length);
  if (!c->pattern) {
    tl_free(m->vm, c, sizeof *c);
    return NULL;
  }
  if (compile(m, c))
    return c;
  compiled_free(m->vm, c);
  return NULL;
}

// The pattern that the VM has, or a new one. Until matcher_close the VM does
// not have it, so that a function called in between cannot free it.
static compiled *compiled_of(matcher *m, tl_string *pattern, bool ignore) {
  compiled *before = NULL, *c = (compiled *)(void *)m->vm->pattern;
  while (c != NULL &&
         (c->ignore_case != ignore || !tl_string_equal(c->pattern, pattern))) {
    before = c;
    c = c->next;
  }
  if (c == NULL)
    return compiled_new(m, pattern, ignore);
  if (before != NULL)
    before->next = c->next;
  else
    m->vm->pattern = c->next != NULL ? &c->next->kept : NULL;
  return c;
}

// Matches once, from [from] on and beginning at [last] or before. Machine code
// has a stack of its own, and what needs more is matched without.
static int run_once(const matcher *m, size_t from, size_t last,
                    uint32_t options) {
  const compiled *c = m->compiled;
  pcre.set_offset_limit(c->context, last);
  int status = pcre.match(c->code, m->text->text, m->text->length, from,
                          options, c->data, c->context);
  if (status == NO_MACHINE_STACK)
    status = pcre.match(c->code, m->text->text, m->text->length, from,
                        options | OPTION_NO_MACHINE_CODE, c->data, c->context);
  return status;
}

// As run_once, but the VM is polled between pieces of the places where a match
// may begin: at each of them a pattern may read all of the text. A piece is
// twice as large as the one before it where that was short, or took no longer
// than a smaller one: machine code remembers within a piece what it has read in
// vain. STOPPED after tl_fail.
static int run_pieces(const matcher *m, size_t from, uint32_t options) {
  size_t length = m->text->length, piece = PIECE;
  double before = 0;
  if (options & (uint32_t)OPTION_ANCHORED || m->compiled->leads)
    return run_once(m, from, length, options);
  for (;;) {
    // Most texts are done with the first piece, which no clock looks at.
    double began = piece == PIECE ? 0 : tl_clock();
    size_t last = length - from <= piece ? length : from + piece - 1;
    int status = run_once(m, from, last, options);
    if (status != NO_MATCH || last == length)
      return status;
    // The next piece begins at a character.
    from = last + 1;
    while (from < length && ((unsigned char)m->text->text[from] & 0xc0) == 0x80)
      from++;
    if (!tl_poll(m->vm, 1))
      return STOPPED;
    double took = piece == PIECE ? 0 : tl_clock() - began;
    if (took < 1e-3 || took < 1.5 * before) {
      piece *= 2;
      before = took;
    }
  }
}

// Matches from [from] on; a pattern that has seen some text gets machine code,
// where this system lets PCRE2 make it.
static int run(const matcher *m, size_t from, uint32_t options) {
  compiled *c = m->compiled;
  bool before = c->matched >= MACHINE_FROM;
  c->matched += m->text->length - from + 64;
  if (!before && c->matched >= MACHINE_FROM)
    pcre.compile_machine(c->code, MACHINE_COMPLETE);
  return run_pieces(m, from, options);
}

// Reads s, pattern and ignore_case, which all functions have, and compiles the
// pattern.
static bool matcher_open(tl_vm *vm, const char *function, tl_slot *args,
                         tl_slot ignore_case, matcher *m) {
  *m = (matcher){.vm = vm, .function = function, .text = args[0].string};
  if (!tl_shared_library_need(vm, function, &pcre_library) ||
      !(m->compiled = compiled_of(m, args[1].string, ignore_case.i != 0)))
    return false;
  pcre.info(m->compiled->code, INFO_CAPTURES, &m->groups);
  m->places = pcre.places(m->compiled->data);
  return true;
}

// Finds the first match from [from] on; behind an empty match, one that is not
// empty or lies further on, so that a walk over all matches ends. False where
// there is none, or *ok is false or becomes it, after tl_fail.
static bool next_match(matcher *m, size_t from, bool *ok) {
  while (*ok && from <= m->text->length) {
    *ok = tl_poll(m->vm, 16);
    if (!*ok)
      break;
    // Strings are valid UTF-8 by construction.
    uint32_t options = OPTION_NO_UTF_CHECK;
    if (m->empty)
      options |= OPTION_NOTEMPTY_ATSTART | (uint32_t)OPTION_ANCHORED;
    int status = run(m, from, options);
    if (status < 0 && status != NO_MATCH)
      *ok = status != STOPPED && matcher_fail(m, status);
    // \K may move the beginning behind the end.
    else if (status >= 0 &&
             (m->places[0] > m->places[1] || m->places[1] < from))
      *ok = tl_fail(m->vm, TALLY_ERR_VALUE, "%s: a match ends before it begins",
                    m->function);
    bool was_empty = m->empty;
    m->empty = *ok && status >= 0 && m->places[0] == m->places[1];
    if (status >= 0 || !was_empty || from == m->text->length)
      return *ok && status >= 0;
    // Nothing more here: one character on.
    int32_t point;
    from +=
        tl_utf8_decode(m->text->text + from, m->text->length - from, &point);
  }
  return false;
}

// The text of a group as a string, or none where it took no part. Group 0 is
// the whole match.
static bool part(const matcher *m, uint32_t group, tl_slot *out) {
  size_t begin = m->places[2 * group], end = m->places[2 * group + 1];
  *out = tl_none();
  if (begin == SIZE_MAX)
    return true;
  return tl_string_cut(m->vm, m->text, begin, end, out);
}

// --- match, matches ---------------------------------------------------------

// The list of the groups of the last match.
static bool groups_of(const matcher *m, tl_slot *out) {
  tl_list *list = tl_list_new(m->vm, m->groups);
  bool ok = list != NULL;
  for (uint32_t i = 1; ok && i <= m->groups; i++) {
    tl_slot item;
    ok = part(m, i, &item) && tl_list_push_own(m->vm, &list, item);
  }
  return tl_list_give(m->vm, list, ok, out);
}

// The last match as a record of text, groups, start and end.
static bool describe(const matcher *m, tl_slot *out) {
  tl_slot text, groups;
  // The functions that fill a record pass a failure on, so only the end is
  // checked.
  tl_record *record = tl_record_new(m->vm, 4);
  tl_record_put_made(m->vm, &record, "text", part(m, 0, &text), &text);
  tl_record_put_made(m->vm, &record, "groups",
                     record != NULL && groups_of(m, &groups), &groups);
  tl_record_put_int(m->vm, &record, "start", m->places[0]);
  tl_record_put_int(m->vm, &record, "end", m->places[1]);
  return tl_record_put_end(record, out);
}

// strings.match: the first match as a record, or none.
static bool match(tl_vm *vm, tl_slot *args, tl_slot *out) {
  matcher m;
  bool ok = true;
  if (!matcher_open(vm, "match", args, args[2], &m))
    return false;
  *out = tl_none();
  ok = next_match(&m, 0, &ok) ? describe(&m, out) : ok;
  matcher_close(&m);
  return ok;
}

// strings.matches: all matches as records.
static bool matches(tl_vm *vm, tl_slot *args, tl_slot *out) {
  matcher m;
  if (!matcher_open(vm, "matches", args, args[2], &m))
    return false;
  tl_list *list = tl_list_new(vm, 0);
  bool ok = list != NULL;
  for (size_t at = 0; next_match(&m, at, &ok); at = m.places[1]) {
    tl_slot item;
    ok = describe(&m, &item) && tl_list_push_own(vm, &list, item);
  }
  matcher_close(&m);
  return tl_list_give(vm, list, ok, out);
}

// strings.has_match.
static bool has_match(tl_vm *vm, tl_slot *args, tl_slot *out) {
  matcher m;
  bool ok = true;
  if (!matcher_open(vm, "has_match", args, args[2], &m))
    return false;
  *out = tl_bool(next_match(&m, 0, &ok));
  matcher_close(&m);
  return ok;
}

// Fails (kind value) where the pattern has no such group.
static bool check_group(const matcher *m, int64_t group) {
  return (group >= 0 && group <= (int64_t)m->groups) ||
         tl_fail(m->vm, TALLY_ERR_VALUE,
                 "find_all: group is %lld, but the pattern has %u groups",
                 (long long)group, m->groups);
}

// strings.find_all(s, pattern, group, ignore_case): texts alone, "" for a
// group without part.
static bool find_all(tl_vm *vm, tl_slot *args, tl_slot *out) {
  matcher m;
  const int64_t group = args[2].i;
  if (!matcher_open(vm, "find_all", args, args[3], &m))
    return false;
  tl_list *list = tl_list_new(vm, 0);
  bool ok = list != NULL && check_group(&m, group);
  for (size_t at = 0; next_match(&m, at, &ok); at = m.places[1]) {
    size_t begin = m.places[2 * group], end = m.places[2 * group + 1];
    if (begin == SIZE_MAX)
      begin = end = 0;
    ok = tl_list_push_cut(vm, &list, m.text, begin, end);
  }
  matcher_close(&m);
  return tl_list_give(vm, list, ok, out);
}

// --- substitute, split_matches ----------------------------------------------

// Adds the replacement of the last match: \0 to \9 are its groups, \\ a
// backslash.
static bool add_template(matcher *m, tl_text *out, const tl_string *with) {
  for (size_t i = 0; i < with->length; i++) {
    // A backslash before anything but a digit or a backslash stands for
    // itself.
    char c = with->text[i], next = i + 1 < with->length ? with->text[i + 1] : 0;
    if (c == '\\' && next >= '0' && next <= '9') {
      uint32_t group = (uint32_t)(next - '0');
      if (group > m->groups)
        return tl_fail(m->vm, TALLY_ERR_VALUE,
                       "substitute: \\%u in the replacement, but the pattern "
                       "has %u groups",
                       group, m->groups);
      size_t begin = m->places[2 * group], end = m->places[2 * group + 1];
      if (begin != SIZE_MAX)
        tl_text_add(out, m->text->text + begin, end - begin);
      i++;
    } else {
      tl_text_putc(out, c);
      i += c == '\\' && next == '\\';
    }
  }
  return !out->failed;
}

// Adds the result of a function, which gets the match as match describes it.
static bool add_result(matcher *m, tl_text *out, tl_slot function) {
  // The call takes the match; its result must be a string.
  tl_slot match, result;
  if (!describe(m, &match) || !tl_call(m->vm, function, 1, &match, &result))
    return false;
  bool ok = tl_is_string(result);
  if (ok)
    tl_text_add(out, result.string->text, result.string->length);
  else
    tl_arg_fail(m->vm, "substitute", "the function's result", "a string",
                result);
  tl_drop(m->vm, result);
  return ok && !out->failed;
}

// strings.substitute(s, pattern, with, ignore_case).
static bool substitute(tl_vm *vm, tl_slot *args, tl_slot *out) {
  matcher m;
  bool ok = true;
  tl_text text;
  if (!tl_is_string(args[2]) && !tl_is_callable(args[2]))
    return tl_arg_fail(vm, "substitute", "with", "a string or a function",
                       args[2]);
  if (!matcher_open(vm, "substitute", args, args[3], &m))
    return false;
  tl_text_open(&text, vm);
  size_t at = 0;
  while (next_match(&m, at, &ok)) {
    tl_text_add(&text, m.text->text + at, m.places[0] - at);
    // A function that is called may match too and overwrite the places.
    size_t end = m.places[1];
    ok = tl_is_string(args[2]) ? add_template(&m, &text, args[2].string)
                               : add_result(&m, &text, args[2]);
    at = end;
  }
  if (ok)
    tl_text_add(&text, m.text->text + at, m.text->length - at);
  matcher_close(&m);
  return tl_text_give(&text, ok, out);
}

// strings.split_matches(s, pattern, ignore_case). Empty matches do not split.
static bool split_matches(tl_vm *vm, tl_slot *args, tl_slot *out) {
  matcher m;
  if (!matcher_open(vm, "split_matches", args, args[2], &m))
    return false;
  tl_list *list = tl_list_new(vm, 0);
  bool ok = list != NULL;
  // Behind the last match that split.
  size_t start = 0;
  for (size_t at = 0; next_match(&m, at, &ok); at = m.places[1]) {
    // An empty match has nothing between two parts.
    if (m.empty)
      continue;
    ok = tl_list_push_cut(vm, &list, m.text, start, m.places[0]);
    start = m.places[1];
  }
  ok = ok && tl_list_push_cut(vm, &list, m.text, start, m.text->length);
  matcher_close(&m);
  return tl_list_give(vm, list, ok, out);
}

// --- The table --------------------------------------------------------------

// What the documentation of every function says of patterns.
/// PATTERN:
/// Patterns are Perl's (PCRE2), over Unicode; a wrong one is a value error with
/// its place, one that takes too many steps a limit error, and PCRE2 missing on
/// this machine an io error.

// Rows with TL_OF_TEXT are called for each string of an array, with the
// pattern compiled once.
const tl_builtin tl_regex_module[] = {
    /// Where a regular expression first fits in s: a record of text, groups (a
    /// list of strings, none for one that took no part), start and end (bytes);
    /// none where it does not fit.
    /// {PATTERN}
    ///     strings.match("x=12", r"(\w)=(\d+)").groups    # ("x", "12")
    {"match", "s, pattern, ignore_case: false", match, .types = "ssb"},
    /// Everything in s that a regular expression fits, from left to right and
    /// without overlaps: a list of records as match gives them.
    /// {PATTERN}
    ///     len(strings.matches("a1b22", r"\d+"))    # 2
    {"matches", "s, pattern, ignore_case: false", matches, .types = "ssb"},
    /// Whether a regular expression fits anywhere in s, a string, or in each of
    /// an array of strings: a mask; what is missing stays missing.
    /// {PATTERN}
    ///     strings.has_match(["a1", "b"], r"\d")    # [true, false]
    {"has_match", "s, pattern, ignore_case: false", has_match,
     .lifts = TL_OF_TEXT, .types = "ssb"},
    /// The texts of all that a regular expression fits in s, a list, or what one
    /// group of it, counted from 1, has of each; of an array of strings a row for
    /// each, of which firsts takes the first, or none. A group that the pattern
    /// lacks is a value error; in one that took no part stands "".
    /// {PATTERN}
    ///     strings.find_all("a1 b22", r"\d+")    # ("1", "22")
    ///     firsts(strings.find_all(["a1", "b"], r"([a-z])(\d)", 2))    # ["1", none]
    {"find_all", "s, pattern, group = 0, ignore_case: false", find_all,
     .lifts = TL_OF_TEXT, .types = "ssib"},
    /// s with something else in place of all that a regular expression fits: a
    /// string, in which \1 to \9 are the groups and \0 is all of the match, or
    /// what a function of the match's record gives. Of an array of strings each
    /// item; what is missing stays missing.
    /// {PATTERN}
    ///     strings.substitute("a1b22", r"(\d+)", r"<\1>")    # "a<1>b<22>"
    {"substitute", "s, pattern, with, ignore_case: false", substitute, TL_CALLS,
     .lifts = TL_OF_TEXT, .types = "ss.b"},
    /// The parts of s between all that a regular expression fits, a list;
    /// where it fits nothing at all, s alone. Of an array of strings a row for each
    /// item.
    /// {PATTERN}
    ///     strings.split_matches("a, b;c", r"[,;]\s*")    # ("a", "b", "c")
    {"split_matches", "s, pattern, ignore_case: false", split_matches,
     .lifts = TL_OF_TEXT, .types = "ssb"},
    {.name = NULL},
};
