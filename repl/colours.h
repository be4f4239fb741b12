// Colours on a terminal: the few that the prompt, reports and differences use,
// as what ECMA-48 calls select graphic rendition. They are the terminal's own
// sixteen, so that they fit its background.
#pragma once

#include <stdbool.h>

#define TL_PLAIN "\033[0m"
#define TL_GREY "\033[90m"
#define TL_RED_BOLD "\033[1;31m"

// Whether a terminal moves its cursor as it is told: TERM is set and is not
// `dumb`.
bool tl_terminal_is_able(void);
// Whether what is written to the descriptor may have colours: it is an able
// terminal, and NO_COLOR is not set (https://no-color.org).
bool tl_has_colours(int file);
// How pictures may be written to it, as tally_options.colors says: images only
// to terminals that are known to show them, or as TALLY_PICTURES says (kitty,
// sixel, text). No terminal is asked, as its answer could be lost or be typed.
int tl_picture_form(int file);
// The columns of the terminal that a descriptor is; 0: it is none, or does not
// say.
int tl_terminal_width(int file);
// Its lines, likewise.
int tl_terminal_height(int file);
