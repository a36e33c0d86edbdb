// The twin of a block's GEMM (support/gemm/product.cuh).  The first thread of
// the block computes all sums at once, and each thread takes its own, so the
// block needs no barrier.  Each sum adds the same products in the same order as
// the kernel does: it has the same bits.
//
// This header describes the two operands; tile.cpp loads and multiplies them.
#ifndef CNNC_HOST_TILE_H
#define CNNC_HOST_TILE_H

#include <stdint.h>
#include <string.h>
#include <type_traits>
#include "device_language.h"

// Elements of an operand: in memory, or computed by HostOperand::load.
enum HostElement { HOST_COMPUTED, HOST_F32, HOST_F64, HOST_F16, HOST_BF16 };

// A part of a position in a map, as Offset2d.
struct HostOffset {
    long long offset;
    int       h, w;
};

// Positions of steps, as Im2colIndex.
struct HostSteps {
    struct Axis {
        long long count, first, step, stride;
    } h, w;
    long long image, channels, apart;
};

// An operand, lanes x steps, as its TileLoader describes it: an element that is
// not in a map is zero.  Elements that are adjacent in memory are steps of a
// lane if `along`, else lanes of a step.  All lanes from `lanes` on are zero.
struct HostOperand {
    enum { MAX_LANES = 256 };
    HostElement element;
    const void *from;
    // Sets to[0..count) to the elements of `from` from number i on, as reals.
    void      (*load)(const void *from, long long i, int count, void *to);
    long long   first;
    int         height, width, lanes;
    bool        along;
    HostSteps   steps;
    HostOffset  lane[MAX_LANES];
};

// A block's rows x columns sums over the steps [begin, end).  With sum_rows,
// a's rows are summed too.  `rounds`: operands round to TF32.
struct HostProduct {
    enum { MAX_SUMS = 128 * 256 };
    HostOperand a, b;
    int         rows, columns;
    long long   begin, end;
    bool        sum_rows, rounds;
};

// The sums of the running block, reals: those of row i are `columns` adjacent
// ones.  Null until a thread has made them.
extern __thread const void *host_sums, *host_row_sums;
extern __thread unsigned host_sums_by;  // threadIdx.x of that thread

// The number of the launch that this OS thread runs.
extern __thread uint64_t host_launch_number;

// Makes the sums of the running block.
void host_make_sums(const HostProduct &product, float *);
void host_make_sums(const HostProduct &product, double *);

// A block may have one product: reports a thread that has begun another.
[[noreturn]] void host_second_product();

// False if the program must run the kernels themselves: with
// CNNC_HOST_TWINS=0, with CNNC_HOST_ORDER, and under a sanitizer.
extern bool host_has_twins;

// The element of a pointer.  Binary16 is known by its value 1.
template <class T>
HostElement host_element()
{
    if (std::is_same<T, float>::value) return HOST_F32;
    if (std::is_same<T, double>::value) return HOST_F64;
    if (sizeof(T) != 2 || std::is_arithmetic<T>::value) return HOST_COMPUTED;
    const uint16_t one = 0x3c00;
    T value;
    memcpy((void *)&value, &one, sizeof value);
    return (double)value == 1 ? HOST_F16 : HOST_BF16;
}

// How a Tile stores operands: as reals, or as its Element does.
template <class Tile, class Real, class = void>
struct HostStored {
    typedef Real Type;
    static constexpr bool ROUNDS = false;
    static Real of(Real x) { return x; }
};
template <class Tile, class Real>
struct HostStored<Tile, Real, std::void_t<typename Tile::Element>> {
    typedef typename Tile::Element Element;
    typedef typename Element::Stored Type;
    static constexpr bool ROUNDS = !Element::EXACT;
    static Real of(Real x) { return Element::load(Element::store(x)); }
};

// True if the Tile's sums are bits of integers, which has no twin.
template <class Tile, class = void>
struct HostAddsIntegers : std::false_type {};
template <class Tile>
struct HostAddsIntegers<Tile, std::void_t<decltype(Tile::Terms::ADDS_INTEGERS)>>
    : std::true_type {};

// A source of elements and the function that loads a vector of them.
template <class X, class Vectors>
struct HostSource {
    const X &x;
    const Vectors &vectors;
};

// HostOperand::load of a TileLoader's source.
template <class Load, class Stored, class Real, class Vectors>
void host_load(const void *from, long long i, int count, void *to)
{
    typedef HostSource<typename Load::Source, Vectors> Source;
    constexpr int V = Load::SINGLY ? 1 : Load::WIDTH;
    const Source &source = *static_cast<const Source *>(from);
    Real *out = static_cast<Real *>(to);
    for (int j = 0; j < count; j += V)
        if constexpr (Load::SINGLY) {
            out[j] = Stored::of((Real)source.x[i + j]);
        } else {
            const auto v = source.vectors(
                source.x, i + j, std::integral_constant<int, V>());
            for (int k = 0; k < V; k++) out[j + k] = Stored::of(v.at[k]);
        }
}

template <class Stored, class Real, class Load, class Index, class Source>
void host_describe(HostOperand *o, const Load &load, long long begin,
                   const Index &index, const Source &source, Real *)
{
    typedef typename Load::Source X;
    typedef std::remove_cv_t<std::remove_pointer_t<X>> Element;
    constexpr int V = Load::SINGLY || Load::ALONG ? 1 : Load::WIDTH;
    static_assert(Load::COUNT <= HostOperand::MAX_LANES, "room for each lane");
    o->element = HOST_COMPUTED;
    if constexpr (std::is_pointer_v<X> &&
                  (std::is_same_v<typename Stored::Type, Real> ||
                   std::is_same_v<typename Stored::Type, Element>)) {
        o->element = host_element<Element>();
        o->from = load.from;
    }
    if (o->element == HOST_COMPUTED) o->from = &source;
    o->load = host_load<Load, Stored, Real,
                        std::decay_t<decltype(source.vectors)>>;
    o->first = load.first;
    o->height = load.height;
    o->width = load.width;
    o->along = Load::ALONG;
    const auto &s = load.steps;
    o->steps = {{s.h.count, s.h.first, s.h.step, s.h.stride},
                {s.w.count, s.w.first, s.w.step, s.w.stride},
                s.image, s.channels, s.apart};
    o->lanes = 0;
    for (int l = 0; l < Load::COUNT; l += V) {
        const auto at = index(begin + l, Load::COUNT);
        for (int j = 0; j < V; j++)
            o->lane[l + j] = {at.offset + j, at.h, at.w};
        if (at.h > -(1 << 28)) o->lanes = l + V;
    }
}

// Sets the sums of the calling thread, and returns its sum of a row of a.
template <class Tile, class A, class B, class LanesA, class LanesB, class K,
          class Real, int HIGH, int WIDE, class Vectors>
Real host_take_sums(const A &a, long long row, const LanesA &lanes_a,
                    const B &b, long long column, const LanesB &lanes_b,
                    K begin, K end, Real (&sum)[HIGH][WIDE], bool sum_rows,
                    const Vectors &vectors)
{
    typedef HostStored<Tile, Real> Stored;
    constexpr int RUN = Tile::template RUN<4>;
    static_assert(Tile::COLUMNS % 16 == 0 &&
                      Tile::ROWS * Tile::COLUMNS <= HostProduct::MAX_SUMS,
                  "room for the sums, in whole vectors");
    if (!host_sums) {
        const HostSource<typename A::Source, Vectors> of_a = {a.from, vectors};
        const HostSource<typename B::Source, Vectors> of_b = {b.from, vectors};
        HostProduct p;
        host_describe<Stored>(&p.a, a, row, lanes_a, of_a, *sum);
        host_describe<Stored>(&p.b, b, column, lanes_b, of_b, *sum);
        p.rows = Tile::ROWS;
        p.columns = Tile::COLUMNS;
        p.begin = begin;
        p.end = end;
        p.sum_rows = sum_rows;
        p.rounds = Stored::ROUNDS;
        host_make_sums(p, *sum);
    } else if (host_sums_by == threadIdx.x) {
        host_second_product();
    }
    const Real *made = static_cast<const Real *>(host_sums);
    int at[WIDE / RUN];
    for (int j = 0; j < WIDE / RUN; j++) at[j] = Tile::column(j * RUN);
    for (int i = 0; i < HIGH; i++) {
        const Real *of_row = made + Tile::row(i) * Tile::COLUMNS;
        for (int j = 0; j < WIDE / RUN; j++)
            memcpy(&sum[i][j * RUN], of_row + at[j], RUN * sizeof(Real));
    }
    const int summed = Tile::summed_row();
    if (!sum_rows || summed >= Tile::ROWS) return 0;
    return static_cast<const Real *>(host_row_sums)[summed];
}

#ifndef CNNC_HOST_FUSED                 // its kernels round once
#define TILE_TWIN(Tile, a, row, lanes_a, b, column, lanes_b, begin, end, sum,  \
                  sum_rows)                                                    \
    if (host_has_twins && !HostAddsIntegers<Tile>::value)                      \
    return host_take_sums<Tile>(                                               \
        a, row, lanes_a, b, column, lanes_b, begin, end, sum, sum_rows,        \
        [](const auto &x, long long i, auto width) {                           \
            return load_vec<decltype(width)::value>(x, i);                     \
        })
#endif

#endif
