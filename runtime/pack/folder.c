// Lists the images of a folder and their classes; also memory, and the exit of
// the program.
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "pack.h"

// ---- memory and files -------------------------------------------------------

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

static void add_name(Names *names, char *name)
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity > 0 ? 2 * names->capacity : 64;
        names->at = grow(names->at, names->capacity * sizeof *names->at);
    }
    names->at[names->count++] = name;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Returns the names in a folder, sorted, without hidden files.
static Names list_folder(const char *path)
{
    Names names = { .at = NULL };
    DIR *folder = opendir(path);
    if (folder == NULL) die(EXIT_FILES, path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            add_name(&names, join("", "", entry->d_name));
    closedir(folder);
    if (names.count > 0)
        qsort(names.at, names.count, sizeof *names.at, by_bytes);
    return names;
}

// False also for a broken link.
static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

// ---- images and classes -----------------------------------------------------

static bool is_image_name(const char *name)
{
    static const char *const endings[] = { ".jpg", ".jpeg", ".jpe", ".jfif",
                                           ".png", ".apng" };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(endings[i]), all = strlen(name);
        if (all > length && !strcasecmp(name + all - length, endings[i]))
            return true;
    }
    return false;
}

// Ends the program at the first image in a subfolder of a class, which would be
// left out.  Follows no links to folders there, since they may form a cycle.
static void refuse_images_below(const char *folder)
{
    Names names = list_folder(folder);
    for (size_t i = 0; i < names.count; i++) {
        char *path = join(folder, "/", names.at[i]);
        bool below = is_folder(path);
        if (below && !is_link(path)) refuse_images_below(path);
        if (!below && is_image_name(names.at[i]))
            die(EXIT_FILES, path, "is an image in a subfolder of a class; "
                "images belong into FOLDER/<class>/ itself");
        free(path);
        free(names.at[i]);
    }
    free(names.at);
}

static void list_class(Folder *f, const char *folder)
{
    Names names = list_folder(folder);
    for (size_t i = 0; i < names.count; i++) {
        char *path = join(folder, "/", names.at[i]);
        bool below = is_folder(path);
        if (below) refuse_images_below(path);
        if (!below && is_image_name(names.at[i])) {
            add_name(&f->paths, path);
            f->labels = grow(f->labels, f->paths.capacity * sizeof *f->labels);
            f->labels[f->paths.count - 1] = (int32_t)f->classes.count - 1;
        } else {
            f->skipped++;
            free(path);
        }
        free(names.at[i]);
    }
    free(names.at);
}

void list_classes(const char *from, Folder *f)
{
    Names names = list_folder(from);
    for (size_t i = 0; i < names.count; i++) {
        char *folder = join(from, "/", names.at[i]);
        if (strchr(names.at[i], '\n') != NULL)
            die(EXIT_FILES, folder, "a class's name is one line");
        if (is_folder(folder)) {
            add_name(&f->classes, names.at[i]);
            list_class(f, folder);
        } else if (is_image_name(names.at[i])) {
            die(EXIT_FILES, folder, "is an image outside of the classes; "
                "images belong into FOLDER/<class>/");
        } else {
            free(names.at[i]);
            f->skipped++;
        }
        free(folder);
    }
    free(names.at);
    if (f->paths.count == 0)
        die(EXIT_FILES, from, "has no folders with .jpg, .jpeg, .jpe, .jfif, "
            ".png or .apng files in them");
}
