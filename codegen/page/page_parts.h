// What the parts of the page share: a program with what is worked out of its plan.
#ifndef CNNC_PAGE_PARTS_H
#define CNNC_PAGE_PARTS_H

#include "../../ir/base/format.h"
#include "html.h"
#include "../../ir/gpu/offload.h"
#include "page.h"

typedef struct PageProgram {
    const PageInput *in;
    Arena           *arena;
    FILE            *out;
    Graph           *g;
    const Plan      *plan;
    const char     **name;      // of each buffer, escaped
    const char     **step;      // of each step, escaped
    int32_t         *root;      // the buffer that each lies in, or itself
    int32_t         *value;     // the end of each one's chain of views
    int32_t         *view;      // the first view of this value, or NONE
    int32_t         *next_view; // and the next one after a view, or NONE
    int32_t         *written;   // first step that writes this value, or NONE
    int32_t         *read;      // last step that reads it, under any name, or NONE
    int32_t         *drawn;     // buffers with a rectangle: a root, then what lies in it as it
    int              drawn_count;   //     comes to be
    int64_t         *live;      // bytes at each step
    int              peak;      // the first step with the most of them
} PageProgram;

// ---- page_facts.c -------------------------------------------------------------------------------

PageProgram *page_program(const PageInput *in, Mode mode, FILE *out);
// Where drawn[d]'s root ends in drawn: one past the last that lies in it.
int page_chain_end(const PageProgram *p, int d);
// Where a rectangle begins: at the buffer's offset. The rows of a slice lie between those of
// others; they are drawn together, in the part of the whole that the slice has of each row.
int64_t page_low(const PageProgram *p, int32_t k);
// "written by conv_2 (line 7, step 2)", and why it is kept: "read last by relu_2.grad (line 7, step
// 28)", "parameter, ...".
const char *page_origin(const PageProgram *p, int32_t k);
const char *page_reason(const PageProgram *p, int32_t k);
// Where a buffer's line is quoted, as " href=...", or "".
const char *page_link(const PageProgram *p, int32_t k);

// ---- the parts ----------------------------------------------------------------------------------

enum { MAP_WIDTH = 1200, MAP_LEFT = 66, MAP_PLOT = 1118 };  // of the drawing, in its own units
double page_step_x(const PageProgram *p, int step);
// What a chart's axis counts in: 1024 to a power, and its name.
typedef struct Unit {
    double      bytes;
    const char *name;
} Unit;
Unit page_unit(int64_t most);
// 1, 2 or 5 times a power of ten: the smallest that splits `most` into at most `count` parts.
double page_tick(double most, int count);
// The lines and numbers of an upright axis; their group is left open.
typedef struct BytesAxis {
    double most;                // bytes at its upper end
    int    parts;               // the most that it is split into
    int    left, width;         // of the chart
    double bottom, height;
} BytesAxis;
void page_bytes_axis(const PageProgram *p, BytesAxis axis);

// A label of the map at x, y: the first of its texts that fits into `room` units. Narrow screens
// show text at twice the size of the drawing, so that another may fit there; NULL-free, longest
// first.
typedef struct FittingText {
    const char        *class;
    double             x, y, room;
    const char *const *texts;
    int                count;
} FittingText;
void page_fitting_text(const PageProgram *p, FittingText text);     // page_map.c

void page_map(PageProgram *p);                          // page_map.c
void page_live(PageProgram *p, double top, double height);  // page_live.c
void page_peak(PageProgram *p);                         // page_tables.c
void page_sources(PageProgram *p);
void page_passes(PageProgram *p);                       // page_sizes.c
void page_batches(PageProgram *p);
void page_curve(PageProgram *p);                        // page_curve.c

extern const char page_style[];     // page.css, embedded

#endif
