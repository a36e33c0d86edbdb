// The live buffers at the peak, largest first, and the program with each line's bytes at the peak.

#include <inttypes.h>
#include <string.h>

#include "page_parts.h"

enum { SHOWN = 24 }; // rows; a fold contains the rest

static int find_live(const PageProgram *p, PlanLive **live)
{
    return plan_alive_at(p->arena, p->plan, p->peak, live);
}

// ---- the peak -----------------------------------------------------------------------------------

// Prints one row. The bar is relative to the largest buffer, the share to the sum.
static void live_row(const PageProgram *p, const PlanLive *live, int64_t largest)
{
    const PlanBuffer *b = &p->plan->buffers[live->holder];
    double share = 100 * (double)live->bytes / (double)p->live[p->peak];
    fprintf(p->out,
            "<tr><td class=\"name\"><i class=\"k-%s\"></i><a%s>%s</a></td><td class=\"type\">"
            "%s%s</td><td class=\"number\">%s</td>",
            kind_names[b->kind], page_link(p, live->holder), p->name[live->holder],
            dtype_names[b->dtype], shape_text(p->g, b->shape), grouped_text(p->arena, live->bytes));
    fprintf(p->out,
            "<td class=\"bar\"><b style=\"width:%.2f%%\"></b></td><td class=\"number\">%.1f%%"
            "</td><td>%s",
            100 * (double)live->bytes / (double)largest, share, page_reason(p, live->holder));
    if (p->root[live->holder] != live->holder)
        fprintf(p->out, "; in the bytes of %s", p->name[p->root[live->holder]]);
    fputs("</td></tr>\n", p->out);
}

static void live_rows(const PageProgram *p, const PlanLive *live, int count, int64_t largest)
{
    fputs("<div class=\"wide\"><table>\n<tr><th>buffer</th><th>type</th><th class=\"number\">bytes"
          "</th><th colspan=\"2\">share</th><th>why it lives</th></tr>\n",
          p->out);
    for (int i = 0; i < count; i++) live_row(p, &live[i], largest);
    fputs("</table></div>\n", p->out);
}

void page_peak(PageProgram *p)
{
    PlanLive *live;
    int count = find_live(p, &live), shown = count < SHOWN + 4 ? count : SHOWN;
    int64_t rest = 0;
    for (int i = shown; i < count; i++) rest += live[i].bytes;
    fprintf(p->out,
            "<section id=\"peak\"><h2>Buffers at the peak</h2>\n<p>The most is alive at step "
            "%d, <code>%s</code>: %s bytes (%s) in %d buffers, each rounded up to %d bytes.</p>\n",
            p->peak, p->step[p->peak], grouped_text(p->arena, p->live[p->peak]),
            bytes_text(p->arena, p->live[p->peak]), count, ALIGNMENT);
    live_rows(p, live, shown, live[0].bytes);
    if (shown < count) {
        fprintf(p->out, "<details><summary>%d more, %s together</summary>\n", count - shown,
                bytes_text(p->arena, rest));
        live_rows(p, live + shown, count - shown, live[0].bytes);
        fputs("</details>\n", p->out);
    }
    fputs("</section>\n", p->out);
}

// ---- the program --------------------------------------------------------------------------------

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// Returns the bytes at the peak of each line of source number `file`.
static int64_t *line_bytes(const PageProgram *p, const PlanLive *live, int count, int32_t file)
{
    const Source *source = &p->g->diag->sources[file];
    int64_t *bytes = NEW_ARRAY(p->arena, source->line_count + 1, int64_t);
    for (int i = 0; i < count; i++) {
        Pos pos = p->g->values[live[i].holder].pos;
        if (pos.file == file && pos.line > 0 && pos.line <= source->line_count)
            bytes[pos.line] += live[i].bytes;
    }
    return bytes;
}

static void source_rows(const PageProgram *p, const PlanLive *live, int count, int32_t file)
{
    const Source *source = &p->g->diag->sources[file];
    int64_t *bytes = line_bytes(p, live, count, file);
    int32_t last = source->line_count;
    int32_t length;
    int64_t largest = 1;
    for (int32_t line = 1; line <= last; line++)
        if (bytes[line] > largest) largest = bytes[line];
    while (last > 1 && (source_line(source, last, &length), length == 0)) last--;
    for (int32_t line = 1; line <= last; line++) {
        const char *text = source_line(source, line, &length);
        fprintf(p->out,
                "<tr id=\"L%" PRId32 "-%" PRId32 "\"><td class=\"line\">%" PRId32 "</td><td "
                "class=\"code\">%s</td>",
                file, line, line, html_escaped(p->arena, text, (size_t)length));
        if (bytes[line] > 0)
            fprintf(p->out,
                    "<td class=\"number\">%s</td><td class=\"bar\"><b style=\"width:%.2f%%\">"
                    "</b></td></tr>\n",
                    bytes_text(p->arena, bytes[line]),
                    100 * (double)bytes[line] / (double)largest);
        else
            fputs("<td></td><td></td></tr>\n", p->out);
    }
}

// True if an earlier source is the same file, which is quoted once.
static bool is_repeated(const Diag *diag, int32_t file)
{
    for (int32_t i = 0; i < file; i++)
        if (strcmp(diag->sources[i].name, diag->sources[file].name) == 0) return true;
    return false;
}

void page_sources(PageProgram *p)
{
    const Diag *diag = p->g->diag;
    PlanLive *live;
    int count = find_live(p, &live);
    fprintf(p->out,
            "<section id=\"program\"><h2>The program</h2>\n<p>Each line has the bytes of its "
            "buffers that are alive at the peak, step %d.</p>\n",
            p->peak);
    for (int32_t file = 0; file < diag->source_count; file++) {
        if (is_repeated(diag, file)) continue;
        const char *name = base_name(diag->sources[file].name);
        fprintf(p->out, "<h3>%s</h3>\n<div class=\"wide\"><table class=\"source\">\n",
                html_escaped(p->arena, name, strlen(name)));
        source_rows(p, live, count, file);
        fputs("</table></div>\n", p->out);
    }
    fputs("</section>\n", p->out);
}
