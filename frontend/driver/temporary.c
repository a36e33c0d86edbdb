// Names and locks of temporary files, and their removal.  The locks are
// flock's: a lock belongs to the open file and ends with the process.
#define _DEFAULT_SOURCE

#include "temporary.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TAG_DIGITS = 16, MOST_LINKS = 40 };

// Returns the length of the folder with its slash; 0: the current folder.
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool fail(int error)
{
    errno = error;
    return false;
}

bool follow_links(const char *path, char place[PATH_ROOM])
{
    size_t bytes = strlen(path) + 1;
    if (bytes > PATH_ROOM) return fail(ENAMETOOLONG);
    memcpy(place, path, bytes);
    for (int links = 0; links < MOST_LINKS; links++) {
        char target[PATH_ROOM];
        ssize_t got = readlink(place, target, sizeof target);
        if (got < 0) return true;
        size_t length = (size_t)got;
        size_t folder = length > 0 && target[0] == '/' ? 0
                                                       : folder_length(place);
        if (folder + length >= PATH_ROOM) return fail(ENAMETOOLONG);
        memcpy(place + folder, target, length);
        place[folder + length] = '\0';
    }
    return fail(ELOOP);
}

// splitmix64: 64 pseudo-random bits.
static uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

const char *temporary_stem(Arena *arena, const char *place)
{
    static uint64_t count;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t tag = mix(mix((uint64_t)now.tv_sec * 1000000000u +
                           (uint64_t)now.tv_nsec) +
                       mix((uint64_t)getpid()) + count++);
    return arena_print(arena, "%s.%0*" PRIx64, place, (int)TAG_DIGITS, tag);
}

// Copies mode, owner and group of `place`, if it exists.  True if successful;
// copies as much as is allowed.
static bool keep_mode(int file, const char *place)
{
    struct stat old, fresh;
    if (stat(place, &old) != 0) return true;
    if (fstat(file, &fresh) != 0) return false;
    bool owned =
        (old.st_uid == fresh.st_uid && old.st_gid == fresh.st_gid) ||
        fchown(file, old.st_uid, old.st_gid) == 0 ||
        fchown(file, (uid_t)-1, old.st_gid) == 0;
    return fchmod(file, old.st_mode & 0777) == 0 && owned;
}

// Another program may sweep the file before it is locked, and remove it.
int temporary_create(const char *name, const char *place)
{
    struct stat status;
    int file = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0666);
    if (file < 0) return -1;
    bool swept = (flock(file, LOCK_EX | LOCK_NB) != 0 &&
                  errno == EWOULDBLOCK) ||
                 fstat(file, &status) != 0 || status.st_nlink == 0;
    if (!swept) {
        keep_mode(file, place);
        return file;
    }
    close(file);
    errno = EEXIST;
    return -1;
}

// True for base, a dot, a tag, and an ending.
static bool is_temporary_name(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.') return false;
    name += length + 1;
    if (strspn(name, "0123456789abcdef") != TAG_DIGITS) return false;
    name += TAG_DIGITS;
    return strcmp(name, ".tmp") == 0 || strcmp(name, ".old") == 0;
}

// Removes an unlocked file.  Its name may be another file's by now.  Locks over
// NFS need a file that is open for writing.
static void sweep_file(int folder, const char *name)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat status, named;
    int file = openat(folder, name, O_RDWR | flags);
    if (file < 0) file = openat(folder, name, O_RDONLY | flags);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        flock(file, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_dev == status.st_dev && named.st_ino == status.st_ino)
        unlinkat(folder, name, 0);
    close(file);
}

void temporary_sweep(const char *place)
{
    char path[PATH_ROOM] = ".";
    size_t length = folder_length(place);
    if (length >= sizeof path) return;
    if (length > 0) memcpy(path, place, length), path[length] = '\0';
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_temporary_name(entry->d_name, place + length))
            sweep_file(dirfd(folder), entry->d_name);
    closedir(folder);
}
