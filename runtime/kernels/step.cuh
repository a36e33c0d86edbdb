// A learning rate that falls in steps.
#pragma once
#include <math.h>
#include "../support/net/header.cuh"
#include "../support/net/rate.cuh"

// rate_step: factor ^ floor(t / every), t steps after the warmup.  One thread.
__global__ void rate_step(StateHeader *header, long long every, double factor, long long warmup)
{
    schedule_rate(header, warmup, [=](double t) { return pow(factor, floor(t / (double)every)); });
}
