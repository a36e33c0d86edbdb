// Inputs in the caller's memory: the same numbers as from a copy in the arena,
// for whole batches, some samples and slices; and refusals of other memory.
#include "caller.h"
#include "nets.h"
#include "parts.h"
#include "pieces.h"

enum { ROW_BYTES = ONE_PIXELS * sizeof(float) };

// A context of net NAME with its arena.  The inputs are in memory of the device.
#define CONTEXT(NAME, UPPER)                                                   \
    typedef struct UPPER {                                                     \
        NAME##_context c;                                                      \
        void *arena, *image, *label;                                           \
        cublasHandle_t cublas;                                                 \
        unsigned char state[UPPER##_STATE_BYTES];                              \
    } UPPER;                                                                   \
    static UPPER *new_##NAME(const Batch *b)                                   \
    {                                                                          \
        UPPER *n = (UPPER *)calloc(1, sizeof *n);                              \
        n->arena = new_arena(UPPER##_ARENA_BYTES);                             \
        n->image = new_arena(sizeof b->image + 64);                            \
        n->label = new_arena(sizeof b->label);                                 \
        EXPECT_OK(cublasCreate(&n->cublas));                                   \
        EXPECT_OK(cudaMemcpy(n->image, b->image, sizeof b->image,              \
                             cudaMemcpyDefault));                              \
        EXPECT_OK(cudaMemcpy(n->label, b->label, sizeof b->label,              \
                             cudaMemcpyDefault));                              \
        return n;                                                              \
    }                                                                          \
    static void free_##NAME(UPPER *n)                                          \
    {                                                                          \
        EXPECT_OK(cublasDestroy(n->cublas));                                   \
        EXPECT_OK(cudaFree(n->arena));                                         \
        EXPECT_OK(cudaFree(n->image));                                         \
        EXPECT_OK(cudaFree(n->label));                                         \
        free(n);                                                               \
    }

CONTEXT(caller, CALLER)
CONTEXT(parts, PARTS)
CONTEXT(pieces, PIECES)

static caller_inputs inputs_of(const CALLER *n)
{
    return (caller_inputs){ (const float *)n->image, (const int32_t *)n->label };
}

static void whole_and_some(void)
{
    Batch b = batch_of(3);
    One *one = new_one(7);
    CALLER *own = new_caller(&b);
    caller_inputs in = inputs_of(own);
    float logits[2][ONE_BATCH][3];

    EXPECT(CALLER_ARENA_BYTES <= ONE_ARENA_BYTES);
    EXPECT_OK(caller_init(&own->c, own->arena, CALLER_ARENA_BYTES, NULL,
                          own->cublas, 7, &in));
    for (size_t samples = ONE_BATCH; samples > 0; samples -= 3) {
        EXPECT_OK(train_some(one, &b, samples));
        EXPECT_OK(caller_train(&own->c, &in, samples));
        EXPECT_OK(evaluate_some(one, &b, samples));
        EXPECT_OK(caller_evaluate(&own->c, &in, samples));
        if (samples < 3) break;
    }
    State s = state_of(one);
    EXPECT_OK(caller_export(&own->c, own->state, sizeof own->state));
    EXPECT(!memcmp(own->state + 256, s.bytes + 256, sizeof s.bytes - 256));
    caller_figures m;
    one_figures want = metrics_of(one, 0);
    EXPECT_OK(caller_metrics(&own->c, &m, 0));
    EXPECT(m.samples == want.samples && m.loss == want.loss);

    // Inference reads no labels.
    EXPECT_OK(infer_some(one, &b, 5, logits[0][0]));
    in.label = NULL;
    EXPECT_OK(caller_infer(&own->c, &in, 5, logits[1][0], 5 * sizeof logits[0][0]));
    EXPECT(!memcmp(logits[0], logits[1], 5 * sizeof logits[0][0]));
    free_caller(own);
    free_one(one);
}

static void slices(void)
{
    Batch b = batch_of(4);
    PARTS *own = new_parts(&b);
    PIECES *staged = new_pieces(&b);
    parts_inputs in = { (const float *)own->image, (const int32_t *)own->label };

    EXPECT(PARTS_BATCH == ONE_BATCH && PARTS_ARENA_BYTES <= PIECES_ARENA_BYTES);
    EXPECT_OK(parts_init(&own->c, own->arena, PARTS_ARENA_BYTES, NULL,
                         own->cublas, 7, &in));
    EXPECT_OK(pieces_init(&staged->c, staged->arena, PIECES_ARENA_BYTES, NULL,
                          staged->cublas, 7));
    for (size_t samples = ONE_BATCH; samples > 2; samples -= 3) {
        EXPECT_OK(parts_train(&own->c, &in, samples));
        EXPECT_OK(pieces_train(&staged->c, b.image[0], samples * ROW_BYTES,
                               b.label, samples * sizeof b.label[0]));
    }
    EXPECT_OK(parts_export(&own->c, own->state, sizeof own->state));
    EXPECT_OK(pieces_export(&staged->c, staged->state, sizeof staged->state));
    EXPECT(!memcmp(own->state + 256, staged->state + 256, sizeof own->state - 256));
    free_parts(own);
    free_pieces(staged);
}

// Each refusal names the input, and the context goes on.
static void refusals(void)
{
    Batch b = batch_of(5);
    CALLER *own = new_caller(&b);
    caller_inputs in = inputs_of(own), wrong = in;

    EXPECT(caller_init(&own->c, own->arena, CALLER_ARENA_BYTES, NULL, own->cublas,
                       7, NULL) == CALLER_BAD_ARGUMENT);
    EXPECT_OK(caller_init(&own->c, own->arena, CALLER_ARENA_BYTES, NULL,
                          own->cublas, 7, &in));
    EXPECT(caller_train(&own->c, NULL, 8) == CALLER_BAD_ARGUMENT);
    EXPECT(caller_train(&own->c, &in, 0) == CALLER_BAD_ARGUMENT);
    EXPECT(caller_train(&own->c, &in, 9) == CALLER_BAD_ARGUMENT);
    EXPECT(own->c.error.wanted == 8 && own->c.error.given == 9);
    wrong.image = in.image + 4;
    EXPECT(caller_train(&own->c, &wrong, 8) == CALLER_BAD_ARGUMENT);
    EXPECT(strstr(own->c.error.text, "image: not BATCH samples in CUDA's memory"));
    wrong.image = b.image[0];
    EXPECT(caller_evaluate(&own->c, &wrong, 8) == CALLER_BAD_ARGUMENT);
    wrong.image = NULL;
    EXPECT(caller_infer(&own->c, &wrong, 8, b.image[0], 96) == CALLER_BAD_ARGUMENT);
    // The last rows are not in the allocation.
    wrong = in;
    wrong.label = in.label + 1024;
    EXPECT(caller_train(&own->c, &wrong, 8) == CALLER_BAD_ARGUMENT);
    EXPECT(strstr(own->c.error.text, "label: ") && !strcmp(own->c.error.call, "train"));
    EXPECT_OK(caller_train(&own->c, &in, 8));
    EXPECT_OK(cudaDeviceSynchronize());
    free_caller(own);
}

int main(void)
{
    whole_and_some();
    slices();
    refusals();
    return 0;
}
