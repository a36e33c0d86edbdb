// A learning rate that falls as a power of the remaining share of steps.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/net/rate.cuh"

// rate_polynomial: falls from 1 to final_factor at the last of `steps`, as (1 - t/T) ^ power, and
// stays there.  One thread.
__global__ void rate_polynomial(StateHeader *header, long long steps, double power,
                                long long warmup, double final_factor)
{
    schedule_rate(header, warmup, [=](double t) {
        const double part = t / (double)(steps - warmup);
        return part < 1 ? final_factor + (1 - final_factor) * pow(1 - part, power) : final_factor;
    });
}
