// Inference takes the first PARAMS_BYTES of a training state.
#include "averaged.h"
#include "begun.h"
#include "nets.h"
#include "solo.h"

enum { SAMPLES = SOLO_BATCH };

typedef struct Solo {
    solo_context c;
    void *arena;
    cublasHandle_t cublas;
} Solo;

static Solo new_solo(uint64_t seed)
{
    Solo solo = {{0}, new_arena(SOLO_ARENA_BYTES), NULL};
    EXPECT_OK(cublasCreate(&solo.cublas));
    EXPECT_OK(solo_init(&solo.c, solo.arena, SOLO_ARENA_BYTES, NULL, solo.cublas, seed));
    return solo;
}

static void free_solo(Solo *solo)
{
    EXPECT_OK(cublasDestroy(solo->cublas));
    EXPECT_OK(cudaFree(solo->arena));
}

static void expect_scores(Solo *solo, const Batch *b, float wanted[SAMPLES][3])
{
    float logits[SAMPLES][3];
    EXPECT_OK(solo_infer(&solo->c, b->image[0], sizeof b->image, logits[0], sizeof logits));
    EXPECT(!memcmp(logits, wanted, sizeof logits));
}

// A state after training, and the results of the trained net from it.
static State trained(const Batch *b, float logits[SAMPLES][3])
{
    One *one = new_one(31);
    for (int i = 0; i < 5; i++) EXPECT_OK(train_some(one, b, ONE_BATCH));
    EXPECT_OK(infer_some(one, b, ONE_BATCH, logits[0]));
    State s = state_of(one);
    free_one(one);
    return s;
}

static void beginnings_are_taken(const State *s, const Batch *b, float logits[SAMPLES][3])
{
    Solo imported = new_solo(1), attached = new_solo(2);
    unsigned char back[SOLO_STATE_BYTES];
    EXPECT_OK(solo_import(&imported.c, s->bytes, SOLO_STATE_BYTES));
    expect_scores(&imported, b, logits);
    EXPECT_OK(solo_export(&imported.c, back, sizeof back));
    EXPECT(!memcmp(back, s->bytes, sizeof back));

    EXPECT_OK(cudaMemset(attached.arena, 0xff, SOLO_ARENA_BYTES));
    EXPECT_OK(cudaMemcpy(attached.arena, s->bytes, SOLO_STATE_BYTES, cudaMemcpyHostToDevice));
    EXPECT_OK(solo_attach(&attached.c, attached.arena, SOLO_ARENA_BYTES, NULL, attached.cublas));
    expect_scores(&attached, b, logits);
    free_solo(&imported);
    free_solo(&attached);
}

// Its size, its magic and its PARAMS_HASH matter, and no other word of the header does.
static void others_are_refused(const State *s)
{
    Solo solo = new_solo(3);
    unsigned char before[SOLO_STATE_BYTES], after[SOLO_STATE_BYTES];
    EXPECT_OK(solo_export(&solo.c, before, sizeof before));
    EXPECT(solo_import(&solo.c, s->bytes, ONE_STATE_BYTES) == SOLO_BAD_ARGUMENT);
    EXPECT(solo_import(&solo.c, s->bytes, SOLO_STATE_BYTES - 1) == SOLO_BAD_ARGUMENT);
    for (int byte = 0; byte < 24; byte++) {
        State damaged = *s;
        damaged.bytes[byte] ^= 1;
        if (byte >= 8 && byte < 16) continue;   // the STATE_HASH, which is training's
        EXPECT(solo_import(&solo.c, damaged.bytes, SOLO_STATE_BYTES) == SOLO_BAD_STATE);
        EXPECT_OK(solo_export(&solo.c, after, sizeof after));
        EXPECT(!memcmp(before, after, sizeof before));
    }
    // An initial state for inference alone is no state to train from.
    One *one = new_one(4);
    State small = state_of(one);
    memcpy(small.bytes, before, sizeof before);
    EXPECT(one_import(&one->c, small.bytes, sizeof small.bytes) == ONE_BAD_STATE);
    free_one(one);
    free_solo(&solo);
}

int main(void)
{
    Batch b = batch_of(1);
    float logits[SAMPLES][3];
    State s = trained(&b, logits);
    EXPECT(SOLO_BATCH == ONE_BATCH && SOLO_TRAINS == 0 && ONE_TRAINS == 1);
    EXPECT(SOLO_STATE_BYTES == SOLO_PARAMS_BYTES && ONE_PARAMS_BYTES == SOLO_PARAMS_BYTES);
    EXPECT(ONE_STATE_BYTES > ONE_PARAMS_BYTES && ONE_PARAMS_HASH == SOLO_PARAMS_HASH);
    beginnings_are_taken(&s, &b, logits);
    others_are_refused(&s);
    // Where training infers from averages, the beginning of its state is not
    // enough.
    EXPECT(BEGUN_PARAMS_BYTES == AVERAGED_PARAMS_BYTES);
    EXPECT(BEGUN_PARAMS_HASH != AVERAGED_PARAMS_HASH);
    return 0;
}
