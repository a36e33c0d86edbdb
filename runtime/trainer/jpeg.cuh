// JPEG files that cnnc-pack-images --keep-jpeg stores in one file, and their
// pixels.  A head of 64 bytes and a row for each file precede the files:
//
//     head: "\x93JPEGS\r\n"; the version, 1, and a row's bytes, 32 (u32);
//           the number of files, the bytes of all, a sum of the rows (u64); 0
//     row:  offset, bytes (u64); height, width, EXIF orientation, 0 (u32)
//
// Numbers are little-endian.  Threads of the reader decode the files.  This
// wants a program that was compiled with -DCNNC_JPEG and linked with -ljpeg.
#pragma once
#include "data.cuh"

// JpegRow: a row of the file.
struct JpegRow {
    uint64_t offset, bytes;
    uint32_t height, width;         // as stored, before it is turned
    uint32_t orientation, zero;     // 1 to 8, as in TIFF 6.0, tag 274
};

struct JpegHead {
    char magic[8];
    uint32_t version, row_bytes;
    uint64_t count, bytes, sum, zero[3];
};

// JpegFiles: the content of a file.
struct JpegFiles {
    const char *path;
    const JpegRow *rows;
};

static const char jpegs_magic[] = "\x93JPEGS\r\n";
enum JpegLimits { JPEGS_VERSION = 1, JPEG_PIXELS = 1 << 28, JPEG_MESSAGE = 256 };

static inline bool is_jpegs(const FileBytes *file)
{
    return file->size >= 8 && !memcmp(file->bytes, jpegs_magic, 8);
}

// FNV-1a of 64 bits, word by word.
static inline uint64_t jpegs_sum(const JpegRow *rows, uint64_t count)
{
    uint64_t sum = 0xCBF29CE484222325u;
    const unsigned char *at = (const unsigned char *)rows;
    for (uint64_t i = 0; i < count * sizeof *rows; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        sum = (sum ^ word) * 0x100000001B3u;
    }
    return sum;
}

// True if a row describes a part of the file with pixels.
static inline bool is_jpeg_row(const JpegRow *row, uint64_t bytes)
{
    return row->offset <= bytes && row->bytes <= bytes - row->offset && row->bytes > 0 &&
           row->height > 0 && row->width > 0 && row->height <= JPEG_PIXELS / row->width &&
           row->orientation >= 1 && row->orientation <= 8;
}

// ---- the memory of a thread

// JpegSize: rows and columns of an image that is turned.
struct JpegSize {
    long long height, width;
};

// Returns the size of a file's pixels if libjpeg reduces it to `eighths` eighths.
static inline JpegSize jpeg_size(const JpegRow *row, int eighths)
{
    const long long height = ((long long)row->height * eighths + 7) / 8;
    const long long width = ((long long)row->width * eighths + 7) / 8;
    return row->orientation > 4 ? JpegSize{width, height} : JpegSize{height, width};
}

// Returns the least scale, 1, 2, 4 or 8 eighths, at which an image covers this size.  libjpeg has
// vector code for these.
static inline int jpeg_eighths(const JpegRow *row, long long height, long long width)
{
    int eighths = 1;
    for (; eighths < 8; eighths *= 2) {
        const JpegSize size = jpeg_size(row, eighths);
        if (size.height >= height && size.width >= width) break;
    }
    return eighths;
}

static inline long long most_weights(long long source, long long results)
{
    return 2 * (source / results + 1) + 3;
}

// JpegRoom: the memory that a thread needs for any of the files that are read: bytes of pixels, of
// reduced images and of whole ones; the longest side of an image, weights; columns and bytes of a
// result.
struct JpegRoom {
    size_t pixels, whole, side, weights, width, result;
};

static JpegRoom jpeg_room = {};

static inline void add_jpeg_room(const DataArray *a)
{
    const long long height = a->dims[1], width = a->dims[2], depth = a->dims[3];
    auto keep = [](size_t *most, long long value) {
        if ((size_t)value > *most) *most = (size_t)value;
    };
    for (long long i = 0; i < a->dims[0]; i++) {
        const JpegRow *row = &a->jpegs->rows[i];
        const JpegSize size = jpeg_size(row, jpeg_eighths(row, height, width));
        keep(&jpeg_room.pixels, size.height * size.width * depth);
        keep(&jpeg_room.whole, (long long)row->height * row->width * depth);
        keep(&jpeg_room.side, row->height > row->width ? row->height : row->width);
        keep(&jpeg_room.weights, width * most_weights(size.width, width) +
                                 most_weights(size.height, height));
    }
    keep(&jpeg_room.width, width);
    keep(&jpeg_room.result, height * width * depth);
}

// ---- decoding

// JpegTurn: where pixels go.  The one at the top left goes to `corner`.  The distances to the next
// ones of its row and of its column are `along` and `across`.
struct JpegTurn {
    long long corner, along, across;
};

// JpegDecoder: libjpeg's state.  libjpeg returns from an error by a jump.  Its warnings are errors,
// since it invents pixels after them, except two: bytes between markers, and an unknown version of
// JFIF.  A program without libjpeg reads no file that needs one.
#ifdef CNNC_JPEG
# include <setjmp.h>
# include <jpeglib.h>
# include <jerror.h>
struct JpegDecoder {
    jpeg_error_mgr errors;
    jpeg_decompress_struct d;
    jmp_buf back;
    char *message;
    static constexpr bool there = true;

    static void fail(j_common_ptr common)
    {
        JpegDecoder *decoder = (JpegDecoder *)common->client_data;
        char text[JMSG_LENGTH_MAX];
        common->err->format_message(common, text);
        snprintf(decoder->message, JPEG_MESSAGE, "%s", text);
        longjmp(decoder->back, 1);
    }

    static void warn(j_common_ptr common, int level)
    {
        const int code = common->err->msg_code;
        if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR) fail(common);
    }

    void open()
    {
        d.err = jpeg_std_error(&errors);
        errors.error_exit = fail;
        errors.emit_message = warn;
        d.client_data = this;
        jpeg_create_decompress(&d);
    }

    void close() { jpeg_destroy_decompress(&d); }

    // Converts four inks, inverted as Adobe's programs write them, to colours or gray.
    static void inks_to_pixel(const unsigned char *inks, long long depth, unsigned char *to)
    {
        unsigned colour[3];
        for (int c = 0; c < 3; c++) {
            const unsigned product = (255u - inks[c]) * inks[3] + 128;
            colour[c] = inks[3] - ((product + (product >> 8)) >> 8);
        }
        const unsigned luma = 19595 * colour[0] + 38470 * colour[1] + 7471 * colour[2];
        for (long long c = 0; c < depth; c++)
            to[c] = (unsigned char)(depth == 1 ? (luma + 0x8000) >> 16 : colour[c]);
    }

    static JpegTurn turn_of(uint32_t orientation, JpegSize turned)
    {
        const uint32_t o = orientation;
        const bool up = o == 3 || o == 4 || o == 7 || o == 8;
        const bool left = o == 2 || o == 3 || o == 6 || o == 7;
        const long long down = up ? -turned.width : turned.width, right = left ? -1 : 1;
        return {(up ? (turned.height - 1) * turned.width : 0) + (left ? turned.width - 1 : 0),
                o > 4 ? down : right, o > 4 ? right : down};
    }

    // Decodes the rows, and puts each pixel into its place.
    void decode_rows(unsigned char *pixels, unsigned char *line, long long depth,
                     const JpegTurn &turn)
    {
        while (d.output_scanline < d.output_height) {
            unsigned char *to = pixels + (turn.corner + d.output_scanline * turn.across) * depth;
            const unsigned char *from = line;
            JSAMPROW into = turn.along == 1 && d.output_components == depth ? to : line;
            jpeg_read_scanlines(&d, &into, 1);
            for (JDIMENSION x = 0; into != to && x < d.output_width; x++, to += turn.along * depth)
                if (d.output_components == 4) inks_to_pixel(from, depth, to), from += 4;
                else for (long long c = 0; c < depth; c++) to[c] = *from++;
        }
    }

    // Decodes a file of the index to pixels of `depth` channels; `line` has room for a row of four.
    // See decode_jpeg.
    bool decode(const unsigned char *file, const JpegRow *row, long long depth, int eighths,
                unsigned char *pixels, unsigned char *line, char *said)
    {
        message = said;
        if (setjmp(back)) return jpeg_abort_decompress(&d), false;
        jpeg_mem_src(&d, (unsigned char *)file, (unsigned long)row->bytes);
        jpeg_read_header(&d, TRUE);
        if (d.image_height != row->height || d.image_width != row->width) {
            snprintf(message, JPEG_MESSAGE, "is %u x %u pixels, and the index says %u x %u",
                     d.image_height, d.image_width, row->height, row->width);
            return jpeg_abort_decompress(&d), false;
        }
        d.out_color_space = d.num_components == 4 ? JCS_CMYK : depth == 1 ? JCS_GRAYSCALE : JCS_RGB;
        d.dct_method = JDCT_ISLOW;      // the same on every machine
        d.scale_num = (unsigned)eighths;
        d.scale_denom = 8;
        jpeg_start_decompress(&d);
        decode_rows(pixels, line, depth, turn_of(row->orientation, jpeg_size(row, eighths)));
        return jpeg_finish_decompress(&d);
    }
};
#else
struct JpegDecoder {
    static constexpr bool there = false;
    bool decodes;
    void open() { decodes = false; }
    void close() {}
    bool decode(const unsigned char *, const JpegRow *, long long, int, unsigned char *,
                unsigned char *, char *) const
    {
        return decodes;
    }
};
#endif

// JpegWorker: memory of a thread for an image.
struct JpegWorker {
    unsigned char *pixels, *row;    // a decoded image, turned; a row of it before that
    unsigned char *result;          // an image of the input's size
    float *line, *weights;          // a row that combines some; the weights of pixels, by result
    int *first, *count;             // which pixels a result combines
    JpegDecoder *decoder;
    char fault[JPEG_MESSAGE];       // of a damaged sample: the file, its number, the reason
};

// Decodes sample `at` to pixels [height, width, depth] in the worker's memory, turned, reduced to
// `eighths` eighths.  They are the only sample of *out, as if an NPY file had them.  Returns false,
// with the worker's fault, if it is damaged.
static inline bool decode_jpeg(const DataArray *a, long long at, int eighths, JpegWorker *w,
                               DataArray *out)
{
    char why[JPEG_MESSAGE];
    const JpegRow *row = &a->jpegs->rows[at];
    const JpegSize size = jpeg_size(row, eighths);
    const long long depth = a->dims[3];
    if (!w->decoder->decode(a->data + row->offset, row, depth, eighths, w->pixels, w->row, why)) {
        snprintf(w->fault, JPEG_MESSAGE, "%.100s: sample %lld: %.120s", a->jpegs->path, at, why);
        return false;
    }
    *out = {w->pixels, SAFE_U8, 4, {1, size.height, size.width, depth, 1, 1, 1, 1},
            (size_t)(size.height * size.width * depth), false};
    return true;
}

// ---- resizing

// JpegAxis: the part of a side that results cover: `length` pixels of `source`, from `from` on.
struct JpegAxis {
    double from, length;
    long long source, results;
};

// Sets the weights of the pixels that result i combines, and the first one.  Returns their number.
// The filter is bilinear, and wider where an image is reduced, as Pillow's.
static inline int weigh_pixels(const JpegAxis *axis, long long i, int *first, float *weights)
{
    const double step = axis->length / (double)axis->results, reach = step > 1 ? step : 1;
    const double middle = axis->from + ((double)i + 0.5) * step;
    const long long begin = llround(middle - reach), end = llround(middle + reach);
    const long long low = begin > 0 ? begin : 0, high = end < axis->source ? end : axis->source;
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (long long k = low; k < high; k++) {
            const double share = 1 - fabs((double)k + 0.5 - middle) / reach;
            if (pass) weights[k - low] = share > 0 ? (float)(share / sum) : 0.0f;
            else if (share > 0) sum += share;
        }
    *first = (int)low;
    return (int)(high - low);
}

// Adds a row of numbers, times a weight, to a line.
static inline void add_numbers(float *__restrict__ line, const unsigned char *__restrict__ row,
                               long long count, float weight)
{
    for (long long i = 0; i < count; i++) line[i] += weight * (float)row[i];
}

// Combines pixels of a line to the results of a row.
template <int DEPTH>
static inline void combine_pixels(const JpegWorker *w, long long width, long long most,
                                  unsigned char *to)
{
    for (long long x = 0; x < width; x++, to += DEPTH) {
        const float *from = w->line + (long long)w->first[x] * DEPTH;
        const float *weights = w->weights + x * most;
        float sum[DEPTH] = {};
        for (int k = 0; k < w->count[x]; k++)
            for (int c = 0; c < DEPTH; c++) sum[c] += weights[k] * *from++;
        for (int c = 0; c < DEPTH; c++)
            to[c] = (unsigned char)(sum[c] >= 255 ? 255 : sum[c] + 0.5f);
    }
}

// Replaces decoded pixels by an image of height x width: the largest part in their middle with its
// proportions, resized.  This is torchvision's Resize to the shorter side, then CenterCrop.
static inline void cover_size(DataArray *a, long long height, long long width, JpegWorker *w)
{
    JpegAxis y = {0, (double)a->dims[1], a->dims[1], height};
    JpegAxis x = {0, (double)a->dims[2], a->dims[2], width};
    if (y.source * width > x.source * height)
        y.length = x.length * (double)height / (double)width;
    else x.length = y.length * (double)width / (double)height;
    y.from = ((double)y.source - y.length) / 2;
    x.from = ((double)x.source - x.length) / 2;
    const long long depth = a->dims[3], most = most_weights(x.source, width);
    const long long numbers = x.source * depth;
    float *shares = w->weights + width * most;
    unsigned char *to = w->result;
    for (long long i = 0; i < width; i++)
        w->count[i] = weigh_pixels(&x, i, &w->first[i], w->weights + i * most);
    const long long last = width - 1;
    const long long low = w->first[0] * depth, high = (w->first[last] + w->count[last]) * depth;
    for (long long i = 0; i < height; i++, to += width * depth) {
        int first, count = weigh_pixels(&y, i, &first, shares);
        memset(w->line + low, 0, (size_t)(high - low) * sizeof *w->line);
        for (int k = 0; k < count; k++)
            add_numbers(w->line + low, a->data + (first + k) * numbers + low, high - low,
                        shares[k]);
        if (depth == 1) combine_pixels<1>(w, width, most, to);
        else combine_pixels<3>(w, width, most, to);
    }
    *a = {w->result, SAFE_U8, 4, {1, height, width, depth, 1, 1, 1, 1},
          (size_t)(height * width * depth), false};
}

// ---- the file

// Describes the files as images of the input's size, which reading makes of them.
static inline bool read_jpegs(const char *path, const FileBytes *file, const NetTensor *want,
                              DataArray *a)
{
    JpegHead head;
    if (file->size < sizeof head) return complain("%s: ends in its head", path);
    memcpy(&head, file->bytes, sizeof head);
    const JpegRow *rows = (const JpegRow *)(file->bytes + sizeof head);
    if (head.version != JPEGS_VERSION || head.row_bytes != sizeof *rows)
        return complain("%s: wanted version %d of a file of JPEG files, found %u", path,
                        JPEGS_VERSION, head.version);
    if (head.bytes != file->size)
        return complain("%s: wanted %llu bytes, as its head says, found %zu", path,
                        (unsigned long long)head.bytes, file->size);
    if (head.count > (file->size - sizeof head) / sizeof *rows ||
        jpegs_sum(rows, head.count) != head.sum)
        return complain("%s: its index is damaged", path);
    for (uint64_t i = 0; i < head.count; i++)
        if (!is_jpeg_row(&rows[i], head.bytes))
            return complain("%s: sample %llu: its row of the index is invalid", path,
                            (unsigned long long)i);
    if (want->rank != 4 || want->classes || (want->shape[3] != 1 && want->shape[3] != 3))
        return complain("%s: holds JPEG files; wanted an image of 1 or 3 channels, and input %s "
                        "is none", path, want->name);
    if (!JpegDecoder::there)
        return complain("%s: holds JPEG files, which this program can't decode: compile it with "
                        "-DCNNC_JPEG, and link it with -ljpeg", path);
    JpegFiles *files = (JpegFiles *)take_memory(sizeof *files);
    *files = {path, rows};
    *a = {file->bytes, SAFE_U8, 4,
          {(long long)head.count, want->shape[1], want->shape[2], want->shape[3], 1, 1, 1, 1},
          0, false, files};
    add_jpeg_room(a);
    return true;
}

// ---- for the reader

// Takes a thread's memory for the largest image that any file's index states.  Returns NULL if no
// file has an index.
static inline JpegWorker *take_jpeg_room(bool whole)
{
    const JpegRoom *room = &jpeg_room;
    if (!room->pixels) return NULL;
    JpegWorker *w = (JpegWorker *)take_memory(sizeof *w);
    w->pixels = (unsigned char *)take_memory(whole ? room->whole : room->pixels);
    w->row = (unsigned char *)take_memory(4 * room->side);
    w->result = (unsigned char *)take_memory(room->result);
    w->line = (float *)take_memory(3 * room->side * sizeof *w->line);
    w->weights = (float *)take_memory(room->weights * sizeof *w->weights);
    w->first = (int *)take_memory(room->width * sizeof *w->first);
    w->count = (int *)take_memory(room->width * sizeof *w->count);
    w->decoder = (JpegDecoder *)take_memory(sizeof *w->decoder);
    w->decoder->open();
    return w;
}

static inline void leave_jpeg_room(JpegWorker *w)
{
    if (w) w->decoder->close();
}
