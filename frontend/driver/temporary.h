// Temporary files: PLACE.TAG.tmp in the target's folder.  TAG is random, and
// the writer holds a lock until the file is in place.  So links planted under
// such a name do no harm, and leftovers of killed programs are told apart from
// files in use.
#ifndef CNNC_TEMPORARY_H
#define CNNC_TEMPORARY_H

#include <stdbool.h>
#include "../../ir/base/arena.h"

enum { PATH_ROOM = 4096 };      // bytes of a path, with its end

// Resolves links in the last part of path, whether the file exists or not.
// False, with errno set, if there is no such name.
bool follow_links(const char *path, char place[PATH_ROOM]);
// Returns PLACE.TAG, with a new tag each time.
const char *temporary_stem(Arena *arena, const char *place);
// Creates and locks a new file, with the mode and, if permitted, the owner of
// `place`.  Returns a descriptor; -1, with errno set, if the name is taken
// (EEXIST) or on other errors.
int temporary_create(const char *name, const char *place);
// Removes all files PLACE.TAG.tmp and PLACE.TAG.old that are not locked.
void temporary_sweep(const char *place);

#endif
