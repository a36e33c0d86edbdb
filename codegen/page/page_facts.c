// The facts about each buffer of a plan, for people: its root, the step that wrote it, and the
// reason why it is still alive.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page_parts.h"

static void find_roots(PageProgram *p)
{
    const PlanBuffer *buffers = p->plan->buffers;
    for (int32_t k = 0; k < p->plan->buffer_count; k++) {
        int32_t end = k;
        while (buffers[end].view && buffers[end].alias_of != NONE) end = buffers[end].alias_of;
        p->value[k] = end;
        while (buffers[end].alias_of != NONE) end = buffers[end].alias_of;
        p->root[k] = end;
    }
}

static void find_views(PageProgram *p)
{
    for (int32_t k = 0; k < p->plan->buffer_count; k++) p->view[k] = NONE;
    for (int32_t k = p->plan->buffer_count - 1; k >= 0; k--) {
        if (p->value[k] == k) continue;
        p->next_view[k] = p->view[p->value[k]];
        p->view[p->value[k]] = k;
    }
}

// Finds first writes and last reads by value: reading a view reads its value.
static void find_uses(PageProgram *p)
{
    for (int32_t k = 0; k < p->plan->buffer_count; k++) p->written[k] = p->read[k] = NONE;
    for (int i = 0; i < p->plan->step_count; i++) {
        const PlanStep *step = &p->plan->steps[i];
        for (int k = 0; k < step->read_count; k++) p->read[p->value[step->reads[k]]] = i;
        for (int k = 0; k < step->write_count; k++) {
            int32_t *first = &p->written[p->value[step->writes[k]]];
            if (*first == NONE) *first = i;
        }
    }
}

typedef struct Drawn {
    int32_t root, first, id;
} Drawn;

static int compare_drawn(const void *a, const void *b)
{
    const Drawn *x = a, *y = b;
    if (x->root != y->root) return x->root < y->root ? -1 : 1;
    if ((x->id == x->root) != (y->id == y->root)) return x->id == x->root ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Collects the buffers with a rectangle. A view is only a name and has none.
static void find_drawn(PageProgram *p)
{
    Drawn *drawn = NEW_ARRAY(p->arena, p->plan->buffer_count, Drawn);
    for (int32_t k = 0; k < p->plan->buffer_count; k++) {
        const PlanBuffer *b = &p->plan->buffers[k];
        if (b->printed_id == NONE || b->view || b->first == NONE) continue;
        if (buffer_is_given(&p->plan->buffers[p->root[k]])) continue;
        drawn[p->drawn_count++] = (Drawn){p->root[k], b->first, k};
    }
    qsort(drawn, (size_t)p->drawn_count, sizeof *drawn, compare_drawn);
    for (int d = 0; d < p->drawn_count; d++) p->drawn[d] = drawn[d].id;
}

PageProgram *page_program(const PageInput *in, Mode mode, FILE *out)
{
    PageProgram *p = NEW(in->arena, PageProgram);
    *p = (PageProgram){
        .in = in, .arena = in->arena, .out = out, .g = in->g[mode], .plan = in->plan[mode]};
    int count = p->plan->buffer_count, steps = p->plan->step_count;
    p->name = NEW_ARRAY(p->arena, count, const char *);
    p->step = NEW_ARRAY(p->arena, steps, const char *);
    p->root = NEW_ARRAY(p->arena, count, int32_t);
    p->value = NEW_ARRAY(p->arena, count, int32_t);
    p->view = NEW_ARRAY(p->arena, count, int32_t);
    p->next_view = NEW_ARRAY(p->arena, count, int32_t);
    p->written = NEW_ARRAY(p->arena, count, int32_t);
    p->read = NEW_ARRAY(p->arena, count, int32_t);
    p->drawn = NEW_ARRAY(p->arena, count, int32_t);
    for (int k = 0; k < count; k++)
        p->name[k] =
            html_escaped(p->arena, p->plan->buffers[k].name, strlen(p->plan->buffers[k].name));
    for (int i = 0; i < steps; i++)
        p->step[i] = html_escaped(p->arena, p->plan->steps[i].name, strlen(p->plan->steps[i].name));
    find_roots(p);
    find_views(p);
    find_uses(p);
    find_drawn(p);
    p->live = plan_live(p->arena, p->plan);
    p->peak = plan_fullest(p->plan, p->live);
    return p;
}

int page_chain_end(const PageProgram *p, int d)
{
    int end = d + 1;
    while (end < p->drawn_count && p->root[p->drawn[end]] == p->root[p->drawn[d]]) end++;
    return end;
}

int64_t page_low(const PageProgram *p, int32_t k)
{
    const PlanBuffer *b = &p->plan->buffers[k], *root = &p->plan->buffers[p->root[k]];
    return b->rows == 0 ? b->offset : root->offset + (b->offset - root->offset) * b->rows;
}

// Returns "conv_2 (line 7, step 2)".
static const char *step_text(const PageProgram *p, int32_t step)
{
    const char *line = p->plan->steps[step].line > 0
                           ? arena_print(p->arena, "line %" PRId32 ", ", p->plan->steps[step].line)
                           : "";
    return arena_print(p->arena, "%s (%sstep %" PRId32 ")", p->step[step], line, step);
}

const char *page_origin(const PageProgram *p, int32_t k)
{
    const PlanBuffer *b = &p->plan->buffers[k];
    if (b->persistent) return "there before the first step";
    if (p->written[k] == NONE) return "copied in before the first step";
    return arena_print(p->arena, "written by %s", step_text(p, p->written[k]));
}

const char *page_reason(const PageProgram *p, int32_t k)
{
    const PlanBuffer *b = &p->plan->buffers[k];
    const char *stays =
        p->g->mode == TRAIN ? "kept from training step to training step" : "kept from run to run";
    if (b->persistent && b->kind == PARAM) return arena_print(p->arena, "parameter, %s", stays);
    if (b->persistent) return arena_print(p->arena, "%s, %s", kind_names[b->kind], stays);
    if (b->output) return "output: survives the last step";
    if (b->kind == WORKSPACE && p->read[k] == NONE && p->written[k] != NONE)
        return arena_print(p->arena, "scratch of %s", step_text(p, p->written[k]));
    if (p->read[k] == NONE) return "nothing reads it";
    return arena_print(p->arena, "read last by %s", step_text(p, p->read[k]));
}

const char *page_link(const PageProgram *p, int32_t k)
{
    Pos pos = p->g->values[k].pos;
    if (!p->in->quoted || pos.line <= 0 || pos.file < 0) return "";
    return arena_print(p->arena, " href=\"#L%" PRId32 "-%" PRId32 "\"", pos.file, pos.line);
}

// ---- axes ---------------------------------------------------------------------------------------

double page_step_x(const PageProgram *p, int step)
{
    return MAP_LEFT + (double)MAP_PLOT * step / p->plan->step_count;
}

Unit page_unit(int64_t most)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    Unit unit = {1, names[0]};
    for (int u = 1; u < 5 && (double)most >= 1024 * unit.bytes; u++)
        unit = (Unit){1024 * unit.bytes, names[u]};
    return unit;
}

double page_tick(double most, int count)
{
    static const double factors[] = {1, 2, 5, 10};
    double power = 1;
    while (power * count > most) power /= 10;
    while (10 * power * count < most) power *= 10;
    for (int i = 0; i < 3; i++)
        if (factors[i] * power * count >= most) return factors[i] * power;
    return 10 * power;
}

void page_bytes_axis(const PageProgram *p, BytesAxis axis)
{
    double most = axis.most / page_unit((int64_t)axis.most).bytes;
    double tick = page_tick(most, axis.parts);
    fputs("<g class=\"axis\">\n", p->out);
    for (int i = 0; i * tick <= most; i++) {
        double y = axis.bottom - axis.height * (i * tick / most);
        fprintf(p->out,
                "<path d=\"M%d %.2fH%d\"/><text x=\"%d\" y=\"%.2f\" dy=\".35em\">%g</text>\n",
                axis.left - 5, y, axis.left + axis.width, axis.left - 9, y, i * tick);
    }
}
