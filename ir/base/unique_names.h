// The names of one name space, and their ids.
#ifndef CNNC_UNIQUE_NAMES_H
#define CNNC_UNIQUE_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "arena.h"

typedef struct Names Names;

// Makes a name space sized for `count` names; it grows as needed.
Names *names_new(Arena *arena, int32_t count);

// Takes name for id.  If it is taken, uses the first free one of name_2,
// name_3, ...  Returns the name taken, a copy in the arena.
const char *names_take(Names *names, const char *name, int32_t id);

// Takes a free name without a copy, so that it must live as long as the names.
// Has no effect if the name is taken.
void names_keep(Names *names, const char *name, int32_t id);

// Makes a name free again.  It need not be taken.
void names_release(Names *names, const char *name);

// Returns the id of a name of length characters; NONE (-1) if it is free.
int32_t names_find(const Names *names, const char *name, size_t length);

// Returns a name that occurs twice, or NULL.
const char *names_repeated(Arena *arena, const char *const *names,
                           int32_t count);

#endif
