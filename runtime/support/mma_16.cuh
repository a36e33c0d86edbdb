// What tensor-core products of elements of 16 bits have in common.
#pragma once
#include "mma.cuh"

// Element16: what a TensorTile's Element of 16 bits inherits: rows of a step's lanes are read as
// matrices that are turned about.
struct Element16 {
    static constexpr int STEPS = 16;
    template <int CHUNKS>
    static __device__ int exchanged(int row) { return CHUNKS >= 8 ? row % 8 : row / 2 % 4; }
    template <class At, class Stored>
    static __device__ void load_across(unsigned (&word)[4], const Stored *staged, int lane,
                                       int step)
    {
        const int own = (int)threadIdx.x % 32, matrix = own / 8;
        load_turned_matrices(word, &staged[At::at(lane + matrix / 2 * 8,
                                                  step + matrix % 2 * 8 + own % 8)]);
    }
    static __device__ unsigned operand(unsigned word) { return word; }
};
