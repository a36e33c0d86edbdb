// A constant learning rate.
#pragma once
#include "../support/net/header.cuh"
#include "../support/net/rate.cuh"

// rate_constant: factor 1 after the warmup.  One thread.
__global__ void rate_constant(StateHeader *header, long long warmup)
{
    schedule_rate(header, warmup, [](double) { return 1.0; });
}
