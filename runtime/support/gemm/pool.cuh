// Windows of pools, for maps in global or shared memory.
#pragma once
#include "../vec/elementwise.cuh"
#include "../vec/packed.cuh"
#include "window.cuh"

// pool_window: Act(Pool of the elements of window i) for the EACH channels from c on, and the word
// of the index if Pool keeps one.  The elements are in row-major order.  Channel c of the window's
// corner, which is at pixel h, w of the map, is x[corner]; the next line is `line` elements on, the
// next pixel `pixel`.
template <class Shape, class Pool, class Act, class Y, class X>
static __device__ inline void pool_window(Y y, typename Pool::Word *index, long long i, int c,
                                          int h, int w, const X &x, long long corner, int line,
                                          int pixel)
{
    constexpr int C = (int)Shape::C, EACH = Pool::EACH, V = C % EACH == 0 ? EACH : 1;
    constexpr int WORDS = (C + EACH - 1) / EACH;
    constexpr int DOWN = (int)Shape::DILATION_H, RIGHT = (int)Shape::DILATION_W;
    Pool pool;
    for (int r = 0; r < Shape::R; r++)
        for (int s = 0; s < Shape::S; s++) {
            const int y_in = h + r * DOWN, x_in = w + s * RIGHT;
            if (y_in < 0 || y_in >= Shape::H || x_in < 0 || x_in >= Shape::W) continue;
            for (int j = 0; j < EACH && j < C - c; j += V) {
                const long long at = corner + r * DOWN * line + s * RIGHT * pixel + j;
                const Vec<V> v = load_vec<V>(x, at);
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
        pool_window<Shape, Pool, Act>(y, index, i / WORDS, (int)(i % WORDS) * EACH, window.h,
                                      window.w, x, window.offset, (int)(Shape::W * Shape::C),
                                      (int)Shape::C);
    }
}
