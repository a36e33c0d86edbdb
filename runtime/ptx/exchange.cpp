// Instructions that exchange values between lanes.  They run for exactly the
// lanes that take part.
#include "operations.h"

namespace ptx {

namespace {

int first_of(Mask lanes) { return __builtin_ctz(lanes); }

template <class T>
void put_all(Warp &w, int32_t slot, T value, Mask lanes)
{
    T to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = value;
    put(w.at<T>(slot), to, lanes);
}

// ---- shfl -------------------------------------------------------------------

// The lane that a lane reads, if its segment contains that lane.  Bits 8 to 12
// of the third operand are the mask of segments.  Bits 0 to 4 are the last lane
// of a segment, or for .up the first.
struct Source {
    int lane;
    bool inside;
};

struct Place {
    int lane, by, segments, limit;
};

struct Up {
    static Source of(const Place &p)
    {
        return {p.lane - p.by, p.lane - p.by >= p.limit};
    }
};
struct Down {
    static Source of(const Place &p)
    {
        return {p.lane + p.by, p.lane + p.by <= p.limit};
    }
};
struct Butterfly {
    static Source of(const Place &p)
    {
        return {p.lane ^ p.by, (p.lane ^ p.by) <= p.limit};
    }
};
struct Index {
    static Source of(const Place &p)
    {
        const int from = (p.lane & p.segments) | (p.by & ~p.segments);
        return {from, from <= p.limit};
    }
};

template <class F>
void run_shfl(Warp &w, const Instruction &i, Mask lanes)
{
    const uint32_t *a = w.at<uint32_t>(i.slot[2]);
    const uint32_t *by = w.at<uint32_t>(i.slot[3]);
    const uint32_t *clamp = w.at<uint32_t>(i.slot[4]);
    uint32_t to[WARP] = {};
    Mask inside = 0;
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        const int segments = (int)(clamp[l] >> 8 & 31);
        const int last = (int)(clamp[l] & 31);
        const Source source =
            F::of({l, (int)(by[l] & 31), segments,
                   (l & segments) | (last & ~segments)});
        const int from = source.inside ? source.lane : l;
        if (!(lanes >> from & 1))
            fault(i, "lane %d reads lane %d, which takes no part", l, from);
        to[l] = a[from];
        inside |= (Mask)source.inside << l;
    }
    if (i.slot[0] != NO_SLOT) put(w.at<uint32_t>(i.slot[0]), to, lanes);
    if (i.slot[1] != NO_SLOT) put_predicate(w, i.slot[1], inside, lanes);
}

// ---- vote -------------------------------------------------------------------

struct Any {
    static bool of(Mask votes, Mask) { return votes != 0; }
};
struct All {
    static bool of(Mask votes, Mask lanes) { return votes == lanes; }
};
struct Uniform {
    static bool of(Mask votes, Mask lanes)
    {
        return votes == 0 || votes == lanes;
    }
};

template <class F>
void run_vote(Warp &w, const Instruction &i, Mask lanes)
{
    const Mask votes = predicate_of(w, i, 1) & lanes;
    put_predicate(w, i.slot[0], F::of(votes, lanes) ? ALL_LANES : 0, lanes);
}

void run_ballot(Warp &w, const Instruction &i, Mask lanes)
{
    put_all(w, i.slot[0], predicate_of(w, i, 1) & lanes, lanes);
}

void run_active(Warp &w, const Instruction &i, Mask lanes)
{
    put_all(w, i.slot[0], lanes, lanes);
}

// ---- match ------------------------------------------------------------------

// The lanes with the same value
template <class T>
void run_match_any(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    Mask to[WARP] = {};
    for (int l = 0; l < WARP; l++)
        for (int k = 0; k < WARP; k++)
            to[l] |= (Mask)(a[k] == a[l]) << k & lanes;
    put(w.at<Mask>(i.slot[0]), to, lanes);
}

// All lanes, if their values are the same
template <class T>
void run_match_all(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[2]);
    bool same = true;
    for (int l = 0; l < WARP; l++)
        same &= !(lanes >> l & 1) || a[l] == a[first_of(lanes)];
    if (i.slot[0] != NO_SLOT) put_all(w, i.slot[0], same ? lanes : 0, lanes);
    if (i.slot[1] != NO_SLOT)
        put_predicate(w, i.slot[1], same ? ALL_LANES : 0, lanes);
}

// ---- redux ------------------------------------------------------------------

struct Add {
    static uint32_t of(uint32_t a, uint32_t b) { return a + b; }
};
struct Minimum {
    template <class T> static T of(T a, T b) { return a < b ? a : b; }
};
struct Maximum {
    template <class T> static T of(T a, T b) { return a > b ? a : b; }
};
struct And {
    static uint32_t of(uint32_t a, uint32_t b) { return a & b; }
};
struct Or {
    static uint32_t of(uint32_t a, uint32_t b) { return a | b; }
};
struct Xor {
    static uint32_t of(uint32_t a, uint32_t b) { return a ^ b; }
};

template <class F, class T>
void run_redux(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    const int first = first_of(lanes);
    T value = a[first];
    for (int l = first + 1; l < WARP; l++)
        if (lanes >> l & 1) value = (T)F::of(value, a[l]);
    put_all(w, i.slot[0], value, lanes);
}

// The warp's scheduler has waited already.
void run_nothing(Warp &, const Instruction &, Mask) {}

}

void add_warp_forms(Forms &forms)
{
    const auto add = [&](const char *name, Run run, const char *pattern) {
        add_form(forms, name, {run, pattern, Group::WARP, Flow::TOGETHER});
    };
    add("shfl.sync.up.b32", run_shfl<Up>, "4p?|4444");
    add("shfl.sync.down.b32", run_shfl<Down>, "4p?|4444");
    add("shfl.sync.bfly.b32", run_shfl<Butterfly>, "4p?|4444");
    add("shfl.sync.idx.b32", run_shfl<Index>, "4p?|4444");
    add("vote.sync.any.pred", run_vote<Any>, "p|p4");
    add("vote.sync.all.pred", run_vote<All>, "p|p4");
    add("vote.sync.uni.pred", run_vote<Uniform>, "p|p4");
    add("vote.sync.ballot.b32", run_ballot, "4|p4");
    add("match.any.sync.b32", run_match_any<uint32_t>, "4|44");
    add("match.any.sync.b64", run_match_any<uint64_t>, "4|84");
    add("match.all.sync.b32", run_match_all<uint32_t>, "4p?|44");
    add("match.all.sync.b64", run_match_all<uint64_t>, "4p?|84");
    add("redux.sync.add.u32", run_redux<Add, uint32_t>, "4|44");
    add("redux.sync.add.s32", run_redux<Add, int32_t>, "4|44");
    add("redux.sync.min.u32", run_redux<Minimum, uint32_t>, "4|44");
    add("redux.sync.min.s32", run_redux<Minimum, int32_t>, "4|44");
    add("redux.sync.max.u32", run_redux<Maximum, uint32_t>, "4|44");
    add("redux.sync.max.s32", run_redux<Maximum, int32_t>, "4|44");
    add("redux.sync.and.b32", run_redux<And, uint32_t>, "4|44");
    add("redux.sync.or.b32", run_redux<Or, uint32_t>, "4|44");
    add("redux.sync.xor.b32", run_redux<Xor, uint32_t>, "4|44");
    add("bar.warp.sync", run_nothing, "|4");
    add_form(forms, "activemask.b32", {run_active, "4|", Group::WARP});
}

}
