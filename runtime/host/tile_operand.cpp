// Operands of a block's product, packed as reals.  Positions of steps and lanes
// form runs of adjacent elements, so one test of bounds is enough for many.
#include <algorithm>
#include <string.h>
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "host.h"
#include "tile_operand.h"

__thread uint64_t host_launch_number;

namespace {

// Loads of `count` elements from number i on.
template <class T, class S>
struct Plain {
    const S *from;
    void operator()(long long i, int count, T *to) const
    {
        // Runs are short: a call of memcpy takes longer.
        const S *at = from + i;
        for (; count >= 4; count -= 4, at += 4, to += 4)
            for (int j = 0; j < 4; j++) to[j] = (T)at[j];
        for (; count > 0; count--) *to++ = (T)*at++;
    }
};

template <class T, class S, float (*Value)(S)>
struct Half {
    const S *from;
    void operator()(long long i, int count, T *to) const
    {
        for (int j = 0; j < count; j++) to[j] = (T)Value(from[i + j]);
    }
};

// Turns lanes of `count` steps, TILE_DEPTH apart, to steps, `pitch` apart.
template <class T>
void turn(const T *from, int lanes, int count, T *to, int pitch)
{
    enum { SIDE = 8 };
    for (int l = 0; l < lanes; l += SIDE)
        for (int k = 0; k < count; k += SIDE)
            for (int i = k; i < std::min(k + SIDE, count); i++)
                for (int j = l; j < std::min(l + SIDE, lanes); j++)
                    to[i * pitch + j] = from[j * TILE_DEPTH + i];
}

bool is_same(const HostSteps::Axis &a, const HostSteps::Axis &b)
{
    return a.count == b.count && a.first == b.first && a.step == b.step &&
           a.stride == b.stride;
}

// True if both have the same elements in the same places.  The source of an
// operand is the same for all blocks of a launch.
bool is_same(const HostOperand &a, const HostOperand &b)
{
    return a.first == b.first && a.lanes == b.lanes && a.along == b.along &&
           a.element == b.element && a.height == b.height &&
           a.width == b.width && is_same(a.steps.h, b.steps.h) &&
           is_same(a.steps.w, b.steps.w) && a.steps.image == b.steps.image &&
           a.steps.channels == b.steps.channels &&
           a.steps.apart == b.steps.apart &&
           !memcmp(a.lane, b.lane, (size_t)a.lanes * sizeof *a.lane);
}

}

// Finds the kept chunks of the operand, or room for them.
template <class T>
bool TileOperand<T>::find_kept(long long begin, long long end)
{
    size_t chunks = (size_t)((end - begin + TILE_DEPTH - 1) / TILE_DEPTH);
    if (launch != host_launch_number) kept_count = 0;
    launch = host_launch_number;
    if (kept_count == 0) kept_elements = 0;
    for (int i = 0; i < kept_count; i++) {
        Operand &k = kept[i];
        if (k.begin == begin && k.end == end && is_same(k.o, *o)) {
            packed = elements + k.at;
            return true;
        }
    }
    is_kept = is_kept && chunks * chunk_elements() <= MAX_ELEMENTS;
    size_t wanted = (is_kept ? chunks : 1) * chunk_elements();
    if (kept_count == MAX_KEPT || kept_elements + wanted > MAX_ELEMENTS)
        kept_count = 0, kept_elements = 0;
    packed = elements + kept_elements;
    if (!is_kept) return false;
    kept[kept_count++] = {*o, begin, end, kept_elements};
    kept_elements += wanted;
    return false;
}

template <class T>
void TileOperand<T>::begin(const HostOperand *of, long long begin,
                           long long end, int lanes, bool to_turn,
                           bool to_round, bool keeps)
{
    o = of;
    first_step = begin;
    pitch = lanes;
    turns = to_turn;
    rounds = to_round;
    is_kept = keeps;
    is_packed = find_kept(begin, end);
    if (!is_packed && !o->along) find_runs(o->lane, o->lanes);
}

template <class T>
void TileOperand<T>::find_runs(const HostOffset *at, int count)
{
    Run *run = runs;
    run_count = 0;
    for (int i = 0; i < count; i++) {
        const HostOffset &now = at[i];
        if (i > 0 && now.offset == at[i - 1].offset + 1 &&
            now.h == at[i - 1].h && now.w >= at[i - 1].w) {
            run->count++;
            run->last = now.w;
            continue;
        }
        run = &runs[run_count++];
        *run = {i, 1, now.offset, now.h, now.w, now.w};
    }
}

// Sets the positions of `count` steps from k on.
template <class T>
void TileOperand<T>::find_steps(long long k, int count)
{
    const HostSteps &s = o->steps;
    long long pixel = k / s.channels, c = k % s.channels;
    long long line = pixel / s.w.count, x = pixel % s.w.count;
    long long n = s.image ? line / s.h.count : 0, y = line - n * s.h.count;
    for (int i = 0; i < count; i++) {
        int h = (int)(s.h.first + y * s.h.step);
        int w = (int)(s.w.first + x * s.w.step);
        step[i] = {n * s.image + h * s.h.stride + w * s.w.stride + c * s.apart,
                   h, w};
        if (++c < s.channels) continue;
        c = 0;
        if (++x < s.w.count) continue;
        x = 0;
        if (++y < s.h.count || !s.image) continue;
        y = 0;
        n++;
    }
}

// Returns a piece that has its elements from begin to end.
template <class T>
const T *TileOperand<T>::piece(long long number, int begin, int end)
{
    Piece *p = &pieces[number % PIECES];
    T *own = computed + number % PIECES * PIECE;
    const long long first = number * PIECE;
    if (p->number != number || p->launch != host_launch_number ||
        begin > p->to || end < p->from)
        *p = {number, host_launch_number, begin, begin};
    if (begin < p->from)
        o->load(o->from, first + begin, p->from - begin, own + begin);
    if (end > p->to)
        o->load(o->from, first + p->to, end - p->to, own + p->to);
    p->from = std::min(p->from, begin);
    p->to = std::max(p->to, end);
    return own;
}

template <class T>
void TileOperand<T>::load_computed(long long i, int count, T *to)
{
    for (int some; count > 0; i += some, to += some, count -= some) {
        int begin = (int)(i % PIECE);
        int end = std::min(begin + count, PIECE);
        some = end - begin;
        Plain<T, T>{piece(i / PIECE, begin, end)}(begin, some, to);
    }
}

// Loads the part of a run that is in a map: its pixels ascend.
template <class T>
template <class Load>
void TileOperand<T>::load_edge(const Load &load, const HostOffset &other,
                               const Run &run, T *to)
{
    const HostOffset *own = (o->along ? step : o->lane) + run.begin;
    int begin = 0, end = run.count;
    while (begin < end && other.w + own[begin].w < 0) to[begin++] = 0;
    while (begin < end && other.w + own[end - 1].w >= o->width) to[--end] = 0;
    if (begin < end)
        load(o->first + other.offset + own[begin].offset, end - begin,
             to + begin);
}

// Loads row j, all runs of which are at `out`.
template <class T>
template <class Load>
inline void TileOperand<T>::visit_runs(const Load &load, int j, T *out)
{
    const HostOffset other = (o->along ? o->lane : step)[j];
    const int width = o->width;
    for (const Run *r = runs; r < runs + run_count; r++) {
        T *to = out + r->begin;
        if ((unsigned)(other.h + r->h) >= (unsigned)o->height)
            std::fill(to, to + r->count, (T)0);
        else if (other.w + r->w >= 0 && other.w + r->last < width)
            load(o->first + other.offset + r->offset, r->count, to);
        else
            load_edge(load, other, *r, to);
    }
}

// Packs `others` rows, `apart` elements from each other.
template <class T>
template <class Load>
void TileOperand<T>::pack_runs(const Load &load, int others, T *out, int apart)
{
    for (int j = 0; j < others; j++) visit_runs(load, j, out + j * apart);
}

// Computes all elements from the first to the last that the next rows need, if
// they are no more than those.  Returns where element 0 would be, or null.
template <class T>
const T *TileOperand<T>::compute_all(int others)
{
    long long first = INT64_MAX, last = -1, needed = 0;
    const auto note = [&](long long i, int count, T *) {
        first = std::min(first, i);
        last = std::max(last, i + count - 1);
        needed += count;
    };
    T unused[MAX_LANES];
    for (int j = 0; j < others; j++) visit_runs(note, j, unused);
    const long long begin = first / PIECE, end = last / PIECE;
    if (last < 0 || last - first >= needed ||
        begin / PIECES != end / PIECES)
        return nullptr;
    for (long long number = begin; number <= end; number++)
        piece(number, number == begin ? (int)(first % PIECE) : 0,
              number == end ? (int)(last % PIECE) + 1 : PIECE);
    return computed - begin / PIECES * PIECES * PIECE;
}

template <class T>
void TileOperand<T>::pack(int others, T *out, int apart)
{
    const T *all = o->element == HOST_COMPUTED ? compute_all(others) : nullptr;
    if (all) return pack_runs(Plain<T, T>{all}, others, out, apart);
    const auto computed_ones = [this](long long i, int count, T *to) {
        load_computed(i, count, to);
    };
    const void *at = o->from;
    switch (o->element) {
    case HOST_COMPUTED:
        return pack_runs(computed_ones, others, out, apart);
    case HOST_F32:
        return pack_runs(Plain<T, float>{(const float *)at}, others, out,
                         apart);
    case HOST_F64:
        return pack_runs(Plain<T, double>{(const double *)at}, others, out,
                         apart);
    case HOST_F16:
        return pack_runs(Half<T, __half, __half2float>{(const __half *)at},
                         others, out, apart);
    case HOST_BF16:
        return pack_runs(Half<T, __nv_bfloat16, __bfloat162float>{
                             (const __nv_bfloat16 *)at}, others, out, apart);
    }
}

template <class T>
TileChunk<T> TileOperand<T>::chunk(long long k, int count)
{
    size_t number = (size_t)((k - first_step) / TILE_DEPTH);
    T *at = packed + (is_kept ? number * chunk_elements() : 0);
    const bool is_along = o->along && !turns;
    const TileChunk<T> packed_chunk = {at, is_along ? TILE_DEPTH : 1,
                                       is_along ? 1 : pitch};
    if (is_packed) return packed_chunk;
    find_steps(k, count);
    if (o->along) {
        find_runs(step, count);
        pack(o->lanes, turns ? turned : at, TILE_DEPTH);
        if (turns) turn(turned, o->lanes, count, at, pitch);
    } else {
        pack(count, at, pitch);
    }
    if (rounds) round(packed_chunk, count);
    return packed_chunk;
}

template <class T>
void TileOperand<T>::round(const TileChunk<T> &chunk, int count) const
{
    if (chunk.step == 1)
        for (int i = 0; i < o->lanes; i++)
            round_tf32(chunk.at + i * chunk.lane, count);
    else
        for (int k = 0; k < count; k++)
            round_tf32(chunk.at + k * chunk.step, o->lanes);
}

template class TileOperand<float>;
template class TileOperand<double>;
