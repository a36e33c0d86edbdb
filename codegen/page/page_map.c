// The arena over the steps. Each buffer is a rectangle, as wide as its live range and as high as
// its bytes; its title has the details. A buffer that aliases another is drawn over it.
//
// The drawing has its own units, one pixel each at natural size, and the page enlarges it by 2, 4
// and 8. A name appears from the first size at which it fits into the visible part of its
// rectangle.

#include <inttypes.h>
#include <string.h>

#include "page_parts.h"

enum { TOP = 34, HEIGHT = 460, BOTTOM = TOP + HEIGHT };      // of the map
enum { STRIP = 7, LIVE_TOP = 572, LIVE = 150 };             // of the parts below the map
enum { LARGEST_ZOOM = 8 };
enum { LISTED = 6 };            // most buffers that a title lists

static double offset_y(const PageProgram *p, int64_t offset)
{
    return BOTTOM - HEIGHT * ((double)offset / (double)p->plan->arena_bytes);
}

// ---- rectangles ---------------------------------------------------------------------------------

static void names_in(const PageProgram *p, int d, int end)
{
    const PlanBuffer *buffers = p->plan->buffers;
    for (int i = d + 1; i < end && i <= d + LISTED; i++)
        fprintf(p->out, "%s%s (steps %" PRId32 " to %" PRId32 ")",
                i == d + 1 ? "\nits bytes are then " : ", ", p->name[p->drawn[i]],
                buffers[p->drawn[i]].first, buffers[p->drawn[i]].last);
    if (end > d + 1 + LISTED) fprintf(p->out, " and %d more", end - d - 1 - LISTED);
}

static void rectangle_title(const PageProgram *p, int d, int end)
{
    int32_t k = p->drawn[d];
    const PlanBuffer *b = &p->plan->buffers[k];
    fprintf(p->out, "<title>%s: %s %s%s\n%s bytes (%s) at %s\nsteps %" PRId32 " to %" PRId32,
            p->name[k], kind_names[b->kind], dtype_names[b->dtype], shape_text(p->g, b->shape),
            grouped_text(p->arena, b->bytes), bytes_text(p->arena, b->bytes),
            grouped_text(p->arena, b->offset), b->first, b->last);
    if (b->line > 0) fprintf(p->out, ", line %" PRId32, b->line);
    if (b->rows > 0)
        fprintf(p->out, "\na slice: %s rows, %s bytes apart", grouped_text(p->arena, b->rows),
                grouped_text(p->arena, b->stride));
    fprintf(p->out, "\n%s\n%s", page_origin(p, k), page_reason(p, k));
    for (int32_t view = p->view[k]; view != NONE; view = p->next_view[view])
        fprintf(p->out, "%s%s", view == p->view[k] ? "\nalso called " : ", ", p->name[view]);
    if (p->root[k] == k)
        names_in(p, d, end);
    else
        fprintf(p->out, "\nin the bytes of %s", p->name[p->root[k]]);
    fputs("</title>", p->out);
}

// Returns the step from which a later rectangle covers this one, or the step after its last.
static int seen_until(const PageProgram *p, int d, int end)
{
    const PlanBuffer *b = &p->plan->buffers[p->drawn[d]];
    for (int i = d + 1; i < end; i++) {
        const PlanBuffer *over = &p->plan->buffers[p->drawn[i]];
        if (over->first > b->last) break;
        int64_t low = page_low(p, p->drawn[d]), other = page_low(p, p->drawn[i]);
        if (other < low + b->bytes && low < other + over->bytes) return over->first;
    }
    return b->last + 1;
}

// Returns the smallest enlargement at which `lines` lines of `length` characters fit, or 0. A
// narrow screen halves the drawing but not the text, so callers pass half the room.
static int zoom_for(double along, double across, size_t length, int lines)
{
    for (int zoom = 1; zoom <= LARGEST_ZOOM; zoom *= 2)
        if (along * zoom >= 6.1 * (double)length + 8 && across * zoom >= 13 * lines + 2)
            return zoom;
    return 0;
}

// Repeats the name in a rectangle that is wider than the visible part at an enlargement. The copies
// are about SPACING apart and appear at that enlargement only.
static void more_labels(const PageProgram *p, int32_t k, double x, double width, double y, int zoom)
{
    enum { SPACING = 900 };
    for (; zoom <= LARGEST_ZOOM; zoom *= 2) {
        int count = (int)(width * zoom / SPACING) - 1;
        count += count % 2;     // the same number before and after the middle
        for (int i = 0; i <= count; i++)
            if (2 * i != count)
                fprintf(p->out, "<text class=\"o%d\" x=\"%.2f\" y=\"%.2f\" dy=\".35em\">%s</text>",
                        zoom, x + width * (i + 0.5) / (count + 1), y, p->name[k]);
    }
}

// Prints a name in the middle of its rectangle, with its bytes below if both fit. The name is
// vertical if it fits only that way, or at a smaller enlargement.
static void rectangle_label(const PageProgram *p, int32_t k, double x, double width)
{
    const PlanBuffer *b = &p->plan->buffers[k];
    size_t length = strlen(b->name);
    const char *bytes = bytes_text(p->arena, b->bytes);
    size_t both = strlen(bytes) > length ? strlen(bytes) : length;
    double low = offset_y(p, page_low(p, k));
    double height = low - offset_y(p, page_low(p, k) + b->bytes);
    int zoom = zoom_for(width, height, length, 1), upright = zoom_for(height, width, length, 1);
    double middle = x + width / 2, centre = low - height / 2;
    if (zoom == 0 && upright == 0) return;
    if (zoom == 0 || (upright != 0 && upright < zoom)) {
        fprintf(p->out,
                "<text class=\"z%d n%d\" transform=\"translate(%.2f %.2f) rotate(-90)\" "
                "dy=\".35em\">%s</text>\n",
                upright, zoom_for(height / 2, width / 2, length, 1), middle, centre, p->name[k]);
        return;
    }
    if (zoom_for(width, height, both, 2) == zoom)
        fprintf(p->out,
                "<text class=\"z%d n%d\" x=\"%.2f\" y=\"%.2f\"><tspan dy=\"-.25em\">%s</tspan>"
                "<tspan class=\"sub\" x=\"%.2f\" dy=\"1.25em\">%s</tspan></text>",
                zoom, zoom_for(width / 2, height / 2, both, 2), middle, centre, p->name[k], middle,
                bytes);
    else
        fprintf(p->out, "<text class=\"z%d n%d\" x=\"%.2f\" y=\"%.2f\" dy=\".35em\">%s</text>",
                zoom, zoom_for(width / 2, height / 2, length, 1), middle, centre, p->name[k]);
    more_labels(p, k, x, width, centre, zoom);
    fputc('\n', p->out);
}

static void rectangle(const PageProgram *p, int d, int end)
{
    int32_t k = p->drawn[d];
    const PlanBuffer *b = &p->plan->buffers[k];
    double x = page_step_x(p, b->first), right = page_step_x(p, b->last + 1);
    double y = offset_y(p, page_low(p, k) + b->bytes), low = offset_y(p, page_low(p, k));
    bool thin = low - y < 3 || right - x < 3;   // too thin for an edge of its own
    fprintf(p->out,
            "<a%s tabindex=\"-1\"><rect id=\"%s-%" PRId32 "\" class=\"k-%s%s\" x=\"%.3f\" "
            "y=\"%.3f\" width=\"%.3f\" height=\"%.3f\">",
            page_link(p, k), mode_names[p->plan->mode], b->printed_id, kind_names[b->kind],
            thin ? " t" : "", x, y, right - x, low - y);
    rectangle_title(p, d, end);
    fputs("</rect></a>\n", p->out);
}

// Prints texts after all rectangles and the peak's mark, so that nothing covers them.
static void rectangles(const PageProgram *p)
{
    for (int d = 0, end; d < p->drawn_count; d = end) {
        end = page_chain_end(p, d);
        for (int i = d; i < end; i++) rectangle(p, i, end);
    }
    double peak = (page_step_x(p, p->peak) + page_step_x(p, p->peak + 1)) / 2;
    fprintf(p->out,
            "<path class=\"peak\" d=\"M%.2f %dV%dM%.2f %dv%d\"/>\n"
            "<g class=\"names\">\n",
            peak, TOP, BOTTOM, peak, LIVE_TOP, LIVE);
    for (int d = 0, end; d < p->drawn_count; d = end) {
        end = page_chain_end(p, d);
        for (int i = d; i < end; i++) {
            int32_t k = p->drawn[i];
            double x = page_step_x(p, p->plan->buffers[k].first);
            rectangle_label(p, k, x, page_step_x(p, seen_until(p, i, end)) - x);
        }
    }
    fputs("</g>\n", p->out);
}

// ---- axes ---------------------------------------------------------------------------------------

static void offset_axis(const PageProgram *p)
{
    page_bytes_axis(p, (BytesAxis){(double)p->plan->arena_bytes, 6, MAP_LEFT, MAP_PLOT, BOTTOM,
                                   HEIGHT});
    fprintf(p->out, "<text x=\"%d\" y=\"%d\">%s</text>\n</g>\n", MAP_LEFT - 9, TOP - 12,
            page_unit(p->plan->arena_bytes).name);
}

static void step_axis(const PageProgram *p)
{
    double tick = page_tick(p->plan->step_count, 12);
    if (tick < 1) tick = 1;
    fputs("<g class=\"steps\">\n", p->out);
    for (int i = 0; i * tick < p->plan->step_count; i++)
        fprintf(p->out, "<text x=\"%.2f\" y=\"%d\">%g</text>\n",
                (page_step_x(p, (int)(i * tick)) + page_step_x(p, (int)(i * tick) + 1)) / 2,
                BOTTOM + STRIP + 32, i * tick);
    fprintf(p->out, "<text class=\"unit\" x=\"%d\" y=\"%d\">step</text>\n</g>\n", MAP_LEFT - 16,
            BOTTOM + STRIP + 32);
}

// ---- phases -------------------------------------------------------------------------------------

// Prints a strip below the map that shows each step's phase.
static void phase_strip(const PageProgram *p)
{
    const PlanStep *steps = p->plan->steps;
    for (int i = 0, end; i < p->plan->step_count; i = end) {
        for (end = i + 1; end < p->plan->step_count && steps[end].phase == steps[i].phase;) end++;
        fprintf(p->out, "<rect class=\"p-%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
                phase_names[steps[i].phase], page_step_x(p, i), BOTTOM + 3,
                page_step_x(p, end) - page_step_x(p, i), STRIP);
    }
}

// Returns the first text, in order of decreasing length, that fits into `room` units; NULL if none.
static const char *text_for(double room, const char *const *texts, int count)
{
    for (int i = 0; i < count; i++)
        if (6.3 * (double)strlen(texts[i]) < room) return texts[i];
    return NULL;
}

void page_fitting_text(const PageProgram *p, FittingText text)
{
    const char *wide = text_for(text.room, text.texts, text.count);
    const char *narrow = text_for(text.room / 2, text.texts, text.count);
    const char *const shown[] = {wide, narrow};
    static const char *const classes[] = {" in-wide", " in-narrow"};
    for (int i = 0; i < 2; i++)
        if (shown[i] != NULL && (i == 0 || narrow != wide))
            fprintf(p->out, "<text class=\"%s%s\" x=\"%.2f\" y=\"%.2f\">%s</text>\n", text.class,
                    narrow != wide ? classes[i] : "", text.x, text.y, shown[i]);
}

// Prints a bracket above the map for the steps from..to - 1, with the names of their phases.
static void phase_span(const PageProgram *p, int from, int to)
{
    bool has[PHASE_COUNT] = {false};
    const char *text = "";
    if (from >= to) return;
    for (int i = from; i < to; i++) has[p->plan->steps[i].phase] = true;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        if (has[phase])
            text = arena_print(p->arena, "%s%s%s", text, text[0] != '\0' ? ", " : "",
                               phase_names[phase]);
    double x = page_step_x(p, from), right = page_step_x(p, to);
    fprintf(p->out, "<path class=\"span\" d=\"M%.2f %dv-5H%.2fv5\"/>\n", x + 1, TOP - 4, right - 1);
    const char *steps = arena_print(p->arena, "%s, steps %d to %d", text, from, to - 1);
    const char *const texts[] = {steps, text};
    page_fitting_text(p, (FittingText){"span", (x + right) / 2, TOP - 15, right - x, texts, 2});
}

// Prints brackets for the leading forward steps, the trailing updates, and the steps between.
static void phase_spans(const PageProgram *p)
{
    const PlanStep *steps = p->plan->steps;
    int forward = 0, update = p->plan->step_count;
    while (forward < p->plan->step_count && steps[forward].phase == FORWARD) forward++;
    while (update > forward && steps[update - 1].phase == UPDATE) update--;
    phase_span(p, 0, forward);
    phase_span(p, forward, update);
    phase_span(p, update, p->plan->step_count);
}

// ---- the drawing --------------------------------------------------------------------------------

static void zooms(const PageProgram *p)
{
    for (int zoom = 1; zoom <= LARGEST_ZOOM; zoom *= 2)
        fprintf(p->out,
                "<input type=\"radio\" name=\"zoom-%s\" id=\"zoom-%s-%d\" class=\"x%d\"%s>"
                "<label for=\"zoom-%s-%d\">%d&times;</label>\n",
                mode_names[p->plan->mode], mode_names[p->plan->mode], zoom, zoom,
                zoom == 1 ? " checked" : "", mode_names[p->plan->mode], zoom, zoom);
}

void page_map(PageProgram *p)
{
    fputs("<div class=\"figure\">\n<span class=\"zoom\">enlarge</span>\n", p->out);
    zooms(p);
    fprintf(
        p->out,
        "<div class=\"map\" tabindex=\"0\" role=\"region\" aria-label=\"the arena over "
        "the steps\">\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"offset of each buffer "
        "over the steps it lives; below, the bytes alive at each step\">\n",
        MAP_WIDTH, LIVE_TOP + LIVE + 8);
    offset_axis(p);
    phase_spans(p);
    rectangles(p);
    phase_strip(p);
    step_axis(p);
    page_live(p, LIVE_TOP, LIVE);
    fputs("</svg>\n</div>\n</div>\n", p->out);
}
