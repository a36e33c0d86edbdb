// What is no plain file, such as /dev/null or a pipe, is written in place.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"

// Names that are to go when the program ends, for exit and for signals.
static const char *volatile leftovers[2 * MOST_OUTPUTS];

static bool failed(const char *path)
{
    fprintf(stderr, "cnnc: can't write '%s': %s\n", path, strerror(errno));
    return false;
}

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

// Where there is no such file, what is opened there is in this folder.
static bool folder_of(const char *path, struct stat *status)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return stat(".", status) == 0;
    char folder[4096];
    size_t length = (size_t)(slash - path) + 1;
    if (length >= sizeof folder) return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return stat(folder, status) == 0;
}

bool same_file(const char *a, const char *b)
{
    struct stat left, right;
    bool has_left = stat(a, &left) == 0, has_right = stat(b, &right) == 0;
    if (has_left != has_right) return false;
    if (has_left && !S_ISREG(left.st_mode)) return false;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    if (!has_left &&
        (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0 ||
         !folder_of(a, &left) || !folder_of(b, &right)))
        return false;
    return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// ---- names that must not stay -----------------------------------------------

static void remove_leftovers(void)
{
    for (int i = 0; i < 2 * MOST_OUTPUTS; i++)
        if (leftovers[i] != NULL) unlink(leftovers[i]);
}

// Calls nothing that a signal may not.
static void end_by_signal(int number)
{
    remove_leftovers();
    signal(number, SIG_DFL);
    raise(number);
}

enum { END_COUNT = 3 };
static const int end_signals[END_COUNT] = { SIGINT, SIGTERM, SIGHUP };

// Once.  A signal that was to be ignored still is, and a file past the limit
// of its size is an error as a full disk is.
static void watch_ends(void)
{
    static bool watching;
    if (watching) return;
    watching = true;
    atexit(remove_leftovers);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < END_COUNT; i++)
        if (signal(end_signals[i], end_by_signal) == SIG_IGN)
            signal(end_signals[i], SIG_IGN);
}

// False if there is such a name already: two outputs go to one place.
static bool note_leftover(const char *name)
{
    int i = 0;
    while (leftovers[i] != NULL && strcmp(leftovers[i], name) != 0) i++;
    if (leftovers[i] != NULL) return false;
    leftovers[i] = name;
    return true;
}

static void forget_leftover(const char *name)
{
    for (int i = 0; i < 2 * MOST_OUTPUTS; i++)
        if (leftovers[i] == name) leftovers[i] = NULL;
}

// ---- opening and closing ----------------------------------------------------

bool output_open(Output *out, Arena *arena, const char *path)
{
    *out = (Output){ .stream = stdout };
    if (path == NULL || strcmp(path, "-") == 0) return true;
    *out = (Output){ .path = path };
    if (!is_special(path)) {
        watch_ends();
        out->old = arena_print(arena, "%s.%ld.old", path, (long)getpid());
        out->temporary =
            arena_print(arena, "%s.%ld.tmp", path, (long)getpid());
        if (!note_leftover(out->temporary)) {
            out->temporary = NULL;
            errno = EEXIST;
            return failed(path);
        }
    }
    out->stream = fopen(out->temporary != NULL ? out->temporary : path, "wb");
    return out->stream != NULL || failed(path);
}

// All of it is written, and not yet in its place.
static bool is_written(Output *out)
{
    bool written = fflush(out->stream) == 0 && !ferror(out->stream);
    int error = errno;
    if (out->path == NULL) return written || failed("standard output");
    bool closed = fclose(out->stream) == 0;
    out->stream = NULL;
    if (!written) errno = error;
    return (written && closed) || failed(out->path);
}

// Moves it to its place; what was there has a second name until all are moved.
static bool is_moved(Output *out)
{
    if (out->temporary == NULL) return true;
    out->was_there = true;
    note_leftover(out->old);
    if (link(out->path, out->old) != 0) {
        out->was_there = errno != ENOENT;
        forget_leftover(out->old);
        out->old = NULL;
    }
    out->moved = rename(out->temporary, out->path) == 0;
    if (!out->moved) return failed(out->path);
    forget_leftover(out->temporary);
    out->temporary = NULL;
    return true;
}

static void put_back(Output *out)
{
    if (!out->moved) return;
    if (out->old != NULL) rename(out->old, out->path);
    else if (!out->was_there) unlink(out->path);
}

// Signals wait until either all are moved or none is.
static bool move_all(Output *out, int count)
{
    sigset_t ends, before;
    bool good = true;
    sigemptyset(&ends);
    for (int i = 0; i < END_COUNT; i++) sigaddset(&ends, end_signals[i]);
    sigprocmask(SIG_BLOCK, &ends, &before);
    for (int i = 0; i < count && good; i++) good = is_moved(&out[i]);
    for (int i = 0; i < count; i++) {
        if (!good) put_back(&out[i]);
        if (out[i].temporary == NULL && !out[i].moved) continue;
        if (out[i].old != NULL) unlink(out[i].old);
        if (out[i].old != NULL) forget_leftover(out[i].old);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good;
}

bool output_close(Output *out, int count)
{
    bool good = true;
    for (int i = 0; i < count; i++)
        if (out[i].stream != NULL) good = is_written(&out[i]) && good;
    good = good && move_all(out, count);
    if (!good) output_discard(out, count);
    return good;
}

void output_discard(Output *out, int count)
{
    for (int i = 0; i < count; i++) {
        if (out[i].path != NULL && out[i].stream != NULL) fclose(out[i].stream);
        if (out[i].temporary == NULL) continue;
        unlink(out[i].temporary);
        forget_leftover(out[i].temporary);
        out[i].temporary = NULL;
    }
}
