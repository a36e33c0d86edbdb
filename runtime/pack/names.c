// Memory that is there or ends the program; lists of names.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pack.h"

void die(int status, const char *what, const char *why)
{
    fprintf(stderr, "cnnc-pack-images: %s: %s\n", what, why);
    exit(status);
}

void *grow(void *memory, size_t bytes)
{
    void *larger = realloc(memory, bytes);
    if (larger == NULL) die(EXIT_FILES, "memory", strerror(ENOMEM));
    return larger;
}

char *join(const char *folder, const char *separator, const char *name)
{
    size_t bytes = strlen(folder) + strlen(separator) + strlen(name) + 1;
    char *path = grow(NULL, bytes);
    snprintf(path, bytes, "%s%s%s", folder, separator, name);
    return path;
}

void *make_room_for_one(void *array, size_t count, size_t *capacity,
                        size_t bytes)
{
    if (count < *capacity) return array;
    *capacity = *capacity > 0 ? 2 * *capacity : 64;
    return grow(array, *capacity * bytes);
}

void add_name(Names *names, char *name)
{
    names->at = make_room_for_one(names->at, names->count, &names->capacity,
                                  sizeof *names->at);
    names->at[names->count++] = name;
}

int32_t find_name(const Names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0) return (int32_t)i;
    return -1;
}

void read_names(const char *path, Names *names)
{
    char line[4096];
    FILE *in = fopen(path, "r");
    if (in == NULL) die(EXIT_FILES, path, strerror(errno));
    while (fgets(line, sizeof line, in) != NULL) {
        size_t length = strcspn(line, "\n");
        if (line[length] == '\0' && !feof(in))
            die(EXIT_FILES, path, "a line has more than 4094 bytes");
        if (length > 0 && line[length - 1] == '\r') length--;
        line[length] = '\0';
        if (find_name(names, line) >= 0)
            die(EXIT_FILES, path, "a name occurs twice");
        add_name(names, join(line, "", ""));
    }
    if (ferror(in)) die(EXIT_FILES, path, strerror(errno));
    if (names->count == 0) die(EXIT_FILES, path, "has no name");
    fclose(in);
}
