// Prints the program of --tune. It measures each product on tensor cores of a training step in
// tiles of every size, launched as by the trainer.
//
//   static bool launch_conv_2(int tile, Arena a, cudaStream_t stream)
//   {
//       constexpr Place<f16> conv_2 = {256};  ...
//       switch (tile) {
//       case TILE_128x128: LAUNCH(-1, (conv_forward<...>), ...); return true;
//
// Kernels are templates over the layer's shape, so a product has one kernel for each tile. Launches
// with equal kernels are measured once. Some launches leave partial sums, such as a weight gradient
// with split-K. Their number follows from the tile, and the launch that adds them is measured too.
//
// The tensors of each launch follow each other from the arena's beginning, after a header.

#include <inttypes.h>
#include <string.h>

#include "../../ir/dtype.h"
#include "../../ir/base/format.h"
#include "../../ir/base/unique_names.h"
#include "../../ir/base/version.h"
#include "tune.h"

// ---- offsets of tensors
// --------------------------------------------------------------------------

// A tensor of a trial; bytes is the maximum over all tiles.
typedef struct TuneBuffer {
    const char *name, *type;
    int64_t     bytes;
} TuneBuffer;

typedef struct TuneBuffers {
    TuneBuffer *at;
    int32_t     count, capacity;
} TuneBuffers;

static void add_buffer(Emitter *e, TuneBuffers *buffers, const char *name, const PlanBuffer *b)
{
    int64_t bytes = b->rows > 1 ? capped_product(b->rows, b->stride) : b->bytes;
    for (int i = 0; i < buffers->count; i++)
        if (!strcmp(buffers->at[i].name, name)) {
            if (bytes > buffers->at[i].bytes) buffers->at[i].bytes = bytes;
            return;
        }
    buffers->at = arena_grow(e->arena, buffers->at, &buffers->capacity,
                             (int64_t)buffers->count + 1, sizeof *buffers->at);
    buffers->at[buffers->count++] = (TuneBuffer){name, c_type(e, b->dtype), bytes};
}

static TuneBuffers buffers_of(Tuner *t, const Trial *trial)
{
    Emitter *e = &t->e;
    TuneBuffers buffers = {.count = 0};
    for (int k = 0; k < TENSOR_TILES; k++) {
        const Program *p = &e->program[1 + k];
        bool *named = NEW_ARRAY(e->arena, p->g->value_count, bool);
        int steps[2], count = trial_steps(trial, k, steps);
        for (int i = 0; i < count; i++) mark_arguments(&e->launches[steps[i]], named);
        for (ValueId v = 0; v < p->g->value_count; v++)
            if (named[v]) add_buffer(e, &buffers, p->name[v], &p->plan->buffers[v]);
    }
    return buffers;
}

static void emit_buffers(Tuner *t, Trial *trial)
{
    TuneBuffers buffers = buffers_of(t, trial);
    trial->bytes = value_bytes(&t->e.g->values[t->e.g->header]);
    for (int i = 0; i < buffers.count; i++) {
        const TuneBuffer *buffer = &buffers.at[i];
        write_line(&t->e.w, "constexpr Place<%s> %s = {%" PRId64 "};", buffer->type,
                   buffer->name, trial->bytes);
        trial->bytes = capped_sum(trial->bytes, padded(buffer->bytes));
    }
    if (trial->bytes > t->arena_bytes) t->arena_bytes = trial->bytes;
}

// ---- a trial as a function ---------------------------------------------------------------------

static const char *tile_word(Emitter *e, int k)
{
    const Tile *tile = tensor_tile_at(k);
    return arena_print(e->arena, "%dx%d", tile->rows, tile->columns);
}

static bool trial_takes(const Tuner *t, const Trial *trial, LaunchArgKind kind)
{
    for (int k = 0; k < TENSOR_TILES; k++) {
        int steps[2], count = trial_steps(trial, k, steps);
        for (int i = 0; i < count; i++)
            if (launch_takes(&t->e.launches[steps[i]], kind)) return true;
    }
    return false;
}

static void emit_launch(Emitter *e, const Program *p, int step)
{
    const Launch *l = &e->launches[step];
    const char *items[MAX_ITEMS] = {"-1"};
    int count = 1;
    count += kernel_items(e, "LAUNCH(", l, &items[count]);
    items[count++] = arena_print(e->arena, "%" PRId64, l->grid);
    items[count++] = arena_print(e->arena, "%d", l->block);
    count += argument_items(e, p, l, &items[count]);
    write_list(&e->w, "LAUNCH(", items, count, ");");
}

static void emit_tiles(Tuner *t, const Trial *trial)
{
    Emitter *e = &t->e;
    Writer *w = &e->w;
    write_line(w, "switch (tile) {");
    for (int k = 0; k < TENSOR_TILES; k++) {
        int steps[2], count = trial_steps(trial, k, steps);
        if (count == 0) continue;
        write_line(w, "case TILE_%s:", tile_word(e, k));
        w->indent += 4;
        for (int i = 0; i < count; i++) emit_launch(e, &e->program[1 + k], steps[i]);
        write_line(w, "return true;");
        w->indent -= 4;
    }
    write_line(w, "}");
    write_line(w, "return false;");
}

static void emit_trial(Tuner *t, const Product *p, Trial *trial)
{
    Writer *w = &t->e.w;
    const ProductSize *size = &p->size;
    write_line(w, "// %s, line %d: %" PRId64 " of %" PRId64 " x %" PRId64 " sums of %" PRId64
               " terms.", trial->node->name, (int)trial->node->pos.line, size->times, size->rows,
               size->columns, size->depth);
    write_line(w, "static bool %s(int tile, Arena a, cudaStream_t stream)", trial->function);
    write_line(w, "{");
    w->indent = 4;
    emit_buffers(t, trial);
    if (trial_takes(t, trial, LAUNCH_HEADER))
        write_line(w, "StateHeader *const header = (StateHeader *)a.base;");
    if (trial_takes(t, trial, LAUNCH_SAMPLES))
        write_line(w, "const long long samples = %" PRId64 ";", t->e.g->batch);
    emit_tiles(t, trial);
    w->indent = 0;
    write_line(w, "}");
    write_blank(w);
}

// ---- the tables --------------------------------------------------------------------------------

// Returns the text of a C string literal, without the quotes.
static const char *in_quotes(Emitter *e, const char *text)
{
    char *copy = arena_alloc(e->arena, 2 * strlen(text) + 1, 1), *to = copy;
    for (; *text; text++) {
        if (strchr("\"\\", *text)) *to++ = '\\';
        *to = *text;
        if ((unsigned char)*to < ' ') *to = '?';
        to++;
    }
    *to = '\0';
    return copy;
}

static void emit_line(Emitter *e, const char *text, int length)
{
    write_line(&e->w, "\"%s\\n\"", in_quotes(e, arena_print(e->arena, "%.*s", length, text)));
}

// Prints the GPU's file, with its known tiles that this program does not measure.
static void emit_gpu_lines(Tuner *t)
{
    Emitter *e = &t->e;
    const Gpu *gpu = t->in->gpu;
    write_line(&e->w, "static const char tune_lines[] =");
    e->w.indent = 4;
    for (const char *at = t->in->gpu_lines; *at; at += strcspn(at, "\n") + 1)
        emit_line(e, at, (int)strcspn(at, "\n"));
    for (int i = 0; i < gpu->tuned_count; i++) {
        const TunedTile *tuned = &gpu->tuned[i];
        const char *line = arena_print(e->arena, "tile %s = %dx%d",
                                       product_text(e->arena, &tuned->key), tuned->tile_rows,
                                       tuned->tile_columns);
        bool measured = false;
        for (int k = 0; k < t->count; k++) {
            ProductKey key = product_key(&t->products[k].size);
            measured = measured || same_product(&key, &tuned->key);
        }
        if (!measured) emit_line(e, line, (int)strlen(line));
    }
    write_line(&e->w, ";");
    e->w.indent = 0;
    write_blank(&e->w);
}

static void emit_row(Emitter *e, const Trial *trial)
{
    const char *items[] = {
        arena_print(e->arena, "\"%s\"", trial->node->name),
        arena_print(e->arena, "%d", trial->count),
        arena_print(e->arena, "%" PRId64, trial->bytes), trial->function};
    write_list(&e->w, "    {", items, 4, "},");
}

static void emit_tables(Tuner *t)
{
    Emitter *e = &t->e;
    Writer *w = &e->w;
    const char *tiles[TENSOR_TILES];
    for (int k = 0; k < TENSOR_TILES; k++)
        tiles[k] = arena_print(e->arena, "\"%s\"", tile_word(e, k));
    write_list(w, "static const char *const tune_tiles[] = {", tiles, TENSOR_TILES, "};");
    write_blank(w);
    write_line(w, "static const TuneLaunch tune_launches[] = {");
    FOR_TRIALS(t, product, trial) emit_row(e, trial);
    write_line(w, "};");
    write_blank(w);
    write_line(w, "static const TuneProduct tune_products[] = {");
    int first = 0;
    for (int i = 0; i < t->count; first += t->products[i++].count) {
        const Product *p = &t->products[i];
        ProductKey key = product_key(&p->size);
        write_line(w, "    {\"%s\", TILE_%s, %d, %d},", product_text(e->arena, &key),
                   tile_word(e, modelled_tile(t->in->gpu, &p->size)), first, p->count);
    }
    write_line(w, "};");
    write_blank(w);
    emit_gpu_lines(t);
}

static int trial_count(const Tuner *t)
{
    int count = 0;
    for (int i = 0; i < t->count; i++) count += t->products[i].count;
    return count;
}

static void emit_program_of(Tuner *t)
{
    Emitter *e = &t->e;
    Writer *w = &e->w;
    const Gpu *gpu = t->in->gpu;
    write_section(w, 3, "program");
    print_chunk(e, "tune_main");
    emit_tables(t);
    write_line(w, "static const Tuning tuning = {");
    write_line(w, "    \"%s\", \"%s\", \"%s\", tune_lines,", e->g->name, precision_name(e->g),
               in_quotes(e, gpu->name));
    write_line(w, "    %" PRId64 ", %" PRId64 ", %" PRId64 ",", gpu->sm, gpu->multiprocessors,
               gpu->shared);
    write_line(w, "    tune_tiles, %d, tune_products, %d, tune_launches, %d,", TENSOR_TILES,
               t->count, trial_count(t));
    write_line(w, "    %" PRId64 "};", t->arena_bytes);
    write_blank(w);
    write_line(w, "int main(int argc, char **argv)");
    write_line(w, "{");
    write_line(w, "    return tune_main(&tuning, argc, argv);");
    write_line(w, "}");
}

// ---- the file ----------------------------------------------------------------------------------

static int kernel_count(const Tuner *t)
{
    int count = 0;
    FOR_TRIALS(t, product, trial)
        for (int k = 0; k < TENSOR_TILES; k++) count += trial->step[k] != NONE;
    return count;
}

static void emit_head(Tuner *t)
{
    Emitter *e = &t->e;
    Writer *w = &e->w;
    write_line(w, "// %s.cu - measures the tiles of products of `%s`, written by cnnc " CNNC_VERSION ".",
               e->net, e->g->name);
    write_line(w, "//");
    write_line(w, "//   made by     %s", in_comment(e, t->in->command_line));
    write_line(w, "//   build       nvcc -O3 -arch=native -fmad=false %s.cu -o tune", e->net);
    write_line(w, "//   run         ./tune > my.gpu");
    write_line(w, "//   use         cnnc --gpu my.gpu, and the rest as above but for --tune");
    write_line(w, "//   products    %d, by %d different launches; %d kernels", t->count,
               trial_count(t), kernel_count(t));
    quote_program(e);
    write_line(w, "//");
    write_line(w, "// Contents:  1 kernels   2 launches   3 program");
    write_blank(w);
}

static void emit_includes(Tuner *t, const int *steps, int count)
{
    Emitter *e = &t->e;
    const char **names = NEW_ARRAY(e->arena, count + 2, const char *);
    for (int i = 0; i < count; i++) names[i] = e->launches[steps[i]].kernel;
    names[count++] = "tune_main";
    if (is_half(e->g->map)) names[count++] = c_type(e, e->g->map);
    print_includes(e, names, count);
    write_blank(&e->w);
    write_line(&e->w, "typedef float real;");
    write_blank(&e->w);
}

static void emit_kernels_of(Tuner *t, const int *steps, int count)
{
    Emitter *e = &t->e;
    write_section(&e->w, 1, "kernels");
    if (is_half(e->g->map)) print_chunk(e, c_type(e, e->g->map));
    for (int i = 0; i < count; i++) {
        print_chunk(e, e->launches[steps[i]].kernel);
        print_types(e, &e->launches[steps[i]]);
    }
}

static void emit_trials(Tuner *t, const int *steps, int count)
{
    Emitter *e = &t->e;
    const char *tiles[TENSOR_TILES];
    write_section(&e->w, 2, "launches");
    print_chunk(e, "LAUNCH");
    print_chunk(e, "Arena");
    for (int k = 0; k < TENSOR_TILES; k++)
        tiles[k] = arena_print(e->arena, "TILE_%s", tile_word(e, k));
    write_list(&e->w, "enum { ", tiles, TENSOR_TILES, " };");
    write_blank(&e->w);
    emit_shapes(e, steps, count);
    write_line(&e->w, "// Each: a launch in tiles of this size; false where no such tile fits.");
    write_line(&e->w, "// Its tensors lie side by side in the arena.");
    write_blank(&e->w);
    FOR_TRIALS(t, product, trial) emit_trial(t, product, trial);
}

void emit_tune(const TuneInput *in, FILE *out)
{
    EmitInput trains = {.train = in->plain, .train_plan = in->plain_plan,
                        .command_line = in->command_line};
    Tuner t = {.in = in, .e = {.in = &trains, .w = {.out = out, .width = 100}}};
    int *steps;
    take_program(&t.e, in->plain, in->plain_plan, "plain");
    for (int k = 0; k < TENSOR_TILES; k++)
        take_program(&t.e, in->tiled[k], in->tiled_plan[k], "tiled");
    prepare_emitter(&t.e);
    make_launches(&t.e);
    find_trials(&t);
    int count = measured_steps(&t, &steps);
    emit_head(&t);
    emit_includes(&t, steps, count);
    emit_kernels_of(&t, steps, count);
    emit_trials(&t, steps, count);
    emit_program_of(&t);
}
