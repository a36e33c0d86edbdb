// Files that contain many samples: tar and TFRecord.
#ifndef CNNC_PACK_ARCHIVE_H
#define CNNC_PACK_ARCHIVE_H

#include "pack.h"

// An archive that is read from its beginning on.
typedef struct Archive {
    char       *path;
    FILE       *in;
    uint64_t    at, size;
    const Keys *keys;
} Archive;

// Ends the program with the name of the archive.
_Noreturn void archive_fault(const Archive *a, const char *why);

// Reads the next bytes; ends the program if there are fewer.
void read_archive(Archive *a, void *to, size_t bytes);

// Adds an image and its label.
void add_labelled(Archive *a, const Item *item, int64_t label, Samples *s);

// Each format is known by its first bytes, and lists its samples.
bool is_tar(const Archive *a, const uint8_t *start, size_t bytes);
void list_tar(Archive *a, Samples *s);
bool is_tfrecord(const uint8_t *start, size_t bytes);
void list_tfrecord(Archive *a, Samples *s);

#endif
