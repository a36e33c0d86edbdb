// Temporary files: PLACE.TAG.tmp, in the folder of the file that they become.
// TAG is random, and the writer holds a lock on the file until it has its
// place.  So links planted under such a name do no harm, and what a killed
// program left can be told from what a living one writes.
#ifndef CNNC_TEMPORARY_H
#define CNNC_TEMPORARY_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

enum { PATH_ROOM = 4096 };      // bytes of a path, with its end

// The file that a path leads to, be it there or not: links in its last part
// are followed.  False, with errno set, where there is no such name.
bool follow_links(const char *path, char place[PATH_ROOM]);
// PLACE.TAG, and a new tag each time.
const char *temporary_stem(Arena *arena, const char *place);
// Creates and locks a file that nobody else has, with the mode and, if that is
// allowed, the owner of `place`.  Returns a descriptor; -1, with errno set,
// where the name is taken (EEXIST) or the file can't be.
int temporary_create(const char *name, const char *place);
// Removes the files PLACE.TAG.tmp and PLACE.TAG.old that nobody has locked.
void temporary_sweep(const char *place);

#endif
