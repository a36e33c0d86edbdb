// The product of a block's tile, as tile.h describes it.  Vectors lie across
// columns, never along a sum, and products are rounded before they are added.
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runner.h"
#include "tile_operand.h"

__thread const void *host_sums, *host_row_sums;
__thread unsigned host_sums_by;

static bool may_have_twins()
{
#if defined HOST_TSAN || defined HOST_ASAN
    return false;
#endif
    const char *asked = getenv("CNNC_HOST_TWINS");
    return !(asked && !strcmp(asked, "0")) && !getenv("CNNC_HOST_ORDER");
}

bool host_has_twins = may_have_twins();

namespace {

template <class T>
struct Room {
    alignas(64) T sums[HostProduct::MAX_SUMS];
    T row_sums[HostOperand::MAX_LANES];
    TileOperand<T> a, b;
};

// The room of an OS thread, whose pages cost nothing before they are used.
template <class T>
struct RoomOwner {
    Room<T> *room = nullptr;
    Room<T> *get()
    {
        if (!room) {
            void *at = mmap(nullptr, sizeof *room, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (at == MAP_FAILED) perror("the host runtime: tiles"), _exit(70);
            room = (Room<T> *)at;
        }
        return room;
    }
    ~RoomOwner()
    {
        if (room) munmap(room, sizeof *room);
    }
};

template <class T>
Room<T> *room()
{
    static thread_local RoomOwner<T> owner;
    return owner.get();
}

#define KEPT_IN_REGISTERS _Pragma("GCC unroll 16")

// Keeps a product from being fused with a sum.
#if defined __clang__
#pragma clang fp contract(off)
#define NOT_FUSED(vector) (void)(vector)
#elif defined __x86_64__
#define NOT_FUSED(vector) asm("" : "+v"(vector))
#else
#define NOT_FUSED(vector) asm("" : "+w"(vector))
#endif

// Adds to ROWS x COLUMNS vectors of sums the products of `count` steps.
template <class T, int BYTES, int ROWS, int COLUMNS>
inline __attribute__((always_inline)) void
multiply_vectors(TileChunk<T> a, const T *b, int count, T *sums, int columns)
{
    typedef T Vector __attribute__((vector_size(BYTES)));
    typedef T Unaligned
        __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));
    constexpr int LANES = BYTES / sizeof(T);
    Vector sum[ROWS][COLUMNS];
    const auto at = [&](int i, int j) -> Unaligned & {
        return *(Unaligned *)(sums + i * columns + j * LANES);
    };
    KEPT_IN_REGISTERS for (int i = 0; i < ROWS; i++)
        KEPT_IN_REGISTERS for (int j = 0; j < COLUMNS; j++)
            sum[i][j] = at(i, j);
    for (int k = 0; k < count; k++, b += columns, a.at += a.step) {
        Vector right[COLUMNS];
        KEPT_IN_REGISTERS for (int j = 0; j < COLUMNS; j++)
            right[j] = *(const Unaligned *)(b + j * LANES);
        KEPT_IN_REGISTERS for (int i = 0; i < ROWS; i++) {
            const T left = a.at[i * a.lane];
            KEPT_IN_REGISTERS for (int j = 0; j < COLUMNS; j++) {
                Vector product = left * right[j];
                NOT_FUSED(product);
                sum[i][j] += product;
            }
        }
    }
    KEPT_IN_REGISTERS for (int i = 0; i < ROWS; i++)
        KEPT_IN_REGISTERS for (int j = 0; j < COLUMNS; j++)
            at(i, j) = sum[i][j];
}

template <class T, int BYTES, int ROWS, int COLUMNS>
inline __attribute__((always_inline)) void
multiply_rows(TileChunk<T> a, const T *b, int count, T *sums, int rows,
              int columns)
{
    int i = 0;
    for (; i + ROWS <= rows; i += ROWS)
        multiply_vectors<T, BYTES, ROWS, COLUMNS>(
            {a.at + i * a.lane, a.lane, a.step}, b, count, sums + i * columns,
            columns);
    for (; i < rows; i++)
        multiply_vectors<T, BYTES, 1, COLUMNS>(
            {a.at + i * a.lane, a.lane, a.step}, b, count, sums + i * columns,
            columns);
}

// Adds to rows x used sums; the rest of the `columns` of a row may change.
template <class T, int BYTES>
inline __attribute__((always_inline)) void
multiply(TileChunk<T> a, const T *b, int count, T *sums, int rows, int columns,
         int used)
{
    constexpr int LANES = BYTES / sizeof(T);
    int j = 0;
    for (; used - j > 2 * LANES && columns - j >= 4 * LANES; j += 4 * LANES)
        multiply_rows<T, BYTES, 4, 4>(a, b + j, count, sums + j, rows, columns);
    for (; used - j > LANES && columns - j >= 2 * LANES; j += 2 * LANES)
        multiply_rows<T, BYTES, 8, 2>(a, b + j, count, sums + j, rows, columns);
    for (; used > j; j += LANES)
        multiply_rows<T, BYTES, 8, 1>(a, b + j, count, sums + j, rows, columns);
}

template <class T>
using Method = void(TileChunk<T> a, const T *b, int count, T *sums, int rows,
                    int columns, int used);

template <class T>
void multiply_16(TileChunk<T> a, const T *b, int count, T *sums, int rows,
                 int columns, int used)
{
    multiply<T, 16>(a, b, count, sums, rows, columns, used);
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2"))) void
multiply_32(TileChunk<T> a, const T *b, int count, T *sums, int rows,
            int columns, int used)
{
    multiply<T, 32>(a, b, count, sums, rows, columns, used);
}

template <class T>
__attribute__((target("avx512f"))) void
multiply_64(TileChunk<T> a, const T *b, int count, T *sums, int rows,
            int columns, int used)
{
    multiply<T, 64>(a, b, count, sums, rows, columns, used);
}
#endif

// The widest vectors of this processor.  Tiles have 16 columns or more.
template <class T>
Method<T> *method()
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return multiply_64<T>;
    if (__builtin_cpu_supports("avx2")) return multiply_32<T>;
#endif
    return multiply_16<T>;
}

// Rows of tiles that round are summed before.
template <class T>
void make_sums(const HostProduct &p)
{
    static Method<T> *const how = method<T>();
    Room<T> *r = room<T>();
    const bool rounds_later = p.sum_rows && p.rounds;
    r->a.begin(&p.a, p.begin, p.end, p.rows, false, p.rounds && !rounds_later,
               !rounds_later);
    r->b.begin(&p.b, p.begin, p.end, p.columns, p.b.along, p.rounds, true);
    std::fill(r->sums, r->sums + p.rows * p.columns, (T)0);
    std::fill(r->row_sums, r->row_sums + p.rows, (T)0);
    for (long long k = p.begin; k < p.end; k += TILE_DEPTH) {
        int count = (int)std::min<long long>(TILE_DEPTH, p.end - k);
        const TileChunk<T> a = r->a.chunk(k, count), b = r->b.chunk(k, count);
        for (int s = 0; p.sum_rows && s < count; s++)
            for (int i = 0; i < p.a.lanes; i++)
                r->row_sums[i] += a.at[i * a.lane + s * a.step];
        if (rounds_later) r->a.round(a, count);
        how(a, b.at, count, r->sums, p.a.lanes, p.columns, p.b.lanes);
    }
    host_sums = r->sums;
    host_row_sums = r->row_sums;
    host_sums_by = threadIdx.x;
}

}

UNSEEN void host_make_sums(const HostProduct &product, float *)
{
    make_sums<float>(product);
}

UNSEEN void host_make_sums(const HostProduct &product, double *)
{
    make_sums<double>(product);
}

UNSEEN void host_second_product()
{
    abandon_block(running(), "a block has a second product");
}
