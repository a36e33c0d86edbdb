// F1: the harmonic mean of precision and recall of a class (van Rijsbergen 1979).
#pragma once
#include "../support/net/class_ratio.cuh"

// F1Of: its part and its whole.
struct F1Of {
    static __device__ double part(const ClassCounts &count) { return 2 * count[0]; }
    static __device__ double whole(const ClassCounts &count) { return count[1] + count[2]; }
};
