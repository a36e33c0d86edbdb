// Colours of an image of 1 or 3 channels, whose numbers are levels from 0 to 255.  Formulas are
// those of torchvision (transforms/_functional_tensor.py).  RandAugment's results are whole levels.
#pragma once
#include "changes.cuh"

// Image: pixels, channel after channel in each, and as much room for a copy.
struct Image {
    MapSize size;
    long long channels;
    float *pixels, *other;
};

static inline long long pixel_count(const Image *i)
{
    return i->size.height * i->size.width;
}

// Returns the level nearest to a number; RandAugment drops fractions, as a tensor of bytes does.
static inline float level_of(float value, bool whole)
{
    const float level = value < 0 ? 0 : value > 255 ? 255 : value;
    return whole ? (float)(int)level : level;
}

// Returns amount * a + (1 - amount) * b as a level; both factors are rounded to float.
static inline float blend(float a, float b, double amount, bool whole)
{
    return level_of((float)amount * a + (float)(1 - amount) * b, whole);
}

static inline float gray_of(const Image *i, const float *pixel, bool whole)
{
    const float gray = i->channels == 3
                           ? 0.2989f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]
                           : pixel[0];
    return whole ? (float)(int)gray : gray;
}

static inline float mean_gray(const Image *i, bool whole)
{
    double sum = 0;
    for (long long n = 0; n < pixel_count(i); n++)
        sum += gray_of(i, i->pixels + n * i->channels, whole);
    return (float)(sum / (double)pixel_count(i));
}

// Turns the hue of a pixel by a share of the circle.  A channel is the largest one less a part of
// the range, which follows from the hue's distance to the channel's own.
static inline void turn_hue(float *p, float turn)
{
    const float r = p[0], g = p[1], b = p[2];
    const float most = r > g ? (r > b ? r : b) : g > b ? g : b;
    const float least = r < g ? (r < b ? r : b) : g < b ? g : b, range = most - least;
    if (range <= 0) return;
    const float sixths = most == r ? (g - b) / range
                                   : most == g ? 2 + (b - r) / range : 4 + (r - g) / range;
    const float hue = sixths + 6 * turn;
    for (int k = 0; k < 3; k++) {
        float at = hue + (float)(5 - 2 * k);
        if (at < 0) at += 6;
        if (at >= 6) at -= 6;
        const float part = at < 4 - at ? at : 4 - at;
        p[k] = most - range * (part < 0 ? 0 : part > 1 ? 1 : part);
    }
}

// Blends an image with its smoothed one, except for its border.
static inline void sharpen(Image *i, double amount, bool whole)
{
    const long long row = i->size.width * i->channels;
    if (i->size.height <= 2 || i->size.width <= 2) return;
    memcpy(i->other, i->pixels, (size_t)(pixel_count(i) * i->channels) * sizeof(float));
    for (long long y = 0; y < i->size.height; y++)
        for (long long x = 0; x < row; x++) {
            const float *at = i->pixels + y * row + x;
            float smooth = 4 * *at;
            const bool border = y == 0 || y + 1 == i->size.height || x < i->channels ||
                                x + i->channels >= row;
            for (int k = 0; k < 9 && !border; k++)
                smooth += at[(k / 3 - 1) * row + (k % 3 - 1) * i->channels];
            smooth = border ? *at : whole ? rintf(smooth / 13) : smooth / 13;
            i->other[y * row + x] = blend(*at, smooth, amount, whole);
        }
    float *sharp = i->other;
    i->other = i->pixels;
    i->pixels = sharp;
}

// Stretches the levels of each channel to 0 .. 255.
static inline void stretch_levels(Image *i)
{
    const long long numbers = pixel_count(i) * i->channels;
    for (long long k = 0; k < i->channels; k++) {
        float least = 255, most = 0;
        for (long long n = k; n < numbers; n += i->channels) {
            least = fminf(least, i->pixels[n]);
            most = fmaxf(most, i->pixels[n]);
        }
        const float scale = 1 / (most - least) * 255;
        for (long long n = k; n < numbers && most > least; n += i->channels)
            i->pixels[n] = level_of((i->pixels[n] - least) * scale, true);
    }
}

// Replaces the levels of each channel so that their histogram becomes flat.
static inline void equalize_levels(Image *i)
{
    const long long numbers = pixel_count(i) * i->channels;
    for (long long k = 0; k < i->channels; k++) {
        long long counts[256] = {}, last = 255, before = 0;
        for (long long n = k; n < numbers; n += i->channels) counts[(int)i->pixels[n]]++;
        while (last > 0 && !counts[last]) last--;
        const long long step = (pixel_count(i) - counts[last]) / 255;
        float levels[256];
        for (int level = 0; level < 256; before += counts[level++]) {
            const long long place = step ? (before + step / 2) / step : level;
            levels[level] = level ? (float)(place > 255 ? 255 : place) : step ? 0 : (float)level;
        }
        for (long long n = k; n < numbers; n += i->channels)
            i->pixels[n] = levels[(int)i->pixels[n]];
    }
}

// Blends all numbers of an image with one level.
static inline void blend_level(Image *i, float level, double amount, bool whole)
{
    float *const p = i->pixels;
    for (long long n = 0; n < pixel_count(i) * i->channels; n++)
        p[n] = blend(p[n], level, amount, whole);
}

// Blends each pixel of three channels with its gray.
static inline void saturate(Image *i, double amount, bool whole)
{
    float *const p = i->pixels;
    for (long long n = 0; n < 3 * pixel_count(i); n += 3) {
        const float gray = gray_of(i, p + n, whole);
        for (int k = 0; k < 3; k++) p[n + k] = blend(p[n + k], gray, amount, whole);
    }
}

// Keeps the highest bits of each level, or inverts levels from a threshold on.
static inline void change_levels(Image *i, const Change *c)
{
    const int kept = -(1 << (8 - (int)c->amount));
    float *const p = i->pixels;
    for (long long n = 0; n < pixel_count(i) * i->channels; n++)
        if (c->kind == CHANGE_POSTERIZE) p[n] = (float)((int)p[n] & kept);
        else if (p[n] >= (float)c->amount) p[n] = 255 - p[n];
}

// Applies a change to an image.  Hue and saturation are not those of a gray image.
static inline void change_image(Image *i, const Change *c)
{
    if (moves_pixels(c)) {
        move_pixels(c, i->size, i->channels, i->pixels, i->other);
        float *moved = i->other;
        i->other = i->pixels;
        i->pixels = moved;
        return;
    }
    switch (c->kind) {
    case CHANGE_NOTHING: break;
    case CHANGE_SHARPNESS: sharpen(i, c->amount, c->random); break;
    case CHANGE_AUTOCONTRAST: stretch_levels(i); break;
    case CHANGE_EQUALIZE: equalize_levels(i); break;
    case CHANGE_BRIGHTNESS: blend_level(i, 0, c->amount, c->random); break;
    case CHANGE_CONTRAST: blend_level(i, mean_gray(i, c->random), c->amount, c->random); break;
    case CHANGE_SATURATION:
        if (i->channels == 3) saturate(i, c->amount, c->random);
        break;
    case CHANGE_HUE:
        for (long long n = 0; i->channels == 3 && n < pixel_count(i); n++)
            turn_hue(i->pixels + 3 * n, (float)c->amount);
        break;
    default: change_levels(i, c);
    }
}

// Applies all changes of a list.  RandAugment begins with whole levels.
static inline void change_all(Image *i, const ChangeList *changes)
{
    if (changes->count && changes->list[0].random)
        for (long long n = 0; n < pixel_count(i) * i->channels; n++)
            i->pixels[n] = level_of(i->pixels[n] + 0.5f, true);
    for (int k = 0; k < changes->count; k++) change_image(i, &changes->list[k]);
}
