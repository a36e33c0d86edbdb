// Instructions of tensor-core products beyond plain CUDA C.  They load from shared memory to the
// fragments of a warp's lanes, and copy to shared memory during the arithmetic.  Each has a twin in
// plain C++ for the host.  Layouts are those of the PTX manual, "Matrix multiply-accumulate
// operation using mma instruction" and "ldmatrix"; testsuite/tensor has them as tables.  A word is
// 32 bits of a row: two elements of 16 bits, or one of 32.
#pragma once
#include <stdint.h>
#include <string.h>
#include "../vec/vec.cuh"

// shared_address: the PTX address of p, which points to shared memory.
#ifdef __CUDACC__
template <class T>
static __device__ inline unsigned shared_address(const T *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
#endif

// load_matrices: loads four matrices of 8 rows of 4 words; lane l passes row l % 8 of matrix l / 8
// as `row`, a multiple of 16 bytes in shared memory.  Then word[m] becomes word l % 4 of row l / 4
// of matrix m.
template <class T>
static __device__ inline void load_matrices(unsigned (&word)[4], const T *row)
{
#ifdef __CUDACC__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(shared_address(row)) : "memory");
#else
    int lane;
    const T *const *const rows = host_gather(row, &lane);
    for (int m = 0; m < 4; m++)
        memcpy(&word[m], (const char *)rows[8 * m + lane / 4] + 4 * (lane % 4), 4);
#endif
}

// load_transposed_matrices: the same for matrices of 8 x 8 elements of 16 bits, transposed: word[m]
// becomes elements l / 4 of rows 2 * (l % 4) and 2 * (l % 4) + 1, the first in its lower half.
template <class T>
static __device__ inline void load_transposed_matrices(unsigned (&word)[4], const T *row)
{
#ifdef __CUDACC__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(shared_address(row)) : "memory");
#else
    int lane;
    const T *const *const rows = host_gather(row, &lane);
    for (int m = 0; m < 4; m++)
        for (int half = 0; half < 2; half++)
            memcpy((char *)&word[m] + 2 * half,
                   (const char *)rows[8 * m + 2 * (lane % 4) + half] + 2 * (lane / 4), 2);
#endif
}

// element_at: p + i, in one instruction if i is `small`, below 2^31; p alone is kept in a loop that
// changes i.
template <class T>
static __device__ inline const T *element_at(const T *p, long long i, bool small)
{
#ifdef __CUDACC__
    if (small) {
        asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(p) : "r"((int)i), "n"(sizeof(T)));
        return p;
    }
#endif
    (void)small;
    return (const T *)((uintptr_t)p + (uintptr_t)i * sizeof(T));
}

// copy_later: begins to copy BYTES (4, 8 or 16, the alignment of both) from global to shared
// memory.  If not `inside`, it writes zeros and reads nothing.  wait_for_copies completes it.
template <int BYTES>
static __device__ inline void copy_later(void *to, const void *from, bool inside)
{
#ifdef __CUDACC__
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(shared_address(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :: "r"(shared_address(to)), "l"(from), "n"(BYTES), "r"(inside ? BYTES : 0)
                     : "memory");
#else
    host_copy_later(to, from, BYTES, inside);
#endif
}

// end_copies: makes the thread's copies since the last call a group.
static __device__ inline void end_copies()
{
#ifdef __CUDACC__
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    host_end_copies();
#endif
}

// wait_for_copies: waits for all groups of the thread except the last PENDING.  Other threads see
// the copied bytes after a barrier.
template <int PENDING>
static __device__ inline void wait_for_copies()
{
#ifdef __CUDACC__
    asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory");
#else
    host_wait_for_copies(PENDING);
#endif
}

// mma_on_host: the twin of mma.m16n8: d[row,column] += sum over k of a[row,k] * b[k,column], k
// ascending.  A lane has two adjacent sums in row lane / 4 (upper) and two in row 8 + lane / 4
// (lower).  A word holds PER steps, and left(word, i) or right(word, i) is its i-th.
#ifndef __CUDACC__
template <int PER, class Sum, class Left, class Right>
static inline void mma_on_host(Sum *upper, Sum *lower, const unsigned (&a)[4], const unsigned *b,
                               const Left &left, const Right &right)
{
    struct Words { unsigned a[4], b[2]; } mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
    int lane;
    const Words *const warp = host_gather(mine, &lane);
    for (int i = 0; i < 4; i++) {
        const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        Sum &sum = i / 2 ? lower[i % 2] : upper[i % 2];
        for (int k = 0; k < 8 * PER; k++) {
            const int owner = k / PER % 4, part = k / PER / 4;      // owner: which of four lanes;
                                                                    // part: its word
            sum += left(warp[row % 8 * 4 + owner].a[row / 8 + 2 * part], k % PER) *
                   right(warp[column * 4 + owner].b[part], k % PER);
        }
    }
}
#endif
