// Keys as a terminal sends them: characters, and sequences for all others.
#pragma once

#include <stdbool.h>

// Room for the longest name of a key and a zero.
enum { TL_KEY_SIZE = 16 };

// The terminal gives keys one by one, and none of them is a signal. False: it
// cannot. Keys that were typed before are kept.
bool tl_keys_begin(void);
// The terminal is as it was before.
void tl_keys_end(void);

// Waits for the next key, and gives its name: the character that it types, in
// UTF-8, or more than one sign:
//
//     ^A              Ctrl-A, and so on; Enter is ^M, Backspace ^?
//     alt b           Alt with a key
//     ESC [A          keys that send sequences, Escape and what is behind it
//     <escape>        Escape alone
//     <signal>        a signal came: the window has changed, or Ctrl-C by kill
//     <closed>        the terminal is gone
//
// Empty: it is no key that anybody knows.
void tl_keys_next(char to[TL_KEY_SIZE]);
// Whether a key has come that was not read yet.
bool tl_keys_pending(void);
// Whether the command was stopped and goes on: the terminal may be another's
// since. Forgets it.
bool tl_keys_were_stopped(void);
