// --gpu: a name of the table, or a file with a line for each number of a Gpu,
//
//     fp32 = 53e12                # operations a second
//
// in any order, each once, in units without prefix: a second, bytes, shares of
// 1; what copies to host memory get, and how a GPU is made, may be left out.
// What has a dot or a slash is the path of a file.  It may also say which tile
// was measured to be the best for a product on tensor cores: its type, what it
// is for, rows, columns, depth and how many of them,
//
//     tile f16 forward 100352 64 576 1 = 128x64
//
// as the program that --tune writes prints them.
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "../ir/text.h"
#include "../ir/tile.h"
#include "options.h"
#include "parse.h"

// A number of a Gpu, so many of which are one in the file.
typedef struct Key {
    const char *name;
    size_t      at;             // in Gpu, an int64_t
    double      units;
    double      low, high;      // as in the file
    double      otherwise;      // likewise, where it is left out; 0: it must
                                // not be
} Key;

static const Key keys[] = {
    { "fp64", offsetof(Gpu, fp64), 1, 1e6, 1e17, 0 },
    { "fp32", offsetof(Gpu, fp32), 1, 1e6, 1e17, 0 },
    { "tf32", offsetof(Gpu, tf32), 1, 1e6, 1e17, 0 },
    { "bf16", offsetof(Gpu, bf16), 1, 1e6, 1e17, 0 },
    { "fp16", offsetof(Gpu, fp16), 1, 1e6, 1e17, 0 },
    { "memory", offsetof(Gpu, memory), 1, 1e6, 1e17, 0 },
    { "host", offsetof(Gpu, host), 1, 1e6, 1e17, 55e9 },
    { "launch", offsetof(Gpu, launch), 1e12, 0, 1, 0 },
    { "sm", offsetof(Gpu, sm), 1, 10, 999, 90 },
    { "multiprocessors", offsetof(Gpu, multiprocessors), 1, 1, 1e6, 132 },
    { "shared", offsetof(Gpu, shared), 1, 48 << 10, 1 << 30, 228 << 10 },
    { "product", offsetof(Gpu, product), 1e6, 1e-3, 1, 0 },
    { "elementwise", offsetof(Gpu, elementwise), 1e6, 1e-3, 1, 0 },
};
enum { KEYS = sizeof keys / sizeof *keys };

int set_gpu(Options *o, const char *value)
{
    const char *names[GPU_COUNT];
    for (int i = 0; i < GPU_COUNT; i++) names[i] = gpus[i].name;
    o->gpu_file = strpbrk(value, "./\\") != NULL ? value : NULL;
    if (o->gpu_file != NULL) return -1;
    int gpu = choose("--gpu", value, names, GPU_COUNT);
    if (gpu >= 0) o->frontend.gpu = &gpus[gpu];
    return gpu < 0 ? EXIT_USAGE : -1;
}

int show_gpus(Options *o, const char *value)
{
    (void)o;
    (void)value;
    printf("%-10s", "");
    for (int k = 0; k < KEYS; k++) printf("%12s", keys[k].name);
    putchar('\n');
    for (int i = 0; i < GPU_COUNT; i++) {
        printf("%-10s", gpus[i].name);
        for (int k = 0; k < KEYS; k++) {
            const char *at = (const char *)&gpus[i] + keys[k].at;
            int64_t number = *(const int64_t *)(const void *)at;
            printf("%12g", (double)number / keys[k].units);
        }
        putchar('\n');
    }
    return EXIT_DONE;
}

// ---- the file ---------------------------------------------------------------

// At a word that has been read.
static void fail_at(Reader *r, Word word, const char *what)
{
    r->at = word.text;
    read_fail(r, what);
}

// The key of this word; -1, reported, if there is none.
static int read_key(Reader *r)
{
    const char *names[KEYS];
    for (int k = 0; k < KEYS; k++) names[k] = keys[k].name;
    Word word = read_word(r);
    if (r->failed) return -1;
    int key = word_place(word, names, KEYS);
    const char *near = nearest_name(word_text(r, word), names, KEYS);
    if (key >= 0) return key;
    fail_at(r, word,
            near != NULL
                ? arena_print(r->arena, "a GPU has no '%s'; did you mean '%s'?",
                              word_text(r, word), near)
                : arena_print(r->arena, "a GPU has no '%s'",
                              word_text(r, word)));
    return -1;
}

static void set_number(Gpu *gpu, const Key *key, double number)
{
    char *at = (char *)gpu + key->at;
    *(int64_t *)(void *)at = (int64_t)(number * key->units + 0.5);
}

// A NaN is in no range.
static void read_value(Reader *r, const Key *key, Gpu *gpu)
{
    char *end;
    Word word = read_word(r);
    if (r->failed) return;
    double number = strtod(word_text(r, word), &end);
    if (*end != '\0') {
        fail_at(r, word, "expected a number");
        return;
    }
    if (!(number >= key->low && number <= key->high)) {
        fail_at(r, word, arena_print(r->arena, "%s is from %g to %g", key->name,
                                     key->low, key->high));
        return;
    }
    set_number(gpu, key, number);
}

// Which of these a word is; `what` says what it should have been.
static int read_name(Reader *r, const char *what, const char *const *names,
                     int count)
{
    const char *list = "";
    if (r->failed) return 0;
    Word word = read_word(r);
    int place = r->failed ? 0 : word_place(word, names, count);
    if (place >= 0) return place;
    for (int i = 0; i < count; i++)
        list = arena_print(r->arena, "%s%s%s", list, i == 0 ? "" : ", ",
                           names[i]);
    fail_at(r, word, arena_print(r->arena, "%s is one of %s", what, list));
    return 0;
}

// What stands behind the word tile.
static void read_tile(Reader *r, Gpu *gpu, Word line)
{
    int64_t size[4] = { 0 };
    int type = 1 + read_name(r, "a product's type", product_type_names + 1,
                             PRODUCT_TYPES - 1);
    int role = read_name(r, "what a product is for", product_role_names,
                         PRODUCT_ROLES);
    for (int i = 0; i < 4 && !r->failed; i++) {
        skip_blanks(r);
        size[i] = read_int(r);
    }
    if (r->failed || !expect_char(r, '=')) return;
    ProductKey key = { type, role, size[0], size[1], size[2], size[3] };
    skip_blanks(r);
    Word word = { .text = r->at };
    int64_t rows = read_int(r);
    if (r->failed || !expect_char(r, 'x')) return;
    int64_t columns = read_int(r);
    if (r->failed) return;
    if (find_tensor_tile(rows, columns) == NULL) {
        fail_at(r, word, arena_print(r->arena, "a tile is one of %s",
                                     tensor_tile_names(r->arena)));
        return;
    }
    int count = gpu->tuned_count++;
    TunedTile *all = NEW_ARRAY(r->arena, (size_t)count + 1, TunedTile);
    for (int i = 0; i < count; i++) {
        all[i] = gpu->tuned[i];
        if (same_product(&all[i].key, &key))
            fail_at(r, line, "a product of this size stands here twice");
    }
    all[count] = (TunedTile){ key, (int)rows, (int)columns };
    gpu->tuned = all;
}

static void end_line(Reader *r)
{
    skip_blanks(r);
    if (!r->failed && r->at < r->end) read_fail(r, "expected the line to end");
}

// The word tile is next.
static bool is_tile(const Reader *r)
{
    const int length = 4;
    return r->end - r->at >= length && strncmp(r->at, "tile", 4) == 0 &&
           (r->end - r->at == length || strchr(" \t#", r->at[length]) != NULL);
}

static void read_line(Reader *r, Gpu *gpu, bool seen[KEYS])
{
    skip_blanks(r);
    if (r->at == r->end) return;
    Word word = { .text = r->at };
    if (is_tile(r)) {
        r->at += 4;
        read_tile(r, gpu, word);
        end_line(r);
        return;
    }
    int key = read_key(r);
    if (key < 0) return;
    if (seen[key])
        fail_at(r, word, arena_print(r->arena, "%s stands here twice",
                                     keys[key].name));
    seen[key] = true;
    if (!r->failed && expect_char(r, '=')) read_value(r, &keys[key], gpu);
    end_line(r);
}

// What is missing is said at the last line.
static void read_lines(Arena *arena, Diag *diag, Gpu *gpu)
{
    const Source *source = &diag->sources[0];
    bool seen[KEYS] = { false };
    Pos pos = { .column = 1, .length = 1 };
    for (int32_t line = 1; line <= source->line_count; line++) {
        int32_t length;
        Reader r = { .arena = arena, .diag = diag };
        r.start = r.at = source_line(source, line, &length);
        r.end = r.start + length;
        if (length > 0 && r.end[-1] == '\r') r.end--;
        pos.line = line;
        r.pos = pos;
        read_line(&r, gpu, seen);
    }
    for (int k = 0; k < KEYS; k++)
        if (!seen[k] && keys[k].otherwise > 0)
            set_number(gpu, &keys[k], keys[k].otherwise);
        else if (!seen[k])
            error(diag, pos, "%s is missing: a GPU has one line for each of "
                  "its numbers", keys[k].name);
}

// The shortest decimal that is the same number of units again; 90, not 9e+01.
static const char *number_text(Arena *arena, const Key *key, int64_t number)
{
    const int64_t most = 1 << 24;
    const char *text = "";
    if (key->units <= 1 && number < most)
        return arena_print(arena, "%" PRId64, number);
    for (int digits = 1; digits <= 17; digits++) {
        text = arena_print(arena, "%.*g", digits, (double)number / key->units);
        if ((int64_t)(strtod(text, NULL) * key->units + 0.5) == number) break;
    }
    return text;
}

const char *gpu_text(Arena *arena, const Gpu *gpu)
{
    const char *text = "";
    for (int k = 0; k < KEYS; k++) {
        const char *at = (const char *)gpu + keys[k].at;
        int64_t number = *(const int64_t *)(const void *)at;
        text = arena_print(arena, "%s%s = %s\n", text, keys[k].name,
                           number_text(arena, &keys[k], number));
    }
    return text;
}

// Whether the GPU has what the precision wants; said if not.
static int check_precision(const Options *o)
{
    enum { FIRST_SM = 80 };
    const Gpu *gpu = o->frontend.gpu;
    if (!o->frontend.tf32 || gpu == NULL || gpu->sm >= FIRST_SM) return -1;
    fprintf(stderr, "cnnc: --precision tf32 needs tensor cores of sm_80 or "
            "later, and %s has sm_%d\n", gpu->name, (int)gpu->sm);
    return EXIT_USAGE;
}

// Its own Diag: the file is no part of the program that the output quotes.
int read_gpu_file(Options *o, const Diag *diag)
{
    Diag own = { .arena = diag->arena, .stream = diag->stream,
                 .color = diag->color };
    const char *path = o->gpu_file;
    size_t length;
    if (path == NULL) return check_precision(o);
    const char *text = read_text(o->arena, path, &length);
    if (text == NULL) {
        fprintf(stderr, "cnnc: can't read '%s': %s\n", path, strerror(errno));
        return EXIT_FILE;
    }
    Gpu *gpu = NEW(o->arena, Gpu);
    const char *slash = strrchr(path, '/');
    gpu->name = slash != NULL ? slash + 1 : path;
    diag_add_source(&own, path, text, length);
    read_lines(o->arena, &own, gpu);
    o->frontend.gpu = gpu;
    return own.error_count > 0 ? EXIT_INPUT : check_precision(o);
}
