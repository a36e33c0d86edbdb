// --gpu: a name of the table, or a file with one line for each number of a Gpu:
//
//     fp32 = 53e12                # operations a second
//
// Lines have any order, each key once, in units without prefix: operations or
// bytes a second, bytes, shares of 1.  Optional keys are the rate of copies to
// host memory, `integrated = 1` for a GPU that shares its host's memory, and
// the numbers of its multiprocessors.  A word with a dot or a slash is a path.
// Lines of tiles hold the fastest tile measured for a product on tensor cores:
// type, role, rows, columns, depth, count, tile.
//
//     tile f16 forward 100352 64 576 1 = 128x64
//
// The program that --tune writes prints such lines.
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "../../ir/text/text.h"
#include "../../ir/gpu/gemm_tile.h"
#include "options.h"
#include "../read_file.h"

// A number of a Gpu; the file's number times `units` is stored.
typedef struct Key {
    const char *name;
    size_t      at;             // in Gpu, an int64_t
    double      units;
    double      low, high;      // as in the file
    bool        is_optional;    // missing keys get:
    double      otherwise;      // as in the file
    SheetKind  kind;           // in the table of --gpus
} Key;

#define KEY(field) #field, offsetof(Gpu, field)
static const Key keys[] = {
    { KEY(fp64), 1, 1e6, 1e17, false, 0, AS_RATE },
    { KEY(fp32), 1, 1e6, 1e17, false, 0, AS_RATE },
    { KEY(tf32), 1, 1e6, 1e17, false, 0, AS_RATE },
    { KEY(bf16), 1, 1e6, 1e17, false, 0, AS_RATE },
    { KEY(fp16), 1, 1e6, 1e17, false, 0, AS_RATE },
    { KEY(memory), 1, 1e6, 1e17, false, 0, AS_RATE },
    { KEY(host), 1, 1e6, 1e17, true, 55e9, AS_RATE },
    { KEY(integrated), 1, 0, 1, true, 0, AS_TRUTH },
    { KEY(launch), 1e12, 0, 1, false, 0, AS_NUMBER },
    { KEY(sm), 1, 10, 999, true, 90, AS_COUNT },
    { KEY(multiprocessors), 1, 1, 1e6, true, 132, AS_COUNT },
    { KEY(shared), 1, 48 << 10, 1 << 30, true, 228 << 10, AS_COUNT },
    { KEY(clock), 1, 0, 1e11, true, 1.98e9, AS_RATE },
    { KEY(product), 1e6, 1e-3, 1, false, 0, AS_NUMBER },
    { KEY(elementwise), 1e6, 1e-3, 1, false, 0, AS_NUMBER },
};
#undef KEY
enum { KEYS = sizeof keys / sizeof *keys };

const char *gpu_word(int i)
{
    return i < GPU_COUNT ? gpus[i].name : NULL;
}

int set_gpu(Options *o, const char *value)
{
    o->gpu_file = strpbrk(value, "./\\") != NULL ? value : NULL;
    if (o->gpu_file != NULL) return -1;
    int gpu = choose(o, "--gpu", value, gpu_word);
    if (gpu >= 0) o->frontend.gpu = &gpus[gpu];
    return gpu < 0 ? EXIT_USAGE : -1;
}

static int64_t number_at(const Gpu *gpu, const Key *key)
{
    const char *at = (const char *)gpu + key->at;
    return *(const int64_t *)(const void *)at;
}

static void put_key(Sheet *s, const Gpu *gpu, const Key *key)
{
    int64_t number = number_at(gpu, key);
    if (key->kind == AS_TRUTH) put_truth(s, number != 0);
    else if (key->kind == AS_NUMBER) put_number(s, (double)number / key->units);
    else put_count(s, number);
}

int list_gpus(const Options *o)
{
    SheetColumn columns[1 + KEYS] = { { "gpu", "gpu", AS_TEXT } };
    for (int k = 0; k < KEYS; k++)
        columns[1 + k] = (SheetColumn){ keys[k].name, keys[k].name,
                                        keys[k].kind };
    Sheet *s = sheet_new(o->arena, "gpus", columns, 1 + KEYS);
    for (int i = 0; i < GPU_COUNT; i++) {
        sheet_row(s);
        put_text(s, gpus[i].name);
        for (int k = 0; k < KEYS; k++) put_key(s, &gpus[i], &keys[k]);
    }
    sheets_print(&s, 1, o->format, stdout);
    return EXIT_DONE;
}

// ---- the file ---------------------------------------------------------------

// Fails at a word that was read before.
static void fail_at(Reader *r, Word word, const char *what)
{
    r->at = word.text;
    read_fail(r, what);
}

// Reads a key; -1, with an error, if the word is none.
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

// Reads the value of a key; the range check refuses NaN.
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
    if (key->kind == AS_TRUTH && number != 0 && number != 1) {
        fail_at(r, word, arena_print(r->arena, "%s is 0 or 1", key->name));
        return;
    }
    set_number(gpu, key, number);
}

// Reads one of `names`; `what` describes it in the error.
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

// Reads the rest of a line after the word tile.
static void read_tile(Reader *r, Gpu *gpu, Word line)
{
    int64_t size[4] = { 0 };
    int type = 1 + read_name(r, "a product's type", product_type_names + 1,
                             PRODUCT_TYPES - 1);
    int role = read_name(r, "the role of a product", product_role_names,
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
            fail_at(r, line, "a product of this size is given twice");
    }
    all[count] = (TunedTile){ key, (int)rows, (int)columns };
    gpu->tuned = all;
}

static void end_line(Reader *r)
{
    skip_blanks(r);
    if (!r->failed && r->at < r->end) read_fail(r, "expected the line to end");
}

// True if the word tile is next.
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
        fail_at(r, word, arena_print(r->arena, "%s is given twice",
                                     keys[key].name));
    seen[key] = true;
    if (!r->failed && expect_char(r, '=')) read_value(r, &keys[key], gpu);
    end_line(r);
}

// Reads all lines; missing keys are reported at the last one.
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
        if (!seen[k] && keys[k].is_optional)
            set_number(gpu, &keys[k], keys[k].otherwise);
        else if (!seen[k])
            error(diag, pos, "%s is missing: a GPU has one line for each of "
                  "its numbers", keys[k].name);
}

// Returns the shortest decimal that reads back as number; 90, not 9e+01.
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
    for (int k = 0; k < KEYS; k++)
        text = arena_print(arena, "%s%s = %s\n", text, keys[k].name,
                           number_text(arena, &keys[k],
                                       number_at(gpu, &keys[k])));
    return text;
}

// Checks the GPU against the precision and --offload.  Returns -1, or the exit
// status after an error.
static int check_gpu(const Options *o)
{
    enum { FIRST_SM = 80 };
    const Gpu *gpu = o->frontend.gpu;
    if (gpu == NULL) return -1;
    if (o->frontend.tf32 && gpu->sm < FIRST_SM) {
        command_message(o->diag, MESSAGE_ERROR, "--precision tf32 needs tensor "
                        "cores of sm_80 or later, and %s has sm_%d", gpu->name,
                        (int)gpu->sm);
        return EXIT_USAGE;
    }
    if (o->passes.offload && gpu->integrated) {
        command_message(o->diag, MESSAGE_ERROR, "--offload needs host memory "
                        "apart from the GPU's, and %s is integrated: both are "
                        "one memory", gpu->name);
        return EXIT_USAGE;
    }
    return -1;
}

// The file has its own Diag, since the output quotes only the program.
int read_gpu_file(Options *o)
{
    Diag own = diag_apart(o->diag);
    const char *path = o->gpu_file;
    size_t length;
    if (path == NULL) return check_gpu(o);
    const char *text = read_named_text(&own, o->arena, path, &length);
    if (text == NULL) return EXIT_FILE;
    Gpu *gpu = NEW(o->arena, Gpu);
    const char *slash = strrchr(path, '/');
    gpu->name = slash != NULL ? slash + 1 : path;
    diag_add_source(&own, path, text, length);
    read_lines(o->arena, &own, gpu);
    o->frontend.gpu = gpu;
    return own.error_count > 0 ? EXIT_INPUT : check_gpu(o);
}
