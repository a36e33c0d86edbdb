// Windows that slide over a map, for convolution and pooling.
#ifndef CNNC_WINDOW_H
#define CNNC_WINDOW_H

#include "../op/op.h"

enum { HEIGHT, WIDTH };

// Arrays are by axis.  Padding is in elements, before and after the map.
typedef struct Window {
    int64_t size[2], stride[2], dilation[2];
    int64_t before[2], after[2];
    bool    ceil;               // the last window may end outside
} Window;

// Returns the elements from a window's first to its last along an axis.
int64_t window_span(const Window *window, int axis);

// Returns the number of elements of window i that lie from low to below high.
int64_t window_taps(const Window *window, int axis, int64_t i, int64_t low,
                    int64_t high);

// Sets the padding of a window over a map of these extents from an argument.
// The argument "same" gives ceil(extent / stride) windows, with the odd element
// after.
void window_pad(Window *window, const ArgValue *padding,
                const int64_t extent[2]);

// Returns the number of windows along an axis; 0 if none fits.
int64_t window_count(const Window *window, int axis, int64_t extent);

// Returns the shape [N, P, Q, channels] of a window's results on a map [N, H,
// W, C].
Shape window_shape(const Window *window, Shape map, int64_t channels);

// Returns the pixel in map x of element `tap` (row-major) of the window of
// pixel i of y; -1 outside.
int64_t window_pixel(const Window *window, Shape x, Shape y, int64_t i,
                     int64_t tap);

// True if a window fits the call's operand 0; otherwise reports an error at
// size, the argument.
bool window_fits(Build *b, const Window *window, const ArgValue *size);

#endif
