// Resamples an image in two passes, first along rows, then along columns.  A
// result is the weighted mean of the pixels near its position.  The weight is a
// triangle as wide as two pixels of the source or of the result, whichever is
// larger.  The order of additions is fixed, so the result depends only on the
// image.
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

// Computes rows[h, results, 3] from the image's [h, w, 3].
static void along_rows(const Image *image, const Axis *axis, int results,
                       float *rows)
{
    for (int y = 0; y < image->height; y++) {
        const uint8_t *line =
            image->pixels + (size_t)y * (size_t)image->width * RGB;
        for (int x = 0; x < results; x++) {
            const float *weight = axis->weight + (size_t)x * axis->most;
            float sum[RGB] = { 0, 0, 0 };
            for (int k = 0; k < axis->count[x]; k++)
                for (int c = 0; c < RGB; c++)
                    sum[c] += weight[k] *
                              (float)line[(axis->first[x] + k) * RGB + c];
            memcpy(rows, sum, sizeof sum);
            rows += RGB;
        }
    }
}

static uint8_t to_byte(float x)
{
    return x <= 0 ? 0 : x >= 255 ? 255 : (uint8_t)lroundf(x);
}

// Gray is the luma of ITU-R BT.601.
static void store(const float sum[RGB], int channels, uint8_t *to)
{
    if (channels == 1)
        *to = to_byte(0.299f * sum[0] + 0.587f * sum[1] + 0.114f * sum[2]);
    for (int c = 0; channels == RGB && c < RGB; c++) to[c] = to_byte(sum[c]);
}

static void along_columns(const float *rows, const Axis *axis,
                          const Target *target, uint8_t *to)
{
    size_t line = (size_t)target->width * RGB;
    for (int y = 0; y < target->height; y++) {
        const float *weight = axis->weight + (size_t)y * axis->most;
        for (int x = 0; x < target->width; x++, to += target->channels) {
            const float *from =
                rows + (size_t)axis->first[y] * line + (size_t)x * RGB;
            float sum[RGB] = { 0, 0, 0 };
            for (int k = 0; k < axis->count[y]; k++)
                for (int c = 0; c < RGB; c++)
                    sum[c] += weight[k] * from[(size_t)k * line + (size_t)c];
            store(sum, target->channels, to);
        }
    }
}

bool resize(const Image *image, const Target *target, uint8_t *to)
{
    Axis axis[2] = { { .most = 0 }, { .most = 0 } };
    double height = image->height, width = image->width;

    // The largest part with the target's proportions.
    if (!target->stretch) {
        if (height * target->width > width * target->height)
            height = width * target->height / target->width;
        else
            width = height * target->width / target->height;
    }
    float *rows = calloc((size_t)image->height * (size_t)target->width,
                         RGB * sizeof *rows);
    bool fits = rows &&
        make_axis(&axis[0], image->height, (image->height - height) / 2,
                  height, target->height) &&
        make_axis(&axis[1], image->width, (image->width - width) / 2, width,
                  target->width);
    if (fits) {
        along_rows(image, &axis[1], target->width, rows);
        along_columns(rows, &axis[0], target, to);
    }
    free_axis(&axis[0]);
    free_axis(&axis[1]);
    free(rows);
    return fits;
}
