// The text of a file that is compiled, included or asked for by an option.
#ifndef CNNC_READ_FILE_H
#define CNNC_READ_FILE_H

#include <stddef.h>
#include "../ir/base/arena.h"

// Bytes of all that one run of cnnc reads of a program and what it includes,
// and of any other text.
enum { MOST_TEXT = 64 << 20 };

// The text of a file or pipe, after the byte order mark that it may have; its
// bytes go to *length.  Reading ends after `most` bytes, and for a pipe after
// some time without a byte; only a terminal is waited for without end.  NULL
// where the file can't be read, with the reason in *why.
const char *read_text(Arena *arena, const char *path, size_t most,
                      size_t *length, const char **why);
// The same of a file of the command line, within MOST_TEXT.  The reason is told
// on standard error.
const char *read_named_text(Arena *arena, const char *path, size_t *length);

#endif
