// Changes of a training image after its crop, one after the other: operations
// of RandAugment, colours, a rotation.  Formulas are those of torchvision's
// functional on tensors.  Shears, moves and rotations change masks and boxes too.
#pragma once
#include "augment.cuh"

// ChangeKind: the first 14 are those of RandAugment, in its order.
enum ChangeKind {
    CHANGE_NOTHING, CHANGE_SHEAR_X, CHANGE_SHEAR_Y, CHANGE_MOVE_X, CHANGE_MOVE_Y, CHANGE_ROTATE,
    CHANGE_BRIGHTNESS, CHANGE_SATURATION, CHANGE_CONTRAST, CHANGE_SHARPNESS, CHANGE_POSTERIZE,
    CHANGE_SOLARIZE, CHANGE_AUTOCONTRAST, CHANGE_EQUALIZE, CHANGE_HUE
};

enum ChangeCounts { RANDOM_KINDS = 14, LEVELS = 30, MOST_OPERATIONS = 8, MOST_CHANGES = 13 };

// Change: its kind and amount: a factor of a colour, degrees, pixels, bits, a threshold.
struct Change {
    ChangeKind kind;
    double amount;
    bool random;                // of RandAugment: results are whole levels, pixels the nearest ones
};

// ChangeList: the changes of a sample, in their order.
struct ChangeList {
    int count;
    Change list[MOST_CHANGES];
};

static inline bool moves_pixels(const Change *c)
{
    return c->kind >= CHANGE_SHEAR_X && c->kind <= CHANGE_ROTATE;
}

// Draws an operation of RandAugment with the magnitude that bin `level` of 0 .. LEVELS has
// (torchvision, transforms.RandAugment._augmentation_space).
static inline Change draw_operation(Draws *draws, int level, MapSize size)
{
    const double share = (double)level / LEVELS;
    const ChangeKind kind = (ChangeKind)draw_below(draws, RANDOM_KINDS);
    const double sign = draw_below(draws, 2) ? -1 : 1;
    switch (kind) {
    case CHANGE_SHEAR_X:
    case CHANGE_SHEAR_Y: return {kind, sign * 0.3 * share, true};
    case CHANGE_MOVE_X: return {kind, sign * floor(150.0 / 331 * (double)size.width * share), true};
    case CHANGE_MOVE_Y:
        return {kind, sign * floor(150.0 / 331 * (double)size.height * share), true};
    case CHANGE_ROTATE: return {kind, sign * 30 * share, true};
    case CHANGE_POSTERIZE: return {kind, 8 - rint(4 * share), true};
    case CHANGE_SOLARIZE: return {kind, 255 * (1 - share), true};
    default: return {kind, 1 + sign * 0.9 * share, true};
    }
}

// Draws the changes of a sample.
static inline ChangeList draw_changes(const Augmentation *a, long long sample, MapSize size)
{
    static const ChangeKind colours[] = {CHANGE_BRIGHTNESS, CHANGE_CONTRAST, CHANGE_SATURATION,
                                         CHANGE_HUE};
    ChangeList c = {};
    if (!a) return c;
    Draws random = draws_of(a, sample, DRAW_OPERATIONS), jitter = draws_of(a, sample, DRAW_JITTER);
    Draws rotation = draws_of(a, sample, DRAW_ROTATION);
    for (int i = 0; i < a->operations; i++)
        c.list[c.count++] = draw_operation(&random, a->strength, size);
    // The colours in a random order (Fisher and Yates).
    int order[] = {0, 1, 2, 3};
    for (int i = 3; i >= 0; i--) {
        const int j = (int)draw_below(&jitter, i + 1), kind = order[j];
        const double range = a->jitter[kind], low = kind == 3 ? -range : fmax(1 - range, 0);
        const double amount = draw_between(&jitter, low, kind == 3 ? range : 1 + range);
        order[j] = order[i];
        if (range > 0) c.list[c.count++] = {colours[kind], amount, false};
    }
    if (a->degrees > 0)
        c.list[c.count++] = {CHANGE_ROTATE, draw_between(&rotation, -a->degrees, a->degrees),
                             false};
    return c;
}

// ---- moved pixels -----------------------------------------------------------------------------

// Affine: place (x, y) of a result shows place (xx x + xy y + x0, yx x + yy y + y0) of the image.
// Pixels have their centre at half a pixel.
struct Affine {
    double xx, xy, x0, yx, yy, y0;
};

// Returns the map of a change that moves pixels (torchvision, functional.affine and rotate: shears
// keep the upper left corner, rotations the centre).
static inline Affine affine_of(const Change *c, MapSize size)
{
    const double x = (double)size.width / 2, y = (double)size.height / 2;
    const double turn = c->amount * (acos(-1.0) / 180), cosine = cos(turn), sine = sin(turn);
    switch (c->kind) {
    case CHANGE_SHEAR_X: return {1, c->amount, 0, 0, 1, 0};
    case CHANGE_SHEAR_Y: return {1, 0, 0, c->amount, 1, 0};
    case CHANGE_MOVE_X: return {1, 0, -c->amount, 0, 1, 0};
    case CHANGE_MOVE_Y: return {1, 0, 0, 0, 1, -c->amount};
    default:
        return {cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y};
    }
}

// Returns the row and column of the nearest pixel that a result's pixel shows.  It may be outside.
static inline void nearest_source(const Affine *m, long long *row, long long *column)
{
    const double x = (double)*column + 0.5, y = (double)*row + 0.5;
    *column = llrint(m->xx * x + m->xy * y + m->x0 - 0.5);
    *row = llrint(m->yx * x + m->yy * y + m->y0 - 0.5);
}

static inline bool is_inside(MapSize size, long long row, long long column)
{
    return row >= 0 && row < size.height && column >= 0 && column < size.width;
}

// Returns the row and column of the crop that a pixel of the sample shows after all changes, each
// of which takes the nearest one.  Returns false if it comes from outside.
static inline bool trace_pixel(const ChangeList *c, MapSize size, long long *row, long long *column)
{
    for (int i = c->count - 1; i >= 0; i--) {
        if (!moves_pixels(&c->list[i])) continue;
        const Affine m = affine_of(&c->list[i], size);
        nearest_source(&m, row, column);
        if (!is_inside(size, *row, *column)) return false;
    }
    return true;
}

// Returns the whole number at most x, without a call.
static inline long long whole_below(double x)
{
    const long long whole = (long long)x;
    return whole - (x < (double)whole);
}

// Writes the pixel at a place between four pixels, of which those outside of the image are 0.
static inline void interpolate(MapSize size, long long channels, const float *from, double down,
                               double right, float *to)
{
    const long long row = whole_below(down), column = whole_below(right);
    const float below = (float)(down - (double)row), after = (float)(right - (double)column);
    const float shares[] = {(1 - below) * (1 - after), (1 - below) * after, below * (1 - after),
                            below * after};
    const long long at = (row * size.width + column) * channels, next = size.width * channels;
    if (is_inside(size, row, column) && is_inside(size, row + 1, column + 1)) {
        const float *pixel = from + at;
        for (long long i = 0; i < channels; i++, pixel++)
            to[i] = shares[0] * *pixel + shares[1] * pixel[channels] + shares[2] * pixel[next] +
                    shares[3] * pixel[next + channels];
        return;
    }
    for (long long i = 0; i < channels; i++) to[i] = 0;
    for (int k = 0; k < 4; k++)
        for (long long i = 0; i < channels && is_inside(size, row + k / 2, column + k % 2); i++)
            to[i] += shares[k] * from[at + k / 2 * next + k % 2 * channels + i];
}

// Moves the pixels of an image; those from outside are 0.
static inline void move_pixels(const Change *c, MapSize size, long long channels, const float *from,
                               float *to)
{
    const Affine m = affine_of(c, size);
    for (long long y = 0; y < size.height; y++)
        for (long long x = 0; x < size.width; x++, to += channels) {
            const double right = m.xx * ((double)x + 0.5) + m.xy * ((double)y + 0.5) + m.x0 - 0.5;
            const double down = m.yx * ((double)x + 0.5) + m.yy * ((double)y + 0.5) + m.y0 - 0.5;
            if (!c->random) interpolate(size, channels, from, down, right, to);
            if (!c->random) continue;
            const long long row = llrint(down), column = llrint(right);
            const bool inside = is_inside(size, row, column);
            for (long long i = 0; i < channels; i++)
                to[i] = inside ? from[(row * size.width + column) * channels + i] : 0;
        }
}
