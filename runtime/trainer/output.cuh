// Files that the trainer writes.  A crash leaves the old file or the new one: the content goes to
// PATH.TAG.tmp in the same folder, which is synced and renamed.
//
// The writer holds a lock on the temporary file.  So a run can tell which temporary files a killed
// run has left, and removes them.  A training run claims its outputs: it holds a lock on PATH.lock
// from its start to its end.  The lock has its own file because each rename gives PATH a new inode.
// The kernel releases the lock when the process ends.
#pragma once
#include <dirent.h>
#include <sys/file.h>
#include <time.h>

#include "files.cuh"
#include "shuffle.cuh"

enum OutputLimits { PATH_ROOM = 4096, TAG_DIGITS = 16, MOST_LINKS = 40 };

// BesideFile: a file that is being written.
struct BesideFile {
    FILE *out;
    const char *path;           // as given, for complaints
    char place[PATH_ROOM];      // the final path, with links followed
    char beside[PATH_ROOM];     // the temporary path
};

// Returns the bytes of a path's folder with its final slash, or 0 for the current folder.
static inline size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// Finds the file that a path leads to, which need not exist, by following links in its last part.
// Returns false and sets errno if there is no such name.
static inline bool follow_links(const char *path, char place[PATH_ROOM])
{
    if (snprintf(place, PATH_ROOM, "%s", path) >= PATH_ROOM) return errno = ENAMETOOLONG, false;
    for (int links = 0; links < MOST_LINKS; links++) {
        char target[PATH_ROOM];
        ssize_t length = readlink(place, target, sizeof target);
        if (length < 0) return true;
        size_t folder = length && target[0] == '/' ? 0 : folder_length(place);
        if (folder + (size_t)length >= PATH_ROOM) return errno = ENAMETOOLONG, false;
        memcpy(place + folder, target, (size_t)length);
        place[folder + (size_t)length] = 0;
    }
    return errno = ELOOP, false;
}

// Returns a random number to make a temporary name unique.
static inline uint64_t output_tag(void)
{
    static uint64_t count = 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return splitmix64(splitmix64((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) +
                      splitmix64((uint64_t)getpid()) + count++);
}

// Creates and locks the temporary file.  O_EXCL refuses an existing name, also a link.  Another run
// may remove the file before it is locked; then another name is tried.  Returns a descriptor, or -1
// with errno set.
static inline int create_beside(BesideFile *file)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    for (int tries = 0; tries < 100; tries++) {
        int length = snprintf(file->beside, sizeof file->beside, "%s.%0*llx.tmp", file->place,
                              (int)TAG_DIGITS, (unsigned long long)output_tag());
        if (length >= PATH_ROOM) return errno = ENAMETOOLONG, -1;
        struct stat status;
        int out = open(file->beside, flags, 0666);
        if (out < 0 && errno != EEXIST) return -1;
        bool swept = out < 0 || (flock(out, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ||
                     fstat(out, &status) || !status.st_nlink;
        if (!swept) return out;
        if (out >= 0) close(out);
    }
    return errno = EEXIST, -1;
}

// Gives a new file the mode of the one that it replaces, and its owner and group if permitted.
static inline bool keep_mode(int out, const struct stat *old)
{
    struct stat fresh;
    if (fstat(out, &fresh)) return false;
    bool same = fresh.st_uid == old->st_uid && fresh.st_gid == old->st_gid;
    bool owned = same || !fchown(out, old->st_uid, old->st_gid) ||
                 !fchown(out, (uid_t)-1, old->st_gid);
    return !fchmod(out, old->st_mode & 0777) && owned;
}

// Opens a temporary file for a path.  Refuses devices and pipes, which the rename would replace.
static inline bool open_beside(const char *path, BesideFile *file)
{
    struct stat status;
    file->path = path;
    file->out = NULL;
    if (!follow_links(path, file->place))
        return complain("%s: can't be written: %s", path, strerror(errno));
    bool there = !stat(file->place, &status);
    if (there && !S_ISREG(status.st_mode))
        return complain("%s: can't be written: wanted a regular file", path);
    int out = create_beside(file);
    if (out >= 0 && there) keep_mode(out, &status);
    if (out >= 0) file->out = fdopen(out, "wb");
    if (out >= 0 && !file->out) close(out), remove(file->beside);
    return file->out || complain("%s: can't be written: %s", path, open_error(file->place));
}

// Closes and removes the temporary file; the path is unchanged.
static inline bool drop_beside(BesideFile *file)
{
    bool closed = !fclose(file->out), removed = !remove(file->beside);
    file->out = NULL;
    return closed && removed;
}

// Syncs the folder of a path, so that a rename survives a loss of power.
static inline bool sync_folder(const char *path)
{
    char folder[PATH_ROOM] = ".";
    size_t length = folder_length(path);
    if (length) snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    int in = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in < 0) return false;
    // fsync fails with EINVAL on file systems that can't sync a folder.
    bool synced = !fsync(in) || errno == EINVAL;
    int error = errno;
    close(in);
    errno = error;
    return synced;
}

// Syncs, closes and renames the file if all of it was written.  Otherwise removes it, and the path
// is unchanged.  A second descriptor holds the lock until the file has its name.
static inline bool close_beside(BesideFile *file, bool written)
{
    int lock = dup(fileno(file->out));
    written = written && !fflush(file->out) && !ferror(file->out) && !fsync(fileno(file->out));
    int error = errno;
    bool closed = !fclose(file->out);
    if (written) error = errno;
    written = written && closed;
    if (written && rename(file->beside, file->place)) written = false, error = errno;
    if (!written) remove(file->beside);
    if (lock >= 0) close(lock);
    file->out = NULL;
    if (!written) return complain("%s: can't be written: %s", file->path, strerror(error));
    return sync_folder(file->place) ||
           complain("%s: is written, but its folder can't be synced: %s", file->path,
                    strerror(errno));
}

// ---- temporary files of killed runs

// True if a name is that of a temporary file of `base`: base, a tag and the ending.
static inline bool is_beside_name(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) || name[length] != '.') return false;
    name += length + 1;
    return strspn(name, "0123456789abcdef") == TAG_DIGITS && !strcmp(name + TAG_DIGITS, ".tmp");
}

// Removes a temporary file if nobody holds its lock.
static inline void sweep_file(int folder, const char *name)
{
    struct stat status, named;
    int in = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0) return;
    // The name may belong to another file by now.
    if (!fstat(in, &status) && S_ISREG(status.st_mode) && !flock(in, LOCK_EX | LOCK_NB) &&
        !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) && named.st_dev == status.st_dev &&
        named.st_ino == status.st_ino)
        unlinkat(folder, name, 0);
    close(in);
}

// Removes the temporary files of a path that killed runs have left.
static inline void sweep_beside(const char *path)
{
    char place[PATH_ROOM], folder[PATH_ROOM] = ".";
    if (!follow_links(path, place)) return;
    size_t length = folder_length(place);
    if (length) snprintf(folder, sizeof folder, "%.*s", (int)length, place);
    DIR *list = opendir(folder);
    while (struct dirent *entry = list ? readdir(list) : NULL)
        if (is_beside_name(entry->d_name, place + length)) sweep_file(dirfd(list), entry->d_name);
    if (list) closedir(list);
}

// True if the path's folder is writable.  Checked at the start of a run rather than at its end.
static inline bool can_write(const char *path)
{
    BesideFile file;
    sweep_beside(path);
    if (!open_beside(path, &file)) return false;
    return drop_beside(&file) ||
           complain("%s: can't be written: %s", file.beside, strerror(errno));
}

// ---- claims

// OutputClaim: a lock that this process holds.
struct OutputClaim {
    int file;
    char lock[PATH_ROOM];
    OutputClaim *next;
};

static OutputClaim *output_claims = NULL;

// Opens and locks the claim's file.  Returns -1 with errno set, EWOULDBLOCK if another process
// holds the lock.  On a file system without locks it warns once and goes on.
static inline int lock_claim(const char *lock)
{
    for (;;) {
        struct stat status, named;
        int file = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (file < 0) return -1;
        bool locked = !flock(file, LOCK_EX | LOCK_NB);
        int error = errno;
        if (!locked && error != EWOULDBLOCK) {
            complain("%s: can't be locked: %s: a second run that writes here goes unnoticed", lock,
                     strerror(error));
            return file;
        }
        bool there = !fstat(file, &status) && !stat(lock, &named) &&
                     status.st_dev == named.st_dev && status.st_ino == named.st_ino;
        // The holder may have removed the file before the lock was taken here.
        if (locked && there) return file;
        close(file);
        errno = error;
        if (!locked) return -1;
    }
}

// Returns the process that holds a lock, as the file says, or 0 if it is unknown.
static inline long claim_holder(const char *lock)
{
    char text[32] = "";
    int in = open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t length = in < 0 ? 0 : read(in, text, sizeof text - 1);
    if (in >= 0) close(in);
    return length > 0 ? strtol(text, NULL, 10) : 0;
}

// Claims a path until release_claims or the end of the process.  Returns false after a complaint:
// another process holds the claim, or the lock's file can't be created.
static inline bool claim_output(const char *path)
{
    OutputClaim *claim = (OutputClaim *)take_memory(sizeof *claim);
    char place[PATH_ROOM];
    if (!follow_links(path, place))
        return complain("%s: can't be written: %s", path, strerror(errno));
    if (snprintf(claim->lock, sizeof claim->lock, "%s.lock", place) >= PATH_ROOM)
        return complain("%s: can't be written: wanted a shorter path", path);
    claim->file = lock_claim(claim->lock);
    if (claim->file < 0 && errno == EWOULDBLOCK)
        return complain("%s: another run is writing it: process %ld holds %s", path,
                        claim_holder(claim->lock), claim->lock);
    if (claim->file < 0)
        return complain("%s: can't be opened: %s", claim->lock, open_error(claim->lock));
    claim->next = output_claims;
    output_claims = claim;
    // The number is for people only; on a full disk the lock holds without it.
    if (!ftruncate(claim->file, 0)) dprintf(claim->file, "%ld\n", (long)getpid());
    return true;
}

// Removes the files of all locks, then releases the locks.
static inline void release_claims(void)
{
    for (; output_claims; output_claims = output_claims->next) {
        unlink(output_claims->lock);
        close(output_claims->file);
    }
}
