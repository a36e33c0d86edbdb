// Types of operands and results.  A kernel takes an operand that may have a prologue as a type X,
// by default a pointer.  X is any type with x[i], where i is the element's index in the map, and
// load_vec.  A result may have such a type Y too, with y[i] and store_vec.  So slices of larger
// arrays (slice.cuh) need no copies, and chains of cheap operators need no map.
#pragma once
#include <type_traits>
#include "mul_add.cuh"
#include "vec.cuh"

// load_vec: the V elements from the i-th on, i a multiple of V; in one pixel if x has channels.
template <int V, class X>
static __device__ inline Vec<V> load_vec(const X &x, long long i)
{
    if constexpr (std::is_pointer_v<X>) {
        typedef Vec<V, std::remove_pointer_t<X>> Stored;
        const Stored stored = *(const Stored *)ALIGNED(x + i, sizeof(Stored));
        Vec<V> v;
        for (int j = 0; j < V; j++) v.at[j] = stored.at[j];
        return v;
    } else {
        return x.template vec<V>(i);
    }
}

// plain_width: how many adjacent elements of an X are adjacent in memory, unchanged.  It has no
// limit for a pointer, is PLAIN for a slice, and 0 for a computed operand.
template <class X>
static constexpr auto plain_width(int) -> decltype(X::PLAIN)
{
    return X::PLAIN;
}
template <class X>
static constexpr int plain_width(long)
{
    if constexpr (std::is_pointer_v<X>) return 1 << 20;
    return 0;
}

// store_vec: sets the V elements from the i-th on, i a multiple of V.  A struct that can be y has a
// friend of this name.
template <int V, class T>
static __device__ inline void store_vec(T *y, long long i, const Vec<V> &v)
{
    Vec<V, T> stored;
    for (int j = 0; j < V; j++) stored.at[j] = v.at[j];
    each_word(y + i, stored, [](auto *to, auto word) { __stwb(to, word); });
}

// as_stored: x, as a T holds it.
template <class T>
static __device__ inline real as_stored(real x)
{
    T stored;
    stored = x;
    return stored;
}

// vec_each: V elements of x, one by one.
template <int V, class X>
static __device__ inline Vec<V> vec_each(const X &x, long long i)
{
    Vec<V> v;
    for (int j = 0; j < V; j++) v.at[j] = x[i + j];
    return v;
}

// load_pieces: V elements, ONCE at a time.
template <int V, int ONCE, class X>
static __device__ inline Vec<V> load_pieces(const X &x, long long i)
{
    Vec<V> v;
    UNROLL for (int j = 0; j < V; j += ONCE) {
        const Vec<ONCE> piece = load_vec<ONCE>(x, i + j);
        UNROLL for (int k = 0; k < ONCE; k++) v.at[j + k] = piece.at[k];
    }
    return v;
}

// HasTerms: whether a source is computed from a map x and terms of channels, of this type.
template <class X, class = void>
struct HasTerms : std::false_type { typedef unsigned Terms; };
template <class X>
struct HasTerms<X, std::void_t<decltype(std::declval<const X &>().template terms<1>(0))>>
    : std::true_type { typedef decltype(std::declval<const X &>().template terms<1>(0)) Terms; };

// made_of: the map that x is computed from, or x.
template <class X>
static __device__ inline const auto &made_of(const X &x)
{
    if constexpr (HasTerms<X>::value) return x.x;
    else return x;
}

// MapOf: the type of made_of's result.
template <class X>
using MapOf = std::decay_t<decltype(made_of(std::declval<const X &>()))>;

// LazyVec: the V elements of x from `first` on, by their indices in x.  Every use loads from a
// pointer, which may be null if there is none.
template <int V, class X>
struct LazyVec {
    static constexpr bool PLAIN = std::is_pointer_v<X>;
    std::conditional_t<PLAIN, X, Vec<V>> kept;
    long long first;
    __device__ real operator[](long long i) const
    {
        if constexpr (PLAIN) return load_vec<V>(kept, first).at[i - first];
        else return kept.at[i - first];
    }
};

// load_lazy: x for the V elements from `first` on, a multiple of V, which begin at channel c.
template <int V, class X, class... Channel>
static __device__ inline LazyVec<V, X> load_lazy(const X &x, long long first, Channel... c)
{
    if constexpr (std::is_pointer_v<X>) return {x, first};
    else return {x.template vec<V>(first, c...), first};
}

// Applied: F of each element of x.
template <class F, class X = const real *>
struct Applied {
    X x;
    __device__ real operator[](long long i) const { return F::forward(x[i]); }
    template <int V>
    __device__ Vec<V> vec(long long i, int = 0) const { return of(load_vec<V>(x, i), 0); }
    template <int V>
    __device__ int terms(int) const { return 0; }
    template <int V>
    static __device__ Vec<V> of(const Vec<V> &from, int)
    {
        Vec<V> v;
        for (int j = 0; j < V; j++) v.at[j] = F::forward(from.at[j]);
        return v;
    }
};

// RowOf: x from element `start` on.
template <class X>
struct RowOf {
    X x;
    long long start;
    __device__ real operator[](long long i) const { return x[start + i]; }
};

// BiasLoad: Act(x + bias[c]) of a map with C channels, c innermost.
template <long long C, class Act, class X = const real *>
struct BiasLoad {
    X x;
    const real *bias;
    __device__ real operator[](long long i) const { return vec<1>(i).at[0]; }
    template <int V>
    __device__ Vec<V> vec(long long i) const { return vec<V>(i, (int)((unsigned long long)i % C)); }
    template <int V>
    __device__ Vec<V> vec(long long i, int c) const { return of(load_vec<V>(x, i), terms<V>(c)); }
    template <int V>
    __device__ Vec<V> terms(int c) const { return load_vec<V>(bias, c); }
    template <int V>
    static __device__ Vec<V> of(const Vec<V> &from, const Vec<V> &b)
    {
        static_assert(C % V == 0, "a vector is of one pixel");
        Vec<V> v;
        for (int j = 0; j < V; j++) v.at[j] = Act::forward(from.at[j] + b.at[j]);
        return v;
    }
};

// NormTerms: the mean, factor and bias of V channels.
template <int V>
struct NormTerms {
    Vec<V> mean, factor, bias;
    __device__ real of(real x, int j) const
    {
        return mul_add(x - mean.at[j], factor.at[j], bias.at[j]);
    }
};

// Normalized: Act((x - mean[c]) * factor[c] + bias[c]) of a map with C channels; bias may be null.
template <long long C, class Act, class X = const real *>
struct Normalized {
    X x;
    const real *mean, *factor, *bias;
    __device__ real operator[](long long i) const { return vec<1>(i).at[0]; }
    template <int V>
    __device__ Vec<V> vec(long long i) const { return vec<V>(i, (int)((unsigned long long)i % C)); }
    template <int V>
    __device__ Vec<V> vec(long long i, int c) const { return of(load_vec<V>(x, i), terms<V>(c)); }
    template <int V>
    __device__ NormTerms<V> terms(int c) const
    {
        return {load_vec<V>(mean, c), load_vec<V>(factor, c),
                bias ? load_vec<V>(bias, c) : Vec<V>{}};
    }
    template <int V>
    static __device__ Vec<V> of(const Vec<V> &from, const NormTerms<V> &terms)
    {
        static_assert(C % V == 0, "a vector is of one pixel");
        Vec<V> v;
        for (int j = 0; j < V; j++) v.at[j] = Act::forward(terms.of(from.at[j], j));
        return v;
    }
};
