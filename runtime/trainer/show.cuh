// The command show: images of training samples as the net gets them.  Masks
// follow to the right of the image; boxes are drawn into it.
#pragma once
#include "augmentation_options.cuh"
#include "png.cuh"
#include "predict.cuh"

// Canvas: an image of colours.
struct Canvas {
    unsigned char *colours;     // [height, width, 3]
    long long height, width;
};

// Returns channel k of a colour for a class: black for 0, white for an ignored one.
static inline unsigned char class_colour(int label, int ignored, int k)
{
    if (label == ignored) return 255;
    return label == 0 ? 0 : (unsigned char)(splitmix64((uint64_t)label) >> (8 * k) | 64);
}

// Draws a map of a sample from column `left` on: levels as they were before normalisation, or a
// colour for each class.
static inline void draw_map(const Canvas *to, long long left, const DataColumn *c, bool bytes,
                            const void *sample)
{
    for (long long y = 0; y < c->height; y++)
        for (long long x = 0; x < c->width; x++)
            for (int k = 0; k < 3; k++) {
                const long long channel = c->depth >= 3 ? k : 0;
                const size_t at = (size_t)((y * c->width + x) * c->depth + channel);
                double level = read_element(c->type, sample, at);
                if (c->mean) level = level * c->std[channel] + c->mean[channel];
                if (c->type != SAFE_U8 && (bytes || !c->input->classes)) level *= 255;
                level = fmin(fmax(level + 0.5, 0), 255);
                if (c->input->classes)
                    level = class_colour((int)read_element(c->type, sample, at), c->input->ignored,
                                         k);
                to->colours[(y * to->width + left + x) * 3 + k] = (unsigned char)level;
            }
}

// Draws the sides of a box into the image, which begins in column 0.
static inline void draw_box(const Canvas *to, MapSize size, const double *sides, int kind)
{
    const long long left = llrint(sides[0] * (double)size.width);
    const long long top = llrint(sides[1] * (double)size.height);
    const long long right = llrint(sides[2] * (double)size.width) - 1;
    const long long bottom = llrint(sides[3] * (double)size.height) - 1;
    for (long long y = top; y <= bottom; y++)
        for (long long x = left; x <= right; x++) {
            const bool edge = y == top || y == bottom || x == left || x == right;
            for (int k = 0; edge && is_inside(size, y, x) && k < 3; k++)
                to->colours[(y * to->width + x) * 3 + k] = class_colour(kind, 0, k) | 128;
        }
}

static inline void draw_boxes(const Canvas *to, const DataSet *set, void *const *rows)
{
    const DataColumn *boxes = column_of(set, USE_BOXES), *kinds = column_of(set, USE_KINDS);
    const DataColumn *map = first_map(set);
    for (long long i = 0; boxes && kinds && i < boxes->input->shape[1]; i++) {
        double sides[4];
        const int kind = ((const int32_t *)rows[kinds - set->columns])[i];
        for (int k = 0; k < 4; k++)
            sides[k] = read_element(boxes->type, rows[boxes - set->columns], (size_t)(4 * i + k));
        if (kind) draw_box(to, input_size(map), sides, kind);
    }
}

// Prints the label of a sample, and probabilities above 0.
static inline void print_label(const DataColumn *c, const void *row)
{
    if (c->input->classes && c->input->rank == 1)
        printf(" %s %d", c->input->name, *(const int32_t *)row);
    if (c->input->use != USE_TARGET) return;
    printf(" %s", c->input->name);
    for (long long k = 0; k < c->depth; k++) {
        const double share = read_element(c->type, row, (size_t)k);
        if (share > 0) printf(" %lld:%.3g", k, share);
    }
}

// show: writes DIR/00000.png and so on, the first samples of the first epoch, and prints a line for
// each.
static inline bool command_show(Trainer *t)
{
    const char *folder = t->option[OPTION_AUGMENT];
    DataSet set;
    const DataSet *const sets[] = {&set};
    if (!describe_set(t, &set) || !read_set(t, SET_TRAIN, false, &set) ||
        !sources_are_read(t, sets, 1) || !augmentation_fits(t, &set) || !make_folder(folder))
        return false;
    const DataColumn *first = first_map(&set);
    if (!first) return complain("show: no input of %s is an image", t->net->name);
    Canvas canvas = {NULL, 0, 0};
    void **rows = (void **)take_memory((size_t)set.column_count * sizeof *rows);
    for (int i = 0; i < set.column_count; i++) {
        const DataColumn *c = &set.columns[i];
        rows[i] = take_memory(c->input->bytes / (size_t)t->net->batch);
        if (!c->is_map) continue;
        canvas.width += c->width;
        canvas.height = c->height > canvas.height ? c->height : canvas.height;
    }
    canvas.colours = (unsigned char *)take_memory((size_t)(3 * canvas.height * canvas.width));
    unsigned char *room = (unsigned char *)take_memory(png_room(canvas.height, canvas.width));
    long long *order = (long long *)take_memory((size_t)set.count * sizeof *order);
    char *path = (char *)take_memory(strlen(folder) + 32);
    const PixelScratch scratch = take_scratch(set.columns, set.column_count,
                                              t->augmentation.most > 0);
    Augmentation a = t->augmentation;
    shuffle_order(order, set.count, (uint64_t)t->seed, 0);
    a.key = augmentation_key((uint64_t)t->seed, 0);
    a.order = order;
    a.count = set.count;
    for (long long n = 0; n < t->shown && n < set.count; n++) {
        long long left = 0;
        sprintf(path, "%s/%05lld.png", folder, n);
        printf("%s: sample %lld", path, order[n]);
        for (int i = 0; i < set.column_count; i++) {
            const DataColumn *c = &set.columns[i];
            if (!fill_row(&set, c, &a, order[n], &scratch, (unsigned char *)rows[i])) {
                printf("\n");
                return complain("%s", scratch.jpeg->fault);
            }
            print_label(c, rows[i]);
            if (!c->is_map) continue;
            draw_map(&canvas, left, c, find_part(c, order[n])->array.type == SAFE_U8, rows[i]);
            left += c->width;
        }
        printf("\n");
        draw_boxes(&canvas, &set, rows);
        if (!files_are_whole() ||
            !write_png(path, canvas.colours, canvas.height, canvas.width, room))
            return false;
    }
    leave_jpeg_room(scratch.jpeg);
    return true;
}
