// Windows that slide over a map: padding from the words of the language, and
// the number of windows.
//
// Along an axis, window i covers the elements i*stride - before + j*dilation
// for j < size.  It is within the map and its padding or, with ceil, begins
// before the padding at the end.
#include <string.h>
#include "window.h"

int64_t window_span(const Window *window, int axis)
{
    return (window->size[axis] - 1) * window->dilation[axis] + 1;
}

static void pad_same(Window *window, int axis, int64_t extent)
{
    int64_t count = ceil_div(extent, window->stride[axis]);
    int64_t reach = (count - 1) * window->stride[axis] +
                    window_span(window, axis);
    int64_t total = reach > extent ? reach - extent : 0;
    window->before[axis] = total / 2;
    window->after[axis] = total - total / 2;
}

void window_pad(Window *window, const ArgValue *padding,
                const int64_t extent[2])
{
    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        window->before[axis] = window->after[axis] = 0;
        if (padding->count == 4) {
            window->before[axis] = padding->dim[2 * axis];
            window->after[axis] = padding->dim[2 * axis + 1];
        } else if (!strcmp(padding->word, "same")) {
            pad_same(window, axis, extent[axis]);
        }
    }
}

int64_t window_count(const Window *window, int axis, int64_t extent)
{
    int64_t stride = window->stride[axis], before = window->before[axis];
    int64_t room =
        extent + before + window->after[axis] - window_span(window, axis);
    if (window->ceil) room += stride - 1;
    if (room < 0) return 0;
    int64_t count = room / stride + 1;
    // A window must not begin in the padding at the end.
    if (window->ceil && (count - 1) * stride >= extent + before) count--;
    return count;
}

int64_t window_taps(const Window *window, int axis, int64_t i, int64_t low,
                    int64_t high)
{
    int64_t apart = window->dilation[axis], end = window->size[axis];
    int64_t first = i * window->stride[axis] - window->before[axis];
    int64_t begin = first < low ? ceil_div(low - first, apart) : 0;
    if (first >= high) return 0;
    int64_t most = ceil_div(high - first, apart);
    if (end > most) end = most;
    return end > begin ? end - begin : 0;
}

Shape window_shape(const Window *window, Shape map, int64_t channels)
{
    return shape_of(4, map.dim[0], window_count(window, HEIGHT, map.dim[1]),
                    window_count(window, WIDTH, map.dim[2]), channels);
}

int64_t window_pixel(const Window *window, Shape x, Shape y, int64_t i,
                     int64_t tap)
{
    int64_t H = x.dim[1], W = x.dim[2], P = y.dim[1], Q = y.dim[2];
    int64_t r = tap / window->size[WIDTH], s = tap % window->size[WIDTH];
    int64_t h = i / Q % P * window->stride[HEIGHT] - window->before[HEIGHT];
    int64_t w = i % Q * window->stride[WIDTH] - window->before[WIDTH];
    h += r * window->dilation[HEIGHT];
    w += s * window->dilation[WIDTH];
    if (h < 0 || h >= H || w < 0 || w >= W) return -1;
    return (i / Q / P * H + h) * W + w;
}

bool window_fits(Build *b, const Window *window, const ArgValue *size)
{
    Shape map = b->g->values[b->operand[0]].shape;
    if (window_count(window, HEIGHT, map.dim[1]) > 0 &&
        window_count(window, WIDTH, map.dim[2]) > 0)
        return true;
    error(b->g->diag, size->pos,
          "a window that spans %lldx%lld does not fit into a map of "
          "%lldx%lld with its padding",
          (long long)window_span(window, HEIGHT),
          (long long)window_span(window, WIDTH),
          (long long)map.dim[1], (long long)map.dim[2]);
    return false;
}
