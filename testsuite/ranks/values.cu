// Collectives of several processes: every type and operation against a plain loop, in place and
// not.  Counts are 0, 1, some, those of more than a piece, and of many MiB.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <string>
#include <type_traits>
#include <vector>
#include "ranks.h"

enum { PIECE = 1 << 20 };       // bytes

// ---- the plain loop -------------------------------------------------------------------------

static float load(__half x) { return __half2float(x); }
static float load(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
static T load(T x) { return x; }

static void store(__half *to, float x) { *to = __float2half_rn(x); }
static void store(__nv_bfloat16 *to, float x) { *to = __float2bfloat16_rn(x); }
template <class T>
static void store(T *to, T x) { *to = x; }

// Element i of a rank.  Integers overflow in sums and products; fractions round.
template <class T>
static T element(int rank, size_t i)
{
    uint64_t word = (i * 7 + (uint64_t)rank + 1) * 0x9e3779b97f4a7c15u;
    T x;
    if (!std::is_integral<T>::value) {
        store(&x, (decltype(load(x)))((double)(int64_t)word / 0x1p62));
        return x;
    }
    memcpy(&x, &word, sizeof x);
    return x;
}

template <class S>
static S combine(S a, S b, int operation)
{
    using Wide = typename std::conditional<std::is_integral<S>::value, uint64_t, S>::type;
    if (operation == ncclMin) return b < a ? b : a;
    if (operation == ncclMax) return a < b ? b : a;
    return operation == ncclProd ? (S)((Wide)a * (Wide)b) : (S)((Wide)a + (Wide)b);
}

template <class T>
static T reduced(int ranks, size_t i, int operation)
{
    auto sum = load(element<T>(0, i));
    for (int rank = 1; rank < ranks; rank++)
        sum = combine(sum, load(element<T>(rank, i)), operation);
    if (operation == ncclAvg) sum = (decltype(sum))(sum / (decltype(sum))ranks);
    T x;
    store(&x, sum);
    return x;
}

// ---- calls ----------------------------------------------------------------------------------

struct Rank {
    int rank, ranks;
    ncclComm_t comm;
};

template <class T>
static std::vector<T> elements(int rank, size_t count)
{
    std::vector<T> list(count);
    for (size_t i = 0; i < count; i++) list[i] = element<T>(rank, i);
    return list;
}

// True if device memory holds these elements; frees it.
template <class T>
static bool holds(void *device, const std::vector<T> &wanted)
{
    std::vector<T> found(wanted.size());
    size_t bytes = wanted.size() * sizeof(T);
    EXPECT_SUCCESS(cudaMemcpy(found.data(), device, bytes, cudaMemcpyDeviceToHost));
    EXPECT_SUCCESS(cudaFree(device));
    return bytes == 0 || !memcmp(found.data(), wanted.data(), bytes);
}

template <class T>
static void test_reductions(const Rank &r, ncclDataType_t type, ncclRedOp_t operation, size_t count)
{
    const size_t all = count * (size_t)r.ranks;
    std::vector<T> own = elements<T>(r.rank, all), wanted(count), part(count);
    for (size_t i = 0; i < count; i++) {
        wanted[i] = reduced<T>(r.ranks, i, operation);
        part[i] = reduced<T>(r.ranks, count * (size_t)r.rank + i, operation);
    }
    std::vector<T> begin(own.begin(), own.begin() + (long)count);
    T *x = (T *)device_bytes(own.data(), all * sizeof(T));
    T *y = (T *)device_bytes(nullptr, count * sizeof(T));
    EXPECT(ncclAllReduce(x, y, count, type, operation, r.comm, nullptr) == ncclSuccess);
    EXPECT(holds(y, wanted));
    y = (T *)device_bytes(nullptr, count * sizeof(T));
    EXPECT(ncclReduceScatter(x, y, count, type, operation, r.comm, nullptr) == ncclSuccess);
    EXPECT(holds(y, part));
    y = (T *)device_bytes(begin.data(), count * sizeof(T));
    const int root = r.ranks - 1;
    EXPECT(ncclReduce(y, r.rank == root ? y : nullptr, count, type, operation, root, r.comm,
                      nullptr) == ncclSuccess);
    EXPECT(holds(y, r.rank == root ? wanted : begin));
    T *block = x + count * (size_t)r.rank;
    EXPECT(ncclReduceScatter(x, block, count, type, operation, r.comm, nullptr) == ncclSuccess);
    memcpy(own.data() + count * (size_t)r.rank, part.data(), count * sizeof(T));
    EXPECT(holds(x, own));
    y = (T *)device_bytes(begin.data(), count * sizeof(T));
    EXPECT(ncclAllReduce(y, y, count, type, operation, r.comm, nullptr) == ncclSuccess);
    EXPECT(holds(y, wanted));
}

template <class T>
static void test_copies(const Rank &r, ncclDataType_t type, size_t count)
{
    std::vector<T> own = elements<T>(r.rank, count), wanted;
    for (int rank = 0; rank < r.ranks; rank++)
        for (size_t i = 0; i < count; i++) wanted.push_back(element<T>(rank, i));
    T *x = (T *)device_bytes(own.data(), count * sizeof(T));
    T *y = (T *)device_bytes(nullptr, wanted.size() * sizeof(T));
    EXPECT(ncclAllGather(x, y, count, type, r.comm, nullptr) == ncclSuccess);
    EXPECT(holds(y, wanted));
    y = (T *)device_bytes(nullptr, wanted.size() * sizeof(T));
    T *block = y + count * (size_t)r.rank;
    EXPECT_SUCCESS(cudaMemcpy(block, x, count * sizeof(T), cudaMemcpyDeviceToDevice));
    EXPECT(ncclAllGather(block, y, count, type, r.comm, nullptr) == ncclSuccess);
    EXPECT(holds(y, wanted));
    for (int root = 0; root < r.ranks; root++) {
        y = (T *)device_bytes(nullptr, count * sizeof(T));
        EXPECT(ncclBroadcast(r.rank == root ? x : nullptr, y, count, type, root, r.comm,
                             nullptr) == ncclSuccess);
        EXPECT(holds(y, elements<T>(root, count)));
    }
    EXPECT(ncclBroadcast(x, x, count, type, 0, r.comm, nullptr) == ncclSuccess);
    EXPECT(holds(x, elements<T>(0, count)));
}

template <class T>
static void test_type(const Rank &r, ncclDataType_t type)
{
    for (size_t count : {0, 1, 37}) {
        for (int operation = 0; operation < ncclNumOps; operation++)
            test_reductions<T>(r, type, (ncclRedOp_t)operation, count);
        test_copies<T>(r, type, count);
    }
    test_reductions<T>(r, type, ncclAvg, PIECE / sizeof(T) + 3);
    test_copies<T>(r, type, PIECE / sizeof(T) + 3);
}

static void test_types(int rank, int ranks)
{
    const Rank r = {rank, ranks, join_ranks(rank, ranks)};
    int number = -1;
    EXPECT(ncclCommCount(r.comm, &number) == ncclSuccess && number == ranks);
    EXPECT(ncclCommUserRank(r.comm, &number) == ncclSuccess && number == rank);
    EXPECT(ncclCommCuDevice(r.comm, &number) == ncclSuccess && number == 0);
    test_type<int8_t>(r, ncclInt8);
    test_type<uint8_t>(r, ncclUint8);
    test_type<int32_t>(r, ncclInt32);
    test_type<uint32_t>(r, ncclUint32);
    test_type<int64_t>(r, ncclInt64);
    test_type<uint64_t>(r, ncclUint64);
    test_type<__half>(r, ncclFloat16);
    test_type<float>(r, ncclFloat32);
    test_type<double>(r, ncclFloat64);
    test_type<__nv_bfloat16>(r, ncclBfloat16);
    EXPECT(ncclCommDestroy(r.comm) == ncclSuccess);
}

// 40 MiB a rank, of which no process holds another copy.
static void test_large(int rank, int ranks)
{
    const Rank r = {rank, ranks, join_ranks(rank, ranks)};
    const int count = 10 << 20;
    float *x = device_floats(count, (float)rank + 0.5f);
    EXPECT(ncclAllReduce(x, x, count, ncclFloat, ncclSum, r.comm, nullptr) == ncclSuccess);
    const float sum = (float)(ranks * ranks) / 2;
    EXPECT(float_of(x) == sum && float_of(x + count / 2) == sum && float_of(x + count - 1) == sum);
    EXPECT(ncclCommDestroy(r.comm) == ncclSuccess);
}

// The result is that of the order of ranks: ((1 + 2^24) - 2^24), in float and in half.
static void test_order(int rank, int ranks)
{
    const Rank r = {rank, ranks, join_ranks(rank, ranks)};
    const float own[] = {1, 0x1p24f, -0x1p24f};
    float *x = device_floats(1, own[rank]);
    EXPECT(ncclAllReduce(x, x, 1, ncclFloat, ncclSum, r.comm, nullptr) == ncclSuccess);
    EXPECT(float_of(x) == 0);
    // The sum of 16 bits is rounded once: 2048 + 1 + 1 is a half, 2048 + 1 is none.
    const __half small = __float2half_rn(rank ? 1 : 2048);
    __half *h = (__half *)device_bytes(&small, sizeof small), sum;
    EXPECT(ncclAllReduce(h, h, 1, ncclHalf, ncclSum, r.comm, nullptr) == ncclSuccess);
    EXPECT_SUCCESS(cudaMemcpy(&sum, h, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(__half2float(sum) == 2050);
    // A NaN spreads in a sum, and loses in a minimum.
    float *nan = device_floats(1, rank == 0 ? NAN : (float)rank);
    float *y = device_floats(1, 0);
    EXPECT(ncclAllReduce(nan, y, 1, ncclFloat, ncclMax, r.comm, nullptr) == ncclSuccess);
    EXPECT(float_of(y) == 2);
    EXPECT(ncclAllReduce(nan, y, 1, ncclFloat, ncclSum, r.comm, nullptr) == ncclSuccess);
    EXPECT(isnan(float_of(y)));
    EXPECT(ncclCommDestroy(r.comm) == ncclSuccess);
}

int main()
{
    for (int ranks : {1, 2, 3}) run_ranks(ranks, [=](int rank) { test_types(rank, ranks); });
    run_ranks(2, [](int rank) { test_large(rank, 2); });
    run_ranks(3, [](int rank) { test_order(rank, 3); });
    return expect_failures != 0;
}
