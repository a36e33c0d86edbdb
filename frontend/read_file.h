// Reads the text of source files, included files and files of options.
#ifndef CNNC_READ_FILE_H
#define CNNC_READ_FILE_H

#include <stddef.h>
#include "../ir/base/diag.h"

// Limit in bytes for a program with all its included files, and for any other
// text.
enum { MOST_TEXT = 64 << 20 };

// Returns the text of a file or pipe, without a byte order mark, and sets
// *length to its bytes.  Fails after `most` bytes, and after a time without
// bytes from a pipe; a terminal has no time limit.  NULL if the file can't be
// read, with the reason in *why.
const char *read_text(Arena *arena, const char *path, size_t most,
                      size_t *length, const char **why);
// Reads a file of the command line, within MOST_TEXT, into arena.  Reports
// errors to diag, without counting them.
const char *read_named_text(Diag *diag, Arena *arena, const char *path,
                            size_t *length);

#endif
