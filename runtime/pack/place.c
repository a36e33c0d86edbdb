// The temporary folder for the output until it is complete: OUTPUT.TAG.tmp,
// where TAG is random.  Its lock lasts as long as the program.  So a later run
// recognizes the folder of a killed run, and removes it.
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "pack.h"

enum { TAG_DIGITS = 16, MOST_TRIES = 100 };

static const char ending[] = ".tmp";

// splitmix64: returns 64 bits that look random.
static uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static char *folder_name(const char *to)
{
    static uint64_t count;
    char tag[TAG_DIGITS + sizeof ending];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    snprintf(tag, sizeof tag, "%0*" PRIx64 "%s", (int)TAG_DIGITS,
             mix(mix(time) + mix((uint64_t)getpid()) + count++), ending);
    return join(to, ".", tag);
}

// False also if another run removed the folder before it was locked.
static bool lock_folder(const char *folder, int *lock)
{
    struct stat named, status;
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*lock < 0) return false;
    bool lost = flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!lost && stat(folder, &named) == 0 && fstat(*lock, &status) == 0 &&
        named.st_dev == status.st_dev && named.st_ino == status.st_ino)
        return true;
    close(*lock);
    return false;
}

char *make_folder(const char *to, int *lock)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        char *folder = folder_name(to);
        if (mkdir(folder, 0777) == 0) {
            if (lock_folder(folder, lock)) return folder;
        } else if (errno != EEXIST) {
            die(EXIT_FILES, to, strerror(errno));
        }
        free(folder);
    }
    die(EXIT_FILES, to, "no folder can be made and kept beside it");
    return NULL;
}

// True for base, a dot, a tag and the ending.
static bool is_folder_name(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.') return false;
    name += length + 1;
    return strspn(name, "0123456789abcdef") == TAG_DIGITS &&
           strcmp(name + TAG_DIGITS, ending) == 0;
}

// Removes only files that this program writes; a folder with other files stays.
static void sweep_folder(int parent, const char *name,
                         const char *const *files, size_t count)
{
    int folder = openat(parent, name,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
        for (size_t i = 0; i < count; i++) unlinkat(folder, files[i], 0);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(folder);
}

void sweep_folders(const char *to, const char *const *files, size_t count)
{
    const char *slash = strrchr(to, '/');
    char *path = join(to, "", "");
    if (slash != NULL) path[slash - to + 1] = '\0';
    DIR *list = opendir(slash != NULL ? path : ".");
    const char *base = slash != NULL ? slash + 1 : to;
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (is_folder_name(entry->d_name, base))
            sweep_folder(dirfd(list), entry->d_name, files, count);
    if (list != NULL) closedir(list);
    free(path);
}
