// Decodes files to pixels, with libjpeg and libpng if the build found them.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "floats.h"

#ifdef HAVE_JPEG
#include <jpeglib.h>
#include <jerror.h>
#endif
#ifdef HAVE_PNG
#include <png.h>
#endif

// More pixels than any photograph; a broken header may state a larger size.
enum { MOST_PIXELS = 1 << 28 };

static bool fail(char message[MESSAGE_SIZE], const char *text)
{
    snprintf(message, MESSAGE_SIZE, "%s", text);
    return false;
}

bool is_accepted_size(uint64_t height, uint64_t width,
                      char message[MESSAGE_SIZE])
{
    if (height > 0 && width > 0 && height <= MOST_PIXELS / width) return true;
    snprintf(message, MESSAGE_SIZE, "states a size of %llu x %llu pixels; "
             "1 to %d are accepted", (unsigned long long)height,
             (unsigned long long)width, MOST_PIXELS);
    return false;
}

bool make_room(Image *image, uint64_t height, uint64_t width, size_t samples,
               char message[MESSAGE_SIZE])
{
    if (!is_accepted_size(height, width, message)) return false;
    image->height = (int)height;
    image->width = (int)width;
    image->pixels =
        malloc((size_t)height * (size_t)width * (samples << image->type));
    return image->pixels != NULL || fail(message, "there is no memory for it");
}

// ---- JPEG -------------------------------------------------------------------

#ifdef HAVE_JPEG
// State for libjpeg, which reports errors through it and returns by a jump.
typedef struct Jpeg {
    struct jpeg_error_mgr         errors;
    struct jpeg_decompress_struct decoder;
    jmp_buf                       back;
    char                         *message;
} Jpeg;

static void jpeg_fault(j_common_ptr common)
{
    Jpeg *jpeg = common->client_data;
    char text[JMSG_LENGTH_MAX];
    common->err->format_message(common, text);
    snprintf(jpeg->message, MESSAGE_SIZE, "%s", text);
    longjmp(jpeg->back, 1);
}

// libjpeg invents pixels after most of its warnings, so they count as errors.
// Two are harmless: bytes between two markers, which many cameras write, and a
// JFIF version that libjpeg does not know.
static void jpeg_warning(j_common_ptr common, int level)
{
    int code = common->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_JFIF_MAJOR)
        jpeg_fault(common);
}

// Returns the orientation of the first EXIF marker, or otherwise of XMP.
static int jpeg_orientation(const struct jpeg_decompress_struct *d)
{
    static const char exif[] = "Exif\0";
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
    int first = NO_ORIENTATION, other = NO_ORIENTATION;
    bool seen = false;

    for (jpeg_saved_marker_ptr m = d->marker_list; m != NULL; m = m->next) {
        if (m->data_length >= sizeof exif && !seen &&
            memcmp(m->data, exif, sizeof exif - 1) == 0) {
            first = exif_orientation(m->data + sizeof exif,
                                     m->data_length - sizeof exif);
            seen = true;
        }
        if (m->data_length > sizeof xmp &&
            memcmp(m->data, xmp, sizeof xmp) == 0)
            other = xmp_orientation((const char *)m->data, m->data_length);
    }
    return first != NO_ORIENTATION ? first : other;
}

// Returns a * b / 255, rounded.
static unsigned multiply_255(unsigned a, unsigned b)
{
    unsigned product = a * b + 128;
    return (product + (product >> 8)) >> 8;
}

// Makes 16 bits of samples of 8, in place.
static void widen(void *pixels, size_t count)
{
    const uint8_t *from = pixels;
    uint16_t *to = pixels;
    while (count-- > 0) to[count] = (uint16_t)(from[count] * 257);
}

// Converts four inks in place to RGB.  They are inverted, as Adobe's programs
// write.
static void inks_to_rgb(uint8_t *pixels, size_t count)
{
    const uint8_t *from = pixels;
    for (uint8_t *to = pixels; count > 0; count--, to += RGB, from += 4) {
        // libjpeg has written every row.
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
        unsigned black = from[3];
        for (int c = 0; c < RGB; c++)
            to[c] = (uint8_t)(black - multiply_255(255u - from[c], black));
    }
}

static bool read_jpeg_rows(Jpeg *jpeg, Image *image)
{
    struct jpeg_decompress_struct *d = &jpeg->decoder;

    jpeg_save_markers(d, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(d, TRUE);
    bool inks = d->num_components == 4;
    if (d->num_components != 1 && d->num_components != 3 && !inks)
        return fail(jpeg->message, "has other than 1, 3 or 4 components");
    image->orientation = jpeg_orientation(d);
    d->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    d->dct_method = JDCT_ISLOW;     // the same on every platform
    jpeg_start_decompress(d);
    if (!make_room(image, d->output_height, d->output_width, inks ? 4 : RGB,
                   jpeg->message))
        return false;
    size_t line = (size_t)d->output_width * (size_t)d->output_components;
    while (d->output_scanline < d->output_height) {
        JSAMPROW row =
            (uint8_t *)image->pixels + (size_t)d->output_scanline * line;
        jpeg_read_scanlines(d, &row, 1);
    }
    size_t pixels = (size_t)d->output_height * (size_t)d->output_width;
    if (inks) inks_to_rgb(image->pixels, pixels);
    if (image->type == U16_SAMPLES) widen(image->pixels, pixels * RGB);
    jpeg_finish_decompress(d);
    return true;
}

static bool decode_jpeg(const Bytes *file, Image *image,
                        char message[MESSAGE_SIZE])
{
    Jpeg jpeg = { .message = message };

    jpeg.decoder.err = jpeg_std_error(&jpeg.errors);
    jpeg.errors.error_exit = jpeg_fault;
    jpeg.errors.emit_message = jpeg_warning;
    jpeg.decoder.client_data = &jpeg;
    if (setjmp(jpeg.back) == 0) {
        jpeg_create_decompress(&jpeg.decoder);
        // It clears all fields except err and client_data.
        jpeg_mem_src(&jpeg.decoder, file->at, (unsigned long)file->count);
        bool done = read_jpeg_rows(&jpeg, image);
        jpeg_destroy_decompress(&jpeg.decoder);
        return done;
    }
    jpeg_destroy_decompress(&jpeg.decoder);
    return false;
}
#else
static bool decode_jpeg(const Bytes *file, Image *image,
                        char message[MESSAGE_SIZE])
{
    (void)file;
    (void)image;
    return fail(message, "is a JPEG file, and this program was built without "
                "libjpeg");
}
#endif

// ---- PNG --------------------------------------------------------------------

#ifdef HAVE_PNG
// State for libpng, which also returns from an error by a jump.
typedef struct Png {
    png_structp reader;
    png_infop   info;
    png_bytepp  rows;
    const Bytes *file;
    size_t      read;           // bytes of the file so far
    bool        is_mask;
    jmp_buf     back;
    char       *message;
} Png;

static _Noreturn void png_fault(png_structp reader, png_const_charp text)
{
    Png *png = png_get_error_ptr(reader);
    snprintf(png->message, MESSAGE_SIZE, "%s", text);
    longjmp(png->back, 1);
}

// Ignores warnings of libpng about odd chunks, which change no pixel.
static void png_note(png_structp reader, png_const_charp text)
{
    (void)reader;
    (void)text;
}

static void png_bytes(png_structp reader, png_bytep to, size_t count)
{
    Png *png = png_get_io_ptr(reader);
    if (count > png->file->count - png->read)
        png_error(reader, "ends before its image does");
    memcpy(to, png->file->at + png->read, count);
    png->read += count;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// Returns the orientation of EXIF that ImageMagick stored as text: three lines,
// then hexadecimal digits, of which the first six bytes are those of JPEG's
// marker.
static int profile_orientation(const char *text, size_t length)
{
    uint8_t *bytes = malloc(length / 2 + 1);
    size_t digits = 0, lines = 0;

    if (bytes == NULL) return NO_ORIENTATION;
    for (size_t i = 0; i < length; i++) {
        int digit = lines < 3 ? -1 : hex_digit(text[i]);
        if (text[i] == '\n') lines++;
        if (digit < 0) continue;
        bytes[digits / 2] = (uint8_t)(
            digits % 2 == 0 ? digit << 4 : bytes[digits / 2] | digit);
        digits++;
    }
    size_t count = digits / 2;
    size_t start = count >= 6 && memcmp(bytes, "Exif\0", 6) == 0 ? 6 : 0;
    int orientation = exif_orientation(bytes + start, count - start);
    free(bytes);
    return orientation;
}

static int png_orientation(const Png *png)
{
    png_bytep exif;
    png_uint_32 bytes;
    png_textp text;
    int count = 0, found[2] = { NO_ORIENTATION, NO_ORIENTATION };

    if (png_get_eXIf_1(png->reader, png->info, &bytes, &exif) != 0)
        found[0] = exif_orientation(exif, bytes);
    png_get_text(png->reader, png->info, &text, &count);
    for (int i = 0; i < count; i++) {
        size_t length = text[i].compression > 0 ? text[i].itxt_length
                                                : text[i].text_length;
        if (found[0] == NO_ORIENTATION &&
            !strcmp(text[i].key, "Raw profile type exif"))
            found[0] = profile_orientation(text[i].text, length);
        if (!strcmp(text[i].key, "XML:com.adobe.xmp"))
            found[1] = xmp_orientation(text[i].text, length);
    }
    return found[0] != NO_ORIENTATION ? found[0] : found[1];
}

// Returns a sample of `bits` bits that is composed over white.
static unsigned compose(uint64_t sample, uint64_t alpha, int bits)
{
    uint64_t white = (1U << bits) - 1, half = 1U << (bits - 1);
    uint64_t sum = sample * alpha + white * (white - alpha) + half;
    return (unsigned)((sum + (sum >> bits)) >> bits);
}

// Composes pixels of four samples over white, in place and rounded as by
// Pillow's alpha_composite.
static void over_white(void *pixels, size_t count, int wide)
{
    uint8_t *bytes = pixels;
    uint16_t *words = pixels;
    for (size_t from = 0, to = 0; from < 4 * count; from += 4)
        for (size_t c = 0; c < RGB; c++, to++)
            if (wide)
                words[to] = (uint16_t)compose(words[from + c], words[from + 3],
                                              16);
            else
                bytes[to] = (uint8_t)compose(bytes[from + c], bytes[from + 3],
                                             8);
}

// Asks libpng for red, green and blue, with alpha if the file has any.
static void ask_for_colours(png_structp r, int wide)
{
    png_set_expand(r);              // palettes, small samples, transparency
    if (wide) png_set_expand_16(r);
    else png_set_scale_16(r);       // rounds v / 257
    png_set_gray_to_rgb(r);
}

// Asks libpng for the numbers of the file's pixels.
static bool ask_for_numbers(Png *png, Image *image)
{
    int type = png_get_color_type(png->reader, png->info);
    image->type = png_get_bit_depth(png->reader, png->info) == 16;
    png_set_packing(png->reader);
    return type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_PALETTE ||
           fail(png->message, "has colours: wanted a mask of palette indices "
                "or of gray levels");
}

static bool read_png_rows(Png *png, Image *image)
{
    static const uint16_t one = 1;
    png_structp r = png->reader;

    png_set_crc_action(r, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_read_info(r, png->info);
    if (!png->is_mask) ask_for_colours(r, image->type);
    else if (!ask_for_numbers(png, image)) return false;
    // PNG stores the higher byte first.
    if (image->type && *(const uint8_t *)&one == 1) png_set_swap(r);
    png_set_interlace_handling(r);
    png_read_update_info(r, png->info);
    size_t channels = png_get_channels(r, png->info);
    size_t height = png_get_image_height(r, png->info);
    size_t width = png_get_image_width(r, png->info);
    if (!make_room(image, height, width, channels, png->message)) return false;
    png->rows = malloc(height * sizeof *png->rows);
    if (png->rows == NULL)
        return fail(png->message, "there is no memory for it");
    for (size_t y = 0; y < height; y++)
        png->rows[y] = (uint8_t *)image->pixels +
                       y * width * (channels << image->type);
    png_read_image(r, png->rows);
    png_read_end(r, png->info);
    image->orientation = png_orientation(png);
    if (channels == 4) over_white(image->pixels, height * width, image->type);
    image->channels = channels == 4 ? RGB : (int)channels;
    return true;
}

static bool decode_png(const Bytes *file, bool is_mask, Image *image,
                       char message[MESSAGE_SIZE])
{
    Png png = { .message = message, .file = file, .is_mask = is_mask };
    volatile bool done = false;

    png.reader = png_create_read_struct(PNG_LIBPNG_VER_STRING, &png, png_fault,
                                        png_note);
    if (png.reader == NULL) return fail(message, "there is no memory for it");
    if (setjmp(png.back) == 0) {
        png.info = png_create_info_struct(png.reader);
        png_set_read_fn(png.reader, &png, png_bytes);
        done = png.info != NULL ? read_png_rows(&png, image)
                                : fail(message, "there is no memory for it");
    }
    png_destroy_read_struct(&png.reader, &png.info, NULL);
    free(png.rows);
    return done;
}
#else
static bool decode_png(const Bytes *file, bool is_mask, Image *image,
                       char message[MESSAGE_SIZE])
{
    (void)file;
    (void)is_mask;
    (void)image;
    return fail(message, "is a PNG file, and this program was built without "
                "libpng");
}
#endif

// ---- any format -------------------------------------------------------------

static const uint8_t png_start[] = { 0x89, 'P', 'N', 'G' };

static bool begins_with(const Bytes *file, const uint8_t *start, size_t count)
{
    return file->count >= count && memcmp(file->at, start, count) == 0;
}

static bool is_png(const Bytes *file)
{
    return begins_with(file, png_start, sizeof png_start);
}

int png_depth(const Bytes *file)
{
    // The first chunk, IHDR, begins at byte 8; its data, after 8 more bytes,
    // are width, height, depth.
    return is_png(file) && file->count > 24 ? file->at[24] : 0;
}

bool is_jpeg(const Bytes *file)
{
    static const uint8_t start[] = { 0xff, 0xd8, 0xff };
    return begins_with(file, start, sizeof start);
}

static bool decode_any(const Bytes *file, Image *image,
                       char message[MESSAGE_SIZE])
{
    bool wants_floats = image->type == F32_SAMPLES;
    if (is_float_image(file))
        return wants_floats
               ? read_float_image(file, image, message)
               : fail(message, "is a float image: wanted JPEG or PNG, because "
                      "the first image of the set is not float");
    if (wants_floats)
        return fail(message, is_jpeg(file) || is_png(file)
                    ? "is JPEG or PNG: wanted NPY, PFM or TIFF, because the "
                      "first image of the set is float"
                    : "is neither NPY, PFM nor TIFF");
    if (is_jpeg(file)) return decode_jpeg(file, image, message);
    if (is_png(file)) return decode_png(file, false, image, message);
    return fail(message, "is neither JPEG nor PNG, and no float image");
}

// Returns `done`, or frees the pixels of an image that is not complete.
static bool keep(Image *image, bool done)
{
    if (done) return true;
    free(image->pixels);
    image->pixels = NULL;
    return false;
}

bool decode(const Bytes *file, int type, Image *image,
            char message[MESSAGE_SIZE])
{
    *image = (Image){ .channels = RGB, .type = type,
                      .orientation = NO_ORIENTATION };
    return keep(image, decode_any(file, image, message));
}

bool decode_mask(const Bytes *file, Image *mask, char message[MESSAGE_SIZE])
{
    *mask = (Image){ .channels = 1, .orientation = NO_ORIENTATION };
    return keep(mask, is_png(file)
                ? decode_png(file, true, mask, message)
                : fail(message, "is not PNG, as a mask is"));
}
