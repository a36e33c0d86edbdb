// Keeps JPEG files as they are.  The file images.jpegs has a head, an index
// with a row for each file, and the files.  The place of each is known before
// any is read, so threads can write them in any order.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "pack.h"

enum { HEAD = 64, ROW = 32, VERSION = 1 };
// Places in a row.
enum { AT_OFFSET = 0, AT_BYTES = 8, AT_HEIGHT = 16, AT_WIDTH = 20,
       AT_ORIENTATION = 24 };

typedef struct Keeper {
    const Samples *samples;
    uint8_t       *index;       // the rows
    uint64_t      *offset;      // by item; at the end, the bytes of the file
} Keeper;

static void put_u64(uint8_t *to, uint64_t value)
{
    put_u32(to, (uint32_t)(value & UINT32_MAX));
    put_u32(to + 4, (uint32_t)(value >> 32));
}

static uint64_t get_u64(const uint8_t *from)
{
    uint64_t value = 0;
    for (int byte = 8; byte-- > 0;) value = value << 8 | from[byte];
    return value;
}

Keeper *place_files(const Samples *s)
{
    Keeper *k = grow(NULL, sizeof *k);
    *k = (Keeper){ .samples = s, .index = grow(NULL, s->count * ROW),
                   .offset = grow(NULL, (s->count + 1) * sizeof *k->offset) };
    memset(k->index, 0, s->count * ROW);
    k->offset[0] = HEAD + (uint64_t)s->count * ROW;
    for (size_t i = 0; i < s->count; i++) {
        struct stat status;
        uint64_t bytes = s->items[i].bytes;
        if (bytes == 0) {
            if (stat(s->items[i].path, &status) != 0)
                die(EXIT_FILES, s->items[i].name, strerror(errno));
            bytes = (uint64_t)status.st_size;
        }
        k->offset[i + 1] = k->offset[i] + bytes;
    }
    return k;
}

bool keep_file(Keeper *k, size_t i, bool as_stored, int file, int *error,
               Image *image, char message[MESSAGE_SIZE])
{
    uint8_t *row = k->index + i * ROW;
    uint64_t bytes = k->offset[i + 1] - k->offset[i];
    Bytes content;

    image->pixels = NULL;

    if (!read_item(&k->samples->items[i], &content, message)) return false;
    bool done = is_jpeg(&content);
    if (!done) snprintf(message, MESSAGE_SIZE, "is not JPEG");
    done = done && decode(&content, 0, image, message);
    if (done && content.count != bytes) {
        snprintf(message, MESSAGE_SIZE, "changed while it was read");
        done = false;
    }
    if (done) {
        bool turned = !as_stored && image->orientation >= 1 &&
                      image->orientation <= 8;
        put_u64(row + AT_OFFSET, k->offset[i]);
        put_u64(row + AT_BYTES, bytes);
        put_u32(row + AT_HEIGHT, (uint32_t)image->height);
        put_u32(row + AT_WIDTH, (uint32_t)image->width);
        put_u32(row + AT_ORIENTATION,
                turned ? (uint32_t)image->orientation : 1);
        if (!write_all(file, content.at, content.count, k->offset[i]))
            *error = errno;
    }
    free(image->pixels);
    image->pixels = NULL;
    free(content.at);
    return done;
}

bool write_index(const Keeper *k, int file)
{
    uint8_t head[HEAD] = "\x93JPEGS\r\n";
    size_t bytes = k->samples->count * ROW;
    uint64_t sum = 0xCBF29CE484222325u;         // FNV-1a of 64-bit words
    for (size_t i = 0; i < bytes; i += 8)
        sum = (sum ^ get_u64(k->index + i)) * 0x100000001B3u;
    put_u32(head + 8, VERSION);
    put_u32(head + 12, ROW);
    put_u64(head + 16, k->samples->count);
    put_u64(head + 24, k->offset[k->samples->count]);
    put_u64(head + 32, sum);
    return write_all(file, k->index, bytes, HEAD) &&
           write_all(file, head, HEAD, 0);
}

void release_keeper(Keeper *k)
{
    if (k == NULL) return;
    free(k->index);
    free(k->offset);
    free(k);
}
