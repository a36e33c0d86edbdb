// The arithmetic of collectives.  Ranks are combined in their order: rank 0 and
// rank 1, then rank 2, and so on.  Types of 16 bits are combined in float and
// rounded once.  Integers wrap around, and ncclAvg divides towards zero.
#include <cmath>
#include <type_traits>
#include "collective.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace {

float load(__half x)
{
    return __half2float(x);
}

float load(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

template <class T>
T load(T x)
{
    return x;
}

void store(__half *to, float x)
{
    *to = __float2half_rn(x);
}

void store(__nv_bfloat16 *to, float x)
{
    *to = __float2bfloat16_rn(x);
}

template <class T>
void store(T *to, T x)
{
    *to = x;
}

// The type in which a sum or a product has no undefined result.
template <class S, bool is_integer = std::is_integral<S>::value>
struct WrapOf {
    typedef typename std::make_unsigned<S>::type type;
};
template <class S>
struct WrapOf<S, false> {
    typedef S type;
};

template <class S>
S added(S a, S b)
{
    typedef typename WrapOf<S>::type Wrap;
    return (S)(Wrap)((Wrap)a + (Wrap)b);
}

template <class S>
S multiplied(S a, S b)
{
    typedef typename WrapOf<S>::type Wrap;
    return (S)(Wrap)((Wrap)a * (Wrap)b);
}

template <class S>
bool is_nan(S x)
{
    if constexpr (std::is_floating_point<S>::value) return std::isnan(x);
    return false;
}

// A NaN loses against a number.
template <class S>
S smaller(S a, S b)
{
    return b < a || is_nan(a) ? b : a;
}

template <class S>
S greater(S a, S b)
{
    return b > a || is_nan(a) ? b : a;
}

template <class T, class S, S combine(S, S)>
void combine_all(S *sum, const T *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] = combine(sum[i], load(elements[i]));
}

template <class T, class S>
void take(void *to, const void *from, size_t count, int operation, bool first)
{
    S *sum = static_cast<S *>(to);
    const T *elements = static_cast<const T *>(from);
    if (first)
        for (size_t i = 0; i < count; i++) sum[i] = load(elements[i]);
    else if (operation == ncclProd)
        combine_all<T, S, multiplied<S>>(sum, elements, count);
    else if (operation == ncclMin)
        combine_all<T, S, smaller<S>>(sum, elements, count);
    else if (operation == ncclMax)
        combine_all<T, S, greater<S>>(sum, elements, count);
    else combine_all<T, S, added<S>>(sum, elements, count);
}

template <class S>
S divided(S sum, int ranks)
{
    if constexpr (std::is_floating_point<S>::value) return sum / (S)ranks;
    else if constexpr (std::is_signed<S>::value)
        return (S)((int64_t)sum / ranks);
    else return (S)((uint64_t)sum / (uint64_t)ranks);
}

template <class T, class S>
void give(void *to, const void *from, size_t count, int operation, int ranks)
{
    T *elements = static_cast<T *>(to);
    const S *sum = static_cast<const S *>(from);
    for (size_t i = 0; i < count; i++)
        store(&elements[i],
              operation == ncclAvg ? divided(sum[i], ranks) : sum[i]);
}

template <class T, class S = T>
constexpr Arithmetic row(const char *name)
{
    return {name, sizeof(T), take<T, S>, give<T, S>};
}

// In the order of ncclDataType_t.
const Arithmetic rows[] = {
    row<int8_t>("int8"),   row<uint8_t>("uint8"),   row<int32_t>("int32"),
    row<uint32_t>("uint32"), row<int64_t>("int64"), row<uint64_t>("uint64"),
    row<__half, float>("half"), row<float>("float"), row<double>("double"),
    row<__nv_bfloat16, float>("bfloat16"),
};

}

const Arithmetic *arithmetic_of(int type)
{
    const int count = (int)(sizeof rows / sizeof *rows);
    return type >= 0 && type < count ? &rows[type] : nullptr;
}
