// Anchors: the reference boxes of a single-shot detector.  Every cell of
// several square maps has the same number, in the order map, row, column, box.
#ifndef CNNC_ANCHORS_H
#define CNNC_ANCHORS_H

#include "../op/op.h"

// Arguments that define the anchors.  Operators with anchors have these first,
// and attributes in the order of the enum first.
#define ANCHOR_ARGS                                                            \
    { "maps", ARG_LIST, NULL, 1, 4096, "cells along a side of each map" },     \
    { "ratios", ARG_LIST, "[]", 0.001, 1000,                                   \
      "width over height of the boxes; [1, 2, 0.5, 3, 0.3333] if none" },      \
    { "min_scale", ARG_FLOAT, "0.2", 0.001, 1,                                 \
      "side of the boxes of the first map, of the image's" },                  \
    { "max_scale", ARG_FLOAT, "0.95", 0.001, 1, "side of those of the last" }, \
    { "reduce_first", ARG_BOOL, "true", 0, 1,                                  \
      "true: only three boxes per cell in the first map" }
enum { ANCHOR_ARG_COUNT = 5 };

enum {
    ANCHOR_MAPS,                // cells along a side, a map
    ANCHOR_COUNTS,              // boxes a cell, a map
    ANCHOR_SIZES,               // width and height, a box of a cell of a map
    ANCHOR_ATTR_COUNT
};
#define ANCHOR_ATTRS                                                           \
    { "maps", ATTR_LIST, 1, 4096 }, { "counts", ATTR_LIST, 1, 256 },           \
    { "sizes", ATTR_LIST, 1e-6, 1e6 }

// Sets the attributes from the call's arguments, as TensorFlow's multiscale
// generator does; false after an error.
bool anchor_attrs(Build *b, Attr *attr);
int64_t anchor_count(const Attr *attr);

typedef struct BoundingBox {
    double x, y, width, height; // center and size, relative to the image
} BoundingBox;

BoundingBox anchor_at(const Attr *attr, int64_t number);

// Encodes the box of these corners relative to an anchor, as four numbers.
void anchor_code(const Attr *attr, int64_t number, const double *corners,
                 double *code);

// Matches the anchors of a sample to boxes [boxes, 4]: match[anchor] is the box
// of largest overlap, if it is at least `overlap`, or BACKGROUND.  Each box
// also gets the anchor of its largest overlap.
enum { BACKGROUND = -1 };
void match_anchors(const Attr *attr, double overlap, const double *corners,
                   const double *labels, int64_t boxes, double *match,
                   int64_t anchors);

// Adds the constants MAPS and SIZES and the last three arguments of a launch.
void launch_anchors(Launch *l, const Attr *attr);

#endif
