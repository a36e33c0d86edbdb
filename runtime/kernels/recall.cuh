// Recall: the share of right predictions among all labels of a class.
#pragma once
#include "../support/net/class_ratio.cuh"

// RecallOf: its part and its whole.
struct RecallOf {
    static __device__ double part(const ClassCounts &count) { return count[0]; }
    static __device__ double whole(const ClassCounts &count) { return count[2]; }
};
