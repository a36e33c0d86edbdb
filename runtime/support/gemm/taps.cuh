// Operands of a GEMM from windows whose pixels have too few channels for vectors.
#pragma once
#include "product.cuh"
#include "register.cuh"

// TapLoader: a TileLoader of windows over a map in memory.  A thread loads V taps of a pixel one by
// one.  Each lane of a warp finds one step, and the others take it.  A tap has the bits of its row
// and column in the window; a pixel has those outside of the map, and bit 31, which taps beyond the
// filter have.
template <class Shape, class Tile, int LANES, bool ALONG, class X>
struct TapLoader : TileLoader<Tile, LANES, Tile::template VEC<8>, ALONG, X, true> {
    typedef TileLoader<Tile, LANES, Tile::template VEC<8>, ALONG, X, true> Base;
    typedef std::decay_t<std::remove_pointer_t<MapOf<X>>> Stored;
    static constexpr int V = Base::WIDTH, EACH = Base::EACH, C = (int)(Shape::C / Shape::GROUPS);
    static constexpr int R = (int)Shape::R, S = (int)Shape::S;
    struct Tap { unsigned offset, bits; } taps[V] = {};
    struct Pixel { const Stored *at; unsigned outside; } pixels[EACH] = {};
    // The elements, zero outside; integers fill registers.
    std::conditional_t<std::is_integral_v<Stored>, int, Stored> raw[EACH][V] = {};
    __device__ TapLoader(const X &from, long long first, int height, int width,
                         const Im2colIndex &steps)
        : Base{from, first, height, width, steps} { }
    static __device__ Tap tap(unsigned i)
    {
        const unsigned r = i / (S * C), s = i / C % S, c = i % C;
        constexpr unsigned DOWN = Shape::DILATION_H * Shape::W, RIGHT = Shape::DILATION_W;
        return {(r * DOWN + s * RIGHT) * (unsigned)Shape::C + c,
                i < R * S * C ? 1u << r | 1u << (R + s) : 1u << 31};
    }
    typedef typename HasTerms<X>::Terms Terms;
    Terms terms[V] = {};
    // The terms of the channel of tap i, if the source has them.
    __device__ Terms terms_of(unsigned i) const
    {
        if constexpr (HasTerms<X>::value)
            return this->from.template terms<1>((int)this->first + (int)(i % C));
        else return i;
    }
    // Bits of `count` positions, `step` apart from `at` on: they are in [0, size).
    static __device__ unsigned inside(int at, int count, int step, int size)
    {
        const int from = min(max((step - 1 - at) / step, 0), count);
        const int to = min(max((size - at + step - 1) / step, 0), count);
        return (1u << to) - (1u << from);
    }
    __device__ Pixel pixel(const Offset2d &at) const
    {
        const unsigned h = inside(at.h, R, (int)Shape::DILATION_H, this->height);
        const unsigned w = inside(at.w, S, (int)Shape::DILATION_W, this->width);
        return {made_of(this->from) + this->first + at.offset, ~(h | w << R)};
    }
    template <class Lanes>
    __device__ void start(long long begin, const Lanes &index)
    {
        UNROLL for (int i = 0; i < (ALONG ? EACH : V); i++)
            if constexpr (ALONG) {
                pixels[i] = pixel(index(begin + Base::lane(i), LANES));
                pixels[i].at = in_register(pixels[i].at);
            } else {
                const unsigned own = (unsigned)begin + Base::lane(0, i);
                taps[i] = tap(own);
                terms[i] = i < C ? terms_of(own) : terms[i % C];
            }
    }
    __device__ void fetch(long long k)
    {
        const long long mine = k + threadIdx.x % Tile::DEPTH;
        if constexpr (ALONG) {
            const Tap found = tap((unsigned)mine);
            const auto found_terms = terms_of((unsigned)mine);
            UNROLL for (int j = 0; j < V; j++) {
                taps[j] = of_lane(found, Base::step(0, j));
                terms[j] = j < C ? of_lane(found_terms, Base::step(0, j)) : terms[j % C];
            }
        } else {
            const Pixel found = pixel(this->steps(mine));
            UNROLL for (int i = 0; i < EACH; i++)
                pixels[i] = {of_lane(found.at, Base::step(i)),
                             of_lane(found.outside, Base::step(i))};
        }
        UNROLL for (int i = 0; i < EACH; i++)
            UNROLL for (int j = 0; j < V; j++) {
                raw[i][j] = {};
                if (!(pixels[i].outside & taps[j].bits))
                    raw[i][j] = pixels[i].at[taps[j].offset];
            }
    }
    __device__ void finish()
    {
        UNROLL for (int i = 0; i < EACH; i++)
            UNROLL for (int j = 0; j < V; j++) {
                Vec<1> x = {{(real)raw[i][j]}};
                if constexpr (HasTerms<X>::value)
                    if (!(pixels[i].outside & taps[j].bits)) x = X::of(x, terms[j]);
                this->held[i].at[j] = x.at[0];
            }
    }
};
