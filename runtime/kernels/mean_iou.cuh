// How well predicted and labelled pixels overlap, by class.
#pragma once
#include "../support/net/class_counts.cuh"

// Overlap: of each class the pixels that are predicted to be it and are, and those that are either;
// the mean of their quotients over classes that occur.
struct Overlap {
    static constexpr int NUMBERS = 2;
    static __device__ void count(int *count, int classes, int predicted, int labelled)
    {
        count[labelled] += predicted == labelled;
        count[classes + labelled]++;
        count[classes + predicted] += predicted != labelled;
    }
    static __device__ void add(const ClassCounts &count, long long, double *sum, double *weight)
    {
        if (count[1] > 0) *sum += count[0] / count[1];
        *weight += count[1] > 0;
    }
};
