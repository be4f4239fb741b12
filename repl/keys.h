// Keys as a terminal sends them: characters, and sequences for all others.
#ifndef TALLY_REPL_KEYS_H
#define TALLY_REPL_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#define TL_CTRL(letter) ((letter)&31)

// Characters are their code points, Ctrl with a letter is below 32, and Alt
// adds TL_ALT.
typedef enum tl_key {
  TL_KEY_ENTER = 13,
  TL_KEY_ESCAPE = 27,
  TL_KEY_UP = 0x110000,
  TL_KEY_DOWN,
  TL_KEY_LEFT,
  TL_KEY_RIGHT,
  TL_KEY_HOME,
  TL_KEY_END,
  TL_KEY_DELETE,
  TL_KEY_WORD_LEFT,
  TL_KEY_WORD_RIGHT,
  TL_KEY_PASTE,  // text follows, up to TL_KEY_PASTED
  TL_KEY_PASTED,
  TL_KEY_UNKNOWN,
  TL_KEY_SIGNAL,  // a signal came: the window has changed, or Ctrl-C by kill
  TL_KEY_CLOSED,  // the terminal is gone
  TL_ALT = 1 << 24,
} tl_key;

// The terminal gives keys one by one, and none of them is a signal. False: it
// cannot. Keys that were typed before are kept.
bool tl_keys_begin(void);
// The terminal is as it was before.
void tl_keys_end(void);

// Waits for the next key.
int tl_keys_next(void);
// The bytes of a character in UTF-8; [to] has room for 4. Returns how many.
size_t tl_key_spell(int key, char *to);
// Whether a key has come that was not read yet.
bool tl_keys_pending(void);
// Whether the command was stopped and goes on: the terminal may be another's
// since. Forgets it.
bool tl_keys_were_stopped(void);

#endif
