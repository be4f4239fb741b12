// Reading the command line: options stand before the FILE or word, and all
// behind it belongs to the script. A new option is a row of with_value or a
// line of set_flag, and a line of help.txt.

#include "repl/options.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A message about wrong usage; returns the exit status 2.
static int wrong(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("tally: ", stderr);
  vfprintf(stderr, format, args);
  fputs("\ntry: tally --help\n", stderr);
  va_end(args);
  return 2;
}

// --- Quantities -------------------------------------------------------------

// A unit that may stand behind a number.
// A number alone is of bytes or seconds. K, KB and KiB are all 1024 bytes, and
// m is minutes, as ms is milliseconds.
typedef struct unit {
  const char *name;
  double factor;
} unit;

static const unit sizes[] = {{"", 1},        {"B", 1},        {"K", 0x1p10},
                             {"KB", 0x1p10}, {"KiB", 0x1p10}, {"M", 0x1p20},
                             {"MB", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30},
                             {"GB", 0x1p30}, {"GiB", 0x1p30}, {"T", 0x1p40},
                             {"TB", 0x1p40}, {"TiB", 0x1p40}, {NULL, 0}};

static const unit times[] = {{"", 1},     {"s", 1},    {"ms", 1e-3}, {"m", 60},
                             {"min", 60}, {"h", 3600}, {NULL, 0}};

// Reads a positive number with a unit behind it.
static bool read_quantity(const char *text, const unit *units, double *out) {
  char *end;
  // strtod alone would take blanks, a sign, inf and nan as well.
  if (*text < '0' || *text > '9')
    return false;
  double number = strtod(text, &end);
  for (const unit *u = units; u->name != NULL; u++) {
    if (strcmp(end, u->name) != 0)
      continue;
    *out = number * u->factor;
    return *out > 0 && *out < 0x1p62;
  }
  return false;
}

// Reads a whole number from 1 to 1024.
static bool read_count(const char *text, int *out) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (end == text || *end != 0 || errno != 0)
    return false;
  *out = (int)number;
  return number >= 1 && number <= 1024;
}

// --- Options ----------------------------------------------------------------

// Each of these sets one option from its value; false: it wants another.

// A limit beyond the address space is none.
static bool set_memory(tl_command *cmd, const char *text) {
  double nbytes = 0;
  bool ok = read_quantity(text, sizes, &nbytes);
  cmd->options.memory_limit = nbytes < (double)SIZE_MAX ? (size_t)nbytes : 0;
  return ok;
}

// A stack is address space that is reserved at once, so a size beyond 1 TiB is
// taken for a mistake.
static bool set_stack(tl_command *cmd, const char *text) {
  double nbytes;
  if (!read_quantity(text, sizes, &nbytes) || nbytes > 0x1p40)
    return false;
  cmd->options.stack_size = (size_t)nbytes;
  return true;
}

// Seconds of a quantity such as 10s or 500ms.
static bool set_time(tl_command *cmd, const char *text) {
  return read_quantity(text, times, &cmd->options.time_limit);
}

// The bytes that a script may print. All that read_quantity gives has room.
static bool set_output(tl_command *cmd, const char *text) {
  double nbytes = 0;
  bool ok = read_quantity(text, sizes, &nbytes);
  cmd->options.output_limit = (uint64_t)nbytes;
  return ok;
}

// How many threads work on large arrays.
static bool set_threads(tl_command *cmd, const char *text) {
  return read_count(text, &cmd->options.threads);
}

// For tests: "always" enters machine code at every poll.
static bool set_native(tl_command *cmd, const char *text) {
  cmd->options.native = TALLY_NATIVE_ALWAYS;
  return strcmp(text, "always") == 0;
}

// Any integer of 64 bits with a sign, as random.seed takes it.
static bool set_seed(tl_command *cmd, const char *text) {
  char *end;
  errno = 0;
  cmd->options.seeded = 1;
  cmd->options.seed = strtoll(text, &end, 10);
  return end != text && *end == 0 && errno == 0;
}

// The CODE of -e, which is borrowed: it lives as long as argv does.
static bool set_code(tl_command *cmd, const char *text) {
  cmd->action = TL_ACTION_CODE;
  cmd->subject = text;
  return true;
}

// Whether the text has this end; all texts have an empty one.
static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// Whether the text names a place for a picture. The endings are required, so
// that a script is not taken for the file to write.
static bool is_picture(const char *text) {
  return strcmp(text, "-") == 0 || ends_with(text, ".svg") ||
         ends_with(text, ".txt") || ends_with(text, ".json");
}

static bool set_plot(tl_command *cmd, const char *text) {
  cmd->memory_plot = text;
  return is_picture(text);
}

// An option with a value; wants says of which kind, after "--name wants".
typedef struct valued {
  const char *name;
  bool (*set)(tl_command *cmd, const char *text);
  const char *wants;
} valued;

static const char picture[] = "FILE.svg, FILE.txt, FILE.json or -";

static const valued with_value[] = {
    {"--limit-memory", set_memory, "a size, such as 2G or 500M"},
    {"--stack", set_stack, "a size, such as 1M or 64M"},
    {"--limit-time", set_time, "a time, such as 10s or 500ms"},
    {"--limit-output", set_output, "a size, such as 64K or 10M"},
    {"--threads", set_threads, "a number from 1 to 1024"},
    {"--seed", set_seed, "an integer"},
    {"--native", set_native, "always"},
    {"--memory-plot", set_plot, picture},
    {"-e", set_code, NULL},
    {NULL, NULL, NULL}};

// --profile, which alone has a value only if that looks like one: what stands
// behind it may be the script. Moves *i behind it; -1: it is no such option.
static int set_profile(tl_command *cmd, int argc, char **argv, int *i) {
  static const char name[] = "--profile";
  const char *arg = argv[*i];
  if (strncmp(arg, name, sizeof name - 1) != 0)
    return -1;
  const char *value = arg + sizeof name - 1;
  if (*value != 0 && *value != '=')
    return -1;
  cmd->profile = "-";
  if (*value == 0 && *i + 1 < argc && is_picture(argv[*i + 1]))
    cmd->profile = argv[++*i];
  else if (*value == '=')
    cmd->profile = value + 1;
  if (is_picture(cmd->profile))
    return 0;
  return wrong("--profile wants %s, not %s", picture, cmd->profile);
}

static bool asks_for_help(const char *arg) {
  return arg != NULL && (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0);
}

// An option without a value; false: it is none.
static bool set_flag(tl_command *cmd, const char *arg) {
  if (strcmp(arg, "--version") == 0) {
    cmd->action = TL_ACTION_VERSION;
  } else if (asks_for_help(arg)) {
    cmd->action = TL_ACTION_HELP;
  } else if (strcmp(arg, "--stats") == 0) {
    cmd->stats = TL_STATS_TEXT;
  } else if (strcmp(arg, "--stats=json") == 0) {
    cmd->stats = TL_STATS_JSON;
  } else if (strcmp(arg, "--no-reuse") == 0) {
    cmd->options.no_reuse = 1;
  } else if (strcmp(arg, "--no-blas") == 0) {
    cmd->options.no_blas = 1;
  } else if (strcmp(arg, "--no-native") == 0) {
    cmd->options.native = TALLY_NATIVE_OFF;
  } else if (strcmp(arg, "--sandbox") == 0) {
    cmd->options.capabilities = 0;
    cmd->options.native = TALLY_NATIVE_OFF;
  } else {
    return false;
  }
  return true;
}

// An option with a value: "--name value" or "--name=value". Moves *i behind it.
// Returns -1 where it is none of them.
static int set_value(tl_command *cmd, int argc, char **argv, int *i) {
  const char *arg = argv[*i];
  for (const valued *v = with_value; v->name != NULL; v++) {
    size_t n = strlen(v->name);
    if (strncmp(arg, v->name, n) != 0)
      continue;
    // Long options take their value behind an equals sign, too.
    const char *text = arg + n + 1;
    if (arg[n] != '=' || arg[1] != '-') {
      if (arg[n] != 0)
        continue;
      if (*i + 1 >= argc)
        return wrong("nothing stands behind %s", arg);
      text = argv[++*i];
    }
    if (v->set(cmd, text))
      return 0;
    return wrong("%s wants %s, not %s", v->name, v->wants, text);
  }
  return -1;
}

// --- The FILE or word -------------------------------------------------------

// Whether the argument looks like an option; a lone - is a file.
static bool is_option(const char *arg) {
  return arg != NULL && arg[0] == '-' && arg[1] != 0;
}

// Takes the FILE at argv[i] and what stands behind it.
static int take_file(tl_command *cmd, tl_action action, int argc, char **argv,
                     int i) {
  cmd->action = action;
  cmd->subject = argv[i];
  cmd->argc = argc - i - 1;
  cmd->argv = argv + i + 1;
  return 0;
}

// A flag behind a word: a bit of what to explain, or a bool of the command.
static const struct flag {
  const char *word, *name;
  unsigned explain;
  size_t at;
} flags[] = {
    {"explain", "--json", TALLY_EXPLAIN_JSON, 0},
    {"explain", "--static", TALLY_EXPLAIN_STATIC, 0},
    {"explain", "--peak", TALLY_EXPLAIN_PEAK, 0},
    {"dis", "--native", TALLY_EXPLAIN_NATIVE, 0},
    {"fmt", "--check", 0, offsetof(tl_command, check)},
    {"fmt", "--diff", 0, offsetof(tl_command, diff)},
    {"doc", "--check", 0, offsetof(tl_command, check)},
    {"doc", "--man", 0, offsetof(tl_command, man)},
};

// Sets what a flag behind a word says; false: it has no such flag.
static bool set_word_flag(tl_command *cmd, const char *word, const char *arg) {
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    if (strcmp(flags[i].word, word) != 0 || strcmp(flags[i].name, arg) != 0)
      continue;
    cmd->explain |= flags[i].explain;
    if (flags[i].explain == 0)
      *(bool *)(void *)((char *)cmd + flags[i].at) = true;
    return true;
  }
  return false;
}

// A word in the place of a FILE: how many names stand behind its flags at least
// and at the most. All of them are files, or the first is a FILE and the others
// are its arguments. usage NULL: all behind the word is read elsewhere.
typedef struct worded {
  const char *word;
  tl_action action;
  const char *usage;
  int least, most;
  bool lists;
} worded;

static const worded words[] = {
    {"test", TL_ACTION_TEST, NULL, 0, 0, true},
    {"dis", TL_ACTION_DIS, "usage: tally dis [--native] FILE", 1, 1, false},
    {"doc", TL_ACTION_DOC,
     "usage: tally doc [[--check] [NAME] | --html DIR | --man]", 0, 1, false},
    {"fmt", TL_ACTION_FORMAT, "usage: tally fmt [--check | --diff] FILE ...", 1,
     INT_MAX, true},
    {"explain", TL_ACTION_EXPLAIN,
     "usage: tally explain [--json] [--static] [--peak] FILE [ARG ...]", 1,
     INT_MAX, false},
    {"check", TL_ACTION_CHECK, "usage: tally check FILE ...", 1, INT_MAX, true},
    {"debug", TL_ACTION_DEBUG, "usage: tally debug FILE [ARG ...]", 1, INT_MAX,
     false},
    {"lsp", TL_ACTION_LSP, NULL, 0, 0, true},
    {"bind", TL_ACTION_BIND, NULL, 0, 0, true},
};

// Reads what stands behind a word, which is argv[0]. Clients of lsp add options
// of their own, such as --stdio.
static int read_behind(tl_command *cmd, const worded *w, int argc,
                       char **argv) {
  int i = 1;
  for (; w->usage != NULL && is_option(argv[i]); i++) {
    // The folder stands behind it, or nothing, which is NULL.
    if (w->action == TL_ACTION_DOC && strcmp(argv[i], "--html") == 0)
      return (cmd->html = argv[i + 1]) != NULL && argc == 3
                 ? 0
                 : wrong("%s", w->usage);
    if (!set_word_flag(cmd, w->word, argv[i]))
      return wrong("%s has no option %s", w->word, argv[i]);
  }
  int most = cmd->man ? 0 : w->most;
  bool excludes = cmd->check && (cmd->diff || cmd->man);
  if (w->usage != NULL && (argc - i < w->least || argc - i > most || excludes))
    return wrong("%s", w->usage);
  cmd->subject = argv[i];  // NULL behind the last
  if (!w->lists && i < argc)
    i++;
  cmd->argc = argc - i;
  cmd->argv = argv + i;
  return 0;
}

// Reads the FILE or word and all behind it.
static int read_word(tl_command *cmd, int argc, char **argv) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const worded *w = &words[i];
    if (strcmp(argv[0], w->word) != 0)
      continue;
    cmd->action = w->action;
    if (w->action == TL_ACTION_TEST || !asks_for_help(argv[1])) {
      int status = read_behind(cmd, w, argc, argv);
      if ((cmd->explain & TALLY_EXPLAIN_NATIVE) != 0)
        cmd->action = TL_ACTION_EXPLAIN;
      return status;
    }
    cmd->action = TL_ACTION_HELP;
    return 0;
  }
  return take_file(cmd, TL_ACTION_RUN, argc, argv, 0);
}

// Options first; -e ends them, and -- does where a FILE begins with a dash.
int tl_command_read(int argc, char **argv, tl_command *out) {
  *out = (tl_command){.action = TL_ACTION_PROMPT,
                      .options = tally_default_options()};
  int i = 1;
  for (; i < argc && out->action != TL_ACTION_CODE; i++) {
    const char *arg = argv[i];
    // All that follows is a FILE and its arguments.
    if (strcmp(arg, "--") == 0) {
      i++;
      break;
    }
    if (arg[0] != '-' || arg[1] == 0)
      break;
    if (set_flag(out, arg))
      continue;
    int status = set_profile(out, argc, argv, &i);
    if (status < 0)
      status = set_value(out, argc, argv, &i);
    if (status < 0)
      return wrong("there is no option %s", arg);
    if (status != 0)
      return status;
  }
  if (out->action == TL_ACTION_CODE) {
    out->argc = argc - i;
    out->argv = argv + i;
    return 0;
  }
  if (out->action != TL_ACTION_PROMPT || i >= argc)
    return 0;
  if (strcmp(argv[i - 1], "--") != 0)
    return read_word(out, argc - i, argv + i);
  // Behind -- even "test" or "doc" is the name of a FILE.
  return take_file(out, TL_ACTION_RUN, argc, argv, i);
}
