// Windows of pools, for maps in global or shared memory.
#pragma once
#include "../vec/elementwise.cuh"
#include "../vec/packed.cuh"
#include "window.cuh"

// pool_window: Act(Pool of the elements of window i, in row-major order) for the EACH channels from
// c on, and the word of the index if Pool keeps one.  Channel c of pixel h, w is x[at(h, w)].
template <class Shape, class Pool, class Act, class Y, class X, class At>
static __device__ inline void pool_window(Y y, typename Pool::Word *index, long long i, int c,
                                          int h, int w, const X &x, const At &at)
{
    constexpr int C = (int)Shape::C, EACH = Pool::EACH, V = C % EACH == 0 ? EACH : 1;
    constexpr int WORDS = (C + EACH - 1) / EACH;
    Pool pool;
    for (int r = 0; r < Shape::R; r++)
        for (int s = 0; s < Shape::S; s++) {
            if (h + r < 0 || h + r >= Shape::H || w + s < 0 || w + s >= Shape::W) continue;
            const long long from = at(h + r, w + s);
            for (int j = 0; j < EACH && j < C - c; j += V) {
                const Vec<V> v = load_vec<V>(x, from + j);
                for (int k = 0; k < V; k++) pool.take(j + k, v.at[k], (int)(r * Shape::S + s));
            }
        }
    for (int j = 0; j < EACH && j < C - c; j += V) {
        Vec<V> v;
        for (int k = 0; k < V; k++)
            v.at[k] = Act::forward(pool.template result<Shape>(j + k, h, w));
        store_vec(y, i * C + c + j, v);
    }
    if (Pool::KEEP) index[i * WORDS + c / EACH] = pool.word();
}

// pool_windows: pool_window for all windows of a map x.
template <class Shape, class Pool, class Act, class Y, class X>
static __device__ inline void pool_windows(Y y, typename Pool::Word *index, X x)
{
    constexpr int EACH = Pool::EACH, WORDS = (int)((Shape::C + EACH - 1) / EACH);
    constexpr long long count = Shape::N * Shape::P * Shape::Q * WORDS;
    FOR_EACH(i, count) {
        const Offset2d window = windows<Shape>(count, WORDS, EACH)(i);
        const int c = (int)(i % WORDS) * EACH;
        auto at = [=](int h, int w) {
            return window.offset + ((h - window.h) * Shape::W + w - window.w) * Shape::C;
        };
        pool_window<Shape, Pool, Act>(y, index, i / WORDS, c, window.h, window.w, x, at);
    }
}
