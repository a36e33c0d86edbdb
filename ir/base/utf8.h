// Decodes UTF-8 text of known length, which need not be valid.
#ifndef CNNC_UTF8_H
#define CNNC_UTF8_H

#include <stddef.h>
#include <stdint.h>

// Returns the code point at the start of text, and sets *count to its bytes.
// Returns -1 and sets *count to 1 if the first byte begins none.  length is in
// bytes and at least 1.
int32_t utf8_point(const char *text, size_t length, size_t *count);

#endif
