// --tune: writes a program that measures the fastest tiles for the products of
// a training step.  The step is compiled as it is, and once for each tile size,
// as if a GPU's file gave that tile for all products.
//
// Horizontal fusion is off, so that each launch can be timed, and so is the
// search for addresses, since the tuning program has its own.  Budgets are
// refused: they would choose other launches for other tiles.
#include "../../ir/gpu/gemm_tile.h"
#include "input.h"
#include "run_pipeline.h"

int set_tune(Options *o, const char *value)
{
    (void)value;
    o->tune = true;
    return -1;
}

const char *tune_fault(const Options *o)
{
    const FrontendOptions *f = &o->frontend;
    if (!o->tune) return NULL;
    if (f->mode != TRAIN)
        return "--tune is for training, and does not go with --mode:";
    if (o->emit_given || o->passes.stop_after != NULL)
        return "--tune is a program, and goes with neither --emit nor "
               "--stop-after:";
    if (o->header != NULL || o->with_main || o->prefix != NULL ||
        o->weights != NULL || o->report != NULL || prints_table(o) ||
        f->caller_inputs)
        return "--tune is a program of its own, and does not go with --header, "
               "--main, --prefix, --weights, --inputs, --report or tables:";
    if (o->passes.budget > 0 || o->fit > 0)
        return "--tune measures without a budget, and goes with neither "
               "--budget nor --fit:";
    if (!f->tf32 && f->map != F16 && f->map != BF16)
        return "--tune is for products on tensor cores, and needs --precision "
               "tf32, f16 or bf16:";
    return NULL;
}

static const Graph *compile_for(const Input *in, const Options *o,
                                const Gpu *gpu, const PassOptions *with,
                                const Plan **plan)
{
    FrontendOptions frontend = o->frontend;
    frontend.gpu = gpu;
    Graph *g = input_graph(in, &frontend);
    *plan = g != NULL ? run_pipeline(g, with) : NULL;
    return *plan != NULL && in->diag->error_count == 0 ? g : NULL;
}

// Returns the GPU with this tile for all products, before its own tiles.
static const Gpu *gpu_with(Arena *arena, const Gpu *gpu, const ProductKey *keys,
                           int count, const Tile *tile)
{
    Gpu *with = NEW(arena, Gpu);
    int known = gpu->tuned_count;
    TunedTile *tuned = NEW_ARRAY(arena, (size_t)count + (size_t)known,
                                 TunedTile);
    for (int i = 0; i < count; i++)
        tuned[i] = (TunedTile){ keys[i], tile->rows, tile->columns };
    for (int i = 0; i < known; i++) tuned[count + i] = gpu->tuned[i];
    *with = *gpu;
    with->tuned = tuned;
    with->tuned_count = count + known;
    return with;
}

bool make_tuning(const Input *in, const Options *o, TuneInput *tune)
{
    ProductKey *keys;
    PassOptions apart = o->passes, quiet;
    Pos pos = { in->source, 1, 1, 1 };

    if (in->ast == NULL) {
        error(in->diag, pos, "--tune measures the net of a program, and this "
              "is a graph as text");
        return false;
    }
    apart.enabled[PASS_fuse_horizontal] = false;
    apart.enabled[PASS_assign_offsets] = false;
    quiet = without_dumps(&apart);
    tune->command_line = o->command_line;
    tune->plain = compile_for(in, o, o->frontend.gpu, &apart,
                              &tune->plain_plan);
    if (tune->plain == NULL) return false;
    tune->gpu = graph_gpu(tune->plain);
    tune->gpu_lines = gpu_text(o->arena, tune->gpu);
    int count = graph_products(tune->plain, &keys);
    if (count == 0) {
        error(in->diag, in->ast->net->pos, "no product of a training "
              "step of %s is made on tensor cores of %s", tune->plain->name,
              tune->gpu->name);
        return false;
    }
    for (int k = 0; k < TENSOR_TILES; k++) {
        const Gpu *gpu = gpu_with(o->arena, tune->gpu, keys, count,
                                  tensor_tile_at(k));
        tune->tiled[k] = compile_for(in, o, gpu, &quiet, &tune->tiled_plan[k]);
        if (tune->tiled[k] == NULL) return false;
    }
    return true;
}
