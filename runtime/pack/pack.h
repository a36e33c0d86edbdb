// Images in memory, and what is done with one of them.  All sizes are in
// pixels; a pixel is three bytes, red, green and blue, rows lie one after the
// other.
#ifndef CNNC_PACK_H
#define CNNC_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MESSAGE_SIZE = 300, RGB = 3, NO_ORIENTATION = -1 };

typedef struct Image {
    int      height, width;
    uint8_t *pixels;            // [height, width, 3]; the caller frees them
    int      orientation;       // of EXIF or XMP, to be applied by turn()
} Image;

// decode.c: reads a JPEG or PNG file, told by its first bytes, as it is stored.
// Samples of 16 bits become 8 by round(v / 257); gamma and profiles have no
// effect; alpha is composed over white.  Returns false, with the reason in
// message, for anything but a whole image in a regular file.
bool decode(const char *path, Image *image, char message[MESSAGE_SIZE]);

// orientation.c: the tag in a TIFF structure (EXIF without its first six bytes
// "Exif\0\0") or in XMP; NO_ORIENTATION if it has none.
int exif_orientation(const uint8_t *exif, size_t bytes);
int xmp_orientation(const char *xmp, size_t bytes);

// Turns and mirrors the image as the orientation says; values besides 2 to 8
// change nothing.  Returns false if memory runs out.
bool turn(Image *image, int orientation);

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

// Fills in *f, which is all zero, with FOLDER/<class>/<image>.  Ends the
// program if there are none, if an image is stored elsewhere below FOLDER, or
// if a folder can't be read.
void list_classes(const char *from, Folder *f);

// place.c: makes and locks a folder beside `to`, with a name that no other run
// has; the lock is a descriptor.  Ends the program where it can't be.
char *make_folder(const char *to, int *lock);
// Removes the folders that killed runs for `to` have left, with these files.
void sweep_folders(const char *to, const char *const *files, size_t count);

// In folder.c, too: what ends the program, memory that is never NULL, texts put
// together.
enum { EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_FILES = 3 };
_Noreturn void die(int status, const char *what, const char *why);
void *grow(void *memory, size_t bytes);
char *join(const char *folder, const char *separator, const char *name);

#endif
