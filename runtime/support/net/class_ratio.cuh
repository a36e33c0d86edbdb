// Quotients of counts of a class, averaged over classes.  A quotient of 0 by 0 is 0.
#pragma once
#include "class_counts.cuh"

// ClassPixels: of each class the pixels that are predicted to be it and are, that are predicted to
// be it, and that are labelled so.
struct ClassPixels {
    static constexpr int NUMBERS = 3;
    static __device__ void count(int *count, int classes, int predicted, int labelled)
    {
        count[labelled] += predicted == labelled;
        count[classes + predicted]++;
        count[2 * classes + labelled]++;
    }
};

// class_quotient: part / whole of a class, or 0.
template <class Of> static __device__ inline double class_quotient(const ClassCounts &count)
{
    const double whole = Of::whole(count);
    return whole > 0 ? Of::part(count) / whole : 0;
}

// MacroMean: the mean over classes that are predicted or labelled.
template <class Of> struct MacroMean {
    static __device__ void add(const ClassCounts &count, long long, double *sum, double *weight)
    {
        *sum += class_quotient<Of>(count);
        *weight += count[1] + count[2] > 0;
    }
};

// MicroMean: all parts over all wholes.
template <class Of> struct MicroMean {
    static __device__ void add(const ClassCounts &count, long long, double *sum, double *weight)
    {
        *sum += Of::part(count);
        *weight += Of::whole(count);
    }
};

// BinaryMean: that of class 1.
template <class Of> struct BinaryMean {
    static __device__ void add(const ClassCounts &count, long long c, double *sum, double *weight)
    {
        if (c == 1) *sum += class_quotient<Of>(count);
        *weight += c == 1;
    }
};
