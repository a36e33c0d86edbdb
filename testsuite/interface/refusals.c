// Checks the refusals of the interface and their status, and that nothing
// changes.
#include "nets.h"

static void arenas_are_checked(void)
{
    one_context c;
    cublasHandle_t cublas;
    unsigned char *arena = (unsigned char *)new_arena(ONE_ARENA_BYTES + ONE_ARENA_ALIGN);
    memset(&c, 0, sizeof c);
    EXPECT_OK(cublasCreate(&cublas));

    EXPECT(one_init(&c, arena, ONE_ARENA_BYTES - 1, NULL, cublas, 1) == ONE_BAD_ARENA);
    EXPECT(one_last_error(&c)->status == ONE_BAD_ARENA);
    EXPECT(one_last_error(&c)->wanted == ONE_ARENA_BYTES);
    EXPECT(one_last_error(&c)->given == ONE_ARENA_BYTES - 1);
    EXPECT(one_attach(&c, arena, ONE_ARENA_BYTES - 1, NULL, cublas) == ONE_BAD_ARENA);

    EXPECT(one_init(&c, arena + 16, ONE_ARENA_BYTES, NULL, cublas, 1) == ONE_BAD_ARENA);
    EXPECT(one_last_error(&c)->wanted == ONE_ARENA_ALIGN);
    EXPECT(one_last_error(&c)->given == 16);

    EXPECT(one_init(&c, NULL, ONE_ARENA_BYTES, NULL, cublas, 1) == ONE_BAD_ARGUMENT);
    EXPECT(one_init(NULL, arena, ONE_ARENA_BYTES, NULL, cublas, 1) == ONE_BAD_ARGUMENT);
    EXPECT(one_attach(NULL, arena, ONE_ARENA_BYTES, NULL, cublas) == ONE_BAD_ARGUMENT);

    // Large dense layers want cuBLAS; small ones and convolutions do not.
    EXPECT(ONE_USES_CUBLAS == 1 && TWO_USES_CUBLAS == 0);
    EXPECT(one_init(&c, arena, ONE_ARENA_BYTES, NULL, NULL, 1) == ONE_BAD_ARGUMENT);
    EXPECT(!c.ready);
    EXPECT_OK(one_init(&c, arena, ONE_ARENA_BYTES, NULL, cublas, 1));
    EXPECT(c.ready && one_last_error(&c)->status == ONE_OK);

    // An arena that is longer than it must be is fine.
    EXPECT_OK(one_init(&c, arena, ONE_ARENA_BYTES + ONE_ARENA_ALIGN, NULL, cublas, 1));
    EXPECT_OK(cublasDestroy(cublas));
    EXPECT_OK(cudaFree(arena));
}

// The status of init and attach for an arena that is, or claims to be, long
// enough.
static void expect_no_arena(void *arena, size_t bytes, const char *text)
{
    one_context c;
    cublasHandle_t cublas;
    memset(&c, 0, sizeof c);
    EXPECT_OK(cublasCreate(&cublas));
    EXPECT(one_init(&c, arena, bytes, NULL, cublas, 1) == ONE_BAD_ARENA);
    EXPECT(!c.ready && strstr(one_last_error(&c)->text, text));
    EXPECT(one_attach(&c, arena, bytes, NULL, cublas) == ONE_BAD_ARENA);
    EXPECT(!c.ready && strstr(one_last_error(&c)->text, text));
    EXPECT(cudaPeekAtLastError() == cudaSuccess);
    EXPECT_OK(cublasDestroy(cublas));
}

// Two allocations are not one: an arena that begins in the last bytes of one ends in the next.
static void expect_none_across(void)
{
    unsigned char *all[16];
    int found = 0;
    for (int i = 0; i < 16; i++) all[i] = (unsigned char *)new_arena(ONE_ARENA_BYTES);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            unsigned char *across = all[i] + ONE_ARENA_BYTES - ONE_ARENA_ALIGN;
            if (all[j] < across || (size_t)(all[j] - across) >= ONE_ARENA_BYTES) continue;
            expect_no_arena(across, ONE_ARENA_BYTES, "fewer bytes");
            found++;
        }
    EXPECT(found > 0);
    for (int i = 0; i < 16; i++) EXPECT_OK(cudaFree(all[i]));
}

// Memory that CUDA did not allocate, or has freed, or that ends too early.
static void arenas_are_allocated(void)
{
    static unsigned char own[ONE_ARENA_BYTES + ONE_ARENA_ALIGN];
    unsigned char *in_own = own + ONE_ARENA_ALIGN - (uintptr_t)own % ONE_ARENA_ALIGN;
    unsigned char *freed = (unsigned char *)new_arena(ONE_ARENA_BYTES);
    unsigned char *small = (unsigned char *)new_arena(ONE_ARENA_BYTES - 1);
    unsigned char *arena = (unsigned char *)new_arena(2 * ONE_ARENA_BYTES);
    One *one = new_one(3);
    State s = state_of(one);
    memcpy(in_own, s.bytes, sizeof s.bytes);
    expect_no_arena(in_own, ONE_ARENA_BYTES, "not memory that CUDA allocated");
    EXPECT_OK(cudaFree(freed));
    expect_no_arena(freed, ONE_ARENA_BYTES, "was freed");
    expect_no_arena(small, ONE_ARENA_BYTES, "fewer bytes");
    expect_no_arena(arena + 2 * ONE_ARENA_BYTES - ONE_ARENA_ALIGN, ONE_ARENA_BYTES, "fewer bytes");
    expect_no_arena(arena, 2 * ONE_ARENA_BYTES + 1, "fewer bytes");
    expect_no_arena(arena, SIZE_MAX, "fewer bytes");
    expect_none_across();

    // A part of an allocation is fine, and so is pinned memory.
    void *pinned;
    EXPECT_OK(cudaMallocHost(&pinned, ONE_ARENA_BYTES));
    void *good[] = {arena + ONE_ARENA_BYTES, pinned};
    for (int i = 0; i < 2; i++) {
        one_context c;
        Batch b = batch_of(0);
        State t;
        EXPECT_OK(one_init(&c, good[i], ONE_ARENA_BYTES, NULL, one->cublas, 3));
        EXPECT_OK(one_export(&c, t.bytes, sizeof t.bytes));
        EXPECT(same_state(&s, &t));
        EXPECT_OK(one_train(&c, b.image[0], sizeof b.image, b.label, sizeof b.label));
        EXPECT_OK(one_attach(&c, good[i], ONE_ARENA_BYTES, NULL, one->cublas));
    }
    EXPECT_OK(cudaFreeHost(pinned));
    expect_no_arena(pinned, ONE_ARENA_BYTES, "was freed");
    EXPECT_OK(cudaFree(small));
    EXPECT_OK(cudaFree(arena));
    free_one(one);
}

// Data in memory that was freed, or that ends too early; an arena that was freed.
static void data_is_allocated(void)
{
    Batch b = batch_of(0);
    float logits[3 * ONE_BATCH];
    for (int k = 0; k < 5; k++) {
        One *one = new_one(3);
        float *image;
        size_t bytes = sizeof b.image - (k % 2 ? 4 : 0);
        if (k < 2) EXPECT_OK(cudaMalloc((void **)&image, bytes));
        else EXPECT_OK(cudaMallocHost((void **)&image, bytes));
        EXPECT_OK(cudaMemcpy(image, b.image, bytes, cudaMemcpyDefault));
        if (k == 0) EXPECT_OK(cudaFree(image));
        if (k == 2) EXPECT_OK(cudaFreeHost(image));
        if (k == 4) EXPECT_OK(cudaFree(one->arena));
        EXPECT(one_train(&one->c, image, sizeof b.image, b.label, sizeof b.label) ==
               ONE_CUDA_FAILED);
        EXPECT(one_last_error(&one->c)->code == cudaErrorInvalidValue);
        EXPECT(!strcmp(one_last_error(&one->c)->call, "copy to the arena"));
        EXPECT(cudaPeekAtLastError() == cudaSuccess);
        if (k == 4) {
            EXPECT_OK(cublasDestroy(one->cublas));
            free(one);
        } else {
            EXPECT_OK(one_attach(&one->c, one->arena, ONE_ARENA_BYTES, NULL, one->cublas));
            EXPECT_OK(infer_some(one, &b, ONE_BATCH, logits));
            free_one(one);
        }
        if (k == 1) EXPECT_OK(cudaFree(image));
        if (k > 2) EXPECT_OK(cudaFreeHost(image));
    }
}

static void nothing_runs_before_init(void)
{
    One one;
    Batch b = batch_of(0);
    State s;
    float logits[3];
    one_figures m;
    memset(&one, 0, sizeof one);
    EXPECT(train_some(&one, &b, 1) == ONE_NOT_READY);
    EXPECT(one_last_error(&one.c)->status == ONE_NOT_READY);
    EXPECT(evaluate_some(&one, &b, 1) == ONE_NOT_READY);
    EXPECT(infer_some(&one, &b, 1, logits) == ONE_NOT_READY);
    EXPECT(one_metrics(&one.c, &m, 0) == ONE_NOT_READY);
    EXPECT(one_set(&one.c, ONE_RATE, 0.5) == ONE_NOT_READY);
    EXPECT(one_export(&one.c, s.bytes, sizeof s.bytes) == ONE_NOT_READY);
    EXPECT(one_import(&one.c, s.bytes, sizeof s.bytes) == ONE_NOT_READY);
    EXPECT(one_train(NULL, b.image[0], sizeof b.image[0], b.label, 4) == ONE_BAD_ARGUMENT);
}

static void sizes_are_checked(void)
{
    One *one = new_one(3);
    Batch b = batch_of(0);
    const size_t image = sizeof b.image[0], label = sizeof b.label[0];
    float logits[3 * ONE_BATCH];
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    State before = state_of(one);
    const struct {
        const float *image;
        size_t image_bytes;
        const int32_t *label;
        size_t label_bytes;
    } wrong[] = {
        {b.image[0], 0, b.label, 0},
        {b.image[0], image - 1, b.label, label},
        {b.image[0], image + 1, b.label, label},
        {b.image[0], image, b.label, label - 1},
        {b.image[0], image, b.label, 2 * label},
        {b.image[0], 2 * image, b.label, label},
        {b.image[0], (ONE_BATCH + 1) * image, b.label, (ONE_BATCH + 1) * label},
        {b.image[0], (size_t)-1, b.label, label},
        {NULL, image, b.label, label},
        {b.image[0], image, NULL, label},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        EXPECT(one_train(&one->c, wrong[i].image, wrong[i].image_bytes, wrong[i].label,
                         wrong[i].label_bytes) == ONE_BAD_ARGUMENT);
        EXPECT(one_last_error(&one->c)->status == ONE_BAD_ARGUMENT);
        EXPECT(one_evaluate(&one->c, wrong[i].image, wrong[i].image_bytes, wrong[i].label,
                            wrong[i].label_bytes) == ONE_BAD_ARGUMENT);
    }
    EXPECT(one_infer(&one->c, b.image[0], image, logits, 2) == ONE_BAD_ARGUMENT);
    EXPECT(one_infer(&one->c, b.image[0], image, logits, 24) == ONE_BAD_ARGUMENT);
    EXPECT(one_infer(&one->c, b.image[0], image, NULL, 12) == ONE_BAD_ARGUMENT);
    EXPECT(one_metrics(&one->c, NULL, 0) == ONE_BAD_ARGUMENT);
    EXPECT(one_set(&one->c, (one_setting)99, 1.0) == ONE_BAD_ARGUMENT);

    State after = state_of(one);
    EXPECT(one->c.ready && same_state(&before, &after));
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    free_one(one);
}

// Sizes, magic and hash tell whose state it is.
static void foreign_states_are_refused(void)
{
    One *one = new_one(3), *other = new_one(4);
    State before = state_of(one), foreign = state_of(other);
    EXPECT(!same_state(&before, &foreign));
    EXPECT(one_export(&one->c, foreign.bytes, ONE_STATE_BYTES - 1) == ONE_BAD_ARGUMENT);
    EXPECT(one_import(&one->c, foreign.bytes, ONE_STATE_BYTES - 1) == ONE_BAD_ARGUMENT);
    EXPECT(one_import(&one->c, foreign.bytes, TWO_STATE_BYTES) == ONE_BAD_ARGUMENT);
    EXPECT(one_export(&one->c, NULL, ONE_STATE_BYTES) == ONE_BAD_ARGUMENT);
    EXPECT(one_import(&one->c, NULL, ONE_STATE_BYTES) == ONE_BAD_ARGUMENT);
    for (int byte = 0; byte < 16; byte++) {
        State damaged = foreign;
        damaged.bytes[byte] ^= 1;
        EXPECT(one_import(&one->c, damaged.bytes, sizeof damaged.bytes) == ONE_BAD_STATE);
        State after = state_of(one);
        EXPECT(one->c.ready && same_state(&before, &after));
        // attach takes no such state, and leaves it alone.
        EXPECT_OK(cudaMemcpy(other->arena, damaged.bytes, sizeof damaged.bytes,
                             cudaMemcpyHostToDevice));
        EXPECT(one_attach(&other->c, other->arena, ONE_ARENA_BYTES, NULL, other->cublas) ==
               ONE_BAD_STATE);
        EXPECT(one_export(&other->c, after.bytes, sizeof after.bytes) == ONE_NOT_READY);
        EXPECT_OK(cudaMemcpy(after.bytes, other->arena, sizeof after.bytes,
                             cudaMemcpyDeviceToHost));
        EXPECT(same_state(&damaged, &after));
    }
    free_one(one);
    free_one(other);
}

// An error in a step names its place, and only init or attach clear it.
static void failures_name_their_step(void)
{
    One *one = new_one(3);
    Batch b = batch_of(0);
    State s;
    one->c.cublas = NULL;
    EXPECT(train_some(one, &b, ONE_BATCH) == ONE_CUBLAS_FAILED);
    const one_error *error = one_last_error(&one->c);
    EXPECT(error->status == ONE_CUBLAS_FAILED && error->code == CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(error->step >= 0 && error->line == 9);
    EXPECT(!strcmp(error->call, "dense_product") && error->text);
    EXPECT(!one->c.ready);
    EXPECT(train_some(one, &b, ONE_BATCH) == ONE_NOT_READY);
    EXPECT(one_export(&one->c, s.bytes, sizeof s.bytes) == ONE_NOT_READY);
    EXPECT(one_last_error(&one->c)->status == ONE_CUBLAS_FAILED);
    EXPECT_OK(one_attach(&one->c, one->arena, ONE_ARENA_BYTES, NULL, one->cublas));
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    free_one(one);
}

// Errors of the program itself are reported as such and left to it.
static void earlier_errors_are_not_ours(void)
{
    One *one = new_one(3);
    Batch b = batch_of(0);
    State before = state_of(one);
    float logits[3];
    EXPECT(cudaMemcpyAsync(NULL, NULL, 1, (enum cudaMemcpyKind)99, NULL) != 0);
    cudaError_t made = cudaPeekAtLastError();
    EXPECT(made != cudaSuccess);
    EXPECT(train_some(one, &b, ONE_BATCH) == ONE_CUDA_FAILED);
    const one_error *error = one_last_error(&one->c);
    EXPECT(error->status == ONE_CUDA_FAILED && error->code == (int)made && error->step == -1);
    EXPECT(strstr(error->text, "an earlier call of the program"));
    EXPECT(evaluate_some(one, &b, 1) == ONE_CUDA_FAILED);
    EXPECT(infer_some(one, &b, 1, logits) == ONE_CUDA_FAILED);
    EXPECT(one->c.ready && cudaPeekAtLastError() == made);
    EXPECT(cudaGetLastError() == made);
    State after = state_of(one);
    EXPECT(same_state(&before, &after));
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    free_one(one);
}

static void statuses_have_texts(void)
{
    for (int i = 0; i <= ONE_NOT_READY; i++) {
        EXPECT(*one_strerror(i));
        for (int j = 0; j < i; j++) EXPECT(strcmp(one_strerror(i), one_strerror(j)));
    }
    EXPECT(*one_strerror(-1) && !strcmp(one_strerror(-1), one_strerror(ONE_NOT_READY + 1)));
}

int main(void)
{
    arenas_are_checked();
    arenas_are_allocated();
    data_is_allocated();
    nothing_runs_before_init();
    sizes_are_checked();
    foreign_states_are_refused();
    failures_name_their_step();
    earlier_errors_are_not_ours();
    statuses_have_texts();
    return 0;
}
