// The live bytes at each step, as one layer for each kind, under the bound.

#include <inttypes.h>

#include "page_parts.h"

typedef struct Layers {
    int64_t *top[KIND_COUNT + 1]; // at each step, the bytes of all kinds below
} Layers;

// Counts a root's bytes under the kind of the buffer that they hold at each
// step.
static Layers find_layers(const PageProgram *p)
{
    Layers layers;
    int steps = p->plan->step_count;
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        layers.top[kind] = NEW_ARRAY(p->arena, steps + 1, int64_t);
    for (int d = 0, end; d < p->drawn_count; d = end) {
        end = page_chain_end(p, d);
        const PlanBuffer *root = &p->plan->buffers[p->drawn[d]];
        for (int i = d; i < end; i++) {
            const PlanBuffer *b = &p->plan->buffers[p->drawn[i]];
            int32_t until = i + 1 < end ? p->plan->buffers[p->drawn[i + 1]].first : root->last + 1;
            layers.top[b->kind + 1][b->first] += padded(root->bytes);
            layers.top[b->kind + 1][until] -= padded(root->bytes);
        }
    }
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (int i = 1; i < steps; i++) layers.top[kind][i] += layers.top[kind][i - 1];
    }
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        for (int i = 0; i < steps; i++) layers.top[kind][i] += layers.top[kind - 1][i];
    return layers;
}

static double height_of(const PageProgram *p, int64_t bytes, double height)
{
    return height * (double)bytes / (double)p->plan->arena_bytes;
}

// Draws along `bytes` from the first step to the last, or back.
static void edge(const PageProgram *p, const int64_t *bytes, double bottom, double height,
                 bool back)
{
    int steps = p->plan->step_count;
    for (int n = 0; n < steps; n++) {
        int i = back ? steps - 1 - n : n, next = back ? i - 1 : i + 1;
        if (n == 0)
            fprintf(p->out, back ? "V%.2f" : "%.2f", bottom - height_of(p, bytes[i], height));
        if (next >= 0 && next < steps && bytes[next] == bytes[i]) continue;
        fprintf(p->out, "H%.2f", page_step_x(p, back ? i : i + 1));
        if (next >= 0 && next < steps)
            fprintf(p->out, "V%.2f", bottom - height_of(p, bytes[next], height));
    }
}

static void layer(const PageProgram *p, const Layers *layers, int kind, double bottom,
                  double height)
{
    bool empty = true;
    for (int i = 0; i < p->plan->step_count; i++)
        empty = empty && layers->top[kind][i] == layers->top[kind + 1][i];
    if (empty) return;
    fprintf(p->out, "<path class=\"k-%s\" d=\"M%d ", kind_names[kind], MAP_LEFT);
    edge(p, layers->top[kind + 1], bottom, height, false);
    edge(p, layers->top[kind], bottom, height, true);
    fputs("Z\"/>\n", p->out);
}

void page_live(PageProgram *p, double top, double height)
{
    Layers layers = find_layers(p);
    double bottom = top + height;
    double bound = bottom - height_of(p, p->plan->max_live_bytes, height);
    page_bytes_axis(p, (BytesAxis){(double)p->plan->arena_bytes, 3, MAP_LEFT, MAP_PLOT, bottom,
                                   height});
    fputs("</g>\n<g class=\"live\">\n", p->out);
    for (int kind = 0; kind < KIND_COUNT; kind++) layer(p, &layers, kind, bottom, height);
    fprintf(p->out, "<path class=\"bound\" d=\"M%d %.2fh%d\"/>\n</g>\n", MAP_LEFT, bound, MAP_PLOT);
    const char *most =
        arena_print(p->arena, "bytes alive; the most, which is the bound: %s at step %d",
                    bytes_text(p->arena, p->plan->max_live_bytes), p->peak);
    const char *const texts[] = {arena_print(p->arena, "%s, %s", most, p->step[p->peak]), most,
                                 "bytes alive"};
    page_fitting_text(p, (FittingText){"caption", MAP_LEFT, top - 12, MAP_PLOT, texts, 3});
}
