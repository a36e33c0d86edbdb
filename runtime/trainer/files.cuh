// Complaints, memory and whole files.  A complaint is one line on the error
// stream, `program: file: what was wanted and what was there`, and the value
// false, so that a function can return it.  Memory is taken in blocks that one
// list holds and that are released together at the end.
#pragma once
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *program_name = "trainer";

// Prints a complaint; false, always.
__attribute__((format(printf, 1, 2))) static inline bool complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    return false;
}

// MemoryBlock: stands before every piece of memory taken.
struct alignas(16) MemoryBlock {
    MemoryBlock *next;
};

static MemoryBlock *memory_blocks = NULL;

// Zeroed memory that lives until release_memory; ends the program where there is none.
static inline void *take_memory(size_t bytes)
{
    MemoryBlock *block = (MemoryBlock *)calloc(1, sizeof *block + bytes);
    if (!block) exit(complain("out of memory: %zu bytes more were wanted", bytes) + 1);
    block->next = memory_blocks;
    memory_blocks = block;
    return block + 1;
}

static inline void release_memory(void)
{
    while (memory_blocks) {
        MemoryBlock *next = memory_blocks->next;
        free(memory_blocks);
        memory_blocks = next;
    }
}

// FileBytes: a file, whole.
struct FileBytes {
    const unsigned char *bytes;
    size_t size;
};

// Reads a regular file.
static inline bool read_file_bytes(const char *path, FileBytes *file)
{
    struct stat status;
    FILE *in = fopen(path, "rb");
    if (!in) return complain("%s: can't be opened: %s", path, strerror(errno));
    bool regular = !fstat(fileno(in), &status) && S_ISREG(status.st_mode);
    file->size = regular ? (size_t)status.st_size : 0;
    void *bytes = take_memory(file->size);
    size_t got = fread(bytes, 1, file->size, in);
    file->bytes = (const unsigned char *)bytes;
    fclose(in);
    if (!regular) return complain("%s: wanted a regular file", path);
    return got == file->size || complain("%s: could read %zu bytes of %zu", path, got, file->size);
}

// Opens path.tmp, which becomes the path when it is whole; its name goes to *beside.  A device or
// a pipe would be replaced by it, and is refused.
static inline FILE *open_beside(const char *path, char **beside)
{
    struct stat status;
    if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
        complain("%s: can't be written: wanted a regular file", path);
        return NULL;
    }
    *beside = (char *)take_memory(strlen(path) + 5);
    sprintf(*beside, "%s.tmp", path);
    FILE *out = fopen(*beside, "wb");
    if (!out) complain("%s: can't be written: %s", *beside, strerror(errno));
    return out;
}

// Whether the path's folder lets it be written: better known before a long run than after.
static inline bool can_write(const char *path)
{
    char *beside;
    FILE *out = open_beside(path, &beside);
    return out && !fclose(out) && !remove(beside);
}
