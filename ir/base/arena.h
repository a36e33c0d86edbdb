// One allocation arena per compilation: everything a compilation makes lives
// in it and is freed at once.  Nothing else in the compiler allocates.
#ifndef CNNC_ARENA_H
#define CNNC_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

// A new, empty arena; arena_free frees it and all that was allocated in it.
Arena *arena_new(void);
void arena_free(Arena *arena);

// count objects of size bytes, zeroed, aligned for any type.  Never NULL:
// when memory runs out, or count * size overflows, cnnc says so and exits 70.
void *arena_alloc(Arena *arena, size_t count, size_t size);

// A copy of the first length bytes of text, with a terminating 0.
char *arena_copy(Arena *arena, const char *text, size_t length);

// printf into the arena.
char *arena_print(Arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Makes room for at least need elements in an array that grows: returns the
// array, moved if it had to be, and updates *capacity.  New elements are zero.
void *arena_grow(Arena *arena, void *array, int32_t *capacity, int64_t need,
                 size_t size);

#define NEW(arena, type) ((type *)arena_alloc((arena), 1, sizeof(type)))
#define NEW_ARRAY(arena, count, type)                                          \
    ((type *)arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
