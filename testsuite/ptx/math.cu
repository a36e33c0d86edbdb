// Functions of runtime/host/device_math.h: check_math runs each kernel as nvcc's PTX and as the
// host's C++. The arguments are special values, values of every exponent, and values of common size.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cuda_runtime.h>

#ifndef LAUNCH
#define LAUNCH(step, kernel, grid, block, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#endif

enum { COUNT = 1 << 16, BLOCK = 256 };

// All NaNs are one: a GPU drops their bits.
template <class T>
static __device__ T plain(T y)
{
    return y == y ? y : (T)NAN;
}

#define FUNCTION(name, T)                                                                   \
    __global__ void name##_##T(T *y, const T *x)                                            \
    {                                                                                       \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                               \
        y[i] = plain(name(x[i]));                                                           \
    }
FUNCTION(exp, float)
FUNCTION(expm1, float)
FUNCTION(log, float)
FUNCTION(log1p, float)
FUNCTION(tanh, float)
FUNCTION(erfc, float)
FUNCTION(exp, double)
FUNCTION(log, double)
FUNCTION(sin, double)
FUNCTION(cos, double)

__global__ void pow_double(double *y, const double *x)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    y[i] = plain(pow(fabs(x[i]), x[(i + 1) % COUNT]));
}

// xorshift64: Marsaglia, "Xorshift RNGs" (2003)
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

// A quarter are any bits; the others are within 1, 32 or 1024.
template <class T>
static void fill(T *x, double most)
{
    const double special[] = {0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 88.7228, 89, -87.3365, -104, 709.78,
                              710, -745, -746, 0x1p-126, 0x1p-149, -0x1p-149, 0x1p-1022, 0x1p-1074,
                              (double)INFINITY, -(double)INFINITY, (double)NAN, 0.6, 9.01, 10.055};
    const int count = (int)(sizeof special / sizeof *special);
    uint64_t state = 1;
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits = draw(&state);
        const double size[] = {1, 32, 1024};
        if (i % 4) x[i] = (T)((double)(int64_t)bits * 0x1p-63 * size[i % 4 - 1]);
        else memcpy(&x[i], &bits, sizeof x[i]);
        if (!(fabs((double)x[i]) <= most)) x[i] = (T)0;
        if (i < count) x[i] = (T)special[i];
    }
}

template <class T>
static bool is_filled(T **y, T **x, double most)
{
    static T values[COUNT];
    fill(values, most);
    return cudaMalloc((void **)y, sizeof values) == cudaSuccess &&
           cudaMalloc((void **)x, sizeof values) == cudaSuccess &&
           cudaMemcpy(*x, values, sizeof values, cudaMemcpyHostToDevice) == cudaSuccess;
}

int main()
{
    cudaStream_t stream = nullptr;
    float *y, *x;
    double *yd, *xd, *angle;
    // The sine of an angle above 2^31 is the host's own.
    if (!is_filled(&y, &x, INFINITY) || !is_filled(&yd, &xd, INFINITY) ||
        !is_filled(&yd, &angle, 0x1p30)) {
        puts("no memory");
        return 1;
    }
    LAUNCH(-1, exp_float, COUNT / BLOCK, BLOCK, y, x);
    LAUNCH(-1, expm1_float, COUNT / BLOCK, BLOCK, y, x);
    LAUNCH(-1, log_float, COUNT / BLOCK, BLOCK, y, x);
    LAUNCH(-1, log1p_float, COUNT / BLOCK, BLOCK, y, x);
    LAUNCH(-1, tanh_float, COUNT / BLOCK, BLOCK, y, x);
    LAUNCH(-1, erfc_float, COUNT / BLOCK, BLOCK, y, x);
    LAUNCH(-1, exp_double, COUNT / BLOCK, BLOCK, yd, xd);
    LAUNCH(-1, log_double, COUNT / BLOCK, BLOCK, yd, xd);
    LAUNCH(-1, sin_double, COUNT / BLOCK, BLOCK, yd, angle);
    LAUNCH(-1, cos_double, COUNT / BLOCK, BLOCK, yd, angle);
    LAUNCH(-1, pow_double, COUNT / BLOCK, BLOCK, yd, xd);
    return cudaDeviceSynchronize() != cudaSuccess;
}
