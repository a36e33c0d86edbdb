// Windows that slide over a map: what convolution and pooling have in common.
#ifndef CNNC_WINDOW_H
#define CNNC_WINDOW_H

#include "../op/op.h"

enum { HEIGHT, WIDTH };

// All by axis.  Padding is elements that the window may reach past the map.
typedef struct Window {
    int64_t size[2], stride[2], dilation[2];
    int64_t before[2], after[2];
    bool    ceil;               // the last window may end outside
} Window;

// Sets the padding of a window over a map of these extents from an argument:
// "same" makes ceil(extent / stride) windows, with the odd element after.
void window_pad(Window *window, const ArgValue *padding,
                const int64_t extent[2]);

// How many windows there are along an axis; 0 if not even one fits.
int64_t window_count(const Window *window, int axis, int64_t extent);

// The shape [N, P, Q, channels] of what windows make of a map [N, H, W, C].
Shape window_shape(const Window *window, Shape map, int64_t channels);

// Where element `tap` (row-major) of the window of pixel i of y lies in the map
// x: the number of the pixel, or -1 outside.
int64_t window_pixel(const Window *window, Shape x, Shape y, int64_t i,
                     int64_t tap);

// True if at least one window fits the call's operand 0; an error at size, the
// argument, if not.
bool window_fits(Build *b, const Window *window, const ArgValue *size);

#endif
