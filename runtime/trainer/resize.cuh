// Resizing: bilinear, with a wider filter where an image is reduced, as in
// Pillow and in torchvision with antialias.  Rows are combined first, in a line
// of numbers of f32; then that line's pixels are.  The order of each sum is
// fixed.
#pragma once
#include <math.h>
#include "data.cuh"

// ImagePart: a part of an image, in its pixels.
struct ImagePart {
    double down, right, height, width;
};

// Returns the largest part in the middle of an image that has the proportions of an input.
static inline ImagePart middle_part(MapSize image, MapSize input)
{
    ImagePart part = {0, 0, (double)image.height, (double)image.width};
    if (image.height * input.width > image.width * input.height)
        part.height = part.width * (double)input.height / (double)input.width;
    else part.width = part.height * (double)input.width / (double)input.height;
    part.down = ((double)image.height - part.height) / 2;
    part.right = ((double)image.width - part.width) / 2;
    return part;
}

// ---- weights

// ResizeAxis: results cover `length` pixels of a side from `from` on.  They combine pixels
// 0 .. source - 1.
struct ResizeAxis {
    double from, length;
    long long source, results;
};

// ResizeWeights: result i is the sum of weights[i * stride + k] times pixel first[i] + k, for k
// below taps.  Weights from count[i] on are 0.
struct ResizeWeights {
    long long taps, stride;
    int *first, *count;
    float *weights;
};

// Returns the most pixels that a result combines if `length` of them become `results`.
static inline long long taps_of(double length, long long results)
{
    const double step = length / (double)results;
    return (long long)(2 * (step > 1 ? step : 1)) + 2;
}

// Sets the weights of the pixels that result i combines (Pillow, Resample.c, precompute_coeffs with
// bilinear_filter), and the first one.  Returns their number.
static inline int weigh_pixels(const ResizeAxis *axis, long long i, int *first, float *weights)
{
    const double scale = axis->length / (double)axis->results, reach = scale > 1 ? scale : 1;
    const double centre = axis->from + ((double)i + 0.5) * scale;
    const long long low = (long long)fmax(centre - reach + 0.5, 0);
    const long long high = (long long)fmin(centre + reach + 0.5, (double)axis->source);
    double sum = 0;
    for (long long k = low; k < high; k++)
        sum += fmax(1 - fabs(((double)k - centre + 0.5) / reach), 0);
    for (long long k = low; k < high; k++)
        weights[k - low] =
            (float)(fmax(1 - fabs(((double)k - centre + 0.5) / reach), 0) / sum);
    *first = (int)low;
    return (int)(high - low);
}

// Computes the weights of an axis.  If it is mirrored, the first result becomes the last one.
static inline void weigh_axis(const ResizeAxis *axis, bool mirrored, ResizeWeights *w)
{
    w->stride = taps_of(axis->length, axis->results);
    w->taps = 1;
    for (long long i = 0; i < axis->results; i++) {
        const long long at = mirrored ? axis->results - 1 - i : i;
        float *weights = w->weights + at * w->stride;
        w->count[at] = weigh_pixels(axis, i, &w->first[at], weights);
        for (long long k = w->count[at]; k < w->stride; k++) weights[k] = 0;
        if (w->count[at] > w->taps) w->taps = w->count[at];
    }
}

// ---- sums

// Converts the numbers of a row to f32.
static inline void convert_row(int type, const unsigned char *row, long long count,
                               float *__restrict__ line)
{
    if (type == SAFE_U8)
        for (long long i = 0; i < count; i++) line[i] = (float)row[i];
    else if (type == SAFE_F32) memcpy(line, row, (size_t)count * sizeof *line);
    else for (long long i = 0; i < count; i++) line[i] = (float)read_element(type, row, (size_t)i);
}

// Sets a line to the sum of LINES lines, each times its weight, or adds them to it.
template <int LINES, bool ADDS>
static inline void combine_lines(float *__restrict__ to, const float *const *lines,
                                 const float *weights, long long count)
{
    const float *line[LINES];
    float weight[LINES];
    for (int k = 0; k < LINES; k++) line[k] = lines[k], weight[k] = weights[k];
    for (long long i = 0; i < count; i++) {
        float sum = ADDS ? to[i] : 0;
        for (int k = 0; k < LINES; k++) sum += weight[k] * line[k][i];
        to[i] = sum;
    }
}

template <bool ADDS>
static inline void combine_some_lines(float *to, const float *const *lines, int some,
                                      const float *weights, long long count)
{
    if (some == 1) combine_lines<1, ADDS>(to, lines, weights, count);
    else if (some == 2) combine_lines<2, ADDS>(to, lines, weights, count);
    else if (some == 3) combine_lines<3, ADDS>(to, lines, weights, count);
    else combine_lines<4, ADDS>(to, lines, weights, count);
}

// Sets a line to the sum of some lines, each times its weight.
static inline void combine_all_lines(float *to, const float *const *lines, int some,
                                     const float *weights, long long count)
{
    combine_some_lines<false>(to, lines, some, weights, count);
    for (int k = 4; k < some; k += 4)
        combine_some_lines<true>(to, lines + k, some - k, weights + k, count);
}

// FourNumbers: a vector of the compiler, which computes them at once.
typedef float __attribute__((vector_size(16))) FourNumbers;

// Combines pixels of a line, which have 3 numbers, to `results` pixels.  A fourth number is
// computed and written too, and the next pixel replaces it.  TAPS is the number of pixels that a
// result combines, or 0 for any.
template <int TAPS>
static inline void combine_colours(const float *line, const ResizeWeights *w, long long results,
                                   float *to)
{
    const long long taps = TAPS ? TAPS : w->taps, stride = w->stride;
    const int *const first = w->first;
    const float *weights = w->weights;
    for (long long x = 0; x < results; x++, to += 3, weights += stride) {
        const float *from = line + 3 * (long long)first[x];
        FourNumbers sum = {}, numbers;
        for (long long k = 0; k < taps; k++, from += 3) {
            memcpy(&numbers, from, sizeof numbers);
            sum += numbers * FourNumbers{weights[k], weights[k], weights[k], weights[k]};
        }
        memcpy(to, &sum, sizeof sum);
    }
}

// Combines pixels of a line, which have any number of channels.
static inline void combine_channels(const float *line, const ResizeWeights *w, long long results,
                                    long long channels, float *to)
{
    for (long long x = 0; x < results; x++, to += channels)
        for (long long c = 0; c < channels; c++) {
            const float *from = line + w->first[x] * channels + c;
            float sum = 0;
            for (long long k = 0; k < w->taps; k++)
                sum += w->weights[x * w->stride + k] * from[k * channels];
            to[c] = sum;
        }
}

static inline void combine_pixels(const float *line, const ResizeWeights *w, long long results,
                                  long long channels, float *to)
{
    if (channels != 3) combine_channels(line, w, results, channels, to);
    else if (w->taps == 2) combine_colours<2>(line, w, results, to);
    else if (w->taps == 3) combine_colours<3>(line, w, results, to);
    else if (w->taps == 4) combine_colours<4>(line, w, results, to);
    else combine_colours<0>(line, w, results, to);
}

// ---- images

// ResizeRoom: the memory that resizing needs: results and weights of both axes; lines that a result
// combines; numbers of a line and of a row of results.
struct ResizeRoom {
    size_t height, width, down, across, lines, line, row;
};

// Resizer: memory of a thread, and the weights of both axes.
struct Resizer {
    ResizeWeights down, across;
    const float **lines;            // those that a result combines
    float *ring, *line, *row;       // the last lines of the source; their sum; a row of results
};

enum ResizeSlack { SPARE_NUMBERS = 4 };     // after the last pixel

// Adds the room for images of this size.
static inline void add_resize_room(ResizeRoom *room, MapSize from, MapSize to, long long channels)
{
    auto keep = [](size_t *most, long long value) {
        if ((size_t)value > *most) *most = (size_t)value;
    };
    const long long down = taps_of((double)from.height, to.height);
    const long long across = taps_of((double)from.width, to.width);
    keep(&room->height, to.height);
    keep(&room->width, to.width);
    keep(&room->down, to.height * down);
    keep(&room->across, to.width * across);
    keep(&room->lines, down);
    keep(&room->line, (from.width + across) * channels + SPARE_NUMBERS);
    keep(&room->row, to.width * channels + SPARE_NUMBERS);
}

static inline ResizeWeights take_weights(size_t results, size_t weights)
{
    return {0, 0, (int *)take_memory(results * sizeof(int)),
            (int *)take_memory(results * sizeof(int)),
            (float *)take_memory(weights * sizeof(float))};
}

static inline Resizer *take_resizer(const ResizeRoom *room)
{
    Resizer *r = (Resizer *)take_memory(sizeof *r);
    *r = {take_weights(room->height, room->down), take_weights(room->width, room->across),
          (const float **)take_memory(room->lines * sizeof(float *)),
          (float *)take_memory(room->lines * room->line * sizeof(float)),
          (float *)take_memory(room->line * sizeof(float)),
          (float *)take_memory(room->row * sizeof(float))};
    return r;
}

// Returns the first and the last pixel, plus 1, that results of an axis combine.
static inline void used_pixels(const ResizeWeights *w, long long results, long long *low,
                               long long *high)
{
    const long long last = results - 1, start = w->first[0] < w->first[last] ? 0 : last;
    *low = w->first[start];
    *high = w->first[last - start] + w->count[last - start];
}

// Makes the rows of a resized image, whose axes are weighed.  `next_row` returns a row of the
// source; it is called for each row that is used, from the first one on.  `write` takes a row of
// results.
template <class Next, class Write>
static inline void resize_rows(const Resizer *r, MapSize to, int type, long long channels,
                               Next next_row, Write write)
{
    long long next, bottom, left, right;
    used_pixels(&r->down, to.height, &next, &bottom);
    used_pixels(&r->across, to.width, &left, &right);
    const long long numbers = (right - left) * channels, most = r->down.taps;
    const size_t skipped = (size_t)(left * channels) * safe_types[type].bytes;
    // Weights of 0 stand for pixels after the last one.
    float *const line = r->line + left * channels;
    memset(line + numbers, 0, (size_t)(r->across.taps * channels + SPARE_NUMBERS) * sizeof *line);
    for (long long y = 0; y < to.height; y++) {
        const int taps = r->down.count[y];
        const long long first = r->down.first[y];
        for (; next < first + taps; next++)
            convert_row(type, next_row(next) + skipped, numbers, r->ring + next % most * numbers);
        for (int k = 0; k < taps; k++) r->lines[k] = r->ring + (first + k) % most * numbers;
        combine_all_lines(line, r->lines, taps, r->down.weights + y * r->down.stride, numbers);
        combine_pixels(r->line, &r->across, to.width, channels, r->row);
        write(y, r->row);
    }
}
