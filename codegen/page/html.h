// Text that is safe in HTML, between tags and in quoted attributes.
#ifndef CNNC_HTML_H
#define CNNC_HTML_H

#include <stddef.h>

#include "../../ir/base/arena.h"

// A copy whose characters mean only themselves. What is no UTF-8, controls, and characters that
// turn the direction of writing become U+FFFD; a tab becomes four spaces.
const char *html_escaped(Arena *arena, const char *text, size_t length);

#endif
