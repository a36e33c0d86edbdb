// Anchors of a single-shot detector (Liu et al. 2016, arXiv 1512.02325, 2.2),
// as in TensorFlow's object detection.  The scales of the maps are evenly
// spaced.  Each cell has a box for each ratio, and a square one whose scale is
// between its map's and the next one's.
#include <math.h>
#include "anchors.h"

enum { MAPS, RATIOS, MIN_SCALE, MAX_SCALE, REDUCE };   // arguments

static const double usual_ratios[] = { 1, 2, 0.5, 3, 0.3333 };

typedef struct Generator {
    double *sizes;
    int     count;
} Generator;

static void add_box(Generator *to, double scale, double ratio)
{
    to->sizes[to->count++] = scale * sqrt(ratio);
    to->sizes[to->count++] = scale / sqrt(ratio);
}

// Adds the boxes of one cell of a map; returns their number.
static int add_map(Generator *to, const List *ratios, double scale, double next,
                   bool reduced)
{
    int before = to->count;
    if (reduced) {
        add_box(to, 0.1, 1);
        add_box(to, scale, 2);
        add_box(to, scale, 0.5);
    } else {
        for (int i = 0; i < ratios->count; i++)
            add_box(to, scale, ratios->at[i]);
        add_box(to, sqrt(scale * next), 1);
    }
    return (to->count - before) / 2;
}

static const List *new_list(Arena *arena, int count, const double *at)
{
    List *list = NEW(arena, List);
    *list = (List){ count, at };
    return list;
}

// True if all sides are whole numbers of cells.
static bool wants_whole_maps(Build *b)
{
    const List *maps = b->arg[MAPS].list;
    for (int i = 0; i < maps->count; i++) {
        if (maps->at[i] == floor(maps->at[i])) continue;
        error(b->g->diag, b->arg[MAPS].pos, "maps are integers, and one of "
              "these is %.15g", maps->at[i]);
        return false;
    }
    return true;
}

bool anchor_attrs(Build *b, Attr *attr)
{
    enum { MOST_MAPS = 16, MOST_SIZES = 256 };
    Arena *arena = b->g->arena;
    const List usual = { 5, usual_ratios }, *maps = b->arg[MAPS].list;
    const List *ratios = b->arg[RATIOS].list;
    if (ratios->count == 0) ratios = &usual;
    double low = b->arg[MIN_SCALE].f, high = b->arg[MAX_SCALE].f;

    if (maps->count < 1 || maps->count > MOST_MAPS ||
        2 * maps->count * (ratios->count + 3) > MOST_SIZES) {
        error(b->g->diag, b->arg[MAPS].pos, "%s needs 1 to %d maps, at most "
              "%d boxes together", b->op->name, MOST_MAPS, MOST_SIZES / 2);
        return false;
    }
    if (!wants_whole_maps(b)) return false;
    Generator to = { NEW_ARRAY(arena, MOST_SIZES, double), 0 };
    double *counts = NEW_ARRAY(arena, (size_t)maps->count, double);
    double apart = maps->count > 1 ? (high - low) / (maps->count - 1) : 0;
    for (int i = 0; i < maps->count; i++) {
        double next = i + 1 < maps->count ? low + apart * (i + 1) : 1;
        counts[i] = add_map(&to, ratios, low + apart * i, next,
                            i == 0 && b->arg[REDUCE].i);
    }
    attr[ANCHOR_MAPS].list = maps;
    attr[ANCHOR_COUNTS].list = new_list(arena, maps->count, counts);
    attr[ANCHOR_SIZES].list = new_list(arena, to.count, to.sizes);
    return true;
}

static int64_t anchors_of_map(const Attr *attr, int map)
{
    int64_t side = (int64_t)attr[ANCHOR_MAPS].list->at[map];
    return side * side * (int64_t)attr[ANCHOR_COUNTS].list->at[map];
}

int64_t anchor_count(const Attr *attr)
{
    int64_t count = 0;
    for (int i = 0; i < attr[ANCHOR_MAPS].list->count; i++)
        count += anchors_of_map(attr, i);
    return count;
}

BoundingBox anchor_at(const Attr *attr, int64_t number)
{
    int map = 0;
    int64_t box = 0;
    while (number >= anchors_of_map(attr, map)) {
        number -= anchors_of_map(attr, map);
        box += (int64_t)attr[ANCHOR_COUNTS].list->at[map++];
    }
    int64_t side = (int64_t)attr[ANCHOR_MAPS].list->at[map];
    int64_t boxes = (int64_t)attr[ANCHOR_COUNTS].list->at[map];
    int64_t cell = number / boxes;
    box += number % boxes;
    const double *size = attr[ANCHOR_SIZES].list->at + 2 * box;
    int64_t row = cell / side, column = cell % side;
    return (BoundingBox){ ((double)column + 0.5) / (double)side,
                          ((double)row + 0.5) / (double)side, size[0],
                          size[1] };
}

// Returns the box of the corners left, top, right, bottom.
static BoundingBox box_of_corners(const double *corners)
{
    return (BoundingBox){ (corners[0] + corners[2]) / 2,
                          (corners[1] + corners[3]) / 2,
                          corners[2] - corners[0], corners[3] - corners[1] };
}

// Returns the intersection of two intervals given by middle and length.
static double shared(double a, double length_a, double b, double length_b)
{
    double end = fmin(a + length_a / 2, b + length_b / 2);
    double length = end - fmax(a - length_a / 2, b - length_b / 2);
    return length > 0 ? length : 0;
}

// Returns the intersection over union of two boxes; 0 if the union is empty.
static double box_overlap(BoundingBox a, BoundingBox b)
{
    double both = shared(a.x, a.width, b.x, b.width) *
                  shared(a.y, a.height, b.y, b.height);
    double either = a.width * a.height + b.width * b.height - both;
    return either > 0 ? both / either : 0;
}

void anchor_code(const Attr *attr, int64_t number, const double *corners,
                 double *code)
{
    BoundingBox a = anchor_at(attr, number), b = box_of_corners(corners);
    code[0] = 10 * (b.x - a.x) / a.width;
    code[1] = 10 * (b.y - a.y) / a.height;
    code[2] = 5 * log(b.width / a.width);
    code[3] = 5 * log(b.height / a.height);
}

// ---- matching anchors to boxes ----------------------------------------------

typedef struct Boxes {          // of one sample
    const Attr   *attr;
    const double *corners, *labels;
    int64_t       count;
} Boxes;

static double overlap_of(const Boxes *b, int64_t anchor, int64_t box)
{
    return box_overlap(anchor_at(b->attr, anchor),
                       box_of_corners(b->corners + 4 * box));
}

// True if a box has a class other than 0 and an area.
static bool is_box(const Boxes *b, int64_t box)
{
    BoundingBox bounds = box_of_corners(b->corners + 4 * box);
    return b->labels[box] > 0 && bounds.width > 0 && bounds.height > 0;
}

// Returns the box with the largest overlap with an anchor, or BACKGROUND.
static double best_box(const Boxes *b, double overlap, int64_t anchor)
{
    double most = 0, best = BACKGROUND;
    for (int64_t i = 0; i < b->count; i++) {
        if (!is_box(b, i)) continue;
        double now = overlap_of(b, anchor, i);
        if (now > most) most = now, best = (double)i;
    }
    return most >= overlap ? best : BACKGROUND;
}

static int64_t best_anchor(const Boxes *b, int64_t anchors, int64_t box)
{
    int64_t best = 0;
    for (int64_t a = 1; a < anchors; a++)
        if (overlap_of(b, a, box) > overlap_of(b, best, box)) best = a;
    return best;
}

void match_anchors(const Attr *attr, double overlap, const double *corners,
                   const double *labels, int64_t boxes, double *match,
                   int64_t anchors)
{
    Boxes b = { attr, corners, labels, boxes };
    for (int64_t a = 0; a < anchors; a++) match[a] = best_box(&b, overlap, a);
    for (int64_t i = 0; i < boxes; i++)
        if (is_box(&b, i)) match[best_anchor(&b, anchors, i)] = (double)i;
}

void launch_anchors(Launch *l, const Attr *attr)
{
    static const char *const labels[] = { "maps", "boxes a cell", "sizes" };
    launch_constant(l, "MAPS", attr[ANCHOR_MAPS].list->count);
    launch_constant(l, "SIZES", attr[ANCHOR_SIZES].list->count);
    for (int i = 0; i < ANCHOR_ATTR_COUNT; i++)
        launch_list(l, attr[i].list, labels[i]);
}
