// The store of a product of integers.
#pragma once
#include "../vec/load.cuh"
#include "product.cuh"

// IntegerStore: y = Act(sum * (*scale * weight_scale[k]) + bias[k]) of integer sums, whose bits are
// those of floats.  bias is null unless BIAS.  Y may be a struct that changes the numbers further.
template <class Act, bool BIAS, class Y = real *>
struct IntegerStore {
    Y y;
    const real *scale, *weight_scale, *bias;
    // Makes reals of the sums of columns k and on, of a map times `scale`.
    template <int V>
    __device__ void make_reals(Vec<V> &run, int k, real scale) const
    {
        const Vec<V> factor = load_vec<V>(weight_scale, k);
        Vec<V> add = {};
        if (BIAS) add = load_vec<V>(bias, k);
        UNROLL for (int j = 0; j < V; j++) {
            const real x = (real)__float_as_int((float)run.at[j]) * (scale * factor.at[j]);
            run.at[j] = Act::forward(BIAS ? x + add.at[j] : x);
        }
    }
    template <class Tile, int COLUMNS, class Tiles, class Sum, class Block>
    friend __device__ void finish_sums(const IntegerStore &to, Tiles &tiles, Sum &sum,
                                       const Block &block)
    {
        const int first = block.group * COLUMNS;
        const real scale = *to.scale;
        each_run<Tile, COLUMNS, true>(
            sum, block, Tile::ROWS, [](long long) { return 0; },
            [=](auto &run, long long, int k) { to.make_reals(run, first + k, scale); });
        finish_sums<Tile, COLUMNS>(to.y, tiles, sum, block);
    }
    template <int V>
    friend __device__ void store_vec(const IntegerStore &to, long long i, const Vec<V> &v)
    {
        store_vec(to.y, i, v);
    }
    template <class Tile, int COLUMNS, bool FULL, class Tiles, class Sum, class Block, class Where,
              class Make>
    friend __device__ void store_runs(const IntegerStore &to, Tiles &tiles, Sum &sum,
                                      const Block &block, long long rows, const Where &place,
                                      const Make &)
    {
        const int first = block.group * COLUMNS;
        const real scale = *to.scale;
        store_runs<Tile, COLUMNS, FULL>(
            to.y, tiles, sum, block, rows, place,
            [=](auto &run, long long, int k) { to.make_reals(run, first + k, scale); });
    }
};
