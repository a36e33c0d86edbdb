// Resizing a crop of an image: bilinear, with a wider filter where the crop is
// reduced, as in Pillow and in torchvision with antialias.  Rows are combined
// first, in a line of the crop's width; then that line's pixels are.
#pragma once
#include <math.h>
#include "colour.cuh"

// PixelScratch: memory of one thread for the images that it makes.
struct PixelScratch {
    float *line;                // a row of a crop, all channels
    float *weights;             // of the pixels of a line that each pixel of the result has
    int *first, *count;         // which pixels these are
    float *pixels, *other;      // images of the input's size
    void *partner;              // a sample that is mixed into another one
    JpegWorker *jpeg;           // for columns of JPEG files
};

// A row of `from` numbers becomes one of `to`.  Sets the weights of those that number `at` combines
// (Pillow, Resample.c, precompute_coeffs with bilinear_filter).  Returns their count, which is at
// most taps_of(from, to); they begin at *first.
static inline int weigh_taps(long long at, long long from, long long to, int *first, float *weights)
{
    const double scale = (double)from / (double)to, reach = scale > 1 ? scale : 1;
    const double centre = ((double)at + 0.5) * scale;
    const long long low = (long long)fmax(centre - reach + 0.5, 0);
    const long long high = (long long)fmin(centre + reach + 0.5, (double)from);
    double sum = 0;
    for (long long k = low; k < high; k++)
        sum += fmax(1 - fabs(((double)k - centre + 0.5) / reach), 0);
    for (long long k = low; k < high; k++)
        weights[k - low] =
            (float)(fmax(1 - fabs(((double)k - centre + 0.5) / reach), 0) / sum);
    *first = (int)low;
    return (int)(high - low);
}

static inline long long taps_of(long long from, long long to)
{
    return 2 * (from / to + 1) + 1;
}

// Adds a row of numbers, times a weight, to a line.
template <class From>
static inline void add_row(float *line, const unsigned char *row, long long count, float weight)
{
    for (long long i = 0; i < count; i++) {
        From value;
        memcpy(&value, row + (size_t)i * sizeof value, sizeof value);
        line[i] += weight * (float)value;
    }
}

static inline void add_any_row(int type, float *line, const unsigned char *row, long long count,
                               float weight)
{
    switch (type) {
    case SAFE_U8: add_row<uint8_t>(line, row, count, weight); break;
    case SAFE_F32: add_row<float>(line, row, count, weight); break;
    default:
        for (long long i = 0; i < count; i++)
            line[i] += weight * (float)read_element(type, row, (size_t)i);
    }
}

// Writes a row of pixels, `step` numbers from one to the next: each combines some of a line, whose
// pixels have CHANNELS numbers.
template <int CHANNELS>
static inline void combine_line(const PixelScratch *s, long long width, long long taps, float *to,
                                long long step)
{
    for (long long x = 0; x < width; x++, to += step) {
        const float *from = s->line + (long long)s->first[x] * CHANNELS;
        const float *weights = s->weights + x * taps;
        float sum[CHANNELS] = {};
        for (int k = 0; k < s->count[x]; k++, from += CHANNELS)
            for (int c = 0; c < CHANNELS; c++) sum[c] += weights[k] * from[c];
        for (int c = 0; c < CHANNELS; c++) to[c] = sum[c];
    }
}

// The same for any number of channels.
static inline void combine_channels(const PixelScratch *s, long long width, long long taps,
                                    float *to, long long channels)
{
    for (long long x = 0; x < width; x++, to += channels)
        for (long long c = 0; c < channels; c++) {
            const float *from = s->line + s->first[x] * channels + c;
            to[c] = 0;
            for (int k = 0; k < s->count[x]; k++)
                to[c] += s->weights[x * taps + k] * from[k * channels];
        }
}

// Resizes the crop of sample `at` of a file to height x width pixels `to`, in the numbers of the
// file.  Each plane of a file with planes is an image of one channel.  If the view has a flip, the
// pixels are changed from left to right.
static inline void resize_crop(const DataArray *a, long long at, const MapView *v, MapSize size,
                               const PixelScratch *s, float *to)
{
    const size_t bytes = safe_types[a->type].bytes;
    const long long depth = a->dims[3], planes = a->planes ? depth : 1, channels = depth / planes;
    const long long taps = taps_of(v->width, size.width), row = a->dims[2] * channels;
    const long long numbers = v->width * channels;
    float *const shares = s->weights + size.width * taps;
    for (long long x = 0; x < size.width; x++) {
        const long long end = v->flip ? size.width - 1 - x : x;
        s->count[end] = weigh_taps(x, v->width, size.width, &s->first[end],
                                   s->weights + end * taps);
    }
    for (long long p = 0; p < planes; p++) {
        const unsigned char *from = a->data + (size_t)at * a->stride +
            (size_t)((p * a->dims[1] + v->down) * row + v->right * channels) * bytes;
        float *out = to + p;
        for (long long y = 0; y < size.height; y++, out += size.width * depth) {
            int first, count = weigh_taps(y, v->height, size.height, &first, shares);
            memset(s->line, 0, (size_t)numbers * sizeof *s->line);
            for (int k = 0; k < count; k++)
                add_any_row(a->type, s->line, from + (size_t)((first + k) * row) * bytes, numbers,
                            shares[k]);
            if (channels == 3) combine_line<3>(s, size.width, taps, out, depth);
            else if (channels == 1) combine_line<1>(s, size.width, taps, out, depth);
            else combine_channels(s, size.width, taps, out, channels);
        }
    }
}

// Takes the scratch memory for the maps of these columns.  With `whole` JPEG files are decoded as a
// whole, and cropped.
static inline PixelScratch take_scratch(const DataColumn *columns, int count,
                                        bool whole = false)
{
    size_t line = 0, weights = 0, pixels = 0, width = 0;
    for (int i = 0; i < count; i++) {
        const DataColumn *c = &columns[i];
        for (int k = 0; c->is_map && k < c->part_count; k++) {
            const DataArray *a = &c->parts[k].array;
            const long long side = whole && a->jpegs ? (long long)jpeg_room.side : 0;
            const MapSize size = side ? MapSize{side, side} : map_size(a);
            const size_t across = (size_t)(size.width * c->depth);
            const size_t taps = (size_t)(c->width * taps_of(size.width, c->width) +
                                         taps_of(size.height, c->height));
            if (across > line) line = across;
            if (taps > weights) weights = taps;
        }
        const size_t all = (size_t)(c->height * c->width * c->depth);
        if (all > pixels) pixels = all;
        if ((size_t)c->width > width) width = (size_t)c->width;
    }
    return {(float *)take_memory(line * sizeof(float)),
            (float *)take_memory(weights * sizeof(float)),
            (int *)take_memory(width * sizeof(int)), (int *)take_memory(width * sizeof(int)),
            (float *)take_memory(pixels * sizeof(float)),
            (float *)take_memory(pixels * sizeof(float)), take_memory(pixels * sizeof(double)),
            take_jpeg_room(whole)};
}
