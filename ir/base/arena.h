// The allocation arena.  A compilation allocates everything in its arenas, and
// frees each of them as a whole.
#ifndef CNNC_ARENA_H
#define CNNC_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

// Makes an empty arena; arena_free frees it with all its allocations.
Arena *arena_new(void);
void arena_free(Arena *arena);
// Frees `other` with `arena`, and not before.
void arena_adopt(Arena *arena, Arena *other);

// Returns count objects of size bytes, zeroed, aligned for any type.  Never
// NULL: out of memory, or if count * size overflows, cnnc reports it and exits
// 70.
void *arena_alloc(Arena *arena, size_t count, size_t size);

// Frees a large allocation early: one that got a chunk of its own.  Others stay
// until the arena is freed.  Nothing may point into it.
void arena_release(Arena *arena, const void *allocation);

// Returns a copy of the first length bytes of text, with a terminating 0.
char *arena_copy(Arena *arena, const char *text, size_t length);

// Formats as printf does, into the arena.
char *arena_print(Arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Formats as vprintf does, into the arena.
char *arena_vprint(Arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

// Grows an array to at least need elements.  Returns the array, which may have
// moved, and updates *capacity.  New elements are zero.  A moved array is
// released.
void *arena_grow(Arena *arena, void *array, int32_t *capacity, int64_t need,
                 size_t size);

#define NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))
#define NEW_ARRAY(arena, count, type)                                          \
    ((type *)arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
