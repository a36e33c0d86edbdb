// Filling a batch: samples from their files, converted to the input's type,
// normalised, and changed at random for training.  The result is a pure
// function of seed, epoch and the sample's number.  So neither the order of the
// work nor the number of workers changes a bit.
#pragma once
#include "boxes.cuh"
#include "mix.cuh"
#include "resize_crop.cuh"

template <class From> static inline From load_unaligned(const unsigned char *at)
{
    From value;
    memcpy(&value, at, sizeof value);
    return value;
}

// True if an input is an image that inference reads.  Its crops are interpolated; those of other
// maps, such as masks, take the nearest pixel.
static inline bool is_picture(const DataColumn *c)
{
    return is_image(c->input) && c->input->infers;
}

// Returns the row or column of an image for number `at` of a crop: `from` of them replace `to`.
// The centre of the pixel decides (Pillow, NEAREST).
static inline long long nearest_pixel(long long at, long long from, long long to)
{
    return from == to ? at : (2 * at + 1) * from / (2 * to);
}

// Writes a sample: each element is loaded by `load` and normalised.  Pixels that the changes move
// are the nearest ones.
template <class Load, class To>
static inline void convert_sample(const DataColumn *c, const DataArray *a, long long at,
                                  const MapView &view, const ChangeList *changes, Load load,
                                  To *to)
{
    const unsigned char *from = a->data + (size_t)at * a->stride;
    const MapSize image = c->is_map ? map_size(a) : MapSize{1, 1};
    const size_t size = safe_types[a->type].bytes;
    const size_t channel = a->planes ? size * (size_t)(image.height * image.width) : size;
    const size_t pixel = a->planes ? size : size * (size_t)c->depth;
    for (long long y = 0; y < c->height; y++)
        for (long long x = 0; x < c->width; x++, to += c->depth) {
            long long down = y, right = x;
            const bool kept = !changes || trace_pixel(changes, input_size(c), &down, &right);
            if (view.flip) right = c->width - 1 - right;
            const long long row = nearest_pixel(down, view.height, c->height) + view.down;
            const long long column = nearest_pixel(right, view.width, c->width) + view.right;
            const bool inside = kept && is_inside(image, row, column);
            const unsigned char *first = from + (size_t)(row * image.width + column) * pixel;
            for (long long k = 0; k < c->depth; k++)
                to[k] = inside ? normalise<To>(c, k, load(first + (size_t)k * channel))
                               : normalise<To>(c, k, (long long)c->fill);
        }
}

// Writes a sample of bytes, whose elements are tabulated or are bytes too.  CHANNELS is the input's
// number of them, or 0 for any.
template <int CHANNELS, class To>
static inline void look_up_sample(const DataColumn *c, const DataArray *a, long long at,
                                  const MapView &view, To *to)
{
    const To *levels = (const To *)c->levels;
    const MapSize image = map_size(a);
    const long long channels = CHANNELS ? CHANNELS : c->depth;
    const long long step = view.flip ? -channels : channels;
    const long long pixel = a->planes ? 1 : channels;
    const long long channel = a->planes ? image.height * image.width : 1;
    // Columns low .. high - 1 of a crop are inside of the image, at most.
    const long long before = view.right < 0 ? -view.right : 0, rest = image.width - view.right;
    const long long low = before < c->width ? before : c->width;
    const long long high = rest < low ? low : rest < c->width ? rest : c->width;
    auto element = [levels](long long k, unsigned char byte) {
        return levels ? levels[256 * k + byte] : (To)byte;
    };
    for (long long y = 0; y < c->height; y++) {
        const long long row = y + view.down;
        const bool inside = row >= 0 && row < image.height;
        const long long first = inside ? low : c->width, end = inside ? high : c->width;
        const unsigned char *from =
            a->data + (size_t)at * a->stride + (row * image.width + view.right + low) * pixel;
        To *out = to + (y * c->width + (view.flip ? c->width - 1 : 0)) * channels;
        long long x = 0;
        for (; x < first; x++, out += step)
            for (long long k = 0; k < channels; k++) out[k] = element(k, 0);
        for (; x < end; x++, out += step, from += pixel)
            for (long long k = 0; k < channels; k++) out[k] = element(k, from[k * channel]);
        for (; x < c->width; x++, out += step)
            for (long long k = 0; k < channels; k++) out[k] = element(k, 0);
    }
}

// The usual types have their own loops; the others are converted through double.
template <class To>
static inline void convert_any(const DataColumn *c, const DataArray *a, long long at,
                               const MapView &view, const ChangeList *changes, To *to)
{
    const int type = a->type;
    switch (type) {
    case SAFE_F64: convert_sample(c, a, at, view, changes, load_unaligned<double>, to); break;
    case SAFE_F32: convert_sample(c, a, at, view, changes, load_unaligned<float>, to); break;
    case SAFE_I64: convert_sample(c, a, at, view, changes, load_unaligned<int64_t>, to); break;
    case SAFE_I32: convert_sample(c, a, at, view, changes, load_unaligned<int32_t>, to); break;
    case SAFE_U8: convert_sample(c, a, at, view, changes, load_unaligned<uint8_t>, to); break;
    default:
        convert_sample(c, a, at, view, changes, [type](const unsigned char *element) {
            return read_element(type, element, 0);
        }, to);
    }
}

// Writes the pixels of scratch memory, which have the numbers of the file, as the input's elements.
template <class To>
static inline void finish_pixels(const DataColumn *c, bool bytes, const float *pixels, To *to)
{
    const long long count = c->height * c->width * c->depth;
    if (c->type == SAFE_U8)
        for (long long i = 0; i < count; i++)
            to[i] = (To)(pixels[i] < 0 ? 0 : pixels[i] > 255 ? 255 : pixels[i] + 0.5f);
    for (long long k = 0; c->type != SAFE_U8 && k < c->depth; k++) {
        const double deviation = c->mean ? c->std[k] : 1;
        const To scale = (To)(1 / (deviation * (bytes ? 255 : 1)));
        const To shift = (To)(c->mean ? -c->mean[k] / deviation : 0);
        for (long long i = k; i < count; i += c->depth) to[i] = (To)pixels[i] * scale + shift;
    }
}

// Makes the pixels of a changed picture, in the numbers of the file, in scratch memory or in that
// of *image.  Returns false, with the worker's fault, if a JPEG file is damaged.
static inline bool make_pixels(const DataColumn *c, const DataArray *a, long long at,
                               const MapView &view, const ChangeList *changes,
                               const PixelScratch *scratch, Image *image)
{
    const long long row = c->width * c->depth;
    DataColumn raw = *c;
    raw.type = SAFE_U8;
    raw.mean = NULL;
    *image = {input_size(c), c->depth, scratch->pixels, scratch->other};
    if (a->jpegs) {
        const JpegView part = {part_of_view(view), true, view.flip};
        if (!resize_jpeg(a, at, part, scratch->jpeg, scratch->resizer,
                         [=](long long y, const float *numbers) {
                             memcpy(scratch->pixels + y * row, numbers,
                                    (size_t)row * sizeof *numbers);
                         }))
            return false;
    } else if (view.height != c->height || view.width != c->width)
        resize_crop(a, at, &view, input_size(c), scratch, scratch->pixels);
    else convert_any(&raw, a, at, view, NULL, scratch->pixels);
    if (changes) change_all(image, changes);
    return true;
}

// Returns false, with the worker's fault, if a JPEG file is damaged.
template <class To>
static inline bool fill_map(const DataColumn *c, const DataArray *a, long long at,
                            const MapView &view, const ChangeList *changes,
                            const PixelScratch *scratch, To *to)
{
    const bool resizes = a->jpegs || view.height != c->height || view.width != c->width;
    Image image;
    if ((resizes || changes) && is_picture(c)) {
        if (!make_pixels(c, a, at, view, changes, scratch, &image)) return false;
        finish_pixels(c, a->type == SAFE_U8, image.pixels, to);
    } else if (resizes || changes || a->type != SAFE_U8 || !(c->levels || c->type == SAFE_U8))
        convert_any(c, a, at, view, changes, to);
    else if (c->depth == 3) look_up_sample<3>(c, a, at, view, to);
    else if (c->depth == 1) look_up_sample<1>(c, a, at, view, to);
    else look_up_sample<0>(c, a, at, view, to);
    return true;
}

// Makes an image of the input's size of a JPEG file, and replaces the array and the number of a
// sample by it.  It is the view of a resized crop, or otherwise the largest part in the middle of
// the file's image.  Function make_pixels resizes the crop of a picture, and rounds nothing.
// Returns false, with the worker's fault, if the file is damaged.
static inline bool open_jpeg(const DataColumn *c, const Augmentation *augmentation,
                             const PixelScratch *scratch, const DataArray **a, long long *at,
                             DataArray *pixels, MapView *view)
{
    const bool crops = resizes_crops(augmentation);
    const MapSize whole = jpeg_size(&(*a)->jpegs->rows[*at], 8), size = input_size(c);
    const JpegView part = {crops ? part_of_view(*view) : middle_part(whole, size), crops, false};
    if (crops && is_picture(c)) return true;
    if (!decode_jpeg(*a, *at, part, scratch->jpeg, scratch->resizer, pixels)) return false;
    if (crops) *view = {0, 0, size.height, size.width, view->flip};
    *a = pixels;
    *at = 0;
    return true;
}

// Erases a rectangle of a finished picture: 2 to 33 % of its area, with a height of 0.3 to 3.3 of
// its width.  Nothing is erased if ten draws do not fit (torchvision, transforms.RandomErasing).
static inline void erase_rectangle(const DataColumn *c, const Augmentation *a, long long sample,
                                   unsigned char *to)
{
    Draws draws = draws_of(a, sample, DRAW_ERASE);
    const double area = (double)c->height * (double)c->width;
    const size_t pixel = (size_t)c->depth * safe_types[c->type].bytes;
    bool erases = draw_share(&draws) < a->erase;
    for (int i = 0; erases && i < 10; i++) {
        const double target = area * draw_between(&draws, 0.02, 0.33);
        const double ratio = exp(draw_between(&draws, log(0.3), log(3.3)));
        const long long height = llrint(sqrt(target * ratio));
        const long long width = llrint(sqrt(target / ratio));
        if (height >= c->height || width >= c->width) continue;
        const long long down = draw_below(&draws, c->height - height + 1);
        const long long right = draw_below(&draws, c->width - width + 1);
        for (long long y = down; y < down + height; y++)
            memset(to + (size_t)(y * c->width + right) * pixel, 0, (size_t)width * pixel);
        erases = false;
    }
}

// Writes a label as probabilities of its classes, one of them 1.
template <class To>
static inline void fill_target(const DataColumn *c, const unsigned char *label, int type, To *to)
{
    for (long long k = 0; k < c->depth; k++) to[k] = 0;
    to[(long long)read_element(type, label, 0)] = 1;
}

// Writes sample number `sample` of a column to its row of the batch.  scratch: of the thread; it is
// not used without augmentation and JPEG files.  Returns false, with the worker's fault, if such a
// file is damaged.
static inline bool fill_sample(const DataColumn *c, const Augmentation *augmentation,
                               long long sample, const PixelScratch *scratch, unsigned char *to)
{
    const DataPart *part = find_part(c, sample);
    const DataArray *a = &part->array;
    DataArray pixels = {};
    long long at = sample - part->first;
    const Augmentation *of_map = c->is_map ? augmentation : NULL;
    const MapSize size = input_size(c);
    MapView view = view_sample(of_map, sample, c->is_map ? image_size(a, at, of_map) : size, size);
    if (a->jpegs && !open_jpeg(c, of_map, scratch, &a, &at, &pixels, &view)) return false;
    const unsigned char *from = a->data + (size_t)at * a->stride;
    const MapSize image = c->is_map ? map_size(a) : size;
    const ChangeList list = draw_changes(of_map, sample, size);
    const ChangeList *changes = list.count ? &list : NULL;
    const bool whole = !a->jpegs && shows_all(view, image) && sizes_equal(image, size) && !changes;
    bool done = true;
    if (is_label_of_target(c->input, a) && c->type == SAFE_F64)
        fill_target(c, from, a->type, (double *)to);
    else if (is_label_of_target(c->input, a)) fill_target(c, from, a->type, (float *)to);
    else if (a->type == c->type && !a->planes && !c->mean && whole)
        memcpy(to, from, (size_t)(c->height * c->width * c->depth) * safe_types[a->type].bytes);
    else if (c->type == SAFE_F64) done = fill_map(c, a, at, view, changes, scratch, (double *)to);
    else if (c->type == SAFE_F32) done = fill_map(c, a, at, view, changes, scratch, (float *)to);
    else if (c->type == SAFE_I32) done = fill_map(c, a, at, view, changes, scratch, (int32_t *)to);
    else done = fill_map(c, a, at, view, changes, scratch, to);
    if (of_map && of_map->erase > 0 && is_picture(c)) erase_rectangle(c, of_map, sample, to);
    return done;
}

// MapMoves: how the pixels of a sample's map move.  First is the middle part of a JPEG file's
// image, then the view, then the changes.
struct MapMoves {
    bool cuts;                  // to the middle part
    MapSize whole, image, size; // of a JPEG file; of the image of the view; of the input
    MapView view;
    ChangeList changes;
};

// Draws the moves of a sample.
static inline MapMoves draw_moves(const DataColumn *map, const Augmentation *augmentation,
                                  long long sample)
{
    const DataPart *part = find_part(map, sample);
    const DataArray *a = &part->array;
    const long long at = sample - part->first;
    MapMoves m = {a->jpegs && !resizes_crops(augmentation), {},
                  image_size(a, at, augmentation), input_size(map), {},
                  draw_changes(augmentation, sample, input_size(map))};
    if (m.cuts) m.whole = jpeg_size(&a->jpegs->rows[at], 8);
    m.view = view_sample(augmentation, sample, m.image, m.size);
    return m;
}

// Moves a box as the pixels of its image.  Returns false if no object is left.
static inline bool move_with_pixels(const MapMoves *m, Box *box)
{
    bool stays = !m->cuts || move_box(middle_part(m->whole, m->size), m->whole, false, box);
    stays = stays && move_box(part_of_view(m->view), m->image, m->view.flip, box);
    for (int k = 0; k < m->changes.count; k++)
        if (stays && moves_pixels(&m->changes.list[k]))
            stays = change_box(&m->changes.list[k], m->size, box);
    return stays;
}

// Writes the boxes of a sample's objects, or their classes, as they are in the sample's image.
static inline void fill_objects(const DataSet *set, const DataColumn *c,
                                const Augmentation *augmentation, long long sample,
                                unsigned char *to)
{
    const DataColumn *boxes = column_of(set, USE_BOXES), *map = first_map(set);
    fill_sample(c, NULL, sample, NULL, to);
    if (!boxes || !boxes->parts || !map) return;
    const MapMoves moves = draw_moves(map, augmentation, sample);
    if (!moves.cuts && shows_all(moves.view, moves.image) && !moves.changes.count) return;
    const DataPart *part = find_part(boxes, sample);
    const DataArray *a = &part->array;
    const unsigned char *from = a->data + (size_t)(sample - part->first) * a->stride;
    for (long long i = 0; i < boxes->input->shape[1]; i++) {
        Box box;
        for (int k = 0; k < 4; k++) box.side[k] = read_element(a->type, from, (size_t)(4 * i + k));
        const bool stays = move_with_pixels(&moves, &box);
        for (int k = 0; k < 4 && c == boxes; k++)
            if (c->type == SAFE_F64) ((double *)to)[4 * i + k] = stays ? box.side[k] : 0;
            else ((float *)to)[4 * i + k] = (float)(stays ? box.side[k] : 0);
        if (c != boxes && !stays) ((int32_t *)to)[i] = 0;
    }
}

// Writes a sample of a column of a set, which may depend on other columns, to its row of the batch.
// See fill_sample.
static inline bool fill_row(const DataSet *set, const DataColumn *c,
                            const Augmentation *augmentation, long long sample,
                            const PixelScratch *scratch, unsigned char *to)
{
    const InputUse use = c->input->use;
    const DataColumn *map = first_map(set);
    const bool mixes = augmentation && (augmentation->mixup > 0 || augmentation->cutmix > 0);
    if (use == USE_BOXES || use == USE_KINDS) fill_objects(set, c, augmentation, sample, to);
    else if (!fill_sample(c, augmentation, sample, scratch, to)) return false;
    if (!mixes || !map || !(use == USE_TARGET || is_picture(c))) return true;
    const Mix mix = draw_mix(augmentation, sample, input_size(map));
    if (!fill_sample(c, augmentation, mix.other, scratch, (unsigned char *)scratch->partner))
        return false;
    mix_samples(&mix, c, to, scratch->partner);
    return true;
}
