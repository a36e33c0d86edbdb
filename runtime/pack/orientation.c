// Orientation.  Cameras store an image as the sensor saw it, with a tag that
// says how to turn it.  EXIF stores the tag in a TIFF structure, XMP in a text.
// The values 1 to 8 are those of TIFF 6.0, tag 274.
#include <stdlib.h>
#include <string.h>
#include "floats.h"

enum { ORIENTATION_TAG = 0x0112, TIFF_SHORT = 3, TIFF_LONG = 4, ENTRY = 12 };

uint32_t tiff_number(const Tiff *tiff, size_t offset, size_t width)
{
    uint32_t value = 0;
    if (offset > tiff->bytes || width > tiff->bytes - offset) return 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint32_t)tiff->at[offset + i]
                 << 8 * (tiff->big ? width - 1 - i : i);
    return value;
}

int exif_orientation(const uint8_t *exif, size_t bytes)
{
    Tiff tiff = { exif, bytes, bytes > 0 && exif[0] == 'M' };
    if (bytes < 8 || (memcmp(exif, "II*\0", 4) != 0 &&
                      memcmp(exif, "MM\0*", 4) != 0))
        return NO_ORIENTATION;
    size_t first = tiff_number(&tiff, 4, 4);
    size_t count = tiff_number(&tiff, first, 2);
    for (size_t i = 0; i < count; i++) {
        size_t entry = first + 2 + i * ENTRY;
        uint32_t type = tiff_number(&tiff, entry + 2, 2);
        if (tiff_number(&tiff, entry, 2) != ORIENTATION_TAG) continue;
        if (tiff_number(&tiff, entry + 4, 4) != 1) return 1;
        if (type == TIFF_SHORT) return (int)tiff_number(&tiff, entry + 8, 2);
        uint32_t value = tiff_number(&tiff, entry + 8, 4);
        return type == TIFF_LONG && value <= 8 ? (int)value : 1;
    }
    return NO_ORIENTATION;
}

int xmp_orientation(const char *xmp, size_t bytes)
{
    static const char name[] = "tiff:Orientation";
    size_t length = sizeof name - 1;
    for (size_t i = 0; i + length + 3 <= bytes; i++) {
        const char *value = xmp + i + length;
        size_t skip = value[0] == '>' ? 1 : memcmp(value, "=\"", 2) ? 0 : 2;
        if (memcmp(xmp + i, name, length) == 0 && skip > 0 &&
            value[skip] >= '0' && value[skip] <= '9')
            return value[skip] - '0';
    }
    return NO_ORIENTATION;
}

bool turn(Image *image, int orientation)
{
    if (orientation < 2 || orientation > 8) return true;
    // 5 to 8 exchange rows and columns.  Then an axis is read in reverse.
    bool exchange = orientation >= 5;
    bool up = orientation == 3 || orientation == 4 || orientation == 7 ||
              orientation == 8;
    bool left = orientation == 2 || orientation == 3 || orientation == 6 ||
                orientation == 7;
    int height = exchange ? image->width : image->height;
    int width = exchange ? image->height : image->width;
    size_t pixel = (size_t)image->channels << image->type;
    const uint8_t *source = image->pixels;
    uint8_t *pixels = malloc((size_t)height * (size_t)width * pixel);
    uint8_t *to = pixels;

    if (pixels == NULL) return false;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++, to += pixel) {
            int row = up ? height - 1 - y : y;
            int column = left ? width - 1 - x : x;
            size_t from = exchange
                ? (size_t)column * (size_t)image->width + (size_t)row
                : (size_t)row * (size_t)image->width + (size_t)column;
            memcpy(to, source + from * pixel, pixel);
        }
    free(image->pixels);
    image->height = height;
    image->width = width;
    image->pixels = pixels;
    return true;
}
