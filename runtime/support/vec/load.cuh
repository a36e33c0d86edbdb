// What an operand is read from.  A kernel that can compute an operand as it loads it takes it as
// a type X, a pointer unless told otherwise: anything with x[i], i the element's index in the map,
// and load_pack.  What is written may be of such a type too, Y, with y[i] and store_pack.  So
// slices of larger arrays (slice.cuh) need no copies, and chains of cheap operators no map.
#pragma once
#include <type_traits>
#include "pack.cuh"

// load_pack: the V elements from the i-th on, i a multiple of V; of one pixel where x has channels.
template <int V, class T>
static __device__ inline Pack<V> load_pack(T *x, long long i)
{
    const Pack<V, T> stored = *pack_at<const Pack<V, T>>(x + i);
    Pack<V> v;
    for (int j = 0; j < V; j++) v.at[j] = stored.at[j];
    return v;
}
template <int V, class X>
static __device__ inline Pack<V> load_pack(const X &x, long long i)
{
    return x.template pack<V>(i);
}

// plain_width: how many elements side by side of an X lie in memory as it gives them: any number of
// a pointer's, a slice's PLAIN, none of what is computed.
template <class X>
static constexpr auto plain_width(int) -> decltype(X::PLAIN)
{
    return X::PLAIN;
}
template <class X>
static constexpr int plain_width(long)
{
    return std::is_pointer_v<X> ? 1 << 20 : 0;
}

// store_pack: the V elements from the i-th on become v, i a multiple of V.
template <int V, class T>
static __device__ inline void store_pack(T *y, long long i, const Pack<V> &v)
{
    Pack<V, T> stored;
    for (int j = 0; j < V; j++) stored.at[j] = v.at[j];
    put_pack(y + i, stored);
}
template <int V, class Y>
static __device__ inline void store_pack(const Y &y, long long i, const Pack<V> &v)
{
    y.put(i, v);
}

// pack_each: the same element by element, of what has no faster way.
template <int V, class X>
static __device__ inline Pack<V> pack_each(const X &x, long long i)
{
    Pack<V> v;
    for (int j = 0; j < V; j++) v.at[j] = x[i + j];
    return v;
}

// load_pieces: V elements, ONCE at a time.
template <int V, int ONCE, class X>
static __device__ inline Pack<V> load_pieces(const X &x, long long i)
{
    Pack<V> v;
    UNROLL for (int j = 0; j < V; j += ONCE) {
        const Pack<ONCE> piece = load_pack<ONCE>(x, i + j);
        UNROLL for (int k = 0; k < ONCE; k++) v.at[j + k] = piece.at[k];
    }
    return v;
}

// Held: V elements of an array, from `first` on, in registers, indexed as the array is.
template <int V>
struct Held {
    real at[V];
    long long first;
    __device__ Held(const Pack<V> &v, long long first) : first(first)
    {
        for (int j = 0; j < V; j++) at[j] = v.at[j];
    }
    __device__ real operator[](long long i) const { return at[i - first]; }
};

// Behind: the same of an array that is read as late as an element is wanted, so that it may be null
// where none is.  The compiler makes one load of all that nothing is stored between.
template <int V, class T>
struct Behind {
    T *x;
    long long first;
    __device__ real operator[](long long i) const
    {
        return load_pack<V>(x, first).at[i - first];
    }
};

// hold: x for the V elements from `first` on, a multiple of V: loaded as a pack, where x has packs.
template <int V, class T>
static __device__ inline Behind<V, T> hold(T *x, long long first)
{
    return {x, first};
}
template <int V, class X>
static __device__ inline auto hold(const X &x, long long first)
    -> decltype(Held<V>(x.template pack<V>(first), first))
{
    return {load_pack<V>(x, first), first};
}
template <int V, class X, class... None>
static __device__ inline const X &hold(const X &x, long long, None...)
{
    return x;
}

// hold_in: hold of elements in channel c and beside it, which x need not find then.
template <int V, class X>
static __device__ inline auto hold_in(const X &x, long long first, int c)
    -> decltype(Held<V>(x.template pack<V>(first, c), first))
{
    return {x.template pack<V>(first, c), first};
}
template <int V, class X, class... None>
static __device__ inline auto hold_in(const X &x, long long first, int, None...)
{
    return hold<V>(x, first);
}

// Applied: F of each element of x.
template <class F, class X = const real *>
struct Applied {
    X x;
    __device__ real operator[](long long i) const { return F::forward(x[i]); }
    template <int V>
    __device__ Pack<V> pack(long long i) const
    {
        Pack<V> v = load_pack<V>(x, i);
        for (int j = 0; j < V; j++) v.at[j] = F::forward(v.at[j]);
        return v;
    }
};

// RowOf: what x is from element `start` on.
template <class X>
struct RowOf {
    X x;
    long long start;
    __device__ real operator[](long long i) const { return x[start + i]; }
};

// column_of: of element i of a map with C channels, its channel.
template <long long C>
static __device__ inline int column_of(long long i)
{
    return (int)((unsigned long long)i % C);
}

// Biased: Act(x + bias[c]) of a map with C channels, c innermost.
template <long long C, class Act, class X = const real *>
struct Biased {
    X x;
    const real *bias;
    __device__ real operator[](long long i) const
    {
        return Act::forward(x[i] + bias[column_of<C>(i)]);
    }
    template <int V>
    __device__ Pack<V> pack(long long i) const { return pack<V>(i, column_of<C>(i)); }
    template <int V>
    __device__ Pack<V> pack(long long i, int c) const
    {
        static_assert(C % V == 0, "a pack is of one pixel");
        Pack<V> v = load_pack<V>(x, i);
        const Pack<V> b = load_pack<V>(bias, c);
        for (int j = 0; j < V; j++) v.at[j] = Act::forward(v.at[j] + b.at[j]);
        return v;
    }
};

// Normalized: Act((x - mean[c]) * factor[c] + bias[c]) of a map with C channels, c innermost; bias
// may be null.
template <long long C, class Act, class X = const real *>
struct Normalized {
    X x;
    const real *mean, *factor, *bias;
    static __device__ real of(real v, real m, real f, real b)
    {
        return Act::forward((v - m) * f + b);
    }
    __device__ real operator[](long long i) const
    {
        const int c = column_of<C>(i);
        return of(x[i], mean[c], factor[c], bias ? bias[c] : (real)0);
    }
    template <int V>
    __device__ Pack<V> pack(long long i) const { return pack<V>(i, column_of<C>(i)); }
    template <int V>
    __device__ Pack<V> pack(long long i, int c) const
    {
        static_assert(C % V == 0, "a pack is of one pixel");
        Pack<V> v = load_pack<V>(x, i);
        const Pack<V> m = load_pack<V>(mean, c), f = load_pack<V>(factor, c);
        const Pack<V> b = load_pack<V>(bias ? bias : mean, c);      // no branch
        for (int j = 0; j < V; j++) {
            const real add = bias ? b.at[j] : (real)0;
            v.at[j] = of(v.at[j], m.at[j], f.at[j], add);
        }
        return v;
    }
};
