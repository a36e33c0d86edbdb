// Images in memory and their processing.  All sizes are in pixels.  A pixel is
// three bytes, red, green and blue, and rows are contiguous.
#ifndef CNNC_PACK_H
#define CNNC_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_SIZE = 300, RGB = 3, NO_ORIENTATION = -1 };

typedef struct Image {
    int      height, width;
    uint8_t *pixels;            // [height, width, 3]; the caller frees them
    int      orientation;       // from EXIF or XMP, for turn()
} Image;

// decode.c: reads a JPEG or PNG file as stored; its first bytes tell the
// format. Samples of 16 bits become 8 by round(v / 257).  Gamma and profiles
// have no effect. Alpha is composed over white.  Returns false, with the reason
// in message, for anything except a complete image in a regular file.
bool decode(const char *path, Image *image, char message[MESSAGE_SIZE]);

// orientation.c: both return the tag in a TIFF structure (EXIF without its
// first six bytes "Exif\0\0") or in XMP; NO_ORIENTATION if it has none.
int exif_orientation(const uint8_t *exif, size_t bytes);
int xmp_orientation(const char *xmp, size_t bytes);

// Turns and mirrors the image for its orientation.  Values other than 2 to 8
// change nothing.  Returns false if memory runs out.
bool turn(Image *image, int orientation);

typedef struct Target {
    int  height, width, channels;   // channels: 3, or 1 for gray
    bool stretch;               // true: scales the whole image;
                                // false: takes the largest part in its
                                // middle with the target's proportions
} Target;

// resize.c: bilinear.  If it reduces the image, it averages all pixels that a
// result covers, so that fine patterns do not alias.  Writes target's bytes,
// [height, width, channels]; false if memory runs out.
bool resize(const Image *image, const Target *target, uint8_t *to);

// folder.c: the images to pack.
typedef struct Names {
    char **at;
    size_t count, capacity;
} Names;

typedef struct Folder {
    Names    classes, paths;    // of images; both sorted by bytes
    int32_t *labels;            // by path: its class's number
    size_t   skipped;           // files whose names are not of images
} Folder;

// Fills *f, which must be zero, with FOLDER/<class>/<image>.  Ends the program
// if there are none, if an image is elsewhere below FOLDER, or if a folder
// can't be read.
void list_classes(const char *from, Folder *f);

// place.c: creates and locks a folder next to `to`, with a unique name; *lock
// is a descriptor.  Ends the program if it can't.
char *make_folder(const char *to, int *lock);
// Removes these files and the folders that killed runs for `to` have left.
void sweep_folders(const char *to, const char *const *files, size_t count);

// folder.c: die ends the program, grow never returns NULL, and join
// concatenates.
enum { EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_FILES = 3 };
_Noreturn void die(int status, const char *what, const char *why);
void *grow(void *memory, size_t bytes);
char *join(const char *folder, const char *separator, const char *name);

#endif
