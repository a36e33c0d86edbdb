// A crop of an image of a data file, resized.
#pragma once
#include "colour.cuh"

// PixelScratch: memory of one thread for the images that it makes.
struct PixelScratch {
    Resizer *resizer;
    float *pixels, *other;      // images of the input's size
    void *partner;              // a sample that is mixed into another one
    JpegWorker *jpeg;           // for columns of JPEG files
};

// Resizes the crop of sample `at` of a file to pixels `to`, in the numbers of the file.  Each plane
// of a file with planes is an image of one channel.  If the view has a flip, the pixels are changed
// from left to right.
static inline void resize_crop(const DataArray *a, long long at, const MapView *v, MapSize size,
                               const PixelScratch *s, float *to)
{
    const size_t bytes = safe_types[a->type].bytes;
    const long long depth = a->dims[3], planes = a->planes ? depth : 1, channels = depth / planes;
    const size_t row = (size_t)(a->dims[2] * channels) * bytes;
    const ResizeAxis down = {0, (double)v->height, v->height, size.height};
    const ResizeAxis across = {0, (double)v->width, v->width, size.width};
    weigh_axis(&down, false, &s->resizer->down);
    weigh_axis(&across, v->flip, &s->resizer->across);
    for (long long p = 0; p < planes; p++) {
        const unsigned char *from = a->data + (size_t)at * a->stride +
                                    (size_t)(p * a->dims[1] + v->down) * row +
                                    (size_t)(v->right * channels) * bytes;
        resize_rows(s->resizer, size, a->type, channels,
                    [=](long long y) { return from + (size_t)y * row; },
                    [=](long long y, const float *numbers) {
                        float *out = to + y * size.width * depth + p;
                        const long long count = size.width * channels;
                        if (planes == 1) memcpy(out, numbers, (size_t)count * sizeof *out);
                        else for (long long i = 0; i < count; i++) out[i * planes] = numbers[i];
                    });
    }
}

// Takes the scratch memory for the maps of these columns.  With `whole` JPEG files are cropped.
static inline PixelScratch take_scratch(const DataColumn *columns, int count, bool whole = false)
{
    ResizeRoom room = {};
    size_t pixels = 0;
    for (int i = 0; i < count; i++) {
        const DataColumn *c = &columns[i];
        for (int k = 0; c->is_map && k < c->part_count; k++) {
            const DataArray *a = &c->parts[k].array;
            if (a->jpegs) add_jpeg_resize_room(a, whole, &room);
            else add_resize_room(&room, map_size(a), input_size(c), c->depth);
        }
        const size_t all = (size_t)(c->height * c->width * c->depth);
        if (all > pixels) pixels = all;
    }
    return {take_resizer(&room), (float *)take_memory(pixels * sizeof(float)),
            (float *)take_memory(pixels * sizeof(float)), take_memory(pixels * sizeof(double)),
            take_jpeg_room(whole)};
}
