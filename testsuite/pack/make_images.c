// A folder of images to pack: make_images FOLDER N writes N small files of four
// classes, which differ by their pattern alone, under noise: JPEG, and every
// tenth a PNG where HAVE_PNG says that there is libpng.  Sizes, colours and
// proportions vary.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <jpeglib.h>
#ifdef HAVE_PNG
#include <png.h>
#endif

enum { CLASSES = 4, MOST = 96 };
static const char *const classes[CLASSES] = { "board", "disc", "lying",
                                              "upright" };

static uint32_t seed = 1;

static int next_random(int below)
{
    seed = 1664525u * seed + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)below);
}

// True if the pattern is light at a place; one period is a quarter of the side.
static int is_light(int class, int y, int x, int height, int width)
{
    int row = 4 * y / height, column = 4 * x / width;
    double dy = 2.0 * y / height - 1, dx = 2.0 * x / width - 1;
    if (class == 0) return (row + column) % 2;
    if (class == 1) return dy * dy + dx * dx < 0.5;
    return class == 2 ? row % 2 : column % 2;
}

static void draw(uint8_t *pixels, int class, int height, int width)
{
    int colour[2][3];
    for (int c = 0; c < 3; c++) {
        colour[0][c] = next_random(90);
        colour[1][c] = 150 + next_random(90);
    }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                *pixels++ = (uint8_t)(
                    colour[is_light(class, y, x, height, width)][c] +
                    next_random(16));
}

static void write_jpeg(FILE *out, uint8_t *pixels, int height, int width)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;

    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_stdio_dest(&c, out);
    c.image_height = (JDIMENSION)height;
    c.image_width = (JDIMENSION)width;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_start_compress(&c, TRUE);
    for (int y = 0; y < height; y++) {
        JSAMPROW row = pixels + (size_t)y * (size_t)width * 3;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

#ifdef HAVE_PNG
static void write_png(FILE *out, const uint8_t *pixels, int height, int width)
{
    png_image png = { .version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB,
                      .width = (unsigned)width, .height = (unsigned)height };
    if (!png_image_write_to_stdio(&png, out, 0, pixels, 0, NULL)) exit(1);
}
#endif

int main(int argc, char **argv)
{
    static uint8_t pixels[MOST * MOST * 3];
    char path[4096];

    if (argc != 3) return 2;
    for (int k = 0; k < CLASSES; k++) {
        snprintf(path, sizeof path, "%s/%s", argv[1], classes[k]);
        if (mkdir(path, 0777) != 0) return perror(path), 1;
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        int class = i % CLASSES, height = 40 + next_random(MOST - 40);
        int width = 40 + next_random(MOST - 40), is_png = 0;
#ifdef HAVE_PNG
        is_png = i % 10 == 9;
#endif
        snprintf(path, sizeof path, "%s/%s/%03d.%s", argv[1], classes[class],
                 i, is_png ? "png" : "jpg");
        FILE *out = fopen(path, "wb");
        if (out == NULL) return perror(path), 1;
        draw(pixels, class, height, width);
#ifdef HAVE_PNG
        if (is_png) write_png(out, pixels, height, width);
#endif
        if (!is_png) write_jpeg(out, pixels, height, width);
        if (fclose(out) != 0) return perror(path), 1;
    }
    return 0;
}
