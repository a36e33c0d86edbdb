// What is no plain file, such as /dev/null or a pipe, is written in place.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"

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

bool output_open(Output *out, Arena *arena, const char *path)
{
    *out = (Output){ .stream = stdout };
    if (path == NULL || strcmp(path, "-") == 0) return true;
    out->path = path;
    if (!is_special(path))
        out->temporary = arena_print(arena, "%s.%ld.tmp", path,
                                     (long)getpid());
    out->stream = fopen(out->temporary != NULL ? out->temporary : path, "wb");
    return out->stream != NULL || failed(path);
}

bool output_close(Output *out)
{
    bool written = fflush(out->stream) == 0 && !ferror(out->stream);
    const char *name = out->path != NULL ? out->path : "standard output";

    if (out->path == NULL) return written || failed(name);
    written = fclose(out->stream) == 0 && written;
    if (written && out->temporary != NULL)
        written = rename(out->temporary, out->path) == 0;
    if (written) return true;
    failed(name);
    if (out->temporary != NULL) remove(out->temporary);
    return false;
}

void output_discard(Output *out)
{
    if (out->path == NULL) return;
    fclose(out->stream);
    if (out->temporary != NULL) remove(out->temporary);
}
