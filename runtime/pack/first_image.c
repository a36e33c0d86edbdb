// Reads the images of a set, and compares them with the first one.  It decides
// whether the set is float, and the channels of float images.  Without --size
// it decides the size too.
#include <stdlib.h>
#include "pack.h"

bool read_pixels(const Packing *how, const Item *item, Image *image,
                char message[MESSAGE_SIZE])
{
    Bytes file;
    bool done = read_item(item, &file, message);
    done = done && decode(&file, how->type, image, message);
    free(file.at);
    if (!done) return false;
    if (how->as_stored || turn(image, image->orientation)) return true;
    free(image->pixels);
    snprintf(message, MESSAGE_SIZE, "there is no memory to turn it");
    return false;
}

bool fits_first_image(const Packing *how, const Image *image,
                      char message[MESSAGE_SIZE])
{
    const Target *t = &how->target;
    if (how->type == F32_SAMPLES && image->channels != t->channels) {
        snprintf(message, MESSAGE_SIZE, "has %d channels: wanted %d, as the "
                 "first image of the set has", image->channels, t->channels);
        return false;
    }
    if (!how->one_size ||
        (image->height == t->height && image->width == t->width))
        return true;
    snprintf(message, MESSAGE_SIZE, "is %d x %d pixels: wanted %d x %d, as the "
             "first image of the set is; --size HxW resizes images",
             image->height, image->width, t->height, t->width);
    return false;
}

bool is_float_set(const Samples *s)
{
    char message[MESSAGE_SIZE];
    Bytes file;
    // A file that can't be read is a fault of the image later.
    bool is_float = read_item(&s->items[0], &file, message) &&
                    is_float_image(&file);
    free(file.at);
    return is_float;
}

void fit_first_image(Packing *how, const Samples *s)
{
    const Item *first = &s->items[0];
    Target *t = &how->target;
    char message[MESSAGE_SIZE];
    Image image;
    if (!read_pixels(how, first, &image, message))
        die(EXIT_BROKEN, first->name, message);
    free(image.pixels);
    if (how->type == F32_SAMPLES) t->channels = image.channels;
    if (!how->one_size) return;
    if (image.height > LARGEST_SIDE || image.width > LARGEST_SIDE) {
        snprintf(message, sizeof message, "is %d x %d pixels: wanted at most "
                 "%d in a side", image.height, image.width, LARGEST_SIDE);
        die(EXIT_BROKEN, first->name, message);
    }
    t->height = image.height;
    t->width = image.width;
}
