// A learning rate that rises, then falls to almost zero.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/net/rate.cuh"

// rate_one_cycle: rises from 1 / div_factor to 1 at step rising * steps - 1.  Then falls to the
// first factor / final_div_factor at step steps - 1, and stays there.  One thread.
__global__ void rate_one_cycle(StateHeader *header, long long steps, double rising,
                               double div_factor, double final_div_factor)
{
    schedule_rate(header, 0, [=](double t) {
        const double top = rising * (double)steps - 1, end = (double)(steps - 1);
        const double first = 1 / div_factor;
        return t < top ? half_cosine(first, 1, t / top)
               : t < end ? half_cosine(1, first / final_div_factor, (t - top) / (end - top))
                         : first / final_div_factor;
    });
}
