// The names that are taken in one name space, and what each stands for.
#ifndef CNNC_UNIQUE_NAMES_H
#define CNNC_UNIQUE_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "arena.h"

typedef struct Names Names;

// With room for `count` names, and more as they come.
Names *names_new(Arena *arena, int32_t count);

// Takes name, or where it is taken the first of name_2, name_3, ... that is
// free, for id.  Returns the name taken, a copy in the arena.
const char *names_take(Names *names, const char *name, int32_t id);

// What took the first length characters of name; NONE (-1): nothing did.
int32_t names_find(const Names *names, const char *name, size_t length);

// A name that is there twice, or NULL.
const char *names_repeated(Arena *arena, const char *const *names,
                           int32_t count);

#endif
