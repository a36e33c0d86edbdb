// Boxes from the outputs of a detector.
#pragma once
#include "../support/net/anchors.cuh"
#include "../support/vec/elementwise.cuh"

// decode_boxes_forward: y[n,a] = left, top, right, bottom of the box that x[n,a] encodes relative
// to anchor a; x, y [N, ANCHORS, 4].  A thread takes single boxes.  y may be x.
template <class Shape, class X = const real *, class Y = real *>
__global__ void decode_boxes_forward(Y y, X x,
                                     const __grid_constant__ List<(int)Shape::MAPS> maps,
                                     const __grid_constant__ List<(int)Shape::MAPS> counts,
                                     const __grid_constant__ List<(int)Shape::SIZES> sizes)
{
    const Anchors<Shape> anchors = {maps, counts, sizes};
    FOR_EACH(i, Shape::N * Shape::ANCHORS) {
        const BoundingBox box = box_coded(x + 4 * i, anchors(i % Shape::ANCHORS));
        y[4 * i] = box.x - box.width / 2;
        y[4 * i + 1] = box.y - box.height / 2;
        y[4 * i + 2] = box.x + box.width / 2;
        y[4 * i + 3] = box.y + box.height / 2;
    }
}
