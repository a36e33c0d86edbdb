// Writes output files.  Special files, such as /dev/null or pipes, are written
// in place.
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "output.h"
#include "temporary.h"

// Names to remove at exit and on signals.
static const char *volatile leftovers[2 * MOST_OUTPUTS];

static bool failed(const Output *out)
{
    command_message(out->diag, MESSAGE_ERROR, "can't write '%s': %s",
                    out->path != NULL ? out->path : "standard output",
                    strerror(errno));
    return false;
}

// True for special files.  /dev/stdout may be a plain file, which only its
// descriptor reaches.
static bool is_special(const char *path)
{
    static const char *const places[] = { "/dev/std", "/dev/fd/", "/proc/" };
    struct stat status;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0) return true;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

// Gets the status of the folder in which path would be created.
static bool folder_of(const char *path, struct stat *status)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return stat(".", status) == 0;
    char folder[PATH_ROOM];
    size_t length = (size_t)(slash - path) + 1;
    if (length >= sizeof folder) return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return stat(folder, status) == 0;
}

bool same_file(const char *named, const char *other)
{
    char a[PATH_ROOM], b[PATH_ROOM];
    struct stat left, right;
    if (!follow_links(named, a) || !follow_links(other, b)) return false;
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

// ---- temporary names --------------------------------------------------------

static void remove_leftovers(void)
{
    for (int i = 0; i < 2 * MOST_OUTPUTS; i++)
        if (leftovers[i] != NULL) unlink(leftovers[i]);
}

// A signal handler: calls only async-signal-safe functions.
static void end_by_signal(int number)
{
    remove_leftovers();
    signal(number, SIG_DFL);
    raise(number);
}

enum { END_COUNT = 3 };
static const int end_signals[END_COUNT] = { SIGINT, SIGTERM, SIGHUP };

// Blocks these signals; returns the signals blocked before.
static sigset_t hold_ends(void)
{
    sigset_t ends, before;
    sigemptyset(&ends);
    for (int i = 0; i < END_COUNT; i++) sigaddset(&ends, end_signals[i]);
    sigprocmask(SIG_BLOCK, &ends, &before);
    return before;
}

// Installs handlers once.  Ignored signals stay ignored.  Exceeding the limit
// of file sizes is an error like a full disk, not a signal.
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

static void note_leftover(const char *name)
{
    int i = 0;
    while (leftovers[i] != NULL) i++;
    leftovers[i] = name;
}

static void forget_leftover(const char *name)
{
    for (int i = 0; i < 2 * MOST_OUTPUTS; i++)
        if (leftovers[i] == name) leftovers[i] = NULL;
}

// ---- opening and closing ----------------------------------------------------

// Creates a temporary file in the target's folder, as a stream.  Signals are
// blocked until its name is registered for removal.
static FILE *open_temporary(Output *out, Arena *arena)
{
    enum { MOST_TRIES = 100 };
    int file = -1;
    sigset_t before = hold_ends();
    for (int tries = 0; file < 0 && tries < MOST_TRIES; tries++) {
        const char *stem = temporary_stem(arena, out->place);
        out->old = arena_print(arena, "%s.old", stem);
        out->temporary = arena_print(arena, "%s.tmp", stem);
        file = temporary_create(out->temporary, out->place);
        if (file < 0 && errno != EEXIST) break;
    }
    if (file >= 0) note_leftover(out->temporary);
    else out->temporary = NULL;
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    if (file < 0) return NULL;
    // The lock is held until the file is moved, after the stream is closed.
    out->lock = dup(file);
    return fdopen(file, "wb");
}

// Opens a special file in place.  A pipe without a reader fails after 5
// seconds.
static FILE *open_special(const char *path)
{
    enum { TRIES = 100 };       // 50 ms apart
    const struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC;
    int file = open(path, flags, 0666);
    for (int i = 0; file < 0 && errno == ENXIO && i < TRIES; i++) {
        nanosleep(&pause, NULL);
        file = open(path, flags, 0666);
    }
    if (file < 0) return NULL;
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return fdopen(file, "wb");
}

bool output_open(Output *out, Diag *diag, const char *path)
{
    char place[PATH_ROOM];
    *out = (Output){ .stream = stdout, .diag = diag, .lock = -1,
                     .old_lock = -1 };
    if (path == NULL || strcmp(path, "-") == 0) return true;
    out->stream = NULL;
    out->path = out->place = path;
    if (is_special(path)) {
        out->stream = open_special(path);
        return out->stream != NULL || failed(out);
    }
    if (!follow_links(path, place)) return failed(out);
    out->place = arena_copy(diag->arena, place, strlen(place));
    watch_ends();
    temporary_sweep(out->place);
    out->stream = open_temporary(out, diag->arena);
    return out->stream != NULL || failed(out);
}

// True if all bytes are written; the file is not moved yet.
static bool is_written(Output *out)
{
    bool written = fflush(out->stream) == 0 && !ferror(out->stream);
    int error = errno;
    if (out->path == NULL) return written || failed(out);
    bool closed = fclose(out->stream) == 0;
    out->stream = NULL;
    if (!written) errno = error;
    return (written && closed) || failed(out);
}

// Gives the old file a second name until all files are moved.  A lock marks the
// name as used; a file that can't be read is not locked.
static void name_old(Output *out)
{
    out->was_there = true;
    note_leftover(out->old);
    if (link(out->place, out->old) != 0) {
        out->was_there = errno != ENOENT;
        forget_leftover(out->old);
        out->old = NULL;
        return;
    }
    out->old_lock = open(out->old, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (out->old_lock >= 0) flock(out->old_lock, LOCK_SH | LOCK_NB);
}

// Moves a written file to its place.
static bool is_moved(Output *out)
{
    if (out->temporary == NULL) return true;
    name_old(out);
    out->moved = rename(out->temporary, out->place) == 0;
    if (!out->moved) return failed(out);
    forget_leftover(out->temporary);
    out->temporary = NULL;
    return true;
}

static void put_back(Output *out)
{
    if (!out->moved) return;
    if (out->old != NULL) rename(out->old, out->place);
    else if (!out->was_there) unlink(out->place);
}

static void drop_locks(Output *out)
{
    if (out->lock >= 0) close(out->lock);
    if (out->old_lock >= 0) close(out->old_lock);
    out->lock = out->old_lock = -1;
}

// Moves all files or none; signals are blocked meanwhile.
static bool move_all(Output *out, int count)
{
    sigset_t before = hold_ends();
    bool good = true;
    for (int i = 0; i < count && good; i++) good = is_moved(&out[i]);
    for (int i = 0; i < count; i++) {
        if (!good) put_back(&out[i]);
        if (out[i].temporary == NULL && !out[i].moved) continue;
        if (out[i].old != NULL) unlink(out[i].old);
        if (out[i].old != NULL) forget_leftover(out[i].old);
        if (out[i].moved) drop_locks(&out[i]);
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
        drop_locks(&out[i]);
    }
}
