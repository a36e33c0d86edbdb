// Initial parameters.
#pragma once
#include <math.h>
#include <stdint.h>
#include "../vec/elementwise.cuh"
#include "../vec/philox.cuh"
#include "../vec/real.cuh"
#include "../vec/reduce.cuh"

// Init: the first values of a parameter.  kind 0: scale; 1: uniform in [-scale, scale]; 2: normal
// with deviation scale; 3: scale times orthonormal rows, or columns if those are fewer.  Each
// parameter draws by its number.
struct Init { int kind; double scale; uint32_t number; };

// init_parameter: sets w [count] as a function of seed, parameter number and element; normal values
// by Box and Muller (1958).
template <class T>
__global__ void init_parameter(T *w, long long count, Init init, uint64_t seed)
{
    FOR_EACH(i, count) {
        uint32_t draw[4] = {(uint32_t)(i / 4), init.number, 0x696e6974u, 0xffffffffu};
        philox(draw, seed);
        const double u = (draw[i % 4] + 0.5) / 4294967296.0;
        const double v = (draw[i % 4 ^ 1] + 0.5) / 4294967296.0;
        double value = init.kind == 0 ? 1 : 2 * u - 1;
        if (init.kind >= 2) {
            const double turn = 2 * 3.14159265358979323846;
            value = sqrt(-2 * log(i % 2 ? v : u)) * (i % 2 ? sin(turn * u) : cos(turn * v));
        }
        w[i] = (real)(init.kind == 3 ? value : init.scale * value);
    }
}

// Rows: the vectors to make orthonormal in a matrix [rows, columns]: its rows, or its columns if
// those are fewer.  The index of element k of vector i is at(i, k).
struct Rows {
    long long rows, columns;
    __device__ long long count() const { return rows < columns ? rows : columns; }
    __device__ long long length() const { return rows < columns ? columns : rows; }
    __device__ long long at(long long i, long long k) const
    {
        return rows < columns ? i * columns + k : k * columns + i;
    }
};

// dot_rows: the inner product of two vectors of w, by a warp, in every lane.
template <class T>
static __device__ inline double dot_rows(const T *w, Rows m, long long i, long long j)
{
    double sum = 0;
    for (long long k = threadIdx.x % 32; k < m.length(); k += 32)
        sum += (double)w[m.at(i, k)] * (double)w[m.at(j, k)];
    return warp_sum(sum);
}

// subtract_rows: subtracts from vector i its projections on vectors j .. j + 31 that precede it; a
// warp computes each projection.
template <class T>
static __device__ inline void subtract_rows(T *w, Rows m, long long i, long long j, double *part)
{
    for (long long warp = threadIdx.x / 32; warp < 32; warp += blockDim.x / 32)
        if (const double dot = j + warp < i ? dot_rows(w, m, i, j + warp) : 0;
            threadIdx.x % 32 == 0)
            part[warp] = dot;
    __syncthreads();
    for (long long k = threadIdx.x; k < m.length(); k += blockDim.x) {
        double x = (double)w[m.at(i, k)];
        for (long long l = 0; l < 32 && j + l < i; l++) x -= part[l] * (double)w[m.at(j + l, k)];
        w[m.at(i, k)] = (real)x;
    }
    __syncthreads();
}

// orthogonalize: makes the vectors of w orthogonal, each of length scale, by Gram and Schmidt, 32
// at a time.  Each vector is processed twice, because the second time removes rounding errors of
// the first.  One block of the largest size, so nvcc must limit its registers.
template <class T>
__global__ void __launch_bounds__(1024)
orthogonalize(T *w, long long rows, long long columns, double scale)
{
    __shared__ double part[32];
    const Rows m = {rows, columns};
    for (long long i = 0; i < m.count(); i++) {
        for (int time = 0; time < 2; time++)
            for (long long j = 0; j < i; j += 32) subtract_rows(w, m, i, j, part);
        if (const double square = threadIdx.x < 32 ? dot_rows(w, m, i, i) : 0; threadIdx.x == 0)
            part[0] = square > 0 ? 1 / sqrt(square) : 0;
        __syncthreads();
        const double factor = part[0];
        for (long long k = threadIdx.x; k < m.length(); k += blockDim.x)
            w[m.at(i, k)] = (real)(factor * (double)w[m.at(i, k)]);
        __syncthreads();
    }
    for (long long k = threadIdx.x; k < rows * columns; k += blockDim.x)
        w[k] = (real)(scale * (double)w[k]);
}
