// Kernels at a limit of sm_75, and beyond with -DSHARED=..., -DPARAMETERS=...
#include <cuda_runtime.h>

#ifndef SHARED
#define SHARED (48 * 1024)
#endif
#ifndef PARAMETERS
#define PARAMETERS 4096
#endif

// Shared memory of a function that two kernels call, one of them twice.
__device__ static float *helper_memory()
{
    __shared__ float memory[2048];
    return memory;
}

__global__ void shares(float *y)
{
    __shared__ char memory[SHARED - 8192];
    memory[0] = 1;
    *y = *helper_memory() + memory[0] + *helper_memory();
}

__global__ void shares_little(float *y)
{
    *y = *helper_memory();
}

struct Parameters {
    float *y;
    char   more[PARAMETERS - sizeof(float *)];
};

__global__ void takes(Parameters p)
{
    *p.y = p.more[0];
}

void launch_all(float *y, cudaStream_t stream)
{
    Parameters p = {y, {0}};
    LAUNCH(-1, shares, 1, 32, y);
    LAUNCH(-1, shares_little, 1, 32, y);
    LAUNCH(-1, takes, 1, 32, p);
}
