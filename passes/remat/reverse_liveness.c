// Live bytes from the end: a value with a later reader is alive, back to the
// step that makes it.
#include "../../ir/base/sizes.h"
#include "reverse_liveness.h"

RematScan remat_scan_new(Arena *arena, const Remat *r)
{
    RematScan s = {.r = r};
    s.value = NEW_ARRAY(arena, (size_t)r->value_count + 1, RematScanned);
    for (int32_t v = 0; v < r->value_count; v++)
        s.value[v] = (RematScanned){
            .bytes = r->bytes[v], .makers = r->makers[v + 1] - r->makers[v],
            .kept = r->kept[v]};
    return s;
}

void remat_scan_need(RematScan *s, int32_t v)
{
    RematScanned *value = &s->value[v];
    if (value->needed) return;
    value->needed = true;
    value->parts = value->makers;
    s->alive += value->bytes;
}

void remat_scan_end(RematScan *s)
{
    s->alive = 0;
    for (int32_t v = 0; v < s->r->value_count; v++) {
        s->value[v].needed = false;
        if (s->value[v].kept) remat_scan_need(s, v);
    }
}

// Returns the bytes that results share with dying operands of step; each result
// takes the first one.
static int64_t bytes_over(RematScan *s, int32_t step)
{
    const Remat *r = s->r;
    int64_t bytes = 0;
    int32_t now = ++s->time, taken = -1;
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        s->value[r->read[k]].reader = now;
    for (int32_t k = r->overs[step]; k < r->overs[step + 1]; k++) {
        RematOver over = r->over[k];
        RematScanned *under = &s->value[over.value];
        if (over.result == taken || under->needed || under->reader != now)
            continue;
        under->reader = 0;
        taken = over.result;
        bytes += smaller(under->bytes, s->value[over.result].bytes);
    }
    return bytes;
}

int64_t remat_scan_step(RematScan *s, int32_t step)
{
    const Remat *r = s->r;
    int64_t bytes = s->alive;
    // The values alive after the step include results of it.  Add its results
    // without readers, and the operands whose last reader it is.
    if (r->overs[step] < r->overs[step + 1]) bytes -= bytes_over(s, step);
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++) {
        const RematScanned *value = &s->value[r->read[k]];
        if (!value->needed) bytes += value->bytes;
    }
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++) {
        RematScanned *value = &s->value[r->make[k]];
        if (!value->needed) {
            bytes += value->bytes;
        } else if (--value->parts <= 0) {
            value->needed = false;
            s->alive -= value->bytes;
        }
    }
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        remat_scan_need(s, r->read[k]);
    return bytes;
}
