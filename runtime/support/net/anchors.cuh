// Anchors and boxes of a detector.
#pragma once
#include <math.h>
#include "../vec/list.cuh"
#include "../vec/real.cuh"

// BoundingBox: its centre and its sides, in units of the image's sides.
struct BoundingBox { real x, y, width, height; };

static __device__ inline BoundingBox box_of_corners(const real *corners)
{
    return {(corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2,
            corners[2] - corners[0], corners[3] - corners[1]};
}

// Anchors: `counts` boxes at each cell of square maps of `maps` cells a side, in the order map,
// row, column, box.  The list `sizes` has width and height of each box of a cell of each map.  The
// lists are references, because a kernel's grid constants can be indexed without a copy.
template <class Shape>
struct Anchors {
    const List<(int)Shape::MAPS> &maps, &counts;
    const List<(int)Shape::SIZES> &sizes;
    __device__ BoundingBox operator()(long long number) const
    {
        int map = 0, first = 0;
        for (; map + 1 < (int)Shape::MAPS; map++) {
            const int side = (int)maps.at[map], boxes = (int)counts.at[map];
            if (number < (long long)side * side * boxes) break;
            number -= (long long)side * side * boxes;
            first += boxes;
        }
        const int side = (int)maps.at[map], boxes = (int)counts.at[map];
        const int cell = (int)(number / boxes), box = first + (int)(number % boxes);
        return {((real)(cell % side) + (real)0.5) / (real)side,
                ((real)(cell / side) + (real)0.5) / (real)side, sizes.at[2 * box],
                sizes.at[2 * box + 1]};
    }
};

// is_box: false for label 0 and for a box without area.
static __device__ inline bool is_box(int label, const BoundingBox &box)
{
    return label > 0 && box.width > 0 && box.height > 0;
}

// box_overlap: intersection over union of two boxes; 0 if the union is empty.
static __device__ inline real box_overlap(const BoundingBox &a, const BoundingBox &b)
{
    const real w = fmin(a.x + a.width / 2, b.x + b.width / 2) -
                   fmax(a.x - a.width / 2, b.x - b.width / 2);
    const real h = fmin(a.y + a.height / 2, b.y + b.height / 2) -
                   fmax(a.y - a.height / 2, b.y - b.height / 2);
    const real both = w > 0 && h > 0 ? w * h : 0;
    const real either = a.width * a.height + b.width * b.height - both;
    return either > 0 ? both / either : 0;
}

// box_code: encodes `box` relative to its anchor in the four numbers that a detector learns.
// Variances are 0.1 and 0.2, those of Liu et al. 2016.  Function box_coded decodes the numbers.
static __device__ inline void box_code(const BoundingBox &box, const BoundingBox &anchor,
                                       real *code)
{
    code[0] = 10 * (box.x - anchor.x) / anchor.width;
    code[1] = 10 * (box.y - anchor.y) / anchor.height;
    code[2] = 5 * log(box.width / anchor.width);
    code[3] = 5 * log(box.height / anchor.height);
}

template <class X>
static __device__ inline BoundingBox box_coded(X code, const BoundingBox &anchor)
{
    return {anchor.x + code[0] / 10 * anchor.width, anchor.y + code[1] / 10 * anchor.height,
            anchor.width * exp(code[2] / 5), anchor.height * exp(code[3] / 5)};
}
