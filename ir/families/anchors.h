// Anchors: the boxes that a single-shot detector tells its boxes from, as many
// at each cell of several square maps, in the order map, row, column, box.
#ifndef CNNC_ANCHORS_H
#define CNNC_ANCHORS_H

#include "../op/op.h"

// Arguments that say which anchors there are; operators with anchors have
// these first, and attributes in the order of the enum first.
#define ANCHOR_ARGS                                                            \
    { "maps", ARG_LIST, NULL, 1, 4096, "cells along a side of each map" },     \
    { "ratios", ARG_LIST, "[]", 0.001, 1000,                                   \
      "width over height of the boxes; [1, 2, 0.5, 3, 0.3333] if none" },      \
    { "min_scale", ARG_FLOAT, "0.2", 0.001, 1,                                 \
      "side of the boxes of the first map, of the image's" },                  \
    { "max_scale", ARG_FLOAT, "0.95", 0.001, 1, "side of those of the last" }, \
    { "reduce_first", ARG_BOOL, "true", 0, 1,                                  \
      "whether the first map has but three boxes a cell" }
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
    double x, y, width, height; // of the middle; in parts of the image's sides
} BoundingBox;

BoundingBox anchor_at(const Attr *attr, int64_t number);

// The four numbers that tell the box of these corners from an anchor.
void anchor_code(const Attr *attr, int64_t number, const double *corners,
                 double *code);

// The number of the box [boxes, 4] that each anchor of a sample stands for, or
// BACKGROUND: the one that it covers most, if by `overlap` at least; and each
// box has the anchor that covers it most.
enum { BACKGROUND = -1 };
void match_anchors(const Attr *attr, double overlap, const double *corners,
                   const double *labels, int64_t boxes, double *match,
                   int64_t anchors);

// The launch's constants MAPS and SIZES and its last three arguments.
void launch_anchors(Launch *l, const Attr *attr);

#endif
