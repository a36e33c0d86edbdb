// Observes and spoils the temporary files of a program (PATH.TAG.tmp): loaded
// before the C library (LD_PRELOAD).  Each call that creates, writes, flushes,
// syncs, closes or renames one, and each that syncs a folder, has a number,
// from 1.
//
//     SHIM_TRACE=FILE        a line a call: its name
//     SHIM_AT=K SHIM_DO=kill call K does not return: SIGKILL, a write half done
//     SHIM_AT=K SHIM_DO=fail call K fails, a write half done: the disk is full
//     SHIM_AT=K SHIM_DO=int  two SIGINT come in call K
//     SHIM_AT=K SHIM_DO=stop one comes
//     SHIM_AT=K SHIM_DO=term SIGTERM comes
//     SHIM_AT=K SHIM_DO=exit the program finds a fault of its own: exit(70)
//     SHIM_KEEP=DIR          what a file becomes by its Nth rename is DIR/N.NAME, too
//     SHIM_IN_PLACE=1        a planted fault: files are written in their places
//
// A sync of another file is "fsync other"; so is one of a folder that no file was
// renamed in last.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64, LONGEST = 4096, FILES = 1024 };
static FILE *beside[MOST];      // files that are open under a name that ends in .tmp
static char created[FILES];     // whether a descriptor is such a file's, without a stream yet
static char renamed[LONGEST];   // where the last rename led

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int ends_in_tmp(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".tmp");
}

static int is_beside(const FILE *file)
{
    for (int i = 0; i < MOST; i++)
        if (file && beside[i] == file) return 1;
    return 0;
}

// Counts a call; whether it is the one, and the first letter of the action.
static int meet(const char *name)
{
    static int count;
    const char *at = getenv("SHIM_AT"), *trace = getenv("SHIM_TRACE");
    count++;
    if (trace) {
        FILE *out = REAL(fopen)(trace, "a");
        fprintf(out, "%s\n", name);
        REAL(fclose)(out);
    }
    return at && atoi(at) == count ? *getenv("SHIM_DO") : 0;
}

// Does it; whether the call is to fail.
static int suffer(int what)
{
    if (what == 'k') kill(getpid(), SIGKILL);
    if (what == 'i' || what == 's') raise(SIGINT);
    if (what == 'i') raise(SIGINT);
    if (what == 't') raise(SIGTERM);
    if (what == 'e') exit(70);
    if (what == 'f') errno = ENOSPC;
    return what == 'f';
}

// From here on the stream fails by itself, as it does on a full disk.
static void fill_disk(FILE *file)
{
    int full = open("/dev/full", O_WRONLY);
    dup2(full, fileno(file));
    close(full);
}

// PATH.TAG.tmp to PATH.
static void cut_to_place(char *path)
{
    path[strlen(path) - 4] = 0;
    *strrchr(path, '.') = 0;
}

// Creates one, or in its place the file that it would become.
static int create(const char *path, int flags, mode_t mode)
{
    char place[LONGEST];
    if (suffer(meet("open"))) return -1;
    snprintf(place, sizeof place, "%s", path);
    if (getenv("SHIM_IN_PLACE")) cut_to_place(place), flags = (flags & ~O_EXCL) | O_TRUNC;
    int file = REAL(open)(place, flags, mode);
    if (file >= 0 && file < FILES) created[file] = 1;
    return file;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return flags & O_CREAT && ends_in_tmp(path) ? create(path, flags, mode)
                                                : REAL(open)(path, flags, mode);
}

// Its stream is seen from here on.
FILE *fdopen(int number, const char *mode)
{
    FILE *file = REAL(fdopen)(number, mode);
    bool seen = number >= 0 && number < FILES && created[number];
    if (seen) created[number] = 0;
    for (int i = 0; seen && file && i < MOST; i++)
        if (!beside[i]) {
            beside[i] = file;
            break;
        }
    return file;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file)
{
    int what = size * count > 0 && is_beside(file) ? meet("fwrite") : 0;
    if (!what) return REAL(fwrite)(bytes, size, count, file);
    size_t done = REAL(fwrite)(bytes, size, count / 2, file);
    REAL(fflush)(file);
    int fails = suffer(what);
    if (fails) fill_disk(file);
    size_t more = REAL(fwrite)((const char *)bytes + done * size, size, count - done, file);
    return fails && REAL(fflush)(file) ? done : done + more;
}

int fflush(FILE *file)
{
    if (is_beside(file) && suffer(meet("fflush"))) return EOF;
    return REAL(fflush)(file);
}

int fclose(FILE *file)
{
    int fails = is_beside(file) && suffer(meet("fclose"));
    for (int i = 0; i < MOST; i++)
        if (beside[i] == file) beside[i] = NULL;
    int closed = REAL(fclose)(file);
    if (fails) errno = ENOSPC;
    return fails ? EOF : closed;
}

static int is_folder_of_rename(int file)
{
    struct stat status, wanted;
    char folder[LONGEST] = ".";
    const char *slash = strrchr(renamed, '/');
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - renamed) + 1, renamed);
    return renamed[0] && !fstat(file, &status) && !stat(folder, &wanted) &&
           S_ISDIR(status.st_mode) && status.st_dev == wanted.st_dev &&
           status.st_ino == wanted.st_ino;
}

int fsync(int file)
{
    const char *name = is_folder_of_rename(file) ? "fsync folder" : "fsync other";
    for (int i = 0; i < MOST; i++)
        if (beside[i] && fileno(beside[i]) == file) name = "fsync";
    if (suffer(meet(name))) return -1;
    return REAL(fsync)(file);
}

int rename(const char *from, const char *to)
{
    static int count;
    char kept[2 * LONGEST];
    const char *keep = getenv("SHIM_KEEP"), *slash = strrchr(to, '/');
    if (!ends_in_tmp(from)) return REAL(rename)(from, to);
    if (suffer(meet("rename"))) return -1;
    int done = getenv("SHIM_IN_PLACE") ? 0 : REAL(rename)(from, to);
    snprintf(renamed, sizeof renamed, "%s", to);
    snprintf(kept, sizeof kept, "%s/%d.%s", keep ? keep : "", ++count, slash ? slash + 1 : to);
    if (keep && !done && link(to, kept)) return -1;
    return done;
}
