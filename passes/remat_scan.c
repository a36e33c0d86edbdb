// Bytes from the end: what is read later is alive, down to the step that makes
// it.
#include "../ir/larger.h"
#include "remat_scan.h"

RematScan remat_scan_new(Arena *arena, const Remat *r)
{
    RematScan s = {.r = r};
    size_t count = (size_t)r->value_count + 1;
    s.needed = NEW_ARRAY(arena, count, bool);
    s.parts = NEW_ARRAY(arena, count, int32_t);
    s.reader = NEW_ARRAY(arena, count, int32_t);
    return s;
}

void remat_scan_need(RematScan *s, int32_t v)
{
    if (s->needed[v]) return;
    s->needed[v] = true;
    s->parts[v] = s->r->makers[v + 1] - s->r->makers[v];
    s->alive += s->r->bytes[v];
}

void remat_scan_end(RematScan *s)
{
    s->alive = 0;
    for (int32_t v = 0; v < s->r->value_count; v++) {
        s->needed[v] = false;
        if (s->r->kept[v]) remat_scan_need(s, v);
    }
}

// The bytes that step makes and needs beyond those alive after it, of which
// the latter include what it makes for others.
static int64_t bytes_within(RematScan *s, int32_t step)
{
    const Remat *r = s->r;
    int64_t bytes = 0;
    int32_t now = ++s->time, taken = -1;
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++)
        if (!s->needed[r->make[k]]) bytes += r->bytes[r->make[k]];
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++) {
        s->reader[r->read[k]] = now;
        if (!s->needed[r->read[k]]) bytes += r->bytes[r->read[k]];
    }
    // A result has the bytes of one that dies here: of each, the first.
    for (int32_t k = r->overs[step]; k < r->overs[step + 1]; k++) {
        RematOver over = r->over[k];
        if (over.result == taken || s->needed[over.value] ||
            s->reader[over.value] != now)
            continue;
        s->reader[over.value] = 0;
        taken = over.result;
        bytes -= smaller(r->bytes[over.value], r->bytes[over.result]);
    }
    return bytes;
}

int64_t remat_scan_step(RematScan *s, int32_t step)
{
    const Remat *r = s->r;
    int64_t bytes = s->alive + bytes_within(s, step);
    for (int32_t k = r->makes[step]; k < r->makes[step + 1]; k++) {
        int32_t v = r->make[k];
        if (!s->needed[v] || --s->parts[v] > 0) continue;
        s->needed[v] = false;
        s->alive -= r->bytes[v];
    }
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        remat_scan_need(s, r->read[k]);
    return bytes;
}
