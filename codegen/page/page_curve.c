// Memory against cost: the model time that a smaller arena takes, as a chart and as a table.

#include <inttypes.h>
#include <string.h>

#include "page_parts.h"

enum { LEFT = 100, TOP = 54, WIDTH = 1038, HEIGHT = 380, BOTTOM = TOP + HEIGHT };

typedef struct Axes {
    double low, high; // bytes at the left and right ends of the horizontal axis
    double most;      // added time at the upper end of the vertical axis, relative to a plain step
    Overhead own;     // this page's plan
} Axes;

static double x_of(const Axes *a, double bytes)
{
    return LEFT + WIDTH * (bytes - a->low) / (a->high - a->low);
}

static double y_of(const Axes *a, double time)
{
    return BOTTOM - HEIGHT * time / a->most;
}

static Axes find_axes(const PageProgram *p)
{
    const ArenaCosts *c = &p->in->costs;
    Axes a = {.own = graph_overhead(p->g)};
    double least = (double)c->point[c->count - 1].arena_bytes;
    double largest = (double)c->point[0].arena_bytes;
    // With slices or maps in host memory the arena may be smaller than any on the curve.
    if ((double)p->plan->arena_bytes < least)
        least = (double)p->plan->arena_bytes;
    double margin = 0.04 * (largest - least);
    a.low = least > margin ? least - margin : 0;
    a.high = largest + margin;
    a.most = a.own.time;
    for (int32_t i = 0; i < c->count; i++)
        if (c->point[i].recomputed.time > a.most) a.most = c->point[i].recomputed.time;
    a.most = 1.06 * (a.most > 0 ? a.most : 1e-4);
    return a;
}

// ---- axes -------------------------------------------------------------------------------------

// Returns the number of decimals that a multiple of this needs.
static int decimals(double tick)
{
    int count = 0;
    for (; count < 6 && tick < 0.999; count++) tick *= 10;
    return count;
}

static void time_axis(const PageProgram *p, const Axes *a)
{
    double tick = page_tick(100 * a->most, 8);
    fputs("<g class=\"axis\">\n", p->out);
    for (int i = 0; i * tick <= 100 * a->most; i++) {
        double y = y_of(a, i * tick / 100);
        fprintf(p->out,
                "<path d=\"M%d %.2fH%d\"/><text x=\"%d\" y=\"%.2f\" dy=\".35em\">%s%.*f%%</text>\n",
                LEFT - 5, y, LEFT + WIDTH, LEFT - 9, y, i > 0 ? "+" : "", decimals(tick), i * tick);
    }
    fprintf(p->out,
            "</g>\n<text class=\"caption\" x=\"%d\" y=\"%d\">model time added to a step that "
            "recomputes nothing</text>\n",
            LEFT - 86, TOP - 28);
}

static void arena_axis(const PageProgram *p, const Axes *a)
{
    Unit unit = page_unit((int64_t)a->high);
    double tick = page_tick((a->high - a->low) / unit.bytes, 10);
    fputs("<g class=\"steps\">\n", p->out);
    for (int64_t i = (int64_t)(a->low / unit.bytes / tick);
         (double)i * tick * unit.bytes <= a->high; i++) {
        double x = x_of(a, (double)i * tick * unit.bytes);
        if (x < LEFT) continue;
        fprintf(p->out,
                "<path class=\"tick\" d=\"M%.2f %dv5\"/><text x=\"%.2f\" y=\"%d\">%.*f</text>\n", x,
                BOTTOM, x, BOTTOM + 34, decimals(tick), (double)i * tick);
    }
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">arena, %s</text>\n</g>\n", LEFT + WIDTH / 2,
            BOTTOM + 64, unit.name);
}

// ---- lines ------------------------------------------------------------------------------------

static void point(const PageProgram *p, const Axes *a, int32_t i, bool bound, char command)
{
    const ArenaCost *c = &p->in->costs.point[i];
    fprintf(p->out, "%c%.2f %.2f", command, x_of(a, (double)c->arena_bytes),
            y_of(a, bound ? c->bound : c->recomputed.time));
}

// Fills the area between the two lines: the largest possible distance from the optimum.
static void gap(const PageProgram *p, const Axes *a)
{
    int32_t count = p->in->costs.count;
    fputs("<path class=\"gap\" d=\"", p->out);
    for (int32_t i = 0; i < count; i++) point(p, a, i, false, i == 0 ? 'M' : 'L');
    for (int32_t i = count - 1; i >= 0; i--) point(p, a, i, true, 'L');
    fputs("Z\"/>\n", p->out);
}

static void lines(const PageProgram *p, const Axes *a)
{
    gap(p, a);
    for (int bound = 1; bound >= 0; bound--) {
        fprintf(p->out, "<path class=\"%s\" d=\"", bound ? "bound" : "line");
        for (int32_t i = 0; i < p->in->costs.count; i++) point(p, a, i, bound, i == 0 ? 'M' : 'L');
        fputs("\"/>\n", p->out);
    }
}

static void dots(const PageProgram *p, const Axes *a)
{
    for (int32_t i = 0; i < p->in->costs.count; i++) {
        const ArenaCost *c = &p->in->costs.point[i];
        fprintf(
            p->out,
            "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\"><title>%s bytes (%s): %s; at least +%.2f %%"
            "</title></circle>\n",
            x_of(a, (double)c->arena_bytes), y_of(a, c->recomputed.time),
            grouped_text(p->arena, c->arena_bytes), bytes_text(p->arena, c->arena_bytes),
            overhead_text(p->arena, &c->recomputed), 100 * c->bound);
    }
}

// Marks this page's plan and its budget.
static void own(const PageProgram *p, const Axes *a)
{
    double x = x_of(a, (double)p->plan->arena_bytes), y = y_of(a, a->own.time);
    bool right = x > LEFT + WIDTH - 450;
    if (p->g->decisions.fit != NULL && (double)p->g->decisions.fit->budget > a->low &&
        (double)p->g->decisions.fit->budget < a->high) {
        double at = x_of(a, (double)p->g->decisions.fit->budget);
        fprintf(p->out,
                "<path class=\"budget\" d=\"M%.2f %dV%d\"/><text class=\"%s\" x=\"%.2f\" y=\"%d\">"
                "budget %s</text>\n",
                at, TOP - 6, BOTTOM, at > LEFT + WIDTH - 200 ? "end" : "caption",
                at > LEFT + WIDTH - 200 ? at - 6 : at + 6, TOP + 4,
                bytes_text(p->arena, p->g->decisions.fit->budget));
    }
    fprintf(p->out,
            "<circle class=\"own\" cx=\"%.2f\" cy=\"%.2f\" r=\"6\"/><text class=\"mark %s\" "
            "x=\"%.2f\" y=\"%.2f\">this plan: %s, +%.2f %%</text>\n",
            x, y, right ? "end" : "caption", right ? x + 6 : x + 10, y < TOP + 70 ? y + 34 : y - 13,
            bytes_text(p->arena, p->plan->arena_bytes), 100 * a->own.time);
}

static void chart(const PageProgram *p)
{
    Axes a = find_axes(p);
    fprintf(
        p->out,
        "<ul class=\"legend\"><li><i class=\"time\"></i>found</li><li><i class=\"least\"></i>least "
        "in the model, with as few bytes alive and launches first run in this order</li></ul>\n"
        "<div class=\"wide chart curve\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
        "aria-label=\"model time against the arena\">\n",
        LEFT + WIDTH + 24, BOTTOM + 74);
    time_axis(p, &a);
    arena_axis(p, &a);
    lines(p, &a);
    dots(p, &a);
    own(p, &a);
    fputs("</svg></div>\n", p->out);
}

// ---- the table --------------------------------------------------------------------------------

static void table(const PageProgram *p)
{
    const ArenaCosts *costs = &p->in->costs;
    fprintf(
        p->out,
        "<details><summary>As a table: %" PRId32 " rows</summary>\n<div class=\"wide\"><table>\n"
        "<tr><th class=\"number\">arena, bytes</th><th class=\"number\"></th><th class=\"number\">"
        "share</th><th class=\"number\">model time</th><th class=\"number\">FLOPs</th><th "
        "class=\"number\">recomputed</th><th class=\"number\">at least</th></tr>\n",
        costs->count);
    for (int32_t i = 0; i < costs->count; i++) {
        const ArenaCost *c = &costs->point[i];
        fprintf(p->out,
                "<tr><td class=\"number\">%s</td><td class=\"number\">%s</td><td class=\"number\">"
                "%.1f%%</td><td class=\"number\">+%.2f%%</td><td class=\"number\">+%.2f%%</td><td "
                "class=\"number\">%" PRId32 "</td><td class=\"number\">+%.2f%%</td></tr>\n",
                grouped_text(p->arena, c->arena_bytes), bytes_text(p->arena, c->arena_bytes),
                100 * (double)c->arena_bytes / (double)costs->point[0].arena_bytes,
                100 * c->recomputed.time, 100 * c->recomputed.flops, c->recomputed.launches,
                100 * c->bound);
    }
    fputs("</table></div></details>\n", p->out);
}

void page_curve(PageProgram *p)
{
    const ArenaCosts *costs = &p->in->costs;
    const Gpu *gpu = graph_gpu(p->g);
    if (costs->count == 0) return;
    fputs("<section id=\"costs\"><h2>Memory against cost</h2>\n", p->out);
    if (costs->count == 1) {
        fputs("<p>No program that the search found has a smaller arena by recomputation.</p>"
              "</section>\n",
              p->out);
        return;
    }
    fprintf(p->out,
            "<p>Each dot is a training step that recomputes some launches (%" PRId32
            " of them, "
            "from one search), with the arena of its own plan. Times are of a model of %s and were "
            "not measured. Under two conditions no program takes less model time than the lower "
            "line: it has as few bytes alive, and its launches first run in this order.</p>\n",
            costs->count, html_escaped(p->arena, gpu->name, strlen(gpu->name)));
    chart(p);
    table(p);
    fputs("</section>\n", p->out);
}
