// Images in memory, and what is done with one of them.  All sizes are in
// pixels; a pixel is three bytes, red, green and blue, rows lie one after the
// other.
#ifndef CNNC_PACK_H
#define CNNC_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_SIZE = 300, RGB = 3 };

typedef struct Image {
    int      height, width;
    uint8_t *pixels;            // [height, width, 3]; the caller frees them
} Image;

// decode.c: a JPEG or PNG file, told by its first bytes.  Tags of orientation
// are not followed; what is transparent lies on white.  False, and why in
// message, for anything that is not a whole image.
bool decode(const char *path, Image *image, char message[MESSAGE_SIZE]);

typedef struct Target {
    int  height, width, channels;   // channels: 3, or 1 for gray
    bool stretch;               // all of the image, whatever its proportions;
                                // else the largest part in its middle that has
                                // those of the target
} Target;

// resize.c: bilinear, and where it makes smaller over all pixels that fall on
// one, so that fine patterns do not alias.  Writes target's bytes, [height,
// width, channels]; false if memory runs out.
bool resize(const Image *image, const Target *target, uint8_t *to);

// folder.c: what is packed.
typedef struct Names {
    char **at;
    size_t count, capacity;
} Names;

typedef struct Folder {
    Names    classes, paths;    // of images; both sorted by their bytes
    int32_t *labels;            // of each path: its class's number
    size_t   skipped;           // files that are no images by their names
} Folder;

// Fills in *f, which is all zero, with FOLDER/<class>/<image>; ends the program
// where there are none, or a folder can't be read.
void list_classes(const char *from, Folder *f);

// Also there: what ends the program, memory that is never NULL, texts put
// together.
enum { EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_FILES = 3 };
_Noreturn void die(int status, const char *what, const char *why);
void *grow(void *memory, size_t bytes);
char *join(const char *folder, const char *separator, const char *name);

#endif
