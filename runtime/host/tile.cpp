// The GEMM of a block, as tile.h describes it.
//
// DEPTH steps at a time, both operands are packed as reals, then multiplied.
// Positions of steps and lanes form runs of adjacent elements, so one test of
// bounds is enough for many.  Vectors lie across columns, never along a sum,
// and products are rounded before they are added.
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "host.h"
#include "runner.h"
#include "tile.h"

__thread const void *host_sums, *host_row_sums;
__thread uint64_t host_launch_number;

static bool may_have_twins()
{
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    return false;
#endif
    const char *asked = getenv("CNNC_HOST_TWINS");
    return !(asked && !strcmp(asked, "0")) && !getenv("CNNC_HOST_ORDER");
}

const bool host_has_twins = may_have_twins();

namespace {

constexpr int DEPTH = 64, MAX_LANES = HostOperand::MAX_LANES;

// Adjacent elements: `count` of them from position `begin` on, in one line of a
// map, from pixel `w` to pixel `last`.
struct Run {
    int       begin, count;
    long long offset;
    int       h, w, last;
};

// Computed elements that blocks and taps share: chunks of CHUNK elements, of
// which [from, to) are there, placed by their number.  They are kept for the
// blocks of one launch that an OS thread runs one after another.
constexpr int CHUNK = 64, CHUNKS = 8192;
struct Kept {
    long long chunk;
    uint64_t  launch;
    int       from, to;
};

// An operand while it is multiplied: the positions of the next steps, and the
// runs of those or of the lanes.
struct Packing {
    const HostOperand *o;
    Kept              *kept;
    HostOffset         step[DEPTH];
    Run                runs[MAX_LANES];
    int                run_count;
};

template <class T>
struct Room {
    alignas(64) T sums[HostProduct::MAX_SUMS], row_sums[MAX_LANES];
    alignas(64) T a[MAX_LANES * DEPTH], b[MAX_LANES * DEPTH];
    alignas(64) T turned[MAX_LANES * DEPTH];
    Packing of_a, of_b;
    Kept    kept_a[CHUNKS], kept_b[CHUNKS];
    T       computed_a[CHUNKS * CHUNK], computed_b[CHUNKS * CHUNK];
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

void find_runs(Packing *p, const HostOffset *at, int count)
{
    Run *run = p->runs;
    p->run_count = 0;
    for (int i = 0; i < count; i++) {
        const HostOffset &now = at[i];
        if (i > 0 && now.offset == at[i - 1].offset + 1 &&
            now.h == at[i - 1].h && now.w >= at[i - 1].w) {
            run->count++;
            run->last = now.w;
            continue;
        }
        run = &p->runs[p->run_count++];
        *run = {i, 1, now.offset, now.h, now.w, now.w};
    }
}

// Sets the positions of `count` steps from k on.
void find_steps(Packing *p, long long k, int count)
{
    const HostSteps &s = p->o->steps;
    long long pixel = k / s.channels, c = k % s.channels;
    long long line = pixel / s.w.count, x = pixel % s.w.count;
    long long n = s.image ? line / s.h.count : 0, y = line - n * s.h.count;
    for (int i = 0; i < count; i++) {
        int h = (int)(s.h.first + y * s.h.step);
        int w = (int)(s.w.first + x * s.w.step);
        p->step[i] = {n * s.image + h * s.h.stride + w * s.w.stride +
                          c * s.apart, h, w};
        if (++c < s.channels) continue;
        c = 0;
        if (++x < s.w.count) continue;
        x = 0;
        if (++y < s.h.count || !s.image) continue;
        y = 0;
        n++;
    }
}

float f16_value(uint16_t bits)
{
    // The exponent's bias is 112 less; infinity and NaN have all its bits.
    uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13, word;
    float value;
    memcpy(&value, &magnitude, sizeof value);
    value *= 0x1p112f;
    memcpy(&word, &value, sizeof word);
    if ((bits & 0x7c00) == 0x7c00) word = magnitude | 0x7f800000;
    word |= (uint32_t)(bits & 0x8000) << 16;
    memcpy(&value, &word, sizeof value);
    return value;
}

float bf16_value(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

// Loads of `count` elements from number i on.
template <class T, class S>
struct Plain {
    const S *from;
    inline __attribute__((always_inline)) void
    operator()(long long i, int count, T *to) const
    {
        for (int j = 0; j < count; j++) to[j] = (T)from[i + j];
    }
};

template <class T, float (*Value)(uint16_t)>
struct Half {
    const uint16_t *from;
    inline __attribute__((always_inline)) void
    operator()(long long i, int count, T *to) const
    {
        for (int j = 0; j < count; j++) to[j] = (T)Value(from[i + j]);
    }
};

template <class T>
struct Computed {
    const HostOperand *o;
    Kept              *kept;
    T                 *elements;
    void operator()(long long i, int count, T *to) const
    {
        for (int piece; count > 0; i += piece, to += piece, count -= piece) {
            int begin = (int)(i % CHUNK), end = std::min(begin + count, CHUNK);
            piece = end - begin;
            const T *own = chunk(i / CHUNK, begin, end);
            std::copy(own + begin, own + end, to);
        }
    }

    // Returns a chunk that has its elements from begin to end.
    const T *chunk(long long number, int begin, int end) const
    {
        Kept *k = &kept[number % CHUNKS];
        T *own = elements + number % CHUNKS * CHUNK;
        const long long first = number * CHUNK;
        if (k->chunk != number || k->launch != host_launch_number ||
            begin > k->to || end < k->from)
            *k = {number, host_launch_number, begin, begin};
        if (begin < k->from)
            o->load(o->from, first + begin, k->from - begin, own + begin);
        if (end > k->to)
            o->load(o->from, first + k->to, end - k->to, own + k->to);
        k->from = std::min(k->from, begin);
        k->to = std::max(k->to, end);
        return own;
    }
};

// Loads the part of a run that is in a map, pixel by pixel.
template <class T, class Load>
void load_edge(const Packing *p, const Load &load, const HostOffset &other,
               const Run &run, T *to)
{
    const HostOperand &o = *p->o;
    const HostOffset *own = (o.along ? p->step : o.lane) + run.begin;
    for (int i = 0, end; i < run.count; i = end) {
        for (end = i + 1; end < run.count && own[end].w == own[i].w;) end++;
        if ((unsigned)(other.w + own[i].w) < (unsigned)o.width)
            load(o.first + other.offset + own[i].offset, end - i, to + i);
        else
            std::fill(to + i, to + end, (T)0);
    }
}

// Packs `others` rows of runs: row j is at out + j * pitch.
template <class T, class Load>
inline __attribute__((always_inline)) void
pack_runs(const Packing *p, const Load &load, int others, T *out, int pitch)
{
    const HostOperand &o = *p->o;
    const HostOffset *other = o.along ? o.lane : p->step;
    for (int j = 0; j < others; j++, out += pitch)
        for (const Run *r = p->runs; r < p->runs + p->run_count; r++) {
            T *to = out + r->begin;
            if ((unsigned)(other[j].h + r->h) >= (unsigned)o.height)
                std::fill(to, to + r->count, (T)0);
            else if (other[j].w + r->w >= 0 && other[j].w + r->last < o.width)
                load(o.first + other[j].offset + r->offset, r->count, to);
            else
                load_edge(p, load, other[j], *r, to);
        }
}

template <class T>
void pack_elements(const Packing *p, T *computed, int others, T *out,
                   int pitch)
{
    const HostOperand *o = p->o;
    switch (o->element) {
    case HOST_COMPUTED:
        return pack_runs(p, Computed<T>{o, p->kept, computed}, others, out,
                         pitch);
    case HOST_F32:
        return pack_runs(p, Plain<T, float>{(const float *)o->from}, others,
                         out, pitch);
    case HOST_F64:
        return pack_runs(p, Plain<T, double>{(const double *)o->from}, others,
                         out, pitch);
    case HOST_F16:
        return pack_runs(p, Half<T, f16_value>{(const uint16_t *)o->from},
                         others, out, pitch);
    case HOST_BF16:
        return pack_runs(p, Half<T, bf16_value>{(const uint16_t *)o->from},
                         others, out, pitch);
    }
}

// Packs `count` steps from k on: rows of a lane's steps, DEPTH apart, if they
// are `along`, else rows of a step's lanes, `pitch` apart.
template <class T>
void pack(Packing *p, T *computed, long long k, int count, T *out, int pitch)
{
    find_steps(p, k, count);
    if (p->o->along) find_runs(p, p->step, count);
    pack_elements(p, computed, p->o->along ? p->o->lanes : count, out,
                  p->o->along ? DEPTH : pitch);
}

// Elements of a packed operand: lane i of step k is at[i * lane + k * step].
template <class T>
struct Packed {
    const T *at;
    int      lane, step;
};

#define KEPT_IN_REGISTERS _Pragma("GCC unroll 16")

// Keeps a product from being fused with a sum.
#ifdef __x86_64__
#define NOT_FUSED(vector) asm("" : "+v"(vector))
#else
#define NOT_FUSED(vector) asm("" : "+w"(vector))
#endif

// Adds to ROWS x COLUMNS vectors of sums the products of `count` steps.
template <class T, int BYTES, int ROWS, int COLUMNS>
inline __attribute__((always_inline)) void
multiply_vectors(Packed<T> a, const T *b, int count, T *sums, int columns)
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
multiply_rows(Packed<T> a, const T *b, int count, T *sums, int rows,
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
multiply(Packed<T> a, const T *b, int count, T *sums, int rows, int columns,
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
using Method = void(Packed<T> a, const T *b, int count, T *sums, int rows,
                    int columns, int used);

template <class T>
void multiply_16(Packed<T> a, const T *b, int count, T *sums, int rows,
                 int columns, int used)
{
    multiply<T, 16>(a, b, count, sums, rows, columns, used);
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx2"))) void
multiply_32(Packed<T> a, const T *b, int count, T *sums, int rows, int columns,
            int used)
{
    multiply<T, 32>(a, b, count, sums, rows, columns, used);
}

template <class T>
__attribute__((target("avx512f"))) void
multiply_64(Packed<T> a, const T *b, int count, T *sums, int rows, int columns,
            int used)
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

// Turns lanes of `count` steps, DEPTH apart, to steps, `pitch` apart.
template <class T>
void turn(const T *from, int lanes, int count, T *to, int pitch)
{
    enum { TILE = 8 };
    for (int l = 0; l < lanes; l += TILE)
        for (int k = 0; k < count; k += TILE)
            for (int i = k; i < std::min(k + TILE, count); i++)
                for (int j = l; j < std::min(l + TILE, lanes); j++)
                    to[i * pitch + j] = from[j * DEPTH + i];
}

float rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    bits = (bits + 0x1000u) & ~0x1fffu;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

double rounded(double x)
{
    return x;
}

template <class T>
void round_packed(T *at, int rows, int pitch, int count)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < count; j++)
            at[i * pitch + j] = rounded(at[i * pitch + j]);
}

template <class T>
void make_sums(const HostProduct &p)
{
    static Method<T> *const how = method<T>();
    Room<T> *r = room<T>();
    r->of_a.o = &p.a;
    r->of_b.o = &p.b;
    r->of_a.kept = r->kept_a;
    r->of_b.kept = r->kept_b;
    if (!p.a.along) find_runs(&r->of_a, p.a.lane, p.a.lanes);
    if (!p.b.along) find_runs(&r->of_b, p.b.lane, p.b.lanes);
    std::fill(r->sums, r->sums + p.rows * p.columns, (T)0);
    std::fill(r->row_sums, r->row_sums + p.rows, (T)0);
    for (long long k = p.begin; k < p.end; k += DEPTH) {
        int count = (int)std::min<long long>(DEPTH, p.end - k);
        T *b = p.b.along ? r->turned : r->b;
        pack(&r->of_a, r->computed_a, k, count, r->a, p.rows);
        pack(&r->of_b, r->computed_b, k, count, r->b, p.columns);
        Packed<T> a = {r->a, p.a.along ? DEPTH : 1,
                       p.a.along ? 1 : p.rows};
        for (int i = 0; p.sum_rows && i < p.a.lanes; i++)
            for (int s = 0; s < count; s++)
                r->row_sums[i] += a.at[i * a.lane + s * a.step];
        if (p.b.along) turn(r->b, p.b.lanes, count, r->turned, p.columns);
        if (p.rounds && p.a.along)
            round_packed(r->a, p.a.lanes, DEPTH, count);
        else if (p.rounds)
            round_packed(r->a, count, p.rows, p.a.lanes);
        if (p.rounds) round_packed(b, count, p.columns, p.b.lanes);
        how(a, b, count, r->sums, p.a.lanes, p.columns, p.b.lanes);
    }
    host_sums = r->sums;
    host_row_sums = r->row_sums;
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
