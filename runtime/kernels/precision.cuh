// Precision: the share of right predictions among all predictions of a class.
#pragma once
#include "../support/net/class_ratio.cuh"

// PrecisionOf: its part and its whole.
struct PrecisionOf {
    static __device__ double part(const ClassCounts &count) { return count[0]; }
    static __device__ double whole(const ClassCounts &count) { return count[1]; }
};
