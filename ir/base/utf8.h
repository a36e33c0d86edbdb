// Text in UTF-8, of which nothing is known but its length.
#ifndef CNNC_UTF8_H
#define CNNC_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Returns the code point that text begins with, and sets *count to its bytes.
// Returns -1 and sets *count to 1 where the first byte begins none.  Length is
// at least 1, in bytes.
int32_t utf8_point(const char *text, size_t length, size_t *count);

#endif
