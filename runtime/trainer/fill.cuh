// Filling a batch: samples from their files, converted to the input's type,
// normalised, and flipped and shifted at random for training.  The result is a
// pure function of seed, epoch and the sample's number.  So neither the order
// of the work nor the number of workers changes a bit.
#pragma once
#include "dataset.cuh"
#include "shuffle.cuh"

// Augmentation: random changes of the maps of training samples.
struct Augmentation {
    bool flip;                  // mirror every second sample, on average
    int crop;                   // shift a map by -crop .. crop pixels on both axes
    uint64_t key;               // a hash of seed and epoch
};

// MapView: pixel (y, x) of a sample comes from row y + down, column x + right; x counts from the
// right end if flipped.  Outside of the map it is the column's fill.
struct MapView {
    long long down, right;
    bool flip;
};

static inline uint64_t augmentation_key(uint64_t seed, uint64_t epoch)
{
    return splitmix64(splitmix64(seed ^ 0x61756776u) + epoch);
}

// All maps of a sample get the same view.  A shift is one of 2 crop + 1, scaled from a number below
// 2^21; the relative bias of each is at most (2 crop + 1) / 2^21.
static inline MapView view_sample(const Augmentation *a, long long sample)
{
    if (!a) return {0, 0, false};
    uint64_t random = splitmix64(a->key + (uint64_t)sample);
    uint64_t places = 2 * (uint64_t)a->crop + 1;
    return {(long long)((random >> 1 & 0x1FFFFF) * places >> 21) - a->crop,
            (long long)((random >> 22 & 0x1FFFFF) * places >> 21) - a->crop,
            a->flip && (random & 1)};
}

template <class From> static inline From load_unaligned(const unsigned char *at)
{
    From value;
    memcpy(&value, at, sizeof value);
    return value;
}

// Writes a sample: each element is loaded by `load` and converted.  An image becomes (x - mean) /
// std.  Bytes are divided by 255 first if the input has real numbers.
template <class Load, class To>
static inline void convert_sample(const DataColumn *c, const DataArray *a, long long at,
                                  const MapView &view, Load load, To *to)
{
    const unsigned char *from = a->data + (size_t)at * a->stride;
    const size_t size = safe_types[a->type].bytes, plane = size * (size_t)(c->height * c->width);
    const size_t channel = a->planes ? plane : size;
    const size_t pixel = a->planes ? size : size * (size_t)c->depth;
    const bool real = c->type == SAFE_F32 || c->type == SAFE_F64;
    const To range = real && a->type == SAFE_U8 && is_image(c->input) ? (To)255 : (To)1;
    for (long long y = 0; y < c->height; y++)
        for (long long x = 0; x < c->width; x++, to += c->depth) {
            long long row = y + view.down;
            long long column = (view.flip ? c->width - 1 - x : x) + view.right;
            bool inside = row >= 0 && row < c->height && column >= 0 && column < c->width;
            const unsigned char *first = from + (size_t)(row * c->width + column) * pixel;
            for (long long k = 0; k < c->depth; k++) {
                to[k] = inside ? (To)load(first + (size_t)k * channel) / range : (To)c->fill;
                if (c->mean) to[k] = (to[k] - (To)c->mean[k]) / (To)c->std[k];
            }
        }
}

// The usual types have their own loops; the others are converted through double.
template <class To>
static inline void convert_any(const DataColumn *c, const DataArray *a, long long at,
                               const MapView &view, To *to)
{
    const int type = a->type;
    switch (type) {
    case SAFE_F64: convert_sample(c, a, at, view, load_unaligned<double>, to); break;
    case SAFE_F32: convert_sample(c, a, at, view, load_unaligned<float>, to); break;
    case SAFE_I64: convert_sample(c, a, at, view, load_unaligned<int64_t>, to); break;
    case SAFE_I32: convert_sample(c, a, at, view, load_unaligned<int32_t>, to); break;
    case SAFE_U8: convert_sample(c, a, at, view, load_unaligned<uint8_t>, to); break;
    default:
        convert_sample(c, a, at, view, [type](const unsigned char *element) {
            return read_element(type, element, 0);
        }, to);
    }
}

// Writes sample number `sample` of a column to its row of the batch.
static inline void fill_sample(const DataColumn *c, const Augmentation *augmentation,
                               long long sample, unsigned char *to)
{
    const DataPart *part = find_part(c, sample);
    const DataArray *a = &part->array;
    long long at = sample - part->first;
    MapView view = view_sample(c->is_map ? augmentation : NULL, sample);
    if (a->type == c->type && !a->planes && !c->mean && !view.down && !view.right && !view.flip)
        memcpy(to, a->data + (size_t)at * a->stride,
               (size_t)(c->height * c->width * c->depth) * safe_types[a->type].bytes);
    else if (c->type == SAFE_F64) convert_any(c, a, at, view, (double *)to);
    else if (c->type == SAFE_F32) convert_any(c, a, at, view, (float *)to);
    else if (c->type == SAFE_I32) convert_any(c, a, at, view, (int32_t *)to);
    else convert_any(c, a, at, view, to);
}
