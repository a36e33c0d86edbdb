// Images and labels in tar files (POSIX.1-2001, pax, with GNU's long names), as
// WebDataset writes them.  The files of a sample follow each other and have one
// name up to the first dot: NAME.jpg or NAME.png, and NAME.cls with a number,
// or NAME.json with a number under a key.
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "archive.h"
#include "json.h"

enum { BLOCK = 512, NAME_AT = 0, NAME_SIZE = 100, SIZE_AT = 124, SIZE_SIZE = 12,
       SUM_AT = 148, SUM_SIZE = 8, TYPE_AT = 156, MAGIC_AT = 257,
       PREFIX_AT = 345, PREFIX_SIZE = 155, LONGEST_NAME = 4096,
       LONGEST_LABEL = 1 << 24 };

void archive_fault(const Archive *a, const char *why)
{
    die(EXIT_BROKEN, a->path, why);
}

void read_archive(Archive *a, void *to, size_t bytes)
{
    if (bytes > a->size - a->at) archive_fault(a, "ends too early");
    if (fread(to, 1, bytes, a->in) != bytes)
        die(EXIT_FILES, a->path, ferror(a->in) ? strerror(errno)
                                               : "became shorter");
    a->at += bytes;
}

void add_labelled(Archive *a, const Item *item, int64_t label, Samples *s)
{
    size_t room = s->capacity;
    label -= a->keys->first;
    if (label < 0 || label > INT32_MAX)
        die(EXIT_BROKEN, item->name, "has a label outside of 0 to 2^31 - 1");
    if (s->classes.count > 0 && (uint64_t)label >= s->classes.count)
        die(EXIT_BROKEN, item->name, "has a label that is no line of "
            "--classes");
    if (item->bytes == 0) die(EXIT_BROKEN, item->name, "is empty");
    size_t i = add_item(s, *item);
    if (s->capacity != room)
        s->labels = grow(s->labels, s->capacity * sizeof *s->labels);
    s->labels[i] = (int32_t)label;
}

// ---- headers ----------------------------------------------------------------

// A file in a tar file.
typedef struct Member {
    char     name[LONGEST_NAME];
    uint64_t bytes;
    char     type;
} Member;

// The sample whose files are being read.
typedef struct Group {
    char    key[LONGEST_NAME];
    Item    image;              // without name: none so far
    int64_t label;
    bool    labelled;
} Group;

// Reads an octal number, or one of 95 bits as GNU writes it.
static uint64_t tar_number(const Archive *a, const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    size_t i = 0;
    if (from[0] & 0x80) {
        for (i = 1; i < size; i++) {
            if (value >> 55 != 0) archive_fault(a, "states a size of 2^63");
            value = value << 8 | from[i];
        }
        return value;
    }
    while (i < size && from[i] == ' ') i++;
    for (; i < size && from[i] >= '0' && from[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(from[i] - '0');
    if (i < size && from[i] != ' ' && from[i] != '\0')
        archive_fault(a, "has a header with another number than an octal one");
    return value;
}

// True if the bytes of a header have the sum that it states.
static bool is_header(const Archive *a, const uint8_t *block)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : block[i];
    for (size_t i = SUM_AT; i < SUM_AT + SUM_SIZE; i++)
        if (!strchr(" 01234567", block[i])) return false;
    return sum == tar_number(a, block + SUM_AT, SUM_SIZE);
}

bool is_tar(const Archive *a, const uint8_t *start, size_t bytes)
{
    return bytes == BLOCK && is_header(a, start);
}

// Moves to the end of the blocks of a file that was read up to here.
static void pass_padding(Archive *a)
{
    if (a->at % BLOCK != 0) {
        uint8_t rest[BLOCK];
        read_archive(a, rest, BLOCK - a->at % BLOCK);
    }
}

// Reads the content of a short file, and ends it with a zero byte.
static char *read_text(Archive *a, uint64_t bytes)
{
    if (bytes > LONGEST_LABEL || bytes > a->size - a->at)
        archive_fault(a, "has a header or a label of more than 16 MiB");
    char *text = grow(NULL, (size_t)bytes + 1);
    read_archive(a, text, (size_t)bytes);
    text[bytes] = '\0';
    pass_padding(a);
    return text;
}

static void set_name(const Archive *a, Member *m, const char *name, size_t size)
{
    if (size >= sizeof m->name) archive_fault(a, "has a name of 4096 bytes");
    memcpy(m->name, name, size);
    m->name[size] = '\0';
}

// Reads the records `LENGTH KEY=VALUE\n` of a pax header.
static void read_pax(const Archive *a, Member *m, const char *text,
                     bool *has_name, bool *has_size)
{
    for (const char *at = text; *at != '\0';) {
        char *key;
        size_t length = strtoul(at, &key, 10);
        if (*key != ' ' || length > strlen(at) || length < 5 ||
            at[length - 1] != '\n' || key >= at + length - 1)
            archive_fault(a, "has a damaged pax header");
        const char *end = at + length - 1;
        if (!strncmp(++key, "path=", 5) && key + 5 <= end) {
            set_name(a, m, key + 5, (size_t)(end - key - 5));
            *has_name = true;
        } else if (!strncmp(key, "size=", 5)) {
            m->bytes = strtoull(key + 5, NULL, 10);
            *has_size = true;
        }
        at = end + 1;
    }
}

// Takes the name of a header, which may be in two parts.
static void take_name(const Archive *a, Member *m, const uint8_t *block)
{
    const char *text = (const char *)block;
    size_t name = strnlen(text + NAME_AT, NAME_SIZE);
    size_t prefix = strnlen(text + PREFIX_AT, PREFIX_SIZE);
    // GNU's headers have other fields in the place of the prefix.
    if (memcmp(text + MAGIC_AT, "ustar\0", 6) != 0) prefix = 0;
    set_name(a, m, text + PREFIX_AT, prefix);
    if (prefix > 0) m->name[prefix++] = '/';
    memcpy(m->name + prefix, text + NAME_AT, name);
    m->name[prefix + name] = '\0';
}

// Reads the header of the next file, and the headers before it that have its
// long name or size.  Returns false at the end.
static bool next_member(Archive *a, Member *m)
{
    static const uint8_t none[BLOCK];
    bool has_name = false, has_size = false;
    for (;;) {
        uint8_t block[BLOCK];
        if (a->at == a->size) return false;
        read_archive(a, block, BLOCK);
        if (memcmp(block, none, BLOCK) == 0) return false;
        if (!is_header(a, block)) archive_fault(a, "has a damaged header");
        uint64_t bytes = tar_number(a, block + SIZE_AT, SIZE_SIZE);
        char type = (char)block[TYPE_AT];
        if (!strchr("xgLK", type) || type == '\0') {
            if (!has_name) take_name(a, m, block);
            if (!has_size) m->bytes = bytes;
            m->type = type;
            if (m->bytes > a->size - a->at)
                archive_fault(a, "ends in the last of its files");
            return true;
        }
        char *text = read_text(a, bytes);
        if (type == 'x') read_pax(a, m, text, &has_name, &has_size);
        if (type == 'L') set_name(a, m, text, strlen(text)), has_name = true;
        free(text);
    }
}

// ---- samples ----------------------------------------------------------------

// Ends the sample so far.
static void end_group(Archive *a, Group *g, Samples *s)
{
    char *name = join(a->path, ": ", g->key);
    if (g->image.name == NULL && g->labelled)
        die(EXIT_BROKEN, name, "has a label and no image beside it");
    if (g->image.name != NULL && !g->labelled)
        die(EXIT_BROKEN, g->image.name, "has no .cls or .json file beside it");
    if (g->image.name != NULL) add_labelled(a, &g->image, g->label, s);
    free(name);
    g->image.name = NULL;
    g->labelled = false;
}

static int64_t class_of(const char *name, const char *text)
{
    char *end;
    errno = 0;
    long long label = strtoll(text, &end, 10);
    if (end == text || end[strspn(end, " \t\r\n")] != '\0' || errno != 0)
        die(EXIT_BROKEN, name, "is no whole number");
    return label;
}

// Returns the number under the key of a JSON object.
static int64_t json_label(const Archive *a, const char *name, char *text)
{
    const char *label_key = a->keys->label != NULL ? a->keys->label : "label";
    char key[JSON_TEXT], wanted[JSON_TEXT];
    int64_t label = 0;
    bool found = false;
    // A stream of no bytes can't be opened.
    Json json = { fmemopen(*text != '\0' ? text : " ", strlen(text) + !*text,
                           "r"), name, 1 };
    if (json.in == NULL) die(EXIT_FILES, name, strerror(errno));
    for (bool first = true; json_member(&json, &first, key);)
        if (!strcmp(key, label_key))
            label = json_integer(&json), found = true;
        else json_skip(&json);
    json_end(&json);
    snprintf(wanted, sizeof wanted, "an object with the number \"%.200s\"",
             label_key);
    if (!found) json_fault(&json, wanted);
    fclose(json.in);
    return label;
}

static bool is_one_of(const char *ending, const char *const *endings)
{
    while (*endings != NULL && strcasecmp(ending, *endings) != 0) endings++;
    return *endings != NULL;
}

// Takes a file of a sample.
static void take_member(Archive *a, Group *g, const Member *m,
                        const char *ending, Samples *s)
{
    static const char *const images[] = { "jpg", "jpeg", "jpe", "jfif", "png",
                                          NULL };
    static const char *const labels[] = { "cls", "json", NULL };
    char *name = join(a->path, ": ", m->name);
    if (is_one_of(ending, images)) {
        if (g->image.name != NULL)
            die(EXIT_BROKEN, name, "is another image of one sample");
        g->image = (Item){ name, a->path, a->at, m->bytes };
        return;
    }
    if (is_one_of(ending, labels) && !g->labelled) {
        char *text = read_text(a, m->bytes);
        g->label = !strcasecmp(ending, "cls") ? class_of(name, text)
                                              : json_label(a, name, text);
        g->labelled = true;
        free(text);
    } else {
        s->skipped++;
    }
    free(name);
}

void list_tar(Archive *a, Samples *s)
{
    static Member m;
    static Group g;
    g = (Group){ .labelled = false };
    while (next_member(a, &m)) {
        uint64_t begin = a->at;
        const char *slash = strrchr(m.name, '/');
        const char *dot = strchr(slash != NULL ? slash : m.name, '.');
        bool is_file = m.type == '0' || m.type == '\0';
        if (is_file && dot != NULL) {
            size_t length = (size_t)(dot - m.name);
            if (strncmp(g.key, m.name, length) != 0 || g.key[length] != '\0') {
                end_group(a, &g, s);
                memcpy(g.key, m.name, length);
                g.key[length] = '\0';
            }
            take_member(a, &g, &m, dot + 1, s);
        } else if (m.type != '5') {
            s->skipped++;
        }
        // Files end at a multiple of a block; the last one may lack that.
        uint64_t end = begin + (m.bytes + BLOCK - 1) / BLOCK * BLOCK;
        a->at = end < a->size ? end : a->size;
        if (fseeko(a->in, (off_t)a->at, SEEK_SET) != 0)
            die(EXIT_FILES, a->path, strerror(errno));
    }
    end_group(a, &g, s);
}

// ---- any archive ------------------------------------------------------------

static void list_archive(char *path, const Keys *keys, Samples *s)
{
    uint8_t start[BLOCK];
    struct stat status;
    Archive a = { .path = path, .keys = keys };

    if (stat(path, &status) != 0) die(EXIT_FILES, path, strerror(errno));
    if (!S_ISREG(status.st_mode)) die(EXIT_FILES, path, "is not a file");
    a.in = fopen(path, "rb");
    if (a.in == NULL) die(EXIT_FILES, path, strerror(errno));
    a.size = (uint64_t)status.st_size;
    size_t bytes = fread(start, 1, sizeof start, a.in);
    rewind(a.in);
    if (is_tar(&a, start, bytes)) list_tar(&a, s);
    else if (is_tfrecord(start, bytes)) list_tfrecord(&a, s);
    else if (bytes > 2 && start[0] == 0x1f && start[1] == 0x8b)
        archive_fault(&a, "is compressed: gunzip it");
    else archive_fault(&a, "is neither a tar file nor TFRecord");
    fclose(a.in);
}

void list_archives(const char *paths, const Keys *keys, Samples *s)
{
    for (const char *at = paths; at != NULL;) {
        size_t length = strcspn(at, ",");
        char *path = join(at, "", "");
        path[length] = '\0';
        list_archive(path, keys, s);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    if (s->count == 0) die(EXIT_FILES, paths, "has no images");
}
