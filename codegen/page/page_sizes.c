// The arena under other choices: by pass and by batch.

#include <inttypes.h>
#include <string.h>

#include "page_parts.h"

// ---- passes -------------------------------------------------------------------------------------

// Returns one percent of the first row's bytes; 1 byte stands for an empty graph.
static double percent(const PageProgram *p)
{
    int64_t whole = p->in->rows[0].arena_bytes;
    return (double)(whole > 0 ? whole : 1) / 100;
}

// Prints a bar of the row's bytes, then the bytes saved, on the scale of the first row.
static void pass_bar(const PageProgram *p, const PassRow *row, int64_t saved)
{
    double whole = percent(p);
    fprintf(p->out, "<td class=\"fall\"><div><b style=\"width:%.2f%%\"></b>",
            (double)row->arena_bytes / whole);
    if (saved > 0)
        fprintf(p->out, "<b class=\"saved\" style=\"left:%.2f%%;width:%.2f%%\"></b>",
                (double)row->arena_bytes / whole, (double)saved / whole);
    fprintf(p->out, "<s style=\"left:%.2f%%\"></s></div></td>", (double)row->bound / whole);
}

static void pass_row(const PageProgram *p, const char *name, const PassRow *row,
                     const PassRow *before)
{
    double whole = percent(p);
    int64_t saved = before != NULL ? before->arena_bytes - row->arena_bytes : 0;
    fprintf(p->out, "<tr><td class=\"name\">%s</td>", name);
    pass_bar(p, row, saved);
    fprintf(p->out, "<td class=\"number\">%s</td><td class=\"number\">%s</td>",
            grouped_text(p->arena, row->arena_bytes), grouped_text(p->arena, row->bound));
    if (before != NULL)
        fprintf(p->out, "<td class=\"number\">%s</td><td class=\"number\">%.1f%%</td></tr>\n",
                saved != 0 ? grouped_text(p->arena, saved) : "&ndash;", (double)saved / whole);
    else
        fputs("<td></td><td></td></tr>\n", p->out);
}

void page_passes(PageProgram *p)
{
    const PassRow *rows = p->in->rows;
    int count = p->in->row_count;
    fputs("<section id=\"passes\"><h2>The arena after each pass</h2>\n<p>Each row has one pass, or "
          "one lever of memory, more than the row before; the share is of the arena without any. "
          "A file that trains evaluates in the same arena, and the larger of both counts. The "
          "mark in a bar is the bound, the most bytes alive at once: no plan of these buffers "
          "in this order can be smaller.</p>\n"
          "<div class=\"wide\"><table class=\"passes\">\n<tr><th>passes</th><th></th><th "
          "class=\"number\">arena, bytes</th><th class=\"number\">bound</th><th "
          "class=\"number\">saved"
          "</th><th class=\"number\">share</th></tr>\n",
          p->out);
    pass_row(p, "none", &rows[0], NULL);
    for (int i = 1; i < count; i++)
        pass_row(p, arena_print(p->arena, "+ %s", rows[i].name), &rows[i], &rows[i - 1]);
    pass_row(p, "all", &rows[count - 1], &rows[0]);
    fputs("</table></div></section>\n", p->out);
}

// ---- batches: the chart -------------------------------------------------------------------------

enum { LEFT = 52, TOP = 26, WIDTH = 520, HEIGHT = 250, BOTTOM = TOP + HEIGHT };

typedef struct Chart {
    double most_batch, most_bytes;
} Chart;

static double batch_x(const Chart *c, double batch)
{
    return LEFT + WIDTH * batch / c->most_batch;
}

static double bytes_y(const Chart *c, double bytes)
{
    return BOTTOM - HEIGHT * bytes / c->most_bytes;
}

static void chart_axes(const PageProgram *p, const Chart *c)
{
    page_bytes_axis(p, (BytesAxis){c->most_bytes, 6, LEFT, WIDTH, BOTTOM, HEIGHT});
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">%s</text>\n</g>\n<g class=\"steps\">\n", LEFT - 9,
            TOP - 12, page_unit((int64_t)c->most_bytes).name);
    double tick = page_tick(c->most_batch, 6);
    if (tick < 1) tick = 1;
    for (int i = 0; i * tick <= c->most_batch; i++)
        fprintf(p->out, "<text x=\"%.2f\" y=\"%d\">%s</text>\n", batch_x(c, i * tick), BOTTOM + 18,
                grouped_text(p->arena, (int64_t)(i * tick)));
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">samples a batch</text>\n</g>\n", LEFT + WIDTH / 2,
            BOTTOM + 38);
}

static void chart_points(const PageProgram *p, const Chart *c)
{
    const PageInput *in = p->in;
    fputs("<path class=\"line\" d=\"", p->out);
    for (int i = 0; i < in->point_count; i++)
        fprintf(p->out, "%s%.2f %.2f", i == 0 ? "M" : "L", batch_x(c, (double)in->points[i].batch),
                bytes_y(c, (double)in->points[i].arena_bytes));
    fputs("\"/>\n", p->out);
    for (int i = 0; i < in->point_count; i++)
        fprintf(p->out,
                "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%s\"%s><title>batch %s: %s bytes (%s)"
                "</title></circle>\n",
                batch_x(c, (double)in->points[i].batch),
                bytes_y(c, (double)in->points[i].arena_bytes),
                in->points[i].batch == p->plan->batch ? "5" : "3",
                in->points[i].batch == p->plan->batch ? " class=\"own\"" : "",
                grouped_text(p->arena, in->points[i].batch),
                grouped_text(p->arena, in->points[i].arena_bytes),
                bytes_text(p->arena, in->points[i].arena_bytes));
}

static void batch_chart(const PageProgram *p)
{
    const PageInput *in = p->in;
    Chart c = {1, 1};
    for (int i = 0; i < in->point_count; i++) {
        if ((double)in->points[i].batch > c.most_batch) c.most_batch = (double)in->points[i].batch;
        if ((double)in->points[i].arena_bytes > c.most_bytes)
            c.most_bytes = (double)in->points[i].arena_bytes;
    }
    c.most_bytes *= 1.04;
    fprintf(p->out,
            "<div class=\"chart\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"arena "
            "against batch size\">\n",
            LEFT + WIDTH + 56, BOTTOM + 46);
    chart_axes(p, &c);
    for (int i = 0; i < in->capacity_count; i++) {
        double y = bytes_y(&c, (double)in->capacities[i].bytes);
        if ((double)in->capacities[i].bytes > c.most_bytes) continue;
        fprintf(p->out,
                "<path class=\"bound\" d=\"M%d %.2fh%d\"/><text class=\"caption\" x=\"%d\" "
                "y=\"%.2f\" dy=\".35em\">%s</text>\n",
                LEFT, y, WIDTH, LEFT + WIDTH + 6, y,
                arena_print(p->arena, "%d GiB", (int)(in->capacities[i].bytes >> 30)));
    }
    chart_points(p, &c);
    fputs("</svg></div>\n", p->out);
}

// ---- batches: the table -------------------------------------------------------------------------

static void capacity_row(const PageProgram *p, const Capacity *c)
{
    fprintf(p->out, "<tr><td class=\"number\">%d GiB</td>", (int)(c->bytes >> 30));
    if (c->batch == 0)
        fputs("<td class=\"number\">none</td><td></td><td>one sample does not fit</td></tr>\n",
              p->out);
    else
        fprintf(p->out,
                "<td class=\"number\">%s</td><td class=\"number\">%s</td><td>%s</td></tr>\n",
                grouped_text(p->arena, c->batch), bytes_text(p->arena, c->arena_bytes),
                c->above == c->batch + 1 ? "exact: one more does not fit"
                : c->is_limit            ? "the most that --batch takes"
                : c->above == 0 ? "fits; larger ones were not tried"
                                : arena_print(p->arena, "fits; %s does not, none between was tried",
                                              grouped_text(p->arena, c->above)));
}

void page_batches(PageProgram *p)
{
    const PageInput *in = p->in;
    if (in->capacity_count == 0) return;
    fprintf(
        p->out,
        "<section id=\"batches\"><h2>Arena against batch size</h2>\n<p>Each dot is a batch "
        "that was compiled (%d of them), the large one this page&rsquo;s. The arena is all that "
        "the net takes of a device&rsquo;s memory; CUDA&rsquo;s own context comes on top.%s</p>\n"
        "<div class=\"pair\">\n",
        in->point_count, p->g->decisions.fit != NULL ? " Nothing is recomputed here." : "");
    batch_chart(p);
    fputs("<div class=\"wide\"><table>\n<tr><th class=\"number\">memory</th><th class=\"number\">"
          "largest batch</th><th class=\"number\">its arena</th><th></th></tr>\n",
          p->out);
    for (int i = 0; i < in->capacity_count; i++) capacity_row(p, &in->capacities[i]);
    fputs("</table></div>\n</div></section>\n", p->out);
}
