// Inputs edited on a terminal: see editor.h. A key leads to an action in a
// table, or it is typed.
//
//     tl_keys_next ─ press ─ search_key     while something is searched for
//                          ─ tl_vi_key      between vi's commands
//                          ─ bound_key      moves[], then actions[]
//                          ─ type_key       characters that no table has
//     draw, unless more keys are there already
//
// An action changes the text by tl_edit_change or the cursor by itself, and
// never draws. Each key is drawn once, from the state that it leaves, so no
// action has to know what the screen shows.
//
// Order: hints, drawing, actions, search, keys, reading.

#include "repl/editor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/commands.h"
#include "repl/completion.h"
#include "repl/editor_internal.h"
#include "repl/keys.h"
#include "repl/session.h"

// --- Hints ------------------------------------------------------------------

// A copy of the rest of the newest input that begins as this one; NULL: there
// is none.
// The newest one may be what stands there already, with nothing behind it: it
// is passed over for older ones that go on. Ends as each step goes to a lower
// index, or to count where there is none.
static char *earlier_rest(const tl_editor *e) {
  const tl_history *h = &e->history;
  size_t at = h->count;
  do {
    at = tl_history_find(h, at, -1, e->text, e->nbytes, false);
  } while (at < h->count && h->entries[at].nbytes == e->nbytes);
  return at < h->count ? strdup(h->entries[at].text + e->nbytes) : NULL;
}

// What the text up to its zero byte may go on as.
static void find_choices(const tl_editor *e, tl_choices *c) {
  *c = (tl_choices){.names = NULL};
  if (e->use->choose == NULL)
    tl_choices_find(c, e->vm, e->text);
  else
    e->use->choose(e->use->context, e->text, c);
}

// The same of the only name that the word at the end may become. Within strings
// nothing is looked up, as those are names of files.
// A word of one letter is no reason to look: it has many continuations, and
// the look goes over all names with each key. A name that is whole already, or
// one that stands for a sign, adds nothing. The caller frees it.
static char *name_rest(const tl_editor *e) {
  size_t count;
  tally_token *tokens = tl_edit_tokens(e, &count);
  bool is_word = tokens != NULL && count > 0 &&
                 tokens[count - 1].kind == TALLY_TOKEN_NAME &&
                 tokens[count - 1].end == e->nbytes &&
                 e->nbytes - tokens[count - 1].begin > 1;
  free(tokens);
  if (!is_word)
    return NULL;
  tl_choices c;
  find_choices(e, &c);
  size_t typed = c.count == 1 ? tl_choices_typed(&c, e->text) : 0;
  char *rest = typed > 0 && c.sign == NULL && c.names[0][typed] != 0
                   ? strdup(c.names[0] + typed)
                   : NULL;
  tl_choices_free(&c);
  return rest;
}

// How the text may go on, as a copy. NULL: nobody knows, or there is no colour
// to tell it from what was typed. Earlier inputs go before names, as they are
// what the person has typed. A hint in the midst of a text would push what
// follows to the right.
static char *hint_of(const tl_editor *e) {
  if (!e->screen.has_colours || e->nbytes == 0 || e->cursor < e->nbytes ||
      e->mode != TYPING)
    return NULL;
  char *hint = earlier_rest(e);
  return hint != NULL ? hint : name_rest(e);
}

// Takes the hint; false: there is none.
// The whole of it, though the screen shows its first line alone.
static bool take_hint(tl_editor *e) {
  char *hint = hint_of(e);
  if (hint != NULL)
    tl_edit_insert(e, hint, strlen(hint));
  free(hint);
  return hint != NULL;
}

// The name of the function among whose arguments the cursor stands, such as
// linalg.det; false: it stands among none.
// The innermost bracket that is open before the cursor decides: within f([
// there is no call, as the list is what is typed. A long name is cut to
// [size].
static bool find_call(const tl_editor *e, char *name, size_t size) {
  size_t count, at;
  tally_token *tokens = tl_edit_tokens(e, &count);
  if (tokens == NULL)
    return false;
  // Pairs before the cursor match each other, so only open ones are left.
  for (at = count; at > 0 && !tl_is_open(&tokens[at - 1]); at--) {
  }
  bool found = at > 1 && tokens[at - 2].kind == TALLY_TOKEN_CALL;
  if (found) {
    size_t first = at - 2, end = tokens[first].end;
    // Back over `linalg.` and what stands before it.
    while (first > 1 && e->text[tokens[first - 1].begin] == '.' &&
           tokens[first - 2].kind == TALLY_TOKEN_NAME)
      first -= 2;
    int n = (int)(end - tokens[first].begin);
    snprintf(name, size, "%.*s", n, e->text + tokens[first].begin);
  }
  free(tokens);
  return found;
}

// How the function is called, for the line below: "mean(x, axis: none)". False
// where that is not known. What the session defines hides the library's.
// Asked with each drawing, so nothing of it runs code. tally_describe gives an
// empty string, and no error, for a name that the session does not define.
static bool spell_call(const tl_editor *e, char *to, size_t size) {
  char name[128];
  tally_value described;
  const char *text;
  size_t nbytes = 0;
  if (!find_call(e, name, sizeof name) ||
      tally_describe(e->vm, name, &described) != TALLY_OK)
    return false;
  // The first line is the signature; documentation follows it.
  if (tally_to_string(e->vm, described, &text, &nbytes) == TALLY_OK)
    snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
  tally_release(e->vm, described);
  if (nbytes > 0)
    return true;
  const char *parameters = tally_signature(e->vm, name);
  if (parameters != NULL)
    snprintf(to, size, "%s(%s)", name, parameters);
  return parameters != NULL;
}

// --- Drawing ----------------------------------------------------------------

// What the person is to see now. One thing stands below the text: what is
// searched for, or the choices of Tab, or else how the call is written.
static void draw(tl_editor *e) {
  char below[512], *hint = hint_of(e);
  tl_view view = {.prompt = e->use->prompt,
                  .more = "  ...> ",
                  .text = e->text,
                  .nbytes = e->nbytes,
                  .cursor = e->cursor,
                  .hint = hint};
  if (e->mode == SEARCHING) {
    snprintf(below, sizeof below, "search: %s", e->sought);
    view.below = below;
  } else if (e->list != NULL) {
    view.below = e->list;
  } else if (spell_call(e, below, sizeof below)) {
    view.below = below;
  }
  tl_screen_draw(&e->screen, e->vm, &view);
  free(hint);
}

// What the grammar refuses is underlined where it stands, as the report below
// has it: the token at that line and column.
static void find_wrong(tl_editor *e, tl_view *view) {
  tally_value laid_out;
  if (tl_is_command(e->text, e->nbytes) || e->text[0] == '?')
    return;
  if (tally_format_source(e->vm, "<prompt>", e->text, e->nbytes, &laid_out) ==
      TALLY_OK) {
    tally_release(e->vm, laid_out);
    return;
  }
  const tally_error_info *error = tally_error(e->vm);
  size_t at = 0;
  // Line and column count from 1, the column in cells as the screen has them.
  // An error that names no place is underlined at the text's first sign.
  for (int line = 1; line < error->line && at < e->nbytes; line++)
    at = tl_go_line_end(e, at) + 1;
  for (int column = 1; column < error->column && at < e->nbytes;) {
    size_t next = tl_go_right(e, at);
    column += tl_cells(e->text + at, next - at);
    at = next;
  }
  view->wrong_begin = at < e->nbytes ? at : e->nbytes;
  view->wrong_end = at < e->nbytes && tl_is_in_word(e, at)
                        ? tl_go_word_right(e, at)
                        : tl_go_right(e, view->wrong_begin);
}

// The input as it stays on the screen; the cursor is below it.
// Without hints, choices and matched brackets, which are of use while the text
// is edited alone. Output follows in the next line.
static void draw_last(tl_editor *e) {
  tl_view view = {.prompt = e->use->prompt,
                  .more = "  ...> ",
                  .text = e->text,
                  .nbytes = e->nbytes,
                  .cursor = e->nbytes,
                  .is_over = true};
  if (e->reading == TL_READ_LINE && e->screen.has_colours)
    find_wrong(e, &view);
  tl_screen_draw(&e->screen, e->vm, &view);
}

// --- Actions ----------------------------------------------------------------

// What a key does. It may end the input by finish(), and sets e->does where
// the next key of its kind goes on with it.
typedef void action(tl_editor *e);

// The sign before the cursor, or as many blanks as an indentation has.
// Blanks at the front go by an indentation whoever typed them, so that one key
// undoes what a new line brought.
static void erase(tl_editor *e) {
  size_t begin = tl_sign_begin(e->text, e->cursor);
  size_t front = tl_go_line_begin(e, e->cursor);
  if (tl_is_at_front(e) && e->cursor - front >= TL_INDENT)
    begin = e->cursor - TL_INDENT;
  if (begin < e->cursor)
    tl_edit_change(e, begin, e->cursor, NULL, 0);
}

// The sign behind the cursor.
static void erase_next(tl_editor *e) {
  size_t end = tl_go_right(e, e->cursor);
  if (end > e->cursor)
    tl_edit_change(e, e->cursor, end, NULL, 0);
}

// The two signs around the cursor change places; at the end the last two.
// Signs are graphemes, so an accent goes with its letter. Two of
// them of more than 256 bytes, which no language writes, stay as they are.
static void transpose(tl_editor *e) {
  size_t middle = e->cursor < e->nbytes ? e->cursor : tl_go_left(e, e->cursor);
  size_t begin = tl_go_left(e, middle), end = tl_go_right(e, middle);
  char both[256];
  if (begin == middle || end == middle || end - begin > sizeof both)
    return;
  memcpy(both, e->text + middle, end - middle);
  memcpy(both + (end - middle), e->text + begin, middle - begin);
  tl_edit_change(e, begin, end, both, end - begin);
}

// At a line's end its end goes.
// As in Emacs: pressed again and again it deletes line by line, and all of
// that comes back at once by Ctrl-Y.
static void kill_line(tl_editor *e) {
  tl_edit_kill(e, e->cursor < e->nbytes && e->text[e->cursor] == '\n'
                      ? tl_go_right
                      : tl_go_line_end);
}

// No key is read after this one.
static void finish(tl_editor *e, tl_reading reading) {
  e->is_over = true;
  e->reading = reading;
}

// Ctrl-C gives the input up, and Ctrl-D ends the session where there is none.
// The text stays on the screen, and goes to no history.
static void interrupt(tl_editor *e) {
  finish(e, TL_READ_INTERRUPTED);
}

// Ctrl-D: ends the session where nothing is typed, else erases the character at
// the cursor, as shells do.
static void end_or_erase(tl_editor *e) {
  if (e->nbytes == 0)
    finish(e, TL_READ_END);
  else
    erase_next(e);
}

// An input that is whole runs wherever its cursor is, else it gets a line more.
// tl_edit_make_room always leaves room for the end of line and the zero, so
// the grammar sees the input as it would be run, without a copy.
static void enter(tl_editor *e) {
  e->text[e->nbytes] = '\n';
  e->text[e->nbytes + 1] = 0;
  bool whole = tl_input_is_whole(e->vm, e->text, e->nbytes + 1);
  e->text[e->nbytes] = 0;
  if (whole)
    finish(e, TL_READ_LINE);
  else
    tl_edit_break_line(e);
}

// Tab: the one sign that a name behind a backslash stands for; else as much as
// all choices have in common; else, where that is there already, their list.
// Choices are found for the text before the cursor, which a zero byte ends
// meanwhile.
static void complete(tl_editor *e) {
  tl_choices c;
  if (tl_is_at_front(e)) {
    tl_edit_insert(e, "  ", TL_INDENT);  // Tab at the front indents
    e->indents = true;
    return;
  }
  char behind = e->text[e->cursor];
  e->text[e->cursor] = 0;
  find_choices(e, &c);
  size_t typed = c.count == 0 ? 0 : tl_choices_typed(&c, e->text);
  e->text[e->cursor] = behind;
  size_t common = c.count == 0 ? 0 : tl_choices_common(&c);
  if (c.sign != NULL)
    tl_edit_change(e, e->cursor - c.replaced, e->cursor, c.sign,
                   strlen(c.sign));
  else if (common > typed)
    tl_edit_insert(e, c.names[0] + typed, common - typed);
  else if (c.count > 1)
    // Half of the terminal at most, so that the text stays in sight. The last
    // column is never written to: see put_sign in screen.c.
    e->list = tl_choices_list(&c, e->screen.columns - 1, e->screen.rows / 2);
  tl_choices_free(&c);
}

// The terminal sends a paste in brackets, and has a cursor for each of vi's
// modes.
// What was drawn before is no longer known, as others have written since.
// False: the terminal gives no single keys, or is gone.
static bool take_terminal(tl_editor *e) {
  tl_screen_forget(&e->screen);
  if (!tl_keys_begin())
    return false;
  tl_screen_write("\033[?2004h", 8);
  return true;
}

// The cursor's shape and the brackets of pastes go back first: a script that
// asks for input should get neither.
static void give_terminal(tl_editor *e) {
  if (e->is_vi)
    tl_screen_write("\033[0 q", 5);
  tl_screen_write("\033[?2004l", 8);
  tl_keys_end();
}

// Stops the command as the shell expects; what was typed is drawn again.
// The terminal sends no signal while keys are read, so Ctrl-Z raises it here.
// The call returns when the shell lets the command go on; the SIGCONT that
// came with it is forgotten, as all that it asks for is done.
static void suspend(tl_editor *e) {
  tl_screen_write("\033[J\r\n", 5);
  give_terminal(e);
  raise(SIGTSTP);
  take_terminal(e);
  tl_keys_were_stopped();
}

// After a stop from outside the terminal has the shell's ways.
// Of a window that was resized nothing is to be done: each drawing measures.
static void heed_signal(tl_editor *e) {
  if (tl_session_was_interrupted()) {
    interrupt(e);
  } else if (tl_keys_were_stopped()) {
    give_terminal(e);
    take_terminal(e);
  }
}

// The input goes to the first line of an empty screen.
static void clear(tl_editor *e) {
  tl_screen_write("\033[H\033[2J", 7);
  tl_screen_forget(&e->screen);
}

// A character that is typed. A closing bracket at the front goes back by one
// indentation, if the blanks came by themselves.
//
//     fn f(x) {
//       x + 1
//       ▏          } typed here comes to stand below fn
static void type_key(tl_editor *e, int key) {
  char bytes[4];
  size_t n = tl_key_spell(key, bytes);
  size_t begin = e->cursor, front = tl_go_line_begin(e, begin);
  if (strchr("]})", key < 0x80 ? key : 'x') != NULL && e->indents &&
      tl_is_at_front(e) && begin - front >= TL_INDENT)
    begin -= TL_INDENT;
  e->does = TYPED;
  tl_edit_change(e, begin, e->cursor, bytes, n);
}

// Ctrl-C with nothing behind it was typed, by somebody who waits for the end of
// a paste that got lost. Text may have that byte, too: where more is there
// already, it is the paste's, and what follows it must not be read as keys. So
// a program that writes Ctrl-C and Ctrl-D at once does not get out of a paste.
static bool gives_paste_up(int key) {
  return key == TL_CTRL('c') && !tl_keys_pending();
}

// What is pasted is text, with ends of lines as they are; other control
// characters are left out.
// All of it is one change, undone by one key, and nothing of it runs or is
// indented: the pasted lines have their blanks, and Enter comes from the
// person. "\r\n" is one end of line. Ends with the closing bracket, the
// terminal's end, an interrupt or Ctrl-C, with what has come so far.
static void paste(tl_editor *e) {
  char *text = NULL, bytes[4];
  size_t nbytes;
  int key = TL_KEY_UNKNOWN;
  FILE *to = open_memstream(&text, &nbytes);
  if (to == NULL)
    return;
  while (key != TL_KEY_PASTED && key != TL_KEY_CLOSED && !e->is_over &&
         !gives_paste_up(key)) {
    bool was_return = key == '\r';
    key = tl_keys_next();
    if (key == '\r' || (key == '\n' && !was_return))
      fputc('\n', to);
    else if (key == '\t' || (key >= 32 && key < 127))
      fputc(key, to);
    else if (key >= 0xa0 && key < TL_KEY_UP)
      fwrite(bytes, 1, tl_key_spell(key, bytes), to);
    else if (key == TL_KEY_SIGNAL)
      heed_signal(e);
  }
  fclose(to);
  if (text != NULL)
    tl_edit_insert(e, text, nbytes);
  free(text);
}

// --- Search -----------------------------------------------------------------

// Shows the next entry in that direction that holds what is sought.
// With none in that direction the one that is shown stays. The cursor goes to
// the last place of it.
static void seek(tl_editor *e, size_t from, int step) {
  const tl_history *h = &e->history;
  size_t n = strlen(e->sought);
  size_t at = tl_history_find(h, from, step, e->sought, n, true);
  if (at == h->count)
    return;
  tl_edit_show_entry(e, at);
  for (size_t i = 0; i + n <= e->nbytes; i++)
    if (memcmp(e->text + i, e->sought, n) == 0)
      e->cursor = i;
}

// The text that is sought gets one character more, or one less.
// Without memory it stays. Backspace takes a grapheme, as in the text.
static void change_sought(tl_editor *e, int key) {
  char bytes[4];
  size_t old = strlen(e->sought);
  if (key == 127) {
    e->sought[tl_sign_begin(e->sought, old)] = 0;
    return;
  }
  size_t n = tl_key_spell(key, bytes);
  char *longer = realloc(e->sought, old + n + 1);
  if (longer == NULL)
    return;
  memcpy(longer + old, bytes, n);
  longer[old + n] = 0;
  e->sought = longer;
}

// Any other key ends the search, and does what it does. True: it is done.
//
//     Ctrl-R, Ctrl-S     the next older, newer entry with the same text
//     characters         begin at the entry shown, which may fit still
//     Ctrl-C, Ctrl-G     back to what was typed before the search
//     Escape             ends it, and the entry stays
//     others             likewise, and then do what they do: Enter runs it
static bool search_key(tl_editor *e, int key) {
  size_t count = e->history.count;
  if (key == TL_CTRL('r')) {
    seek(e, e->at, -1);
  } else if (key == TL_CTRL('s')) {
    seek(e, e->at, 1);
  } else if (key == 127 || key == 8 || (key >= 32 && key < TL_KEY_UP)) {
    change_sought(e, key == 8 ? 127 : key);
    seek(e, e->at < count ? e->at + 1 : count, -1);
  } else if (key != TL_KEY_SIGNAL) {
    bool gives_up = key == TL_CTRL('c') || key == TL_CTRL('g');
    if (gives_up)
      tl_edit_show_entry(e, count);
    e->mode = TYPING;
    return gives_up || key == TL_KEY_ESCAPE;
  }
  return key != TL_KEY_SIGNAL;
}

// --- Keys -------------------------------------------------------------------

// At the end of the text these keys take the hint.
static void right_or_hint(tl_editor *e) {
  if (!take_hint(e))
    e->cursor = tl_go_right(e, e->cursor);
}

static void end_or_hint(tl_editor *e) {
  if (!take_hint(e))
    e->cursor = tl_go_line_end(e, e->cursor);
}

// Ctrl-U: what is killed can be put back, as with all four of these.
static void kill_text_before(tl_editor *e) {
  tl_edit_kill(e, tl_go_line_begin);
}
static void kill_blank_left(tl_editor *e) {
  tl_edit_kill(e, tl_go_blank_left);
}
static void kill_word_left(tl_editor *e) {
  tl_edit_kill(e, tl_go_word_left);
}
static void kill_word_right(tl_editor *e) {
  tl_edit_kill(e, tl_go_word_right);
}

// Keys that move the cursor alone, in both modes. The first entry with the key
// is taken, so each key has one. Those of Emacs are bound in vi's modes as
// well, where vi has no other use for them.
static const struct {
  int key;
  motion *go;
} moves[] = {
    {TL_CTRL('a'), tl_go_line_begin}, {TL_KEY_HOME, tl_go_line_begin},
    {TL_CTRL('b'), tl_go_left},       {TL_KEY_LEFT, tl_go_left},
    {TL_ALT | 'b', tl_go_word_left},  {TL_KEY_WORD_LEFT, tl_go_word_left},
    {TL_ALT | 'f', tl_go_word_right}, {TL_KEY_WORD_RIGHT, tl_go_word_right},
    {TL_ALT | '<', tl_go_begin},      {TL_ALT | '>', tl_go_end},
};

static const struct {
  int key;
  action *act;
} actions[] = {
    {TL_KEY_ENTER, enter},
    {TL_CTRL('j'), enter},
    {TL_ALT | TL_KEY_ENTER, tl_edit_break_line},
    {TL_CTRL('c'), interrupt},
    {TL_CTRL('d'), end_or_erase},
    {TL_KEY_CLOSED, interrupt},
    {TL_KEY_SIGNAL, heed_signal},
    {TL_CTRL('z'), suspend},
    {TL_CTRL('l'), clear},
    {TL_CTRL('i'), complete},
    {TL_CTRL('r'), tl_edit_search},
    {TL_KEY_UP, tl_edit_up},
    {TL_KEY_DOWN, tl_edit_down},
    {TL_CTRL('p'), tl_edit_older},
    {TL_CTRL('n'), tl_edit_newer},
    {TL_KEY_RIGHT, right_or_hint},
    {TL_CTRL('f'), right_or_hint},
    {TL_KEY_END, end_or_hint},
    {TL_CTRL('e'), end_or_hint},
    {TL_KEY_DELETE, erase_next},
    {127, erase},
    {TL_CTRL('h'), erase},
    {TL_CTRL('k'), kill_line},
    {TL_CTRL('u'), kill_text_before},
    {TL_CTRL('w'), kill_blank_left},
    {TL_ALT | 127, kill_word_left},
    {TL_ALT | 'd', kill_word_right},
    {TL_CTRL('y'), tl_edit_yank},
    {TL_CTRL('t'), transpose},
    {TL_CTRL('_'), tl_edit_undo},
    {TL_ALT | '_', tl_edit_redo},
    {TL_KEY_PASTE, paste},
    {TL_KEY_ESCAPE, tl_vi_leave_text},
};

// Moves, or acts; false: the key does neither.
// Some forty entries are compared for each key, which a person cannot notice;
// what is pasted does not come here.
static bool bound_key(tl_editor *e, int key) {
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
    if (moves[i].key == key)
      return e->cursor = moves[i].go(e, e->cursor), true;
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    if (actions[i].key == key)
      return actions[i].act(e), true;
  return false;
}

// --- Reading ----------------------------------------------------------------

// A character, and none that controls a terminal.
static bool is_text(int key) {
  return (key >= 32 && key < 127) || (key >= 0xa0 && key < TL_KEY_UP);
}

// What the key leads to.
// A list of choices lasts until the next key. e->does says what this key did
// and e->did what the one before did: only the same in a row is undone or
// yanked together.
static void press(tl_editor *e, int key) {
  e->does = MOVED;
  free(e->list);
  e->list = NULL;
  if (e->mode == SEARCHING && search_key(e, key)) {
    e->did = e->does;
    return;
  }
  // An operator of vi waits for any key that is a character, Escape and Ctrl-C
  // among them, which give it up. Keys of sequences, such as arrows, are never
  // commands.
  bool commands =
      e->mode == COMMANDING && key < TL_KEY_UP &&
      (e->pending != 0 || key == TL_CTRL('r') || (key >= 32 && key < 127));
  if (commands)
    tl_vi_key(e, key);
  else if (!bound_key(e, key) && is_text(key))
    type_key(e, key);
  tl_vi_stay_on_sign(e);
  e->did = e->does;
}

// A block for commands, a bar for typing.
// DECSCUSR, which terminals that do not know it pass over.
static void show_mode(const tl_editor *e) {
  if (e->is_vi)
    tl_screen_write(e->mode == COMMANDING ? "\033[2 q" : "\033[6 q", 5);
}

// What was deleted last outlives the input: Ctrl-Y brings it into the next
// one. Undo does not go back into an input that has run.
static void begin(tl_editor *e) {
  tl_edit_free_states(&e->undo);
  tl_edit_free_states(&e->redo);
  e->nbytes = e->cursor = 0;
  e->text[0] = 0;
  e->mode = TYPING;
  e->did = MOVED;
  e->is_over = e->indents = false;
  e->at = e->history.count;
  if (e->offered != NULL)
    tl_edit_insert(e, e->offered, strlen(e->offered));
  free(e->offered);
  e->offered = NULL;
}

// The terminal is taken before the prompt shows, else a quick Ctrl-D is the
// terminal's own. Nothing is drawn while more keys are there already.
// Room for the line's end is there in any case: see tl_edit_make_room. The
// text that is returned was drawn last, with its error underlined.
tl_reading tl_editor_read(tl_editor *e, const char **text, size_t *nbytes) {
  begin(e);
  if (!take_terminal(e))
    return TL_READ_FAILED;
  draw(e);
  while (!e->is_over) {
    mode old = e->mode;
    int key = tl_keys_next();
    press(e, key);
    if (e->mode != old)
      show_mode(e);
    if (!e->is_over && !tl_keys_pending())
      draw(e);
    // Whatever mode it met, a terminal that is gone is no Ctrl-C: the prompt
    // would ask it for the next input, and so for ever.
    if (key == TL_KEY_CLOSED)
      e->reading = TL_READ_END;
  }
  draw_last(e);
  give_terminal(e);
  if (e->reading == TL_READ_LINE)
    tl_history_add(&e->history, e->text, e->nbytes);
  e->text[e->nbytes] = '\n';
  e->text[e->nbytes + 1] = 0;
  *text = e->text;
  *nbytes = e->nbytes + 1;
  return e->reading;
}

void tl_editor_offer(tl_editor *e, const char *text, size_t nbytes) {
  free(e->offered);
  e->offered = malloc(nbytes + 1);
  if (e->offered == NULL)
    return;
  memcpy(e->offered, text, nbytes);
  e->offered[nbytes] = 0;
}

// Both ends have to be a terminal: keys come from one and the drawing goes to
// the other. The history's thousand entries are a part of the editor, so there
// is one allocation for all of it.
tl_editor *tl_editor_open(tally_vm *vm, const tl_editor_use *use) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !tl_terminal_is_able())
    return NULL;
  tl_editor *e = calloc(1, sizeof *e);
  if (e == NULL || !tl_edit_make_room(e, 0)) {
    free(e);
    return NULL;
  }
  e->vm = vm;
  e->use = use;
  e->screen.has_colours = tl_has_colours(STDOUT_FILENO);
  e->is_vi = tl_vi_is_wanted();
  tl_history_open(&e->history, use->history);
  return e;
}

// The terminal was given back by each tl_editor_read, so memory is all there
// is to free.
void tl_editor_close(tl_editor *e) {
  if (e == NULL)
    return;
  tl_edit_free_states(&e->undo);
  tl_edit_free_states(&e->redo);
  tl_history_close(&e->history);
  tl_screen_free(&e->screen);
  free(e->text);
  free(e->killed);
  free(e->draft.text);
  free(e->sought);
  free(e->list);
  free(e->offered);
  free(e);
}
