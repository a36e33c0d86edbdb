// Files to pixels, through libjpeg and libpng where the build found them.
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pack.h"

#ifdef HAVE_JPEG
#include <jpeglib.h>
#include <jerror.h>
#endif
#ifdef HAVE_PNG
#include <png.h>
#endif

// More than any photograph; what a broken header may claim is more still.
enum { MOST_PIXELS = 1 << 28 };

static bool fail(char message[MESSAGE_SIZE], const char *text)
{
    snprintf(message, MESSAGE_SIZE, "%s", text);
    return false;
}

#if defined HAVE_JPEG || defined HAVE_PNG
// Room for an image of the size that the file says.
static bool make_room(Image *image, uint64_t height, uint64_t width,
                      char message[MESSAGE_SIZE])
{
    if (height == 0 || width == 0 || height > MOST_PIXELS / width) {
        snprintf(message, MESSAGE_SIZE, "says that it has %llu x %llu pixels, "
                 "and 1 to %d are wanted", (unsigned long long)height,
                 (unsigned long long)width, MOST_PIXELS);
        return false;
    }
    *image = (Image){ .height = (int)height, .width = (int)width };
    image->pixels = malloc((size_t)height * (size_t)width * RGB);
    return image->pixels != NULL || fail(message, "there is no memory for it");
}
#endif

// ---- JPEG -------------------------------------------------------------------

#ifdef HAVE_JPEG
// libjpeg reports through these, and leaves a fault by a jump.
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

// What libjpeg goes on after with invented pixels is a fault here; bytes
// between two markers, which many cameras write, are none.
static void jpeg_warning(j_common_ptr common, int level)
{
    if (level < 0 && common->err->msg_code != JWRN_EXTRANEOUS_DATA)
        jpeg_fault(common);
}

static bool read_jpeg_rows(Jpeg *jpeg, Image *image)
{
    struct jpeg_decompress_struct *d = &jpeg->decoder;

    jpeg_read_header(d, TRUE);
    if (d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK)
        return fail(jpeg->message, "has the colours of print (CMYK), and RGB "
                    "or gray is wanted");
    d->out_color_space = JCS_RGB;
    d->dct_method = JDCT_ISLOW;     // the one that is the same everywhere
    jpeg_start_decompress(d);
    if (!make_room(image, d->output_height, d->output_width, jpeg->message))
        return false;
    while (d->output_scanline < d->output_height) {
        JSAMPROW row = image->pixels + (size_t)d->output_scanline *
                                           (size_t)image->width * RGB;
        jpeg_read_scanlines(d, &row, 1);
    }
    jpeg_finish_decompress(d);
    return true;
}

static bool decode_jpeg(FILE *file, Image *image, char message[MESSAGE_SIZE])
{
    Jpeg jpeg = { .message = message };

    jpeg.decoder.err = jpeg_std_error(&jpeg.errors);
    jpeg.errors.error_exit = jpeg_fault;
    jpeg.errors.emit_message = jpeg_warning;
    jpeg.decoder.client_data = &jpeg;
    if (setjmp(jpeg.back) == 0) {
        jpeg_create_decompress(&jpeg.decoder);
        // It clears all but err and client_data.
        jpeg_stdio_src(&jpeg.decoder, file);
        bool done = read_jpeg_rows(&jpeg, image);
        jpeg_destroy_decompress(&jpeg.decoder);
        return done;
    }
    jpeg_destroy_decompress(&jpeg.decoder);
    return false;
}
#else
static bool decode_jpeg(FILE *file, Image *image, char message[MESSAGE_SIZE])
{
    (void)file;
    (void)image;
    return fail(message, "is a JPEG file, and this program was built without "
                "libjpeg");
}
#endif

// ---- PNG --------------------------------------------------------------------

#ifdef HAVE_PNG
static bool decode_png(FILE *file, Image *image, char message[MESSAGE_SIZE])
{
    const png_color white = { 255, 255, 255 };
    png_image png = { .version = PNG_IMAGE_VERSION };

    if (!png_image_begin_read_from_stdio(&png, file))
        return fail(message, png.message);
    png.format = PNG_FORMAT_RGB;
    if (!make_room(image, png.height, png.width, message))
        return png_image_free(&png), false;
    return png_image_finish_read(&png, &white, image->pixels, 0, NULL) != 0 ||
           fail(message, png.message);
}
#else
static bool decode_png(FILE *file, Image *image, char message[MESSAGE_SIZE])
{
    (void)file;
    (void)image;
    return fail(message, "is a PNG file, and this program was built without "
                "libpng");
}
#endif

// ---- either -----------------------------------------------------------------

static bool decode_file(FILE *file, Image *image, char message[MESSAGE_SIZE])
{
    static const unsigned char jpeg[] = { 0xff, 0xd8, 0xff };
    static const unsigned char png[] = { 0x89, 'P', 'N', 'G' };
    unsigned char start[4] = { 0 };
    size_t length = fread(start, 1, sizeof start, file);

    if (length == 0) return fail(message, "is empty");
    rewind(file);
    if (memcmp(start, jpeg, sizeof jpeg) == 0)
        return decode_jpeg(file, image, message);
    if (memcmp(start, png, sizeof png) == 0)
        return decode_png(file, image, message);
    return fail(message, "is neither JPEG nor PNG");
}

bool decode(const char *path, Image *image, char message[MESSAGE_SIZE])
{
    *image = (Image){ .pixels = NULL };
    FILE *file = fopen(path, "rb");
    if (file == NULL) return fail(message, strerror(errno));
    bool done = decode_file(file, image, message);
    fclose(file);
    if (!done) {
        free(image->pixels);
        image->pixels = NULL;
    }
    return done;
}
