// usage: fuzz_images [--seed S] [--first K] [--count N]
//
// Random files for the packer's readers of float images, changed from sound
// ones: NPY, PFM and TIFF of both orders of bytes.  A reader refuses with a
// message, or all numbers of its image are finite and inside of it.  A file is
// a block of the heap, so that AddressSanitizer, with which this program is
// built, knows where it ends.
//
// Exits 1, or as the sanitizer does, where a reader does anything else.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../runtime/pack/pack.h"
#include "fuzz.h"

enum { HEIGHT = 6, WIDTH = 5, STRIP_ROWS = 4 };

// ---- sound files ------------------------------------------------------------

static Corpus corpus;

// Returns the place of a file of the corpus.
static Text *new_text(void)
{
    static Text texts[16];
    corpus.texts = texts;
    return &texts[corpus.count++];
}

static void put(Text *text, uint64_t value, size_t width, bool big)
{
    char bytes[8];
    for (size_t i = 0; i < width; i++)
        bytes[big ? width - 1 - i : i] = (char)(value >> 8 * i & 255);
    text_append(text, bytes, width);
}

// Appends numbers 1.5.
static void put_numbers(Text *text, size_t count, bool big)
{
    while (count-- > 0) put(text, 0x3FC00000, 4, big);
}

static void add_npy(const char *shape, size_t count, unsigned version)
{
    Text *text = new_text();
    char header[256];
    int length = snprintf(header, sizeof header, "{'descr': '<f4', "
                          "'fortran_order': False, 'shape': %s, }\n", shape);
    text_append(text, "\x93NUMPY", 6);
    put(text, version, 2, false);
    put(text, (uint64_t)length, version == 1 ? 2 : 4, false);
    text_append(text, header, (size_t)length);
    put_numbers(text, count, false);
}

static void add_pfm(const char *head, size_t count, bool big)
{
    Text *text = new_text();
    text_append(text, head, strlen(head));
    put_numbers(text, count, big);
}

// Two strips follow the directory and the arrays of their places.
static void add_tiff(unsigned channels, bool big)
{
    Text *text = new_text();
    enum { FIELDS = 10, ARRAYS = 8 + 2 + 12 * FIELDS + 4, DATA = ARRAYS + 16 };
    const unsigned row = 4 * WIDTH * channels;
    const unsigned field[FIELDS][4] = {
        { 256, 3, 1, WIDTH }, { 257, 3, 1, HEIGHT }, { 258, 3, 1, 32 },
        { 259, 3, 1, 1 }, { 273, 4, 2, ARRAYS }, { 274, 3, 1, 6 },
        { 277, 3, 1, channels }, { 278, 3, 1, STRIP_ROWS },
        { 279, 4, 2, ARRAYS + 8 }, { 339, 3, 1, 3 },
    };
    text_append(text, big ? "MM" : "II", 2);
    put(text, 42, 2, big);
    put(text, 8, 4, big);
    put(text, FIELDS, 2, big);
    for (int i = 0; i < FIELDS; i++) {
        size_t width = field[i][1] == 3 ? 2 : 4;
        put(text, field[i][0], 2, big);
        put(text, field[i][1], 2, big);
        put(text, field[i][2], 4, big);
        put(text, field[i][3], width, big);
        put(text, 0, 4 - width, big);
    }
    put(text, 0, 4, big);
    put(text, DATA, 4, big);
    put(text, DATA + STRIP_ROWS * row, 4, big);
    put(text, STRIP_ROWS * row, 4, big);
    put(text, (HEIGHT - STRIP_ROWS) * row, 4, big);
    put_numbers(text, (size_t)HEIGHT * WIDTH * channels, big);
}

static void add_files(void)
{
    static const char *words[] = { "0", "'descr'", "4294967296", "shape",
                                   "1e99", "True" };
    add_npy("(6, 5)", 30, 1);
    add_npy("(6, 5, 2)", 60, 2);
    add_pfm("Pf\n5 6\n-1.0\n", 30, false);
    add_pfm("PF\n5 6\n2.5\n", 90, true);
    add_tiff(1, false);
    add_tiff(3, true);
    corpus.words = words;
    corpus.word_count = sizeof words / sizeof *words;
}

// ---- one input --------------------------------------------------------------

// Overwrites bytes, most often of the head.  The places of a TIFF file stay.
static void flip_bytes(Random *r, Text *text)
{
    static const uint64_t numbers[] = { 0, 1, 255, 1u << 31, UINT32_MAX };
    size_t length = text->length;
    for (size_t i = 1 + random_below(r, 4); i > 0 && length > 4; i--) {
        size_t near = random_below(r, 4) > 0 && length > 200 ? 200 : length;
        size_t at = random_below(r, near - 4);
        uint64_t number = numbers[random_below(r, 5)];
        if (random_below(r, 2) == 0) memcpy(text->bytes + at, &number,
                                            random_below(r, 2) ? 4 : 2);
        else text->bytes[at] ^= (char)(1 << random_below(r, 8));
    }
    if (random_below(r, 8) == 0) text->length = random_below(r, length);
}

// False where a reader gave neither numbers nor a message.
static bool run_input(const Text *text, uint64_t *read)
{
    char message[MESSAGE_SIZE] = "";
    Bytes file = { malloc(text->length + (text->length == 0)), text->length };
    Image image;
    if (file.at == NULL) exit(3);
    memcpy(file.at, text->bytes, text->length);
    bool done = decode(&file, F32_SAMPLES, &image, message);
    done = done && turn(&image, image.orientation);
    const float *number = image.pixels;
    size_t count = done ? (size_t)image.height * (size_t)image.width *
                              (size_t)image.channels : 0;
    bool good = done ? count > 0 : message[0] != '\0' && number == NULL;
    for (size_t i = 0; i < count; i++) good = good && isfinite(number[i]);
    *read += done;
    free(image.pixels);
    free(file.at);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, first = 0, count = 20000, read = 0, done = 0;
    Text text = { NULL, 0, 0 };
    bool good = true;
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--seed")) seed = number;
        if (!strcmp(argv[i], "--first")) first = number;
        if (!strcmp(argv[i], "--count")) count = number;
    }
    add_files();
    for (; good && done < count; done++) {
        Random r = random_of(seed, first + done);
        if (random_below(&r, 3) == 0) {
            mutate(&corpus, &r, &text);
        } else {
            const Text *from = &corpus.texts[random_below(&r, corpus.count)];
            text.length = 0;
            text_append(&text, from->bytes, from->length);
            flip_bytes(&r, &text);
        }
        good = run_input(&text, &read);
    }
    printf("%llu files of seed %llu, %llu read, %s\n", (unsigned long long)done,
           (unsigned long long)seed, (unsigned long long)read,
           good ? "the others refused" : "the last one answered wrongly");
    free(text.bytes);
    return !good || read == 0;
}
