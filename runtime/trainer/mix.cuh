// Mixed samples.  Mixup (Zhang et al. 2018) blends a sample with another one of
// the epoch; cutmix (Yun et al. 2019) copies a rectangle of it.  The targets are
// blended in the same shares.
#pragma once
#include "augment.cuh"

// Mix: the other sample, and the share of the first one.  If `cuts` is set, the other's are rows
// first[0] .. end[0] - 1 and columns first[1] .. end[1] - 1.  Otherwise all pixels are blended.
struct Mix {
    long long other;
    double share;
    bool cuts;
    long long first[2], end[2];
};

// Returns the logarithm of a number of the gamma distribution (Marsaglia and Tsang 2000).  A shape
// below 1 takes that of shape + 1 times a power of a uniform number.
static inline double draw_log_gamma(Draws *d, double shape)
{
    const double more = shape < 1 ? log(1 - draw_share(d)) / shape : 0;
    const double a = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, b = 1 / sqrt(9 * a);
    for (;;) {
        const double radius = sqrt(-2 * log(1 - draw_share(d)));
        const double x = radius * cos(2 * acos(-1.0) * draw_share(d));
        const double v = (1 + b * x) * (1 + b * x) * (1 + b * x);
        if (v > 0 && log(1 - draw_share(d)) < x * x / 2 + a - a * v + a * log(v))
            return log(a * v) + more;
    }
}

// Returns a number of the distribution Beta(shape, shape).
static inline double draw_beta(Draws *d, double shape)
{
    const double one = draw_log_gamma(d, shape), other = draw_log_gamma(d, shape);
    return 1 / (1 + exp(other - one));
}

// Draws how a sample is mixed.  The rectangle's centre is uniform; it is clipped, which changes its
// share (torchvision, transforms.v2.CutMix).  With mixup and cutmix each takes half of the samples.
static inline Mix draw_mix(const Augmentation *a, long long sample, MapSize size)
{
    Draws draws = draws_of(a, sample, DRAW_MIX);
    const bool second = draw_below(&draws, 2);
    Mix m = {a->order[draw_below(&draws, a->count)], 1, a->cutmix > 0 && (second || a->mixup <= 0),
             {0, 0}, {0, 0}};
    m.share = draw_beta(&draws, m.cuts ? a->cutmix : a->mixup);
    const double half = 0.5 * sqrt(1 - m.share);
    double area = 1;
    for (int axis = 0; axis < 2 && m.cuts; axis++) {
        const long long extent = axis ? size.width : size.height;
        const long long centre = draw_below(&draws, extent);
        const long long reach = (long long)(half * (double)extent);
        m.first[axis] = centre > reach ? centre - reach : 0;
        m.end[axis] = centre + reach < extent ? centre + reach : extent;
        area *= (double)(m.end[axis] - m.first[axis]) / (double)extent;
    }
    if (m.cuts) m.share = 1 - area;
    return m;
}

// Blends the elements of a sample with those of the other one.
template <class To>
static inline void mix_elements(const Mix *m, const DataColumn *c, To *to, const To *other)
{
    const long long row = c->width * c->depth;
    for (long long y = 0; c->is_map && m->cuts && y < c->height; y++) {
        if (y < m->first[0] || y >= m->end[0]) continue;
        const long long first = y * row + m->first[1] * c->depth;
        memcpy(to + first, other + first,
               (size_t)((m->end[1] - m->first[1]) * c->depth) * sizeof *to);
    }
    const double half = c->type == SAFE_U8 ? 0.5 : 0;
    for (long long i = 0; !(c->is_map && m->cuts) && i < c->height * row; i++)
        to[i] = (To)(m->share * (double)to[i] + (1 - m->share) * (double)other[i] + half);
}

static inline void mix_samples(const Mix *m, const DataColumn *c, void *to, const void *other)
{
    if (c->type == SAFE_U8) mix_elements(m, c, (uint8_t *)to, (const uint8_t *)other);
    else if (c->type == SAFE_F64) mix_elements(m, c, (double *)to, (const double *)other);
    else mix_elements(m, c, (float *)to, (const float *)other);
}
