// Reads whole files with limits: on bytes, for devices without an end, and on
// time, for pipes without a writer.
#define _POSIX_C_SOURCE 200809L

#include "read_file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Time limits in seconds without a byte: of a pipe that no program has opened
// for writing, and of one that a program has.
enum { NO_WRITER = 5, SILENT = 60 };

typedef struct Text {
    Arena      *arena;
    int         file;
    bool        is_pipe;
    size_t      most, length;
    char       *bytes;
    int32_t     capacity;
    const char *why;            // the error, or NULL
} Text;

// Waits for bytes or the end of the file.  Sets t->why after `seconds`.
static void await(Text *t, int seconds, const char *why)
{
    struct pollfd wanted = { .fd = t->file, .events = POLLIN };
    int ready = poll(&wanted, 1, isatty(t->file) ? -1 : 1000 * seconds);
    if (ready == 0) t->why = why;
    else if (ready < 0 && errno != EINTR) t->why = strerror(errno);
}

// True if a read of 0 bytes is the end: a writer has closed the pipe.  A pipe
// without a writer reads alike, but poll tells them apart.
static bool is_end(Text *t)
{
    if (!t->is_pipe || t->length > 0) return true;
    struct pollfd wanted = { .fd = t->file, .events = POLLIN };
    if (poll(&wanted, 1, 0) > 0 && (wanted.revents & POLLHUP)) return true;
    await(t, NO_WRITER, "no program writes to this pipe");
    return false;
}

static void read_all(Text *t)
{
    for (;;) {
        t->bytes = arena_grow(t->arena, t->bytes, &t->capacity,
                              (int64_t)t->length + 4096, 1);
        ssize_t got = read(t->file, t->bytes + t->length,
                           (size_t)t->capacity - t->length);
        if (got > 0) t->length += (size_t)got;
        else if (got == 0 && is_end(t)) return;
        else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            await(t, SILENT, "nothing came through this pipe for 60 seconds");
        else if (got < 0 && errno != EINTR) t->why = strerror(errno);
        if (t->length > t->most) t->why = "there are more than 64 MiB to read";
        if (t->why != NULL) return;
    }
}

const char *read_text(Arena *arena, const char *path, size_t most,
                      size_t *length, const char **why)
{
    Text t = { .arena = arena, .most = most };
    struct stat status;

    t.file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (t.file < 0 || fstat(t.file, &status) != 0) {
        *why = strerror(errno);
        if (t.file >= 0) close(t.file);
        return NULL;
    }
    t.is_pipe = S_ISFIFO(status.st_mode);
    read_all(&t);
    close(t.file);
    *why = t.why;
    if (t.why != NULL) return NULL;
    size_t mark = t.length >= 3 && memcmp(t.bytes, "\xEF\xBB\xBF", 3) == 0 ? 3
                                                                           : 0;
    *length = t.length - mark;
    return t.bytes + mark;
}

const char *read_named_text(Diag *diag, Arena *arena, const char *path,
                            size_t *length)
{
    const char *why;
    const char *text = read_text(arena, path, MOST_TEXT, length, &why);
    if (text == NULL)
        command_message(diag, MESSAGE_ERROR, "can't read '%s': %s", path, why);
    return text;
}
