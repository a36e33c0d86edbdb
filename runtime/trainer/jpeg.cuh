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
#include "resize.cuh"

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

// Returns the size of a file's pixels, turned, if libjpeg reduces it to `eighths` eighths.
static inline MapSize jpeg_size(const JpegRow *row, int eighths)
{
    const long long height = ((long long)row->height * eighths + 7) / 8;
    const long long width = ((long long)row->width * eighths + 7) / 8;
    return row->orientation > 4 ? MapSize{width, height} : MapSize{height, width};
}

// True if turning puts the first row, or the first column, of the turned image last.
static inline bool turns_up(uint32_t orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}

static inline bool turns_left(uint32_t orientation)
{
    return orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
}

// Returns the least scale at which a part of an image covers this size: 1, 2, 4 or 8 eighths, as
// libjpeg has vector code.
static inline int jpeg_eighths(double height, double width, MapSize size)
{
    int eighths = 1;
    for (; eighths < 8; eighths *= 2)
        if (height * eighths >= (double)(8 * size.height) &&
            width * eighths >= (double)(8 * size.width))
            break;
    return eighths;
}

// JpegRoom: bytes of memory that a thread needs for any of the files: for an image that is turned,
// a row of inks, a result.
struct JpegRoom {
    size_t turned, row, result;
};

// Index 1: if any part of an image is resized; 0: the part in its middle.
static JpegRoom jpeg_rooms[2] = {};

// Returns the most pixels of a file that are resized.  A part of an image may have all of them.
static inline MapSize most_jpeg_pixels(const JpegRow *row, MapSize size, bool any_part)
{
    const MapSize all = jpeg_size(row, 8);
    const ImagePart part = middle_part(all, size);
    return any_part ? all : jpeg_size(row, jpeg_eighths(part.height, part.width, size));
}

static inline void add_jpeg_room(const DataArray *a)
{
    const MapSize size = {a->dims[1], a->dims[2]};
    const long long depth = a->dims[3];
    auto keep = [](size_t *most, long long value) {
        if ((size_t)value > *most) *most = (size_t)value;
    };
    for (long long i = 0; i < 2 * a->dims[0]; i++) {
        JpegRoom *room = &jpeg_rooms[i % 2];
        const JpegRow *row = &a->jpegs->rows[i / 2];
        const MapSize most = most_jpeg_pixels(row, size, i % 2);
        if (row->orientation != 1) keep(&room->turned, most.height * most.width * depth);
        keep(&room->row, 4 * (most.height > most.width ? most.height : most.width));
        keep(&room->result, size.height * size.width * depth);
    }
}

// Adds the room that resizing of these files needs.
static inline void add_jpeg_resize_room(const DataArray *a, bool any_part, ResizeRoom *room)
{
    const MapSize size = {a->dims[1], a->dims[2]};
    for (long long i = 0; i < a->dims[0]; i++)
        add_resize_room(room, most_jpeg_pixels(&a->jpegs->rows[i], size, any_part), size,
                        a->dims[3]);
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

    static JpegTurn turn_of(uint32_t orientation, MapSize turned)
    {
        const uint32_t o = orientation;
        const bool up = turns_up(o), left = turns_left(o);
        const long long down = up ? -turned.width : turned.width, right = left ? -1 : 1;
        return {(up ? (turned.height - 1) * turned.width : 0) + (left ? turned.width - 1 : 0),
                o > 4 ? down : right, o > 4 ? right : down};
    }

    // Decodes the next line to `to`, pixels of `depth` channels.  `row` has room for inks.
    void decode_line(long long depth, unsigned char *row, unsigned char *to)
    {
        const bool inks = d.output_components != depth;
        JSAMPROW into = inks ? row : to;
        jpeg_read_scanlines(&d, &into, 1);
        for (JDIMENSION x = 0; inks && x < d.output_width; x++, row += 4, to += depth)
            inks_to_pixel(row, depth, to);
    }

    // Decodes all lines, and puts each pixel into its place.
    void decode_turned(unsigned char *pixels, unsigned char *line, unsigned char *row,
                       long long depth, const JpegTurn &turn)
    {
        while (d.output_scanline < d.output_height) {
            unsigned char *to = pixels + (turn.corner + d.output_scanline * turn.across) * depth;
            const unsigned char *from = line;
            decode_line(depth, row, line);
            for (JDIMENSION x = 0; x < d.output_width; x++, to += turn.along * depth)
                for (long long c = 0; c < depth; c++) to[c] = *from++;
        }
    }

# if defined LIBJPEG_TURBO_VERSION_NUMBER && LIBJPEG_TURBO_VERSION_NUMBER >= 2001000
    // Leaves out columns that are not left .. right - 1, and returns the first one of the lines
    // that follow.  Pixels next to a column that is left out differ, so some columns are to spare.
    long long leave_out(long long left, long long right)
    {
        const long long spare = 8, width = d.output_width;
        const long long end = right + spare < width ? right + spare : width;
        JDIMENSION first = (JDIMENSION)(left > spare ? left - spare : 0);
        JDIMENSION count = (JDIMENSION)end - first;
        if (first > 0 || end < width) jpeg_crop_scanline(&d, &first, &count);
        return first;
    }

    // Decodes line number y, as decode_line does.  Lines before it are left out.
    void decode_line_at(long long y, long long depth, unsigned char *row, unsigned char *to)
    {
        if (y > d.output_scanline) jpeg_skip_scanlines(&d, (JDIMENSION)y - d.output_scanline);
        decode_line(depth, row, to);
    }
# else
    long long leave_out(long long, long long) { return 0; }

    void decode_line_at(long long y, long long depth, unsigned char *row, unsigned char *to)
    {
        while (d.output_scanline <= y) decode_line(depth, row, to);
    }
# endif

    // Decodes a file of the index to pixels of `depth` channels, which `use` reads line by line.
    // Returns false, and writes the reason, if the file is damaged.
    template <class Use>
    bool decode(const unsigned char *file, const JpegRow *row, long long depth, int eighths,
                char *said, Use use)
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
        use(*this);
        if (d.output_scanline == d.output_height) return jpeg_finish_decompress(&d);
        jpeg_abort_decompress(&d);
        return true;
    }
};
#else
struct JpegDecoder {
    static constexpr bool there = false;
    bool decodes;
    void open() { decodes = false; }
    void close() {}
    template <class Use>
    bool decode(const unsigned char *, const JpegRow *, long long, int, char *, Use) const
    {
        return decodes;
    }
};
#endif

// JpegWorker: memory of a thread for an image.
struct JpegWorker {
    unsigned char *turned;          // all pixels of an image that is turned
    unsigned char *line, *row;      // a row of pixels; one of inks
    unsigned char *result;          // an image of the input's size
    JpegDecoder *decoder;
    char fault[JPEG_MESSAGE];       // of a damaged sample: the file, its number, the reason
};

// ---- resizing

// JpegView: a part of an image, turned, in pixels of the whole one.  If it is bounded, no pixel
// outside of it is combined.
struct JpegView {
    ImagePart part;
    bool bounded, flip;
};

// JpegSide: a side of an image, turned: its pixels, and those after libjpeg reduces it.  The last
// of these may have less than a whole share of the pixels.  In a reversed side it is the first one.
struct JpegSide {
    long long pixels, reduced;
    bool reversed;
};

// Returns the axis of results that cover `length` pixels of a side from `from` on.  Sets the
// reduced pixel that the axis calls 0.
static inline ResizeAxis reduced_axis(const JpegSide &side, int eighths, double from, double length,
                                      bool bounded, long long results, long long *origin)
{
    const double scale = eighths / 8.0;
    const double missing = (double)side.reduced - (double)side.pixels * scale;
    const double begin = from * scale + (side.reversed ? missing : 0), end = begin + length * scale;
    const long long last = bounded ? (long long)ceil(end) : side.reduced;
    *origin = bounded ? (long long)floor(begin) : 0;
    return {begin - (double)*origin, length * scale,
            (last < side.reduced ? last : side.reduced) - *origin, results};
}

// Decodes and resizes a part of sample `at`.  The scale is the least one at which libjpeg's pixels
// cover the result.  `write` takes each row of results, in levels of bytes.  Returns false, with
// the worker's fault, if the file is damaged where the part is, or before.
template <class Write>
static inline bool resize_jpeg(const DataArray *a, long long at, const JpegView &v, JpegWorker *w,
                               Resizer *r, Write write)
{
    char why[JPEG_MESSAGE];
    const JpegRow *row = &a->jpegs->rows[at];
    const MapSize size = {a->dims[1], a->dims[2]};
    const long long depth = a->dims[3];
    const int eighths = jpeg_eighths(v.part.height, v.part.width, size);
    const MapSize all = jpeg_size(row, 8), whole = jpeg_size(row, eighths);
    const JpegSide height = {all.height, whole.height, turns_up(row->orientation)};
    const JpegSide width = {all.width, whole.width, turns_left(row->orientation)};
    long long top, left, begin, end;
    const ResizeAxis down = reduced_axis(height, eighths, v.part.down, v.part.height, v.bounded,
                                         size.height, &top);
    const ResizeAxis across = reduced_axis(width, eighths, v.part.right, v.part.width, v.bounded,
                                           size.width, &left);
    weigh_axis(&down, false, &r->down);
    weigh_axis(&across, v.flip, &r->across);
    used_pixels(&r->across, size.width, &begin, &end);
    auto resize = [=](auto &decoder) {
        const unsigned char *pixels = w->turned + (top * whole.width + left) * depth;
        auto turned_row = [=](long long y) { return pixels + y * whole.width * depth; };
        if (row->orientation != 1) {
            decoder.decode_turned(w->turned, w->line, w->row, depth,
                                  decoder.turn_of(row->orientation, whole));
            resize_rows(r, size, SAFE_U8, depth, turned_row, write);
            return;
        }
        const long long first = decoder.leave_out(left + begin, left + end);
        auto next_row = [=, &decoder](long long y) {
            decoder.decode_line_at(top + y, depth, w->row, w->line);
            return w->line + (left - first) * depth;
        };
        resize_rows(r, size, SAFE_U8, depth, next_row, write);
    };
    if (w->decoder->decode(a->data + row->offset, row, depth, eighths, why, resize)) return true;
    snprintf(w->fault, JPEG_MESSAGE, "%.100s: sample %lld: %.120s", a->jpegs->path, at, why);
    return false;
}

// Decodes a part of sample `at` to an image of the input's size in the worker's memory.  It is the
// only sample of *out, as if an NPY file had it.
static inline bool decode_jpeg(const DataArray *a, long long at, const JpegView &v, JpegWorker *w,
                               Resizer *r, DataArray *out)
{
    const long long height = a->dims[1], row = a->dims[2] * a->dims[3];
    *out = {w->result, SAFE_U8, 4, {1, height, a->dims[2], a->dims[3], 1, 1, 1, 1},
            (size_t)(height * row), false};
    // Weights are shares, so a sum exceeds 255 by less than a half.
    return resize_jpeg(a, at, v, w, r, [=](long long y, const float *numbers) {
        unsigned char *to = w->result + y * row;
        for (long long i = 0; i < row; i++) {
            const float above = numbers[i] + 0.5f;      // lround would not be a vector's
            to[i] = (unsigned char)(int)above;
        }
    });
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
static inline JpegWorker *take_jpeg_room(bool any_part)
{
    const JpegRoom *room = &jpeg_rooms[any_part];
    if (!room->result) return NULL;
    JpegWorker *w = (JpegWorker *)take_memory(sizeof *w);
    w->turned = (unsigned char *)take_memory(room->turned);
    w->line = (unsigned char *)take_memory(room->row + 1) + 1;
    w->row = (unsigned char *)take_memory(room->row);
    w->result = (unsigned char *)take_memory(room->result);
    w->decoder = (JpegDecoder *)take_memory(sizeof *w->decoder);
    w->decoder->open();
    return w;
}

static inline void leave_jpeg_room(JpegWorker *w)
{
    if (w) w->decoder->close();
}
