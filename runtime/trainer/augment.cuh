// The place of a sample's pixels in its file's image: a random crop, which may
// be resized and mirrored, or the image's centre.  It is a pure function of
// seed, epoch and the sample's number.
#pragma once
#include <math.h>
#include "dataset.cuh"
#include "shuffle.cuh"

// Augmentation: random changes of training samples, in one epoch.
struct Augmentation {
    bool flip;                  // mirror every second sample, on average
    int crop;                   // pixels by which a crop may exceed each side of the image
    uint64_t key;               // a hash of seed and epoch
    double least, most;         // shares of the image's area that a resized crop has; 0: none
    int operations, strength;   // RandAugment's: how many, and the bin of their magnitude
    double jitter[4];           // ranges of brightness, contrast, saturation, hue
    double degrees;             // rotate by up to so much
    double erase;               // the probability that a rectangle is erased
    double mixup, cutmix;       // parameters of the share's distribution; 0: samples are not mixed
    const long long *order;     // the samples of the epoch
    long long count;
};

// MapView: the pixels of a file's image that a sample has, height x width of them from row `down`
// and column `right` on.  If their number differs from the input's they are resized.  Pixels
// outside of the image have the column's fill.
struct MapView {
    long long down, right, height, width;
    bool flip;                  // then change left and right
};

// True if a view shows all of its image, at most resized.
static inline bool shows_all(const MapView &v, MapSize image)
{
    return !v.down && !v.right && !v.flip && v.height == image.height && v.width == image.width;
}

static inline ImagePart part_of_view(const MapView &v)
{
    return {(double)v.down, (double)v.right, (double)v.height, (double)v.width};
}

// DrawStream: the kinds of draws of a sample, so that one does not change another.
enum DrawStream {
    DRAW_CROP = 1, DRAW_OPERATIONS, DRAW_JITTER, DRAW_ROTATION, DRAW_ERASE, DRAW_MIX
};

static inline uint64_t augmentation_key(uint64_t seed, uint64_t epoch)
{
    return splitmix64(splitmix64(seed ^ 0x61756776u) + epoch);
}

// Returns the draws of one kind for a sample.
static inline Draws draws_of(const Augmentation *a, long long sample, DrawStream stream)
{
    return {splitmix64(splitmix64(a->key + (uint64_t)sample) ^ (uint64_t)stream)};
}

// Returns the half of a number that is no less than 0, rounded to an even one as Python does.
static inline long long even_half(long long number)
{
    return number / 2 + (number % 2 && number / 2 % 2);
}

static inline bool resizes_crops(const Augmentation *a)
{
    return a && a->most > 0;
}

// Returns the size of a sample's image: that of a JPEG file if crops are resized, and otherwise
// that of the array.
static inline MapSize image_size(const DataArray *a, long long at, const Augmentation *augmentation)
{
    return a->jpegs && resizes_crops(augmentation) ? jpeg_size(&a->jpegs->rows[at], 8)
                                                   : map_size(a);
}

// Draws the crop that is resized: its area is a share of the image's, and its width is 3/4 to 4/3
// of its height.  After ten draws that do not fit it is the largest such crop in the centre
// (torchvision, transforms.RandomResizedCrop.get_params).
static inline void draw_resized_crop(const Augmentation *a, long long sample, MapSize image,
                                     MapView *v)
{
    const double narrow = 3.0 / 4, wide = 4.0 / 3;
    const double area = (double)image.height * (double)image.width;
    Draws draws = draws_of(a, sample, DRAW_CROP);
    for (int i = 0; i < 10; i++) {
        const double target = area * draw_between(&draws, a->least, a->most);
        const double ratio = exp(draw_between(&draws, log(narrow), log(wide)));
        v->width = llrint(sqrt(target * ratio));
        v->height = llrint(sqrt(target / ratio));
        if (v->width < 1 || v->height < 1 || v->width > image.width || v->height > image.height)
            continue;
        v->down = draw_below(&draws, image.height - v->height + 1);
        v->right = draw_below(&draws, image.width - v->width + 1);
        return;
    }
    const double ratio = (double)image.width / (double)image.height;
    v->height = ratio < narrow ? llrint((double)image.width / narrow) : image.height;
    v->width = ratio > wide ? llrint((double)image.height * wide) : image.width;
    v->down = (image.height - v->height) / 2;
    v->right = (image.width - v->width) / 2;
}

// Returns the view of a sample whose file has images of this size, for inputs of the size `input`.
// It is the centre without augmentation (torchvision, transforms.CenterCrop).  All maps of a sample
// have the same view.  A place is one of n, scaled from a number below 2^21; the relative bias of
// each is at most n / 2^21.
static inline MapView view_sample(const Augmentation *a, long long sample, MapSize image,
                                  MapSize input)
{
    const long long high = image.height - input.height, wide = image.width - input.width;
    MapView v = {even_half(high), even_half(wide), input.height, input.width, false};
    if (!a) return v;
    const uint64_t random = splitmix64(a->key + (uint64_t)sample);
    v.flip = a->flip && (random & 1);
    if (resizes_crops(a)) {
        draw_resized_crop(a, sample, image, &v);
        return v;
    }
    const uint64_t downs = (uint64_t)high + 2 * (uint64_t)a->crop + 1;
    const uint64_t rights = (uint64_t)wide + 2 * (uint64_t)a->crop + 1;
    v.down = (long long)((random >> 1 & 0x1FFFFF) * downs >> 21) - a->crop;
    v.right = (long long)((random >> 22 & 0x1FFFFF) * rights >> 21) - a->crop;
    return v;
}
