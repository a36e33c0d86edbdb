// Boxes of objects move as the pixels of their image do.
#pragma once
#include "changes.cuh"

// Box: left, top, right and bottom, as shares of the image's sides.
struct Box {
    double side[4];
};

// Clips a box to its image.  Returns false if its centre is outside, or if it has no area.
static inline bool clip_box(Box *box)
{
    bool inside = true;
    for (int axis = 0; axis < 2; axis++) {
        double *low = &box->side[axis], *high = &box->side[axis + 2];
        const double centre = (*low + *high) / 2;
        inside = inside && *low < *high && centre >= 0 && centre <= 1;
        *low = fmax(*low, 0);
        *high = fmin(*high, 1);
    }
    return inside;
}

// Moves a box into a part of its image, which may be mirrored, and clips it.  Returns false if no
// object is left.
static inline bool move_box(const ImagePart &part, MapSize image, bool flip, Box *box)
{
    for (int k = 0; k < 4; k++) {
        const double side = (double)(k % 2 ? image.height : image.width);
        const double first = k % 2 ? part.down : part.right;
        box->side[k] = (box->side[k] * side - first) / (k % 2 ? part.height : part.width);
    }
    if (flip) *box = {{1 - box->side[2], box->side[1], 1 - box->side[0], box->side[3]}};
    return clip_box(box);
}

// Moves a box as a change moves the pixels of an image, to the bounds of its moved corners.
// Returns false if no object is left.
static inline bool change_box(const Change *c, MapSize size, Box *box)
{
    const Affine m = affine_of(c, size);
    const double area = m.xx * m.yy - m.xy * m.yx;
    Box bounds = {{HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int corner = 0; corner < 4; corner++) {
        const double x = box->side[corner % 2 * 2] * (double)size.width - m.x0;
        const double y = box->side[corner / 2 * 2 + 1] * (double)size.height - m.y0;
        const double to[2] = {(m.yy * x - m.xy * y) / area / (double)size.width,
                              (m.xx * y - m.yx * x) / area / (double)size.height};
        for (int axis = 0; axis < 2; axis++) {
            bounds.side[axis] = fmin(bounds.side[axis], to[axis]);
            bounds.side[axis + 2] = fmax(bounds.side[axis + 2], to[axis]);
        }
    }
    *box = bounds;
    return clip_box(box);
}
