// A training run whose every bit goes to standard output: losses, outputs, the
// state at the end.  `same_bits` runs it in several environments.
#include "nets.h"

static void print_bits(const char *name, const void *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    printf("%s %016llx\n", name, (unsigned long long)hash);
}

int main(void)
{
    one_context c = {0};
    cublasHandle_t cublas;
#ifdef ONE_STATIC_ARENA
    void *arena = one_static_arena();
#else
    void *arena = new_arena(ONE_ARENA_BYTES);
#endif
    float logits[ONE_BATCH][3];
    unsigned char state[ONE_STATE_BYTES];
    EXPECT(arena != NULL);
    EXPECT_OK(cublasCreate(&cublas));
    EXPECT_OK(one_init(&c, arena, ONE_ARENA_BYTES, NULL, cublas, 99));
    for (unsigned i = 0; i < 12; i++) {
        Batch b = batch_of(i);
        one_figures m;
        size_t samples = i % 3 == 2 ? 5 : ONE_BATCH;
        EXPECT_OK(one_train(&c, b.image[0], samples * sizeof b.image[0], b.label,
                            samples * sizeof b.label[0]));
        EXPECT_OK(one_metrics(&c, &m, 1));
        printf("%a %a\n", m.loss, m.accuracy);
        EXPECT_OK(one_evaluate(&c, b.image[0], sizeof b.image, b.label, sizeof b.label));
        EXPECT_OK(one_infer(&c, b.image[0], sizeof b.image, logits[0], sizeof logits));
        print_bits("logits", logits, sizeof logits);
    }
    EXPECT_OK(one_export(&c, state, sizeof state));
    print_bits("state", state, sizeof state);
    EXPECT_OK(cublasDestroy(cublas));
#ifndef ONE_STATIC_ARENA
    EXPECT_OK(cudaFree(arena));
#endif
    return 0;
}
