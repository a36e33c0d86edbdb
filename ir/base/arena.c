// The only allocator.  Memory comes in chunks whose sizes double up to a limit.
// An allocation advances a pointer; all memory is freed at once at the end.  An
// allocation larger than a chunk gets its own chunk, linked after the current
// one, which continues to be filled.  It alone can be freed earlier.
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"

typedef struct Chunk {
    struct Chunk *next;
    size_t        size, used;   // of data
    bool          own;          // of one allocation
    _Alignas(max_align_t) unsigned char data[];
} Chunk;

struct Arena {
    Chunk *chunks;              // the first is the one being filled
    size_t next_size;
    Arena *adopted;             // a list; freed with this one
};

enum { FIRST_CHUNK = 1 << 12, LARGEST_CHUNK = 1 << 20 };

static _Noreturn void out_of_memory(size_t count, size_t size)
{
    fprintf(stderr, "cnnc: out of memory: %zu times %zu bytes\n", count, size);
    exit(70);
}

Arena *arena_new(void)
{
    Arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) out_of_memory(1, sizeof *arena);
    arena->next_size = FIRST_CHUNK;
    return arena;
}

static void free_chunks(Arena *arena)
{
    for (Chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

void arena_adopt(Arena *arena, Arena *other)
{
    Arena **last = &other->adopted;
    while (*last != NULL) last = &(*last)->adopted;
    *last = arena->adopted;
    arena->adopted = other;
}

void arena_free(Arena *arena)
{
    for (Arena *next; arena != NULL; arena = next) {
        next = arena->adopted;
        free_chunks(arena);
    }
}

// Uses calloc, since the zero pages of large chunks cost nothing until they are
// touched, as in tensors of the interpreter.
static Chunk *new_chunk(size_t size)
{
    Chunk *chunk = calloc(1, sizeof *chunk + size);
    if (chunk == NULL) out_of_memory(1, size);
    chunk->size = size;
    return chunk;
}

// Returns a chunk with space.  An allocation that would waste more than a
// quarter of a new chunk gets its own; the current chunk stays first.
static Chunk *chunk_with_room(Arena *arena, size_t bytes)
{
    Chunk *current = arena->chunks;
    if (current != NULL && current->size - current->used >= bytes)
        return current;
    if (bytes > arena->next_size / 4 && current != NULL) {
        Chunk *own = new_chunk(bytes);
        own->own = true;
        own->next = current->next;
        current->next = own;
        return own;
    }
    Chunk *fresh = new_chunk(bytes > arena->next_size ? bytes
                                                      : arena->next_size);
    if (arena->next_size < LARGEST_CHUNK) arena->next_size *= 2;
    fresh->next = current;
    arena->chunks = fresh;
    return fresh;
}

void *arena_alloc(Arena *arena, size_t count, size_t size)
{
    const size_t align = _Alignof(max_align_t), most = SIZE_MAX / 2;
    if (size != 0 && count > most / size) out_of_memory(count, size);

    // An allocation of 0 bytes gets a unique address too.
    size_t bytes = count * size + (count * size == 0);
    bytes = (bytes + align - 1) / align * align;
    Chunk *chunk = chunk_with_room(arena, bytes);
    void *result = chunk->data + chunk->used;
    chunk->used += bytes;
    return result;
}

void arena_release(Arena *arena, const void *allocation)
{
    Chunk *before = arena->chunks;      // it is no chunk of its own
    while (before != NULL && before->next != NULL &&
           (!before->next->own || before->next->data != allocation))
        before = before->next;
    if (before == NULL || before->next == NULL) return;
    Chunk *freed = before->next;
    before->next = freed->next;
    free(freed);
}

char *arena_copy(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1, 1);
    if (length > 0) memcpy(copy, text, length);
    return copy;
}

char *arena_vprint(Arena *arena, const char *format, va_list args)
{
    // Formats twice: to measure, and to store.
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) out_of_memory(1, strlen(format));

    char *text = arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_print(Arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprint(arena, format, args);
    va_end(args);
    return text;
}

void *arena_grow(Arena *arena, void *array, int32_t *capacity, int64_t need,
                 size_t size)
{
    if (need <= *capacity) return array;
    if (need > INT32_MAX) out_of_memory((size_t)need, size);

    int64_t first = size > 32 ? 4 : 16;
    int64_t larger = *capacity > 0 ? 2 * (int64_t)*capacity : first;
    if (larger < need) larger = need;
    if (larger > INT32_MAX) larger = INT32_MAX;
    void *moved = arena_alloc(arena, (size_t)larger, size);
    if (*capacity > 0) {
        memcpy(moved, array, (size_t)*capacity * size);
        arena_release(arena, array);
    }
    *capacity = (int32_t)larger;
    return moved;
}
