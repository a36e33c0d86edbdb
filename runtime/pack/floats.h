// The readers of float images: NPY, PFM and TIFF.
#ifndef CNNC_FLOATS_H
#define CNNC_FLOATS_H

#include "pack.h"

// ---- decode.c ---------------------------------------------------------------

// Returns false, with the reason in message, for a size that no file may state.
bool is_accepted_size(uint64_t height, uint64_t width,
                      char message[MESSAGE_SIZE]);
// Allocates the pixels, of `samples` samples, for the size that a file states.
// Returns false, with the reason in message, if it can't.
bool make_room(Image *image, uint64_t height, uint64_t width, size_t samples,
               char message[MESSAGE_SIZE]);

// ---- floats.c ---------------------------------------------------------------

// Reads the numbers of a file that is_float_image knows.  Returns false, with
// the reason in message, for anything except complete and finite numbers of 32
// bits.
bool read_float_image(const Bytes *file, Image *image,
                      char message[MESSAGE_SIZE]);

// The size that a file states.
typedef struct Stated {
    uint64_t height, width, channels;
} Stated;

// Sets message, and returns false.
__attribute__((format(printf, 2, 3)))
bool refuse(char message[MESSAGE_SIZE], const char *format, ...);

// Returns the bytes of an image's numbers; 0, with the reason in message, for a
// size that is not accepted.
uint64_t float_bytes(const Stated *size, char message[MESSAGE_SIZE]);
// Allocates the pixels of an image for an accepted size.
bool make_float_room(Image *image, const Stated *size,
                     char message[MESSAGE_SIZE]);
// Converts numbers; `big`: the most significant byte comes first.
void load_floats(const uint8_t *from, size_t count, bool big, float *to);

// ---- orientation.c ----------------------------------------------------------

// A TIFF structure in memory; `big`: the most significant byte comes first.
typedef struct Tiff {
    const uint8_t *at;
    size_t         bytes;
    bool           big;
} Tiff;

// Returns the unsigned number of `width` bytes at an offset, or 0 beyond the
// end of the structure.
uint32_t tiff_number(const Tiff *tiff, size_t offset, size_t width);

// ---- npy.c, pfm.c, tiff.c ---------------------------------------------------

// Each returns false, with the reason in message, for anything except complete
// numbers of 32 bits.
bool read_npy(const Bytes *file, Image *image, char message[MESSAGE_SIZE]);
bool read_pfm(const Bytes *file, Image *image, char message[MESSAGE_SIZE]);
bool read_tiff(const Bytes *file, Image *image, char message[MESSAGE_SIZE]);

#endif
