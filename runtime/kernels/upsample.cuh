// The nearest pixel, repeated by a whole factor, computed on load.
#pragma once
#include "../support/vec/cell.cuh"
#include "../support/vec/load.cuh"
#include "../support/vec/resample.cuh"

// Repeated: y of Nearest as an array that is nowhere, read from x [N,H,W,C].  Lines of one image
// after the other are as those of one image, for each has FACTOR_H times as many as its source.
template <class Shape, class X = const real *>
struct Repeated {
    X x;
    static __device__ long long at(long long i)
    {
        constexpr int down = (int)Shape::FACTOR_H, right = (int)Shape::FACTOR_W;
        constexpr long long width = Shape::W * right, lines = Shape::N * Shape::H * down;
        constexpr bool small = lines * width * Shape::C < 1LL << 31;
        const Cell pixel = cell_of(i, Shape::C, small), line = cell_of(pixel.row, width, small);
        const long long h = cell_of(line.row, down, small).row;
        return (h * Shape::W + (int)line.column / right) * Shape::C + pixel.column;
    }
    __device__ real operator[](long long i) const { return x[at(i)]; }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return load_vec<V>(x, at(i)); }
};
