// Lists the images of a folder, and their classes or masks.
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "pack.h"

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

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(ending), all = strlen(name);
    return all > length && !strcasecmp(name + all - length, ending);
}

// An array can also be something other than an image.
static bool is_array_name(const char *name)
{
    return ends_with(name, ".npy");
}

static bool is_image_name(const char *name)
{
    static const char *const endings[] = { ".jpg", ".jpeg", ".jpe", ".jfif",
                                           ".png", ".apng", ".npy", ".pfm",
                                           ".tif", ".tiff" };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(name, endings[i])) return true;
    return false;
}

// Ends the program at the first image in a subfolder, which would be left out.
// Follows no links to folders there, since they may form a cycle.  `why` says
// where images belong.
static void refuse_images_below(const char *folder, const char *why)
{
    Names names = list_folder(folder);
    for (size_t i = 0; i < names.count; i++) {
        char *path = join(folder, "/", names.at[i]);
        bool below = is_folder(path);
        if (below && !is_link(path)) refuse_images_below(path, why);
        if (!below && is_image_name(names.at[i])) die(EXIT_FILES, path, why);
        free(path);
        free(names.at[i]);
    }
    free(names.at);
}

Item whole_file(char *path)
{
    return (Item){ .name = path, .path = path };
}

size_t add_item(Samples *s, Item item)
{
    s->items = make_room_for_one(s->items, s->count, &s->capacity,
                                 sizeof *s->items);
    s->items[s->count] = item;
    return s->count++;
}

// Adds the images of a folder.
static void list_folder_images(Samples *s, const char *folder, const char *why)
{
    Names names = list_folder(folder);
    for (size_t i = 0; i < names.count; i++) {
        char *path = join(folder, "/", names.at[i]);
        bool below = is_folder(path);
        if (below) refuse_images_below(path, why);
        if (!below && is_image_name(names.at[i])) {
            add_item(s, whole_file(path));
        } else {
            s->skipped++;
            free(path);
        }
        free(names.at[i]);
    }
    free(names.at);
}

static void list_class(Samples *s, const char *folder)
{
    size_t first = s->count;
    list_folder_images(s, folder, "is an image in a subfolder of a class; "
                       "images belong into FOLDER/<class>/ itself");
    if (s->count == 0) return;
    s->labels = grow(s->labels, s->capacity * sizeof *s->labels);
    for (size_t i = first; i < s->count; i++)
        s->labels[i] = (int32_t)s->classes.count - 1;
}

void list_classes(const char *from, Samples *s)
{
    Names names = list_folder(from);
    for (size_t i = 0; i < names.count; i++) {
        char *folder = join(from, "/", names.at[i]);
        if (strchr(names.at[i], '\n') != NULL)
            die(EXIT_FILES, folder, "a class's name is one line");
        if (is_folder(folder)) {
            add_name(&s->classes, names.at[i]);
            list_class(s, folder);
        } else if (is_image_name(names.at[i]) && !is_array_name(names.at[i])) {
            die(EXIT_FILES, folder, "is an image outside of the classes; "
                "images belong into FOLDER/<class>/");
        } else {
            free(names.at[i]);
            s->skipped++;
        }
        free(folder);
    }
    free(names.at);
    if (s->count == 0)
        die(EXIT_FILES, from, "has no folders with .jpg, .jpeg, .jpe, .jfif, "
            ".png, .apng, .npy, .pfm, .tif or .tiff files in them");
}

void list_images(const char *from, Samples *s)
{
    list_folder_images(s, from, "is an image in a subfolder; images with masks "
                       "or boxes belong into FOLDER itself");
    if (s->count == 0)
        die(EXIT_FILES, from, "has no .jpg, .jpeg, .jpe, .jfif, .png, .apng, "
            ".npy, .pfm, .tif or .tiff files");
}

char *path_beside(const char *folder, const char *image, const char *ending)
{
    const char *slash = strrchr(image, '/');
    char *whole = join(folder, "/", slash != NULL ? slash + 1 : image);
    char *path;
    char *dot = strrchr(whole, '.');
    if (dot != NULL) *dot = '\0';
    path = join(whole, "", ending);
    free(whole);
    return path;
}

void list_masks(const char *folder, Samples *s)
{
    s->masks = grow(NULL, s->count * sizeof *s->masks);
    for (size_t i = 0; i < s->count; i++)
        s->masks[i] = whole_file(path_beside(folder, s->items[i].name, ".png"));
}
