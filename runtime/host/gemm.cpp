// Matrix products, blocked for the cache.
//
// The pool distributes blocks of C of BLOCK_M x BLOCK_N.  For each block,
// panels of A and B, BLOCK_K deep, are packed in the order in which the
// innermost loop reads them: A in strips of two vectors of rows, B in strips of
// COLUMNS columns.  That loop keeps one tile of C in registers.
//
// The products of an element are added in the order of k within a panel, and
// panels in order. So the result does not depend on the number of threads.
// Vectors are 32 bytes with fused multiply-add if the processor has them,
// otherwise 16.
#include <algorithm>
#include <string.h>
#include <utility>
#include <vector>
#include "host.h"

namespace {

enum { BLOCK_M = 96, BLOCK_N = 192, BLOCK_K = 256 };
enum { COLUMNS = 6, MAX_ROWS = 16 };
constexpr double WORTH_SHARING = 4e6; // in operations

// A tile: out[column][row] = the sum over k of a[k][row] * b[k][column].
template <class T>
using Tile = void(int64_t k, const T *a, const T *b, T *out);

template <class T, int BYTES, size_t... J>
inline __attribute__((always_inline)) void
multiply(int64_t k, const T *a, const T *b, T *out, std::index_sequence<J...>)
{
    typedef T Vector __attribute__((vector_size(BYTES)));
    constexpr int lanes = BYTES / sizeof(T);
    Vector low[COLUMNS] = {}, high[COLUMNS] = {};
    for (int64_t p = 0; p < k; p++, a += 2 * lanes, b += COLUMNS) {
        Vector top, bottom;
        memcpy(&top, a, sizeof top);
        memcpy(&bottom, a + lanes, sizeof bottom);
        ((low[J] += top * b[J], high[J] += bottom * b[J]), ...);
    }
    (memcpy(out + J * 2 * lanes, &low[J], sizeof(Vector)), ...);
    (memcpy(out + J * 2 * lanes + lanes, &high[J], sizeof(Vector)), ...);
}

template <class T>
void tile_plain(int64_t k, const T *a, const T *b, T *out)
{
    multiply<T, 16>(k, a, b, out, std::make_index_sequence<COLUMNS>());
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2,fma"))) void tile_wide(int64_t k, const T *a,
                                                   const T *b, T *out)
{
    multiply<T, 32>(k, a, b, out, std::make_index_sequence<COLUMNS>());
}
#endif

// The tile function for this processor and its number of rows.
template <class T>
struct Method {
    Tile<T> *tile;
    int64_t rows;
};

template <class T>
Method<T> method()
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return {tile_wide<T>, 64 / (int)sizeof(T)};
#endif
    return {tile_plain<T>, 32 / (int)sizeof(T)};
}

// Packs a panel of `count` lines of length k, interleaving `strip` lines; zeros
// pad the last strip.  Element p of line i is at[i * line + p * place].
template <class T>
void pack(T *out, const T *at, int64_t count, int64_t k, int64_t strip,
          int64_t line, int64_t place, bool tf32)
{
    T *const begin = out;
    for (int64_t i = 0; i < count; i += strip) {
        int64_t here = std::min(strip, count - i);
        for (int64_t p = 0; p < k; p++, out += strip) {
            const T *from = at + i * line + p * place;
            for (int64_t j = 0; j < here; j++) out[j] = from[j * line];
            for (int64_t j = here; j < strip; j++) out[j] = 0;
        }
    }
    if (tf32) round_tf32(begin, out - begin);
}

template <class T>
void scale_column(T *c, int64_t count, T beta)
{
    for (int64_t i = 0; i < count; i++) c[i] = beta == 0 ? 0 : beta * c[i];
}

// Adds alpha times a panel's product to the block of C at (i0, j0).
template <class T>
void add_panel(const Product<T> &g, const Method<T> &how, int64_t i0,
               int64_t j0, int64_t depth, const T *a, const T *b)
{
    alignas(64) T out[MAX_ROWS * COLUMNS];
    int64_t m = std::min<int64_t>(BLOCK_M, g.m - i0);
    int64_t n = std::min<int64_t>(BLOCK_N, g.n - j0);
    for (int64_t j = 0; j < n; j += COLUMNS)
        for (int64_t i = 0; i < m; i += how.rows) {
            how.tile(depth, a + i * depth, b + j * depth, out);
            int64_t rows = std::min(how.rows, m - i);
            for (int64_t q = 0; q < std::min<int64_t>(COLUMNS, n - j); q++) {
                T *c = g.c + (j0 + j + q) * g.ldc + i0 + i;
                for (int64_t p = 0; p < rows; p++)
                    c[p] += g.alpha * out[q * how.rows + p];
            }
        }
}

template <class T>
void multiply_block(const Product<T> &g, int64_t i0, int64_t j0)
{
    static thread_local std::vector<T> a, b;
    const Method<T> how = method<T>();
    int64_t m = std::min<int64_t>(BLOCK_M, g.m - i0);
    int64_t n = std::min<int64_t>(BLOCK_N, g.n - j0);
    a.resize((BLOCK_M + MAX_ROWS) * BLOCK_K);
    b.resize((BLOCK_N + COLUMNS) * BLOCK_K);
    for (int64_t j = 0; j < n; j++)
        scale_column(g.c + (j0 + j) * g.ldc + i0, m, g.beta);
    int64_t line_a = g.transpose_a ? g.lda : 1;
    int64_t line_b = g.transpose_b ? 1 : g.ldb;
    int64_t place_a = g.transpose_a ? 1 : g.lda;
    int64_t place_b = g.transpose_b ? g.ldb : 1;
    for (int64_t p = 0; p < (g.alpha == 0 ? 0 : g.k); p += BLOCK_K) {
        int64_t depth = std::min<int64_t>(BLOCK_K, g.k - p);
        pack(a.data(), g.a + i0 * line_a + p * place_a, m, depth, how.rows,
             line_a, place_a, g.tf32);
        pack(b.data(), g.b + j0 * line_b + p * place_b, n, depth,
             (int64_t)COLUMNS, line_b, place_b, g.tf32);
        add_panel(g, how, i0, j0, depth, a.data(), b.data());
    }
}

template <class T>
void multiply_blocks(const void *context, int64_t begin, int64_t end)
{
    const Product<T> &g = *static_cast<const Product<T> *>(context);
    int64_t rows = (g.m + BLOCK_M - 1) / BLOCK_M;
    for (int64_t block = begin; block < end; block++)
        multiply_block(g, block % rows * BLOCK_M, block / rows * BLOCK_N);
}

template <class T>
void multiply_all(const Product<T> &g)
{
    int64_t blocks = ((g.m + BLOCK_M - 1) / BLOCK_M) *
                     ((g.n + BLOCK_N - 1) / BLOCK_N);
    if (2.0 * (double)g.m * (double)g.n * (double)g.k < WORTH_SHARING)
        multiply_blocks<T>(&g, 0, blocks);
    else
        pool_run(blocks, multiply_blocks<T>, &g);
}

}

void round_tf32(float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bool is_finite = (bits & 0x7f800000u) != 0x7f800000u;
        bits = is_finite ? (bits + 0x1000u) & ~0x1fffu : bits;
        memcpy(&x[i], &bits, sizeof bits);
    }
}

void round_tf32(double *, int64_t)
{
}

void gemm(const Product<float> &product)
{
    multiply_all(product);
}

void gemm(const Product<double> &product)
{
    multiply_all(product);
}
