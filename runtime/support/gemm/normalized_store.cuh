// The store of a launch that applies a batch norm, and maybe a sum, to the map that it makes.
#pragma once
#include "../vec/norm_terms.cuh"
#include "product.cuh"

// NormalizedStore: y = Act(norm(x) + other) of the launch's map x; with PLUS false, Act(norm(x)).
// The map x is rounded to Map, the type of maps, as if it were stored; with PLUS, so is norm(x).
// Map y may be `other`.
template <class Act, class Map, bool PLUS, class Other = const real *, class Y = real *>
struct NormalizedStore {
    Y y;
    const real *weight, *bias, *mean, *variance;
    real epsilon;
    Other other;
    template <int V>
    __device__ NormTerms<V> terms(int c) const
    {
        return norm_terms<V>(c, weight, bias, mean, variance, epsilon);
    }
    // The element that PLUS adds to, or the result.
    template <int V>
    static __device__ real of(real x, const NormTerms<V> &terms, int j)
    {
        const real norm = terms.of(as_stored<Map>(x), j);
        return PLUS ? as_stored<Map>(norm) : Act::forward(norm);
    }
    template <int V>
    __device__ void add(Vec<V> &own, long long at) const
    {
        if constexpr (PLUS) {
            const Vec<V> more = load_vec<V>(other, at);
            UNROLL for (int j = 0; j < V; j++) own.at[j] = Act::forward(own.at[j] + more.at[j]);
        }
    }
    // The block computes the terms of its columns once, where the tiles were.
    template <class Tile, int COLUMNS, class Tiles, class Sum, class Block>
    friend __device__ void finish_sums(const NormalizedStore &to, Tiles &tiles, Sum &sum,
                                       const Block &block)
    {
        constexpr int V = Tile::template RUN<COLUMNS>, PITCH = Tile::COLUMNS;
        static_assert(PITCH <= Tile::THREADS, "a thread computes the terms of one column");
        static_assert(sizeof tiles >= 3 * PITCH * sizeof(real), "terms fit where tiles were");
        real *const room = (real *)&tiles;
        const int c = (int)threadIdx.x;
        __syncthreads();
        if (c < PITCH && block.column + c < COLUMNS) {
            const NormTerms<1> own = to.template terms<1>(block.group * COLUMNS + block.column + c);
            room[c] = own.mean.at[0];
            room[PITCH + c] = own.factor.at[0];
            room[2 * PITCH + c] = own.bias.at[0];
        }
        __syncthreads();
        UNROLL for (int j = 0; j < Tile::COLUMNS_EACH; j += V) {
            const int own = Tile::column(j);
            if (COLUMNS % Tile::COLUMNS && block.column + own >= COLUMNS) continue;
            const NormTerms<V> of_run = {load_vec<V>(room, own), load_vec<V>(room, PITCH + own),
                                         load_vec<V>(room, 2 * PITCH + own)};
            UNROLL for (int i = 0; i < Tile::ROWS_EACH; i++)
                UNROLL for (int k = 0; k < V; k++)
                    sum[i][j + k] = of(sum[i][j + k], of_run, k);
        }
    }
    template <class Tile, int COLUMNS, bool FULL, class Tiles, class Sum, class Block, class Where,
              class Make>
    friend __device__ void store_runs(const NormalizedStore &to, Tiles &tiles, Sum &sum,
                                      const Block &block, long long rows, const Where &place,
                                      const Make &make)
    {
        each_run<Tile, COLUMNS, FULL>(sum, block, rows, place, make);
        finish_sums<Tile, COLUMNS>(to, tiles, sum, block);
        store_runs<Tile, COLUMNS, FULL>(
            to.y, tiles, sum, block, rows, place,
            [=](auto &run, long long at, int) { to.add(run, at); });
    }
    template <int V>
    friend __device__ void store_vec(const NormalizedStore &to, long long i, const Vec<V> &v)
    {
        store_vec(to.y, i, v);
    }
    // Likewise the channels from c on of several pixels.
    template <int V>
    friend __device__ auto channel_storer(const NormalizedStore &to, int c)
    {
        const NormTerms<V> terms = to.template terms<V>(c);
        return [=](long long at, Vec<V> v) {
            UNROLL for (int j = 0; j < V; j++) v.at[j] = of(v.at[j], terms, j);
            to.add(v, at);
            store_vec(to.y, at, v);
        };
    }
};
