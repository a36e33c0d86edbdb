// Memory and mapped files.  A complaint about a file begins with its name.  A
// list holds all blocks of memory; they are freed together at the end.
// output.cuh writes files.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.cuh"

// MemoryBlock: precedes every allocated block.
struct alignas(16) MemoryBlock {
    MemoryBlock *next;
};

static MemoryBlock *memory_blocks = NULL;

// Returns zeroed memory, valid until release_memory.  Ends the program if there is none.
static inline void *take_memory(size_t bytes)
{
    MemoryBlock *block = (MemoryBlock *)calloc(1, sizeof *block + bytes);
    if (!block) exit(complain("out of memory: %zu bytes more were wanted", bytes) + 1);
    block->next = memory_blocks;
    memory_blocks = block;
    return block + 1;
}

// FileBytes: the content of a file.
struct FileBytes {
    const unsigned char *bytes;
    size_t size;
};

// MappedFile: a file, mapped until release_memory.
struct MappedFile {
    const char *path;
    unsigned char *bytes;
    size_t size;
    struct stat status;         // at the time of mapping
    int lost;                   // a read failed, and zeros replaced the mapping
    MappedFile *next;
};

static MappedFile *mapped_files = NULL;

static inline void release_memory(void)
{
    for (; mapped_files; mapped_files = mapped_files->next)
        munmap(mapped_files->bytes, mapped_files->size);
    while (memory_blocks) {
        MemoryBlock *next = memory_blocks->next;
        free(memory_blocks);
        memory_blocks = next;
    }
}

// Returns the text of errno after a failed open.  It tells a missing folder from a missing file.
static inline const char *open_error(const char *path)
{
    const int error = errno;
    const char *slash = strrchr(path, '/');
    struct stat status;
    char folder[4096];
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (error != ENOENT || !length || length >= sizeof folder) return strerror(error);
    memcpy(folder, path, length);
    folder[length] = 0;
    return stat(folder, &status) && errno == ENOENT ? "its folder is missing" : strerror(error);
}

// Maps a regular file read-only; pages are read on first use.  The path must live as long as the
// mapping.
static inline bool map_file(const char *path, FileBytes *file)
{
    struct stat status;
    int in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (in < 0) return complain("%s: can't be opened: %s", path, open_error(path));
    bool regular = !fstat(in, &status) && S_ISREG(status.st_mode);
    *file = {(const unsigned char *)"", regular ? (size_t)status.st_size : 0};
    void *at = file->size ? mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, in, 0) : NULL;
    close(in);
    if (!regular) return complain("%s: wanted a regular file", path);
    if (at == MAP_FAILED) return complain("%s: can't be mapped: %s", path, strerror(errno));
    if (!at) return true;
    MappedFile *kept = (MappedFile *)take_memory(sizeof *kept);
    *kept = {path, (unsigned char *)at, file->size, status, 0, mapped_files};
    mapped_files = kept;
    file->bytes = kept->bytes;
    return true;
}

// Unmaps a file, which must be the last one that was mapped.
static inline void unmap_last(const FileBytes *file)
{
    if (!file->size) return;
    munmap(mapped_files->bytes, mapped_files->size);
    mapped_files = mapped_files->next;
}

// ---- files that become shorter while they are mapped

// SIGBUS: a page of a mapped file can't be read, because the file is shorter now or its disk fails.
// Zeros replace the whole mapping, so that any thread can continue, and the file is marked as lost.
// Callers must check files_are_whole before they use the data.
static void mend_mapping(int number, siginfo_t *info, void *)
{
    const int error = errno;
    unsigned char *at = (unsigned char *)info->si_addr;
    for (MappedFile *m = mapped_files; m; m = m->next)
        if (at >= m->bytes && at < m->bytes + m->size) {
            __atomic_store_n(&m->lost, 1, __ATOMIC_SEQ_CST);
            if (mmap(m->bytes, m->size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                     0) == MAP_FAILED)
                signal(number, SIG_DFL);
            errno = error;
            return;
        }
    signal(number, SIG_DFL);    // not of a mapped file: the access is repeated and ends the program
}

static inline void watch_mapped_files(void)
{
    struct sigaction mends = {};
    mends.sa_sigaction = mend_mapping;
    mends.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGBUS, &mends, NULL);
}

// True if a mapped file has lost bytes.  Lost bytes in its last page read as zeros without a
// signal, so its size is compared too.  A file that another one has replaced is intact.
static inline bool has_lost_bytes(const MappedFile *m)
{
    struct stat now;
    if (__atomic_load_n(&m->lost, __ATOMIC_SEQ_CST)) return true;
    return !stat(m->path, &now) && now.st_dev == m->status.st_dev &&
           now.st_ino == m->status.st_ino && (size_t)now.st_size < m->size;
}

// Returns the first mapped file that has lost bytes, or NULL.
static inline const MappedFile *lost_file(void)
{
    const MappedFile *m = mapped_files;
    while (m && !has_lost_bytes(m)) m = m->next;
    return m;
}

// True if no mapped file has lost bytes so far; otherwise complains.
static inline bool files_are_whole(void)
{
    const MappedFile *lost = lost_file();
    return !lost || complain("%s: became shorter while it was in use, or can't be read any more: "
                             "it had %zu bytes", lost->path, lost->size);
}
