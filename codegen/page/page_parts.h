// Shared by the parts of the page: a program with facts derived from its plan.
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
    int32_t         *root;      // the buffer whose bytes each one aliases, or itself
    int32_t         *value;     // the end of each one's chain of views
    int32_t         *view;      // the first view of this value, or NONE
    int32_t         *next_view; // and the next one after a view, or NONE
    int32_t         *written;   // first step that writes this value, or NONE
    int32_t         *read;      // last step that reads it, by any of its names, or NONE
    int32_t         *drawn;     // buffers with a rectangle: a root, then its aliases in order
    int              drawn_count;   // of their first steps
    int64_t         *live;      // live bytes at each step
    int              peak;      // the first step with the maximum of live
} PageProgram;

// ---- page_facts.c -------------------------------------------------------------------------------

PageProgram *page_program(const PageInput *in, Mode mode, FILE *out);
// Returns the index in drawn after the last alias of drawn[d]'s root.
int page_chain_end(const PageProgram *p, int d);
// Returns the lower edge of a rectangle: the buffer's offset. A slice's rows alternate with other
// rows of the whole. They are drawn as one block whose share of the whole equals the slice's share
// of a row.
int64_t page_low(const PageProgram *p, int32_t k);
// page_origin returns "written by conv_2 (line 7, step 2)". page_reason returns why the buffer is
// kept: "read last by relu_2.grad (line 7, step 28)", "parameter, ...".
const char *page_origin(const PageProgram *p, int32_t k);
const char *page_reason(const PageProgram *p, int32_t k);
// Returns the link to the buffer's quoted line, as " href=...", or "".
const char *page_link(const PageProgram *p, int32_t k);

// ---- the parts ----------------------------------------------------------------------------------

enum { MAP_WIDTH = 1200, MAP_LEFT = 66, MAP_PLOT = 1118 };  // of the drawing, in its own units
double page_step_x(const PageProgram *p, int step);
// The unit of a chart's axis: a power of 1024 and its name.
typedef struct Unit {
    double      bytes;
    const char *name;
} Unit;
Unit page_unit(int64_t most);
// Returns the smallest of 1, 2 or 5 times a power of ten that splits `most` into at most `count`
// parts.
double page_tick(double most, int count);
// Prints lines and numbers of a vertical axis, and leaves their group open.
typedef struct BytesAxis {
    double most;                // bytes at its upper end
    int    parts;               // the largest number of parts
    int    left, width;         // of the chart
    double bottom, height;
} BytesAxis;
void page_bytes_axis(const PageProgram *p, BytesAxis axis);

// A label of the map at x, y: the first text that fits into `room` units. Narrow screens show text
// at twice the size of the drawing, so a shorter one may appear there. The texts are in order of
// decreasing length, none is NULL.
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
void page_counts(const PageProgram *p);                 // page_counts.c

extern const char page_style[];     // page.css, embedded

#endif
