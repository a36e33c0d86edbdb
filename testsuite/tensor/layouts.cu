// The twins of warp-wide products, and the instructions on a GPU, against the PTX manual's layouts.
//
// A kernel loads each lane's fragments from a table that the host fills by those layouts. It leaves
// its sums, which the host takes out by them.  All numbers are small integers, so that the product
// is exact in every type.  With nvcc it is the same test of a GPU.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../../runtime/support/gemm/mma_bf16.cuh"
#include "../../runtime/support/gemm/mma_f16.cuh"
#include "../../runtime/support/gemm/mma_tf32.cuh"
#include "../host/expect.h"
#include "layouts.h"

#ifndef LAUNCH
#define LAUNCH(step, kernel, grid, block, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#endif
static const cudaStream_t stream = nullptr;

// Where element (row, column) lies among all lanes' `each` elements.
static int place(const char *layout, int columns, int row, int column, int each)
{
    const char *at = layout;
    for (int i = row * columns + column; i > 0; i--) at = strpbrk(at, " \n") + 1;
    char *end;
    const int lane = (int)strtol(at, &end, 10);
    return lane * each + *end - 'a';
}

// ---- products -----------------------------------------------------------------------------------

template <class Element>
__global__ void multiply_fragments(float *sums, const unsigned *a, const unsigned *b)
{
    const int lane = (int)threadIdx.x;
    unsigned own[4];
    float d[4];
    for (int i = 0; i < 4; i++) own[i] = a[4 * lane + i], d[i] = sums[4 * lane + i];
    Element::multiply(d, d + 2, own, b + 2 * lane);
    for (int i = 0; i < 4; i++) sums[4 * lane + i] = d[i];
}

static uint16_t bits_f16(int x)     // of an integer from -7 to 7
{
    const int magnitude = abs(x), power = magnitude >= 4 ? 2 : magnitude >= 2;
    if (x == 0) return 0;
    return (uint16_t)((x < 0) << 15 | (power + 15) << 10 | (magnitude << (10 - power) & 1023));
}

static uint16_t bits_bf16(int x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (uint16_t)(bits >> 16);
}

static void put_element(unsigned *words, int at, int x, uint16_t (*bits)(int))
{
    if (bits) {
        ((uint16_t *)words)[at] = bits(x);
    } else {
        const float f = (float)x;
        memcpy(&words[at], &f, 4);
    }
}

static int drawn(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)(*state >> 24) % 15 - 7;
}

// The product of 16 x STEPS and STEPS x 8, added to the old values.
template <class Element>
static void test_product(int steps, const char *a_layout, const char *b_layout,
                         uint16_t (*bits)(int))
{
    static int a[16][16], b[16][8], c[16][8];
    unsigned *words_a, *words_b, state = 1;
    float *sums;
    EXPECT_SUCCESS(cudaMallocHost(&words_a, 32 * 16));
    EXPECT_SUCCESS(cudaMallocHost(&words_b, 32 * 8));
    EXPECT_SUCCESS(cudaMallocHost(&sums, 32 * 16));
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < steps; k++) {
            a[i][k] = drawn(&state);
            put_element(words_a, place(a_layout, steps, i, k, steps / 2), a[i][k], bits);
        }
    for (int k = 0; k < steps; k++)
        for (int j = 0; j < 8; j++) {
            b[k][j] = drawn(&state);
            put_element(words_b, place(b_layout, 8, k, j, steps / 4), b[k][j], bits);
        }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            c[i][j] = drawn(&state);
            sums[place(sums_of_both, 8, i, j, 4)] = (float)c[i][j];
        }
    LAUNCH(-1, (multiply_fragments<Element>), 1, 32, sums, words_a, words_b);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int sum = c[i][j];
            for (int k = 0; k < steps; k++) sum += a[i][k] * b[k][j];
            wrong += sums[place(sums_of_both, 8, i, j, 4)] != (float)sum;
        }
    EXPECT(wrong == 0);
    EXPECT_SUCCESS(cudaFreeHost(words_a));
    EXPECT_SUCCESS(cudaFreeHost(words_b));
    EXPECT_SUCCESS(cudaFreeHost(sums));
}

// ---- matrices from shared memory ------------------------------------------------------------------

// y: for each of four matrices the elements that the lanes get, plainly and turned.
__global__ void load_all(unsigned *y)
{
    alignas(16) __shared__ uint16_t room[32][8];
    const int lane = (int)threadIdx.x;
    for (int j = 0; j < 8; j++) room[lane][j] = (uint16_t)(100 * lane + j);
    __syncthreads();
    unsigned plain[4], turned[4];
    load_matrices(plain, room[lane]);
    load_transposed_matrices(turned, room[lane]);
    for (int m = 0; m < 4; m++) {
        y[32 * m + lane] = plain[m];
        y[32 * (4 + m) + lane] = turned[m];
    }
}

static void test_matrices()
{
    unsigned *y;
    int wrong = 0;
    EXPECT_SUCCESS(cudaMallocHost(&y, 8 * 32 * 4));
    LAUNCH(-1, load_all, 1, 32, y);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    for (int m = 0; m < 4; m++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                const uint16_t *plain = (const uint16_t *)(y + 32 * m);
                const uint16_t *turned = (const uint16_t *)(y + 32 * (4 + m));
                wrong += plain[place(of_matrix, 8, i, j, 2)] != 100 * (8 * m + i) + j;
                wrong += turned[place(of_turned_matrix, 8, i, j, 2)] != 100 * (8 * m + i) + j;
            }
    EXPECT(wrong == 0);
    EXPECT_SUCCESS(cudaFreeHost(y));
}

// ---- rounding, copies -----------------------------------------------------------------------------

__global__ void round_all(unsigned *y, const unsigned *x)
{
    y[threadIdx.x] = round_tf32(x[threadIdx.x]);
}

// cvt.rna.tf32.f32: 10 bits of mantissa, to the nearest, of two as near away from zero.  The lower
// 13 bits of a NaN are left open.
static void test_rounding()
{
    static const unsigned rows[][2] = {
        {0x3f800000u, 0x3f800000u}, {0x3f800fffu, 0x3f800000u}, {0x3f801000u, 0x3f802000u},
        {0x3f801001u, 0x3f802000u}, {0x3f803000u, 0x3f804000u}, {0xbf801000u, 0xbf802000u},
        {0x3fffffffu, 0x40000000u}, {0x00000001u, 0x00000000u}, {0x00001000u, 0x00002000u},
        {0x7f7fffffu, 0x7f800000u}, {0x7f800000u, 0x7f800000u}, {0xff800000u, 0xff800000u},
        {0x7fffffffu, 0x7fffffffu}, {0x80000000u, 0x80000000u},
    };
    enum { COUNT = sizeof rows / sizeof *rows, ROOM = 32 };
    unsigned *x, *y;
    EXPECT_SUCCESS(cudaMallocHost(&x, ROOM * 4));
    EXPECT_SUCCESS(cudaMallocHost(&y, ROOM * 4));
    for (int i = 0; i < ROOM; i++) x[i] = rows[i % COUNT][0];
    LAUNCH(-1, round_all, 1, 32, y, x);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        const bool nan = (rows[i][1] & 0x7fffffffu) > 0x7f800000u;
        EXPECT(nan ? (y[i] & 0x7fffe000u) > 0x7f800000u : y[i] == rows[i][1]);
    }
    EXPECT_SUCCESS(cudaFreeHost(x));
    EXPECT_SUCCESS(cudaFreeHost(y));
}

// Two groups of copies of each size: the first alone is waited for, then both.  With `early` the
// second is read with the first, which a GPU leaves open.
template <int BYTES>
__global__ void copy_groups(unsigned char *y, const unsigned char *x, bool early)
{
    alignas(16) __shared__ unsigned char room[2][32 * BYTES];
    const int own = (int)threadIdx.x * BYTES;
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < BYTES; i++) room[g][own + i] = 7;
    copy_later<BYTES>(room[0] + own, x + own, threadIdx.x % 3 != 0);
    end_copies();
    copy_later<BYTES>(room[1] + own, x + 32 * BYTES + own, true);
    end_copies();
    wait_for_copies<1>();
    for (int i = 0; i < BYTES; i++) y[own + i] = room[early][own + i];
    wait_for_copies<0>();
    for (int i = 0; i < BYTES; i++) y[32 * BYTES + own + i] = room[1][own + i];
}

template <int BYTES>
static void test_copies()
{
    unsigned char *x, *y;
    int wrong = 0, unready = 0;
    EXPECT_SUCCESS(cudaMallocHost(&x, 64 * BYTES));
    EXPECT_SUCCESS(cudaMallocHost(&y, 64 * BYTES));
    for (int i = 0; i < 64 * BYTES; i++) x[i] = (unsigned char)(i % 251);
    LAUNCH(-1, (copy_groups<BYTES>), 1, 32, y, x, false);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    for (int i = 0; i < 64 * BYTES; i++)
        wrong += y[i] != (i < 32 * BYTES && i / BYTES % 3 == 0 ? 0 : x[i]);
    EXPECT(wrong == 0);
#ifndef __CUDACC__
    LAUNCH(-1, (copy_groups<BYTES>), 1, 32, y, x, true);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    for (int i = 0; i < 32 * BYTES; i++) unready += y[i] == 0xff;
#else
    unready = 32 * BYTES;
#endif
    EXPECT(unready == 32 * BYTES);
    EXPECT_SUCCESS(cudaFreeHost(x));
    EXPECT_SUCCESS(cudaFreeHost(y));
}

int main()
{
    test_product<Tf32>(8, a_of_tf32, b_of_tf32, nullptr);
    test_product<F16>(16, a_of_16, b_of_16, bits_f16);
    test_product<Bf16>(16, a_of_16, b_of_16, bits_bf16);
    test_matrices();
    test_rounding();
    test_copies<4>();
    test_copies<8>();
    test_copies<16>();
    return expect_failures != 0;
}
