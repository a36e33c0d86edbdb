// Images in memory and their processing.  All sizes are in pixels, and rows are
// contiguous.  A pixel has three samples, red, green and blue; in a mask it has
// one, and in a float image any number.
#ifndef CNNC_PACK_H
#define CNNC_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 300, RGB = 3, NO_ORIENTATION = -1,
       LARGEST_SIDE = 1 << 14 };

// ---- memory and names: names.c ----------------------------------------------

// die ends the program; grow never returns NULL; join concatenates.
enum { EXIT_DONE, EXIT_BROKEN, EXIT_USAGE, EXIT_FILES };
_Noreturn void die(int status, const char *what, const char *why);
void *grow(void *memory, size_t bytes);
char *join(const char *folder, const char *separator, const char *name);

// Returns the array, of `count` elements, with room for one more.
void *make_room_for_one(void *array, size_t count, size_t *capacity,
                        size_t bytes);

typedef struct Names {
    char **at;
    size_t count, capacity;
} Names;

void add_name(Names *names, char *name);
// Returns a name's number, or -1 if the list lacks it.
int32_t find_name(const Names *names, const char *name);
// Reads a file with a name in each line; ends the program if it can't.
void read_names(const char *path, Names *names);

// ---- samples: folder.c, archive.c, coco.c, voc.c ----------------------------

// A file, or a part of it.
typedef struct Item {
    char    *name;              // for messages
    char    *path;              // of the file
    uint64_t offset, bytes;     // of the part; no bytes: the whole file
} Item;

// An object in an image.  Pixel (y, x) covers y to y + 1 and x to x + 1.
typedef struct Box {
    double  left, top, right, bottom;
    int32_t kind;               // its class; 0 is no object
} Box;

typedef struct Boxes {
    Box   *at;
    size_t count, capacity;
    int    height, width;       // of the image, as its annotation says
} Boxes;

typedef struct Samples {
    Names    classes;           // their numbers are their places
    Item    *items;             // the images
    size_t   count, capacity;
    int32_t *labels;            // by image, or NULL
    Item    *masks;             // by image, or NULL
    Boxes   *boxes;             // by image, or NULL
    size_t   skipped;           // files that are no images
    size_t   left_out;          // objects that are crowds or difficult
} Samples;

Item whole_file(char *path);
void add_box(Boxes *boxes, const Box *box);
// Writes a code point in UTF-8, and returns the number of its bytes.
size_t utf8(uint32_t code, char to[4]);
// Returns the number of the added image.
size_t add_item(Samples *s, Item item);

// Each of these fills *s, which must be zero except for the classes of
// --classes.  It ends the program if there are no images, or if a file can't be
// read.  list_classes reads FOLDER/<class>/<image>, and list_images
// FOLDER/<image>; an image elsewhere below FOLDER is an error.
void list_classes(const char *from, Samples *s);
void list_images(const char *from, Samples *s);
// Returns FOLDER/<name> with another ending, for an image of that name.
char *path_beside(const char *folder, const char *image, const char *ending);
// Adds the mask DIR/<name>.png of each image.
void list_masks(const char *folder, Samples *s);
// Reads the instances of a COCO file, and the images in FOLDER that it lists.
// With `all` it keeps objects that are crowds (or, of VOC, difficult).
void list_coco(const char *from, const char *path, bool all, Samples *s);
// The names of values in archives, NULL for the usual ones, and the
// number of class 0 there.
typedef struct Keys {
    const char *image, *label;
    int64_t     first;
} Keys;

// Reads the samples of tar and TFRecord files, whose paths are joined by
// commas, in their order.
void list_archives(const char *paths, const Keys *keys, Samples *s);
// Adds the objects of DIR/<name>.xml, in Pascal VOC's format, to each image.
void list_voc(const char *folder, bool all, Samples *s);

// ---- images: source.c, decode.c, floats.c, orientation.c, resize.c ----------

typedef struct Bytes {
    uint8_t *at;
    size_t   count;
} Bytes;

// Reads an item into memory that the caller frees.  Returns false, with the
// reason in message, for anything except a part of a regular file.
bool read_item(const Item *item, Bytes *bytes, char message[MESSAGE_SIZE]);

// uint8_t, uint16_t and float.  A sample has 1 << type bytes.
enum { U8_SAMPLES, U16_SAMPLES, F32_SAMPLES };

typedef struct Image {
    int   height, width, channels;
    int   type;                 // of the samples
    void *pixels;               // [height, width, channels]; the caller frees
    int   orientation;          // from EXIF or XMP, for turn()
} Image;

// Decodes a file as stored; its first bytes tell the format.  F32_SAMPLES wants
// a float image, whose channels stay.  The other types want JPEG or PNG.  With
// U16_SAMPLES, samples of 8 bits become v * 257; otherwise those of 16 become
// round(v / 257).  Gamma and profiles have no effect. Alpha is composed over
// white.  Returns false, with the reason in message, for anything except a
// complete image.
bool decode(const Bytes *file, int type, Image *image,
            char message[MESSAGE_SIZE]);

// Decodes a PNG file of one channel to its numbers: palette indices or gray
// levels, which are not scaled.
bool decode_mask(const Bytes *file, Image *mask, char message[MESSAGE_SIZE]);

bool is_jpeg(const Bytes *file);
// True if a file begins as NPY, PFM or TIFF.
bool is_float_image(const Bytes *file);
// Returns the bits of a sample of a PNG file, or 0 for other files.
int png_depth(const Bytes *file);

// Both return the tag in a TIFF structure (EXIF without its first six bytes
// "Exif\0\0") or in XMP; NO_ORIENTATION if it has none.
int exif_orientation(const uint8_t *exif, size_t bytes);
int xmp_orientation(const char *xmp, size_t bytes);

// Turns and mirrors the image for its orientation.  Values other than 2 to 8
// change nothing.  Returns false if memory runs out.
bool turn(Image *image, int orientation);

typedef struct Target {
    int  height, width, channels;   // channels: 3, 1 for gray, or those of
                                    // float images
    bool stretch;               // true: scales the whole image;
                                // false: takes the largest part in its
                                // middle with the target's proportions
} Target;

// The part of an image that the target shows.
typedef struct Part {
    double top, left, height, width;
} Part;

Part part_of(int height, int width, const Target *target);

// Bilinear.  If it reduces the image, it averages all pixels that a result
// covers, so that fine patterns do not alias.  Writes target's samples,
// [height, width, channels], little-endian and of the image's type; false if
// memory runs out.  Integers are rounded.
bool resize(const Image *image, const Target *target, uint8_t *to);

// The value of the pixel that contains the middle of each result, to
// to[height, width].
void resize_mask(const Image *mask, const Target *target, int32_t *to);

// ---- output: place.c, write.c, usage.c --------------------------------------

// Creates and locks a folder next to `to`, with a unique name; *lock is a
// descriptor.  Ends the program if it can't.
char *make_folder(const char *to, int *lock);
// Removes these files and the folders that killed runs for `to` have left.
void sweep_folders(const char *to, const char *const *files, size_t count);

// keep.c: JPEG files as they are, in one file (runtime/trainer/jpeg.cuh).
typedef struct Keeper Keeper;

// Places the files of the samples one after the other, and returns the keeper,
// which release_keeper frees.  Ends the program if the size of one is unknown.
Keeper *place_files(const Samples *s);
// Checks that item i is a whole JPEG file, and writes it.  Items may be written
// by several threads.  *image gets all but the pixels.  Returns false, with the
// reason in message; a failed write also sets *error to errno.
bool keep_file(Keeper *k, size_t i, bool as_stored, int file, int *error,
               Image *image, char message[MESSAGE_SIZE]);
// Writes the head and the index.  Returns false, with errno, if it can't.
bool write_index(const Keeper *k, int file);
void release_keeper(Keeper *k);

// write.c: returns false, with errno, if not all bytes can be written.
bool write_all(int file, const void *from, size_t bytes, uint64_t at);

// Writes a number of 32 bits, the lowest byte first.
void put_u32(uint8_t *to, uint32_t value);
// Writes a number of 32 bits of IEEE 754, the lowest byte first.
void put_f32(uint8_t *to, double value);

// How to pack; the command line says it.
typedef struct Packing {
    const char *to;
    Target      target;
    int         type;           // of samples
    bool        one_size;       // wants images of the target's size
    bool        keeps;          // JPEG files as they are
    bool        as_stored;      // ignores orientation
    int         workers;
    size_t      objects;        // at most, in an image
    bool        ignores;        // 255 in masks becomes `ignored`
    int32_t     ignored;
} Packing;

// first_image.c: reads and turns an image.  Returns false, with the reason in
// message, if it can't.
bool read_pixels(const Packing *how, const Item *item, Image *image,
                char message[MESSAGE_SIZE]);
// True if the first image of a set is float.
bool is_float_set(const Samples *s);
// Sets the parts of the target that the first image decides: the channels of
// float images, and the size for `one_size`.  Ends the program if it can't.
void fit_first_image(Packing *how, const Samples *s);
// Returns false, with the reason in message, if an image differs there.
bool fits_first_image(const Packing *how, const Image *image,
                      char message[MESSAGE_SIZE]);

// Writes the files of a set to a new folder, and prints each fault.  Returns
// the exit status; unless it is EXIT_DONE, no folder is left.
int write_set(const Packing *how, const Samples *s);

// Prints what --help and --man say.
void print_usage(FILE *out);
void print_manual(FILE *out);

#endif
