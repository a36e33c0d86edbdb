// Images and labels in TFRecord files.  A record is its length (u64), a sum of
// that (u32), the data, a sum of these.  The data are a tf.Example in Protocol
// Buffers' encoding: a map from names to lists of bytes, floats or integers
// (tensorflow/core/example/feature.proto).  A sum is CRC-32C, rotated by 15
// bits, plus a constant (tensorflow/core/lib/hash/crc32c.h).
#include <stdlib.h>
#include <string.h>
#include "archive.h"

enum { LENGTH = 8, SUM = 4 };
enum { VARINT = 0, WORD64 = 1, BYTES = 2, WORD32 = 5 };
// Fields of Example, Features, a map's entry, Feature, and its lists.
enum { EXAMPLE_FEATURES = 1, FEATURES_FEATURE = 1, ENTRY_KEY = 1,
       ENTRY_VALUE = 2, FEATURE_BYTES = 1, FEATURE_INTEGERS = 3,
       LIST_VALUE = 1 };

// ---- sums -------------------------------------------------------------------

static uint32_t masked_crc(const uint8_t *bytes, size_t count)
{
    static uint32_t table[256];
    uint32_t crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256 && table[255] == 0; i++) {
        uint32_t entry = i;
        for (int bit = 0; bit < 8; bit++)
            entry = entry >> 1 ^ (entry & 1 ? 0x82F63B78u : 0);
        table[i] = entry;
    }
    for (size_t i = 0; i < count; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

static uint64_t get_number(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | from[bytes];
    return value;
}

bool is_tfrecord(const uint8_t *start, size_t bytes)
{
    return bytes >= LENGTH + SUM &&
           get_number(start + LENGTH, SUM) == masked_crc(start, LENGTH);
}

// ---- Protocol Buffers -------------------------------------------------------

// A message, or the part of it that is left.
typedef struct Message {
    const uint8_t *at, *end;
} Message;

typedef struct Field {
    uint64_t number;
    int      type;
    uint64_t value;             // of VARINT
    Message  bytes;             // of BYTES
} Field;

static bool read_varint(Message *m, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && m->at < m->end; shift += 7) {
        uint8_t byte = *m->at++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

// Reads the next field; false at the end.  Sets *damaged if it has no end.
static bool next_field(Message *m, Field *f, bool *damaged)
{
    uint64_t tag, bytes = 0;
    if (m->at == m->end) return false;
    *damaged = true;
    if (!read_varint(m, &tag)) return false;
    f->number = tag >> 3;
    f->type = (int)(tag & 7);
    if (f->type == WORD64) bytes = 8;
    else if (f->type == WORD32) bytes = 4;
    else if (f->type == VARINT ? !read_varint(m, &f->value)
                               : f->type != BYTES || !read_varint(m, &bytes))
        return false;
    if (bytes > (uint64_t)(m->end - m->at)) return false;
    f->bytes = (Message){ m->at, m->at + bytes };
    m->at += bytes;
    *damaged = false;
    return true;
}

// Returns the last field of a number whose value is bytes; one without bytes if
// there is none.
static Message find_field(Message m, uint64_t number, bool *damaged)
{
    Message found = { NULL, NULL };
    for (Field f; next_field(&m, &f, damaged);)
        if (f.number == number && f.type == BYTES) found = f.bytes;
    return found;
}

// Returns the Feature of a name, or one without bytes.
static Message find_feature(Message example, const char *name, bool *damaged)
{
    Message found = { NULL, NULL };
    Message features = find_field(example, EXAMPLE_FEATURES, damaged);
    if (*damaged || features.at == NULL) return found;
    for (Field f; next_field(&features, &f, damaged);) {
        if (f.number != FEATURES_FEATURE || f.type != BYTES) continue;
        Message key = find_field(f.bytes, ENTRY_KEY, damaged);
        if (*damaged) break;
        if (key.at != NULL && (size_t)(key.end - key.at) == strlen(name) &&
            memcmp(key.at, name, strlen(name)) == 0)
            found = find_field(f.bytes, ENTRY_VALUE, damaged);
        if (*damaged) break;
    }
    return found;
}

// Reads the integers of a Feature, packed or one by one.  Returns how many they
// are; the first goes to *value.
static size_t read_integers(Message feature, int64_t *value, bool *damaged)
{
    size_t count = 0;
    Message list = find_field(feature, FEATURE_INTEGERS, damaged);
    if (*damaged || list.at == NULL) return 0;
    for (Field f; next_field(&list, &f, damaged);) {
        if (f.number != LIST_VALUE) continue;
        if (f.type == VARINT && count++ == 0) *value = (int64_t)f.value;
        for (uint64_t next; f.type == BYTES && f.bytes.at < f.bytes.end;) {
            if (!read_varint(&f.bytes, &next)) return *damaged = true, 0;
            if (count++ == 0) *value = (int64_t)next;
        }
    }
    return count;
}

// ---- records ----------------------------------------------------------------

static _Noreturn void record_fault(const char *name, const char *feature,
                                   const char *why)
{
    char text[MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s \"%.150s\"", why, feature);
    die(EXIT_BROKEN, name, text);
}

// Adds the sample of a record that begins at `offset` of the file.
static void take_record(Archive *a, char *name, uint64_t offset,
                        const uint8_t *data, size_t bytes, Samples *s)
{
    const char *image_key = a->keys->image, *label_key = a->keys->label;
    Message example = { data, data + bytes };
    bool damaged = false;
    int64_t label = 0;
    // The names of TensorFlow's scripts for ImageNet.
    if (image_key == NULL) image_key = "image/encoded";
    if (label_key == NULL) label_key = "image/class/label";
    Message feature = find_feature(example, image_key, &damaged);
    Message list = { NULL, NULL }, image = { NULL, NULL };
    if (!damaged && feature.at != NULL)
        list = find_field(feature, FEATURE_BYTES, &damaged);
    if (!damaged && list.at != NULL)
        image = find_field(list, LIST_VALUE, &damaged);
    Message number = { NULL, NULL };
    if (!damaged) number = find_feature(example, label_key, &damaged);
    size_t labels = damaged || number.at == NULL
                        ? 0 : read_integers(number, &label, &damaged);
    if (damaged) die(EXIT_BROKEN, name, "is no tf.Example");
    if (image.at == NULL)
        record_fault(name, image_key, "has no bytes under");
    if (labels != 1)
        record_fault(name, label_key, "has not one integer under");
    Item item = { name, a->path, offset + (uint64_t)(image.at - data),
                  (uint64_t)(image.end - image.at) };
    add_labelled(a, &item, label, s);
}

void list_tfrecord(Archive *a, Samples *s)
{
    uint8_t *data = NULL;
    for (size_t record = 0; a->at < a->size; record++) {
        uint8_t head[LENGTH + SUM], sum[SUM];
        char number[64];
        snprintf(number, sizeof number, "record %zu", record);
        char *name = join(a->path, ": ", number);
        read_archive(a, head, sizeof head);
        if (!is_tfrecord(head, sizeof head))
            die(EXIT_BROKEN, name, "its length is damaged");
        uint64_t bytes = get_number(head, LENGTH), offset = a->at;
        if (bytes > a->size - a->at)
            die(EXIT_BROKEN, name, "ends too early");
        data = grow(data, (size_t)bytes + 1);
        read_archive(a, data, (size_t)bytes);
        read_archive(a, sum, sizeof sum);
        if (get_number(sum, SUM) != masked_crc(data, (size_t)bytes))
            die(EXIT_BROKEN, name, "its data are damaged");
        take_record(a, name, offset, data, (size_t)bytes, s);
    }
    free(data);
}
