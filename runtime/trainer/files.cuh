// Memory and whole files; what is wrong with a file is a complaint that begins
// with its name.  Memory is taken in blocks that one list holds and that are
// released together at the end.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.cuh"

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

// FileBytes: a file, whole; the list keeps what is mapped.
struct FileBytes {
    const unsigned char *bytes;
    size_t size;
    FileBytes *next;
};

static FileBytes *mapped_files = NULL;

static inline void release_memory(void)
{
    for (; mapped_files; mapped_files = mapped_files->next)
        munmap((void *)mapped_files->bytes, mapped_files->size);
    while (memory_blocks) {
        MemoryBlock *next = memory_blocks->next;
        free(memory_blocks);
        memory_blocks = next;
    }
}

// Maps a regular file, read only: what of it is never looked at is never read.
static inline bool map_file(const char *path, FileBytes *file)
{
    struct stat status;
    int in = open(path, O_RDONLY | O_NONBLOCK);
    if (in < 0) return complain("%s: can't be opened: %s", path, strerror(errno));
    bool regular = !fstat(in, &status) && S_ISREG(status.st_mode);
    *file = {(const unsigned char *)"", regular ? (size_t)status.st_size : 0, NULL};
    void *at = file->size ? mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, in, 0) : NULL;
    close(in);
    if (!regular) return complain("%s: wanted a regular file", path);
    if (at == MAP_FAILED) return complain("%s: can't be mapped: %s", path, strerror(errno));
    if (!at) return true;
    FileBytes *kept = (FileBytes *)take_memory(sizeof *kept);
    *kept = {(const unsigned char *)at, file->size, mapped_files};
    *file = *(mapped_files = kept);
    return true;
}

// BesideFile: a file path.tmp, which becomes the path when it is whole.
struct BesideFile {
    FILE *out;
    const char *path;
    char beside[4096];
};

// Opens it.  A device or a pipe would be replaced by the new file, and is refused.
static inline bool open_beside(const char *path, BesideFile *file)
{
    struct stat status;
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        return complain("%s: can't be written: wanted a regular file", path);
    file->path = path;
    int length = snprintf(file->beside, sizeof file->beside, "%s.tmp", path);
    if (length >= (int)sizeof file->beside)
        return complain("%s: can't be written: wanted a shorter path", path);
    file->out = fopen(file->beside, "wb");
    return file->out || complain("%s: can't be written: %s", file->beside, strerror(errno));
}

// Syncs the folder of a path, so that a rename in it outlives a loss of power.
static inline bool sync_folder(const char *path)
{
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int in = open(folder, O_RDONLY | O_DIRECTORY);
    if (in < 0) return false;
    // EINVAL is what file systems say that have nothing to sync there.
    bool synced = !fsync(in) || errno == EINVAL;
    int error = errno;
    close(in);
    errno = error;
    return synced;
}

// Syncs, closes and renames it, if all of it was written; else it goes, and the path stays as it
// was.  errno tells why.
static inline bool close_beside(BesideFile *file, bool written)
{
    written = written && !fflush(file->out) && !ferror(file->out) && !fsync(fileno(file->out));
    int error = errno;
    bool closed = !fclose(file->out);
    if (written) error = errno;
    written = written && closed;
    if (written && rename(file->beside, file->path)) written = false, error = errno;
    if (!written) {
        remove(file->beside);
        return complain("%s: can't be written: %s", file->path, strerror(error));
    }
    return sync_folder(file->path) ||
           complain("%s: is written, but its folder can't be synced: %s", file->path,
                    strerror(errno));
}

// Whether the path's folder lets it be written: better known before a long run than after.
static inline bool can_write(const char *path)
{
    BesideFile file;
    if (!open_beside(path, &file)) return false;
    bool closed = !fclose(file.out), removed = !remove(file.beside);
    return (closed && removed) ||
           complain("%s: can't be written: %s", file.beside, strerror(errno));
}
