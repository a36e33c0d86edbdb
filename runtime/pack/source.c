// Reads files, and parts of files, into memory.
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pack.h"

static bool fail(char message[MESSAGE_SIZE], const char *text)
{
    snprintf(message, MESSAGE_SIZE, "%s", text);
    return false;
}

// Returns the fault of a file that is not regular, or NULL.
static const char *kind_fault(const struct stat *status)
{
    return S_ISREG(status->st_mode)  ? NULL
         : S_ISFIFO(status->st_mode) ? "is a FIFO, not a file"
         : S_ISSOCK(status->st_mode) ? "is a socket, not a file"
         : S_ISDIR(status->st_mode)  ? "is a folder, not a file"
                                     : "is a device, not a file";
}

// Opens a regular file without waiting for the other end of a FIFO, and sets
// its size.  The kind is also checked before, because opening a device may have
// effects.  Returns -1 if it can't.
static int open_regular(const char *path, uint64_t *size,
                        char message[MESSAGE_SIZE])
{
    struct stat status;
    const char *fault = NULL;
    int opened = -1;

    if (stat(path, &status) == 0 && (fault = kind_fault(&status)) == NULL &&
        (opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) >= 0 &&
        fstat(opened, &status) == 0 && (fault = kind_fault(&status)) == NULL) {
        *size = (uint64_t)status.st_size;
        return opened;
    }
    fail(message, fault != NULL ? fault : strerror(errno));
    if (opened >= 0) close(opened);
    return -1;
}

static bool read_all(int file, uint8_t *to, size_t bytes, uint64_t at,
                     char message[MESSAGE_SIZE])
{
    while (bytes > 0) {
        ssize_t got = pread(file, to, bytes, (off_t)at);
        if (got == 0) return fail(message, "became shorter while it was read");
        if (got < 0 && errno != EINTR) return fail(message, strerror(errno));
        if (got > 0) to += got, bytes -= (size_t)got, at += (uint64_t)got;
    }
    return true;
}

bool read_item(const Item *item, Bytes *bytes, char message[MESSAGE_SIZE])
{
    uint64_t size, count;
    int file = open_regular(item->path, &size, message);
    *bytes = (Bytes){ .at = NULL };
    if (file < 0) return false;
    count = item->bytes > 0 ? item->bytes : size;
    bool done = count > 0 || fail(message, "is empty");
    if (done && (item->offset > size || count > size - item->offset))
        done = fail(message, "became shorter while it was read");
    if (done && (count > SIZE_MAX || (bytes->at = malloc(count)) == NULL))
        done = fail(message, "there is no memory for it");
    bytes->count = (size_t)count;
    done = done &&
           read_all(file, bytes->at, bytes->count, item->offset, message);
    close(file);
    if (done) return true;
    free(bytes->at);
    bytes->at = NULL;
    return false;
}
