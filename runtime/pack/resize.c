// Resamples an image in two passes, first along rows, then along columns.  A
// result is the weighted mean of the pixels near its position.  The weight is a
// triangle as wide as two pixels of the source or of the result, whichever is
// larger.  The order of additions is fixed, so the result depends only on the
// image.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "pack.h"

// The weights of one axis: result i is the sum of weight[i * most + k] times
// the source at first[i] + k, for k below count[i].
typedef struct Axis {
    int    *first, *count;
    float  *weight;
    int     most;
} Axis;

static void free_axis(Axis *axis)
{
    free(axis->first);
    free(axis->count);
    free(axis->weight);
}

static double triangle(double x)
{
    double height = 1 - (x < 0 ? -x : x);
    return height > 0 ? height : 0;
}

// Sets the weights of the pixels from `first` on within reach of `middle`.
static int fill_weights(float *weight, int first, int end, double middle,
                        double reach)
{
    double sum = 0;
    for (int i = first; i < end; i++)
        sum += triangle((i + 0.5 - middle) / reach);
    for (int i = first; i < end; i++)
        weight[i - first] =
            (float)(triangle((i + 0.5 - middle) / reach) / sum);
    return end - first;
}

// Computes the weights of `results` results that cover `length` pixels from
// `from`.
static bool make_axis(Axis *axis, int source, double from, double length,
                      int results)
{
    double step = length / results, reach = step > 1 ? step : 1;
    size_t count = (size_t)results;

    axis->most = (int)(2 * reach) + 3;
    axis->first = calloc(count, sizeof *axis->first);
    axis->count = calloc(count, sizeof *axis->count);
    axis->weight = calloc(count * (size_t)axis->most, sizeof *axis->weight);
    if (!axis->first || !axis->count || !axis->weight) return false;
    for (int i = 0; i < results; i++) {
        double middle = from + (i + 0.5) * step;
        int first = (int)(middle - reach + 0.5), end;
        if (middle - reach + 0.5 < 0) first = 0;
        end = (int)(middle + reach + 0.5);
        if (end > source) end = source;
        axis->first[i] = first;
        axis->count[i] = fill_weights(axis->weight + (size_t)i * axis->most,
                                      first, end, middle, reach);
    }
    return true;
}

// Returns a sample of an image.
static float sample(const Image *image, size_t at)
{
    const void *pixels = image->pixels;
    return image->type == F32_SAMPLES   ? ((const float *)pixels)[at]
         : image->type == U16_SAMPLES ? (float)((const uint16_t *)pixels)[at]
                                      : (float)((const uint8_t *)pixels)[at];
}

// Computes `count` channels of a result, at most RGB, from the sample `first`
// on.
static inline void along_row(const Image *image, const float *weight,
                             int pixels, size_t first, size_t count, float *to)
{
    size_t channels = (size_t)image->channels;
    float sum[RGB] = { 0, 0, 0 };
    assert(count <= RGB);
    for (int k = 0; k < pixels; k++, first += channels)
        for (size_t c = 0; c < count; c++)
            sum[c] += weight[k] * sample(image, first + c);
    memcpy(to, sum, count * sizeof *to);
}

// Computes rows[h, results, channels] from the image's [h, w, channels].
static void along_rows(const Image *image, const Axis *axis, int results,
                       float *rows)
{
    size_t channels = (size_t)image->channels;
    for (int y = 0; y < image->height; y++) {
        size_t line = (size_t)y * (size_t)image->width;
        for (int x = 0; x < results; x++, rows += channels) {
            const float *weight = axis->weight + (size_t)x * axis->most;
            size_t first = (line + (size_t)axis->first[x]) * channels;
            int pixels = axis->count[x];
            // The usual case has a loop of its own.
            if (channels == RGB)
                along_row(image, weight, pixels, first, RGB, rows);
            else
                for (size_t c = 0; c < channels; c++)
                    along_row(image, weight, pixels, first + c, 1, rows + c);
        }
    }
}

// Writes a sample of one byte, or of two or four, the lowest one first.
static uint8_t *store_sample(float x, int type, uint8_t *to)
{
    if (type == F32_SAMPLES) {
        put_f32(to, x);
        return to + sizeof x;
    }
    float most = type == U16_SAMPLES ? 65535 : 255;
    long rounded = x <= 0 ? 0 : x >= most ? (long)most : lroundf(x);
    *to++ = (uint8_t)(rounded & 255);
    if (type == U16_SAMPLES) *to++ = (uint8_t)(rounded >> 8);
    return to;
}

// Gray is the luma of ITU-R BT.601.
static uint8_t *store(const float *sum, const Image *image,
                      const Target *target, uint8_t *to)
{
    if (target->channels == 1 && image->channels == RGB)
        return store_sample(0.299f * sum[0] + 0.587f * sum[1] +
                            0.114f * sum[2], image->type, to);
    for (int c = 0; c < image->channels; c++)
        to = store_sample(sum[c], image->type, to);
    return to;
}

// Does the same for a column of rows with `line` samples.
static inline void along_column(const float *from, size_t line,
                                const float *weight, int pixels, size_t count,
                                float *to)
{
    float sum[RGB] = { 0, 0, 0 };
    assert(count <= RGB);
    for (int k = 0; k < pixels; k++, from += line)
        for (size_t c = 0; c < count; c++) sum[c] += weight[k] * from[c];
    memcpy(to, sum, count * sizeof *to);
}

// `sum` has room for a pixel.
static void along_columns(const Image *image, const float *rows,
                          const Axis *axis, const Target *target, float *sum,
                          uint8_t *to)
{
    size_t channels = (size_t)image->channels;
    size_t line = (size_t)target->width * channels;
    for (int y = 0; y < target->height; y++) {
        const float *weight = axis->weight + (size_t)y * axis->most;
        const float *from = rows + (size_t)axis->first[y] * line;
        int pixels = axis->count[y];
        for (int x = 0; x < target->width; x++, from += channels) {
            if (channels == RGB)
                along_column(from, line, weight, pixels, RGB, sum);
            else
                for (size_t c = 0; c < channels; c++)
                    along_column(from + c, line, weight, pixels, 1, sum + c);
            to = store(sum, image, target, to);
        }
    }
}

Part part_of(int height, int width, const Target *target)
{
    Part part = { 0, 0, height, width };
    if (target->stretch) return part;
    if (part.height * target->width > part.width * target->height)
        part.height = part.width * target->height / target->width;
    else
        part.width = part.height * target->width / target->height;
    part.top = (height - part.height) / 2;
    part.left = (width - part.width) / 2;
    return part;
}

bool resize(const Image *image, const Target *target, uint8_t *to)
{
    Axis axis[2] = { { .most = 0 }, { .most = 0 } };
    Part part = part_of(image->height, image->width, target);

    size_t channels = (size_t)image->channels;
    size_t count = (size_t)image->height * (size_t)target->width;
    float *rows = calloc(count, channels * sizeof *rows);
    float *sum = calloc(channels, sizeof *sum);
    bool fits = rows && sum &&
        make_axis(&axis[0], image->height, part.top, part.height,
                  target->height) &&
        make_axis(&axis[1], image->width, part.left, part.width,
                  target->width);
    if (fits) {
        along_rows(image, &axis[1], target->width, rows);
        along_columns(image, rows, &axis[0], target, sum, to);
    }
    free_axis(&axis[0]);
    free_axis(&axis[1]);
    free(rows);
    free(sum);
    return fits;
}

// Returns the pixel that contains the middle of result i.
static size_t nearest(double from, double length, int results, int i, int most)
{
    int at = (int)(from + (i + 0.5) * length / results);
    return (size_t)(at < most ? at : most - 1);
}

void resize_mask(const Image *mask, const Target *target, int32_t *to)
{
    Part part = part_of(mask->height, mask->width, target);
    for (int y = 0; y < target->height; y++) {
        size_t row = nearest(part.top, part.height, target->height, y,
                             mask->height);
        for (int x = 0; x < target->width; x++) {
            size_t column = nearest(part.left, part.width, target->width, x,
                                    mask->width);
            *to++ = (int32_t)sample(mask, row * (size_t)mask->width + column);
        }
    }
}
