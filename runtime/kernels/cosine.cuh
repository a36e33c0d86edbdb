// A learning rate that falls along half a cosine.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/net/rate.cuh"

// rate_cosine: falls from 1 to final_factor at the last of `steps`, and stays there.  One thread.
__global__ void rate_cosine(StateHeader *header, long long steps, long long warmup,
                            double final_factor)
{
    schedule_rate(header, warmup, [=](double t) {
        return half_cosine(1, final_factor, t / (double)(steps - warmup));
    });
}
