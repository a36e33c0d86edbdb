// Text that is safe in HTML, between tags and in quoted attributes.
#ifndef CNNC_HTML_H
#define CNNC_HTML_H

#include <stddef.h>

#include "../../ir/base/arena.h"

// Returns a copy whose characters have no meaning in HTML. Invalid UTF-8, controls, and characters
// that change the writing direction become U+FFFD; a tab becomes four spaces.
const char *html_escaped(Arena *arena, const char *text, size_t length);

#endif
