// Writes a set: its arrays, each with a row for each image, and the names of
// the classes.  Workers fill rows of any image and write them to their places,
// so their number changes no bit.  The files appear together in a new folder,
// or not at all.
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pack.h"

enum { MOST_WORKERS = 256, MOST_FAULTS = 20, HEAD_SIZE = 256 };
enum { FILE_IMAGES, FILE_LABELS, FILE_MASKS, FILE_BOXES, FILE_KINDS, FILE_JPEGS,
       ARRAYS, FILE_CLASSES = ARRAYS, FILE_COUNT };
static const char *const file_names[FILE_COUNT] = {
    "images.npy", "labels.npy", "masks.npy", "boxes.npy", "kinds.npy",
    "images.jpegs", "classes.txt",
};

// An array in a file.  Without bytes, the set has no such array; images.jpegs
// is none, and has a keeper.
typedef struct Array {
    size_t bytes;               // of a row
    size_t head;                // bytes before the first row
    int    file;                // descriptor
} Array;

typedef struct Writer {
    const Packing *how;
    const Samples *samples;
    Array         array[ARRAYS];
    Keeper       *keeper;       // or NULL
    int           mask_bytes;   // of a pixel: 1 or 4
    char        **faults;       // by image; NULL: no fault
    atomic_size_t next;         // the next image to process
    atomic_size_t cut;          // objects whose middle no part shows
    atomic_int    error;        // errno of a failed write
} Writer;

// ---- rows -------------------------------------------------------------------

void put_u32(uint8_t *to, uint32_t value)
{
    for (int byte = 0; byte < 4; byte++) to[byte] = value >> 8 * byte & 255;
}

void put_f32(uint8_t *to, double value)
{
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    put_u32(to, bits);
}

static bool fail(char message[MESSAGE_SIZE], const char *text)
{
    snprintf(message, MESSAGE_SIZE, "%s", text);
    return false;
}

static double clip(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

// Sets the box in sides of the part that the target shows; false if its middle
// is outside, or if it has no area.
static bool place_box(const Part *part, const Box *box, double side[4])
{
    double given[] = { (box->left - part->left) / part->width,
                       (box->top - part->top) / part->height,
                       (box->right - part->left) / part->width,
                       (box->bottom - part->top) / part->height };
    double x = (given[0] + given[2]) / 2, y = (given[1] + given[3]) / 2;
    for (int i = 0; i < 4; i++) side[i] = clip(given[i]);
    return x >= 0 && x < 1 && y >= 0 && y < 1 &&
           (float)side[2] > (float)side[0] && (float)side[3] > (float)side[1];
}

// Writes the objects of an image; the rest of the rows is zero, no object.
static bool fill_boxes(Writer *w, size_t i, const Image *image, uint8_t *boxes,
                       uint8_t *kinds, char message[MESSAGE_SIZE])
{
    const Boxes *b = &w->samples->boxes[i];
    Part part = part_of(image->height, image->width, &w->how->target);
    size_t count = 0;

    memset(boxes, 0, w->array[FILE_BOXES].bytes);
    memset(kinds, 0, w->array[FILE_KINDS].bytes);
    if (b->height != image->height || b->width != image->width) {
        snprintf(message, MESSAGE_SIZE, "is %d x %d pixels as stored, and its "
                 "annotation states %d x %d", image->height, image->width,
                 b->height, b->width);
        return false;
    }
    for (size_t k = 0; k < b->count; k++) {
        double side[4];
        if (!place_box(&part, &b->at[k], side)) {
            w->cut++;
            continue;
        }
        if (count < w->how->objects) {
            for (size_t c = 0; c < 4; c++)
                put_f32(boxes + 4 * (4 * count + c), side[c]);
            put_u32(kinds + 4 * count, (uint32_t)b->at[k].kind);
        }
        count++;
    }
    if (count <= w->how->objects) return true;
    snprintf(message, MESSAGE_SIZE, "has %zu objects, and --objects allows %zu",
             count, w->how->objects);
    return false;
}

// Writes a mask, of one byte a pixel or of four.
static void store_mask(const Writer *w, const int32_t *pixels, uint8_t *to)
{
    const Target *t = &w->how->target;
    size_t count = (size_t)t->height * (size_t)t->width;
    for (size_t i = 0; i < count; i++) {
        int32_t value = pixels[i];
        if (value == 255 && w->how->ignores) value = w->how->ignored;
        if (w->mask_bytes == 1) to[i] = (uint8_t)value;
        else put_u32(to + 4 * i, (uint32_t)value);
    }
}

static bool fill_mask(const Writer *w, size_t i, const Image *image,
                      uint8_t *to, char message[MESSAGE_SIZE])
{
    const Item *item = &w->samples->masks[i];
    const Target *t = &w->how->target;
    char why[MESSAGE_SIZE];
    Bytes file;
    Image mask = { .height = 0 };
    bool done = read_item(item, &file, why);
    if (done) done = decode_mask(&file, &mask, why), free(file.at);
    if (done && (mask.height != image->height || mask.width != image->width)) {
        snprintf(why, sizeof why, "is %d x %d pixels, and its image %d x %d as "
                 "stored", mask.height, mask.width, image->height,
                 image->width);
        done = false;
    }
    int32_t *pixels = !done ? NULL : malloc((size_t)t->height *
                                            (size_t)t->width * sizeof *pixels);
    if (done && pixels == NULL)
        done = fail(why, "there is no memory to resize it");
    if (done) {
        resize_mask(&mask, t, pixels);
        store_mask(w, pixels, to);
    }
    free(pixels);
    free(mask.pixels);
    if (!done)
        snprintf(message, MESSAGE_SIZE, "its mask %.100s %.180s", item->name,
                 why);
    return done;
}

// Fills the rows of an image.
static bool fill_rows(Writer *w, size_t i, uint8_t *const *row,
                      char message[MESSAGE_SIZE])
{
    const Samples *s = w->samples;
    Image image;
    int error = 0;
    if (s->labels != NULL) put_u32(row[FILE_LABELS], (uint32_t)s->labels[i]);
    bool done = w->keeper != NULL
                ? keep_file(w->keeper, i, w->how->as_stored,
                            w->array[FILE_JPEGS].file, &error, &image, message)
                : read_pixels(w->how, &s->items[i], &image, message);
    if (error != 0) w->error = error;
    if (!done) return false;
    if (w->keeper == NULL)
        done = fits_first_image(w->how, &image, message) &&
               (resize(&image, &w->how->target, row[FILE_IMAGES]) ||
                fail(message, "there is no memory to resize it"));
    if (done && s->masks != NULL)
        done = fill_mask(w, i, &image, row[FILE_MASKS], message);
    if (done && s->boxes != NULL)
        done = fill_boxes(w, i, &image, row[FILE_BOXES], row[FILE_KINDS],
                          message);
    free(image.pixels);
    return done;
}

bool write_all(int file, const void *from, size_t bytes, uint64_t at)
{
    for (const char *c = from; bytes > 0;) {
        ssize_t written = pwrite(file, c, bytes, (off_t)at);
        if (written < 0 && errno != EINTR) return false;
        if (written <= 0) continue;
        c += written;
        bytes -= (size_t)written;
        at += (uint64_t)written;
    }
    return true;
}

static void pack_one(Writer *w, size_t i, uint8_t *const *row)
{
    char message[MESSAGE_SIZE];
    if (!fill_rows(w, i, row, message)) {
        w->faults[i] = join(message, "", "");
        return;
    }
    for (int k = 0; k < ARRAYS; k++) {
        const Array *a = &w->array[k];
        if (!write_all(a->file, row[k], a->bytes,
                       a->head + (uint64_t)i * a->bytes))
            w->error = errno;
    }
}

static void *work(void *data)
{
    Writer *w = data;
    uint8_t *row[ARRAYS];
    for (int k = 0; k < ARRAYS; k++) row[k] = grow(NULL, w->array[k].bytes + 1);
    for (size_t i; w->error == 0 && (i = w->next++) < w->samples->count;)
        pack_one(w, i, row);
    for (int k = 0; k < ARRAYS; k++) free(row[k]);
    return NULL;
}

// Returns the exit status; each fault is printed.
static int pack_all(Writer *w)
{
    pthread_t thread[MOST_WORKERS];
    size_t faults = 0;
    int workers = w->how->workers;

    for (int i = 0; i < workers; i++) {
        int error = pthread_create(&thread[i], NULL, work, w);
        if (error != 0 && i == 0) w->error = error;
        if (error != 0) workers = i;
    }
    for (int i = 0; i < workers; i++) pthread_join(thread[i], NULL);
    if (w->error != 0)
        fprintf(stderr, "%s: %s\n", w->how->to, strerror(w->error));
    for (size_t i = 0; i < w->samples->count; i++)
        // Each image has an entry.
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
        if (w->faults[i] != NULL && faults++ < MOST_FAULTS)
            fprintf(stderr, "%s: %s\n", w->samples->items[i].name,
                    w->faults[i]);
    if (faults > MOST_FAULTS)
        fprintf(stderr, "and %zu more\n", faults - MOST_FAULTS);
    return w->error != 0 ? EXIT_FILES : faults > 0 ? EXIT_BROKEN : EXIT_DONE;
}

// ---- files ------------------------------------------------------------------

// Sets head to an NPY header, version 1, and returns its length.  It ends with
// a new line, and the data begins at a multiple of 64 bytes.
static size_t npy_header(char head[HEAD_SIZE], const char *type,
                         const char *shape)
{
    int length = snprintf(head + 10, HEAD_SIZE - 10, "{'descr': '%s', "
                          "'fortran_order': False, 'shape': (%s), }", type,
                          shape);
    size_t all = ((size_t)length + 11 + 63) / 64 * 64;
    // The bytes are not a string.
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result)
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((all - 10) & 255);
    head[9] = (char)((all - 10) >> 8);
    memset(head + 10 + length, ' ', all - 10 - (size_t)length);
    head[all - 1] = '\n';
    return all;
}

// Sets a row's bytes, and writes the header of an array in an empty file.
static bool begin_array(Writer *w, int which, const char *type,
                        const char *shape, size_t bytes)
{
    char head[HEAD_SIZE];
    Array *a = &w->array[which];
    a->bytes = bytes;
    a->head = npy_header(head, type, shape);
    return write_all(a->file, head, a->head, 0);
}

static bool begin_file(Writer *w, int which)
{
    const Target *t = &w->how->target;
    char shape[128];
    size_t n = w->samples->count, objects = w->how->objects;
    size_t pixels = (size_t)t->height * (size_t)t->width;
    static const char *const types[] = { "|u1", "<u2", "<f4" };

    if (which == FILE_JPEGS) return true;
    if (which == FILE_IMAGES) {
        snprintf(shape, sizeof shape, "%zu, %d, %d, %d", n, t->height, t->width,
                 t->channels);
        return begin_array(w, which, types[w->how->type], shape,
                           (pixels << w->how->type) * (size_t)t->channels);
    }
    if (which == FILE_MASKS) {
        snprintf(shape, sizeof shape, "%zu, %d, %d", n, t->height, t->width);
        return begin_array(w, which, w->mask_bytes == 1 ? "|u1" : "<i4", shape,
                           pixels * (size_t)w->mask_bytes);
    }
    if (which == FILE_BOXES) {
        snprintf(shape, sizeof shape, "%zu, %zu, 4", n, objects);
        return begin_array(w, which, "<f4", shape, 16 * objects);
    }
    if (which == FILE_KINDS) snprintf(shape, sizeof shape, "%zu, %zu", n,
                                      objects);
    else snprintf(shape, sizeof shape, "%zu,", n);
    return begin_array(w, which, "<i4", shape,
                       which == FILE_KINDS ? 4 * objects : 4);
}

static bool has_file(const Writer *w, int which)
{
    const Samples *s = w->samples;
    return which == FILE_IMAGES  ? w->keeper == NULL
         : which == FILE_JPEGS   ? w->keeper != NULL
         : which == FILE_LABELS  ? s->labels != NULL
         : which == FILE_MASKS   ? s->masks != NULL
         : which == FILE_BOXES   ? s->boxes != NULL
         : which == FILE_KINDS   ? s->boxes != NULL
                                 : s->classes.count > 0;
}

static bool failed(Writer *w, const char *path)
{
    w->error = errno;
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

static bool write_classes(Writer *w, const char *path)
{
    FILE *out = fopen(path, "wbx");
    if (out == NULL) return failed(w, path);
    for (size_t i = 0; i < w->samples->classes.count; i++)
        fprintf(out, "%s\n", w->samples->classes.at[i]);
    bool on_disk = ferror(out) == 0 && fflush(out) == 0 &&
                   fsync(fileno(out)) == 0;
    if (!on_disk) failed(w, path);
    fclose(out);
    return on_disk;
}

// Opens the files of all arrays, and writes their headers.
static bool open_arrays(Writer *w, char *const *path)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (!has_file(w, i)) continue;
        w->array[i].file = open(path[i], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                                0666);
        if (w->array[i].file < 0 || !begin_file(w, i))
            return failed(w, path[i]);
    }
    return true;
}

static bool close_arrays(Writer *w, char *const *path, bool done)
{
    for (int i = 0; i < ARRAYS; i++) {
        int file = w->array[i].file;
        if (file < 0) continue;
        if (done && i == FILE_JPEGS && !write_index(w->keeper, file))
            done = failed(w, path[i]);
        if (done && fsync(file) != 0) done = failed(w, path[i]);
        close(file);
    }
    return done;
}

static void sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

// Writes the folder, and gives it its name when it is complete.
static int write_folder(Writer *w)
{
    const char *to = w->how->to;
    int lock, status = EXIT_FILES;
    char *folder = make_folder(to, &lock), *path[FILE_COUNT];

    for (int i = 0; i < FILE_COUNT; i++)
        path[i] = join(folder, "/", file_names[i]);
    if (open_arrays(w, path)) status = pack_all(w);
    bool done = close_arrays(w, path, status == EXIT_DONE);
    if (done && has_file(w, FILE_CLASSES))
        done = write_classes(w, path[FILE_CLASSES]);
    sync_folder(folder);
    if (done && rename(folder, to) != 0) done = failed(w, to);
    for (int i = 0; i < FILE_COUNT; i++) {
        if (!done) remove(path[i]);
        free(path[i]);
    }
    if (!done) rmdir(folder);
    close(lock);
    char *parent = join(to, "/", "..");
    if (done) sync_folder(parent);
    free(parent);
    free(folder);
    return done ? EXIT_DONE : status != EXIT_DONE ? status : EXIT_FILES;
}

// Returns the bytes of a mask's pixel: 4 if a file has samples of 16 bits, or
// if a byte can't be the ignored value.
static int mask_bytes(const Packing *how, const Samples *s)
{
    bool fits = !how->ignores || !(how->ignored < 0 || how->ignored > 255);
    int bytes = fits ? 1 : 4;
    for (size_t i = 0; s->masks != NULL && bytes == 1 && i < s->count; i++) {
        char message[MESSAGE_SIZE];
        Bytes file;
        Item head = s->masks[i];
        head.bytes = 25;        // up to the depth of samples
        if (!read_item(&head, &file, message)) continue;
        if (png_depth(&file) == 16) bytes = 4;
        free(file.at);
    }
    return bytes;
}

int write_set(const Packing *how, const Samples *s)
{
    Writer w = { .how = how, .samples = s, .mask_bytes = mask_bytes(how, s) };
    sweep_folders(how->to, file_names, FILE_COUNT);
    for (int i = 0; i < ARRAYS; i++) w.array[i].file = -1;
    if (how->keeps) w.keeper = place_files(s);
    w.faults = grow(NULL, s->count * sizeof *w.faults);
    for (size_t i = 0; i < s->count; i++) w.faults[i] = NULL;
    int status = write_folder(&w);
    for (size_t i = 0; i < s->count; i++) free(w.faults[i]);
    free(w.faults);
    release_keeper(w.keeper);
    if (status == EXIT_DONE && s->left_out > 0)
        fprintf(stderr, "%s: %zu objects that are crowds or difficult are left "
                "out\n", how->to, s->left_out);
    if (status == EXIT_DONE && w.cut > 0)
        fprintf(stderr, "%s: %zu objects are left out: their middle was cut "
                "off, or they have no area\n", how->to, (size_t)w.cut);
    return status;
}
