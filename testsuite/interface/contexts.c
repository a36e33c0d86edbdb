// Several contexts at once: in two threads, and of two nets in one program.
#define _POSIX_C_SOURCE 200112L         // barriers of threads
#include <pthread.h>

#include "nets.h"

// One net's training, by its seed and its batches.
typedef struct Run {
    unsigned seed;
    pthread_barrier_t *ready;   // where others wait who train at once; or null
    State end;
    double loss;
} Run;

static void *train_alone(void *argument)
{
    Run *run = (Run *)argument;
    One *one = new_one(run->seed);
    if (run->ready) pthread_barrier_wait(run->ready);
    for (unsigned i = 0; i < 20; i++) {
        Batch b = batch_of(i + run->seed);
        EXPECT_OK(train_some(one, &b, 1 + (i + run->seed) % ONE_BATCH));
    }
    run->loss = metrics_of(one, 0).loss;
    run->end = state_of(one);
    free_one(one);
    return NULL;
}

static void threads_do_not_meet(void)
{
    pthread_barrier_t ready;
    Run alone[2] = {{.seed = 21}, {.seed = 22}};
    Run at_once[2] = {{.seed = 21, .ready = &ready}, {.seed = 22, .ready = &ready}};
    pthread_t thread[2];
    EXPECT_OK(pthread_barrier_init(&ready, NULL, 2));
    for (int i = 0; i < 2; i++) train_alone(&alone[i]);
    EXPECT(!same_state(&alone[0].end, &alone[1].end));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(pthread_create(&thread[i], NULL, train_alone, &at_once[i]));
    for (int i = 0; i < 2; i++) EXPECT_OK(pthread_join(thread[i], NULL));
    for (int i = 0; i < 2; i++)
        EXPECT(at_once[i].loss == alone[i].loss && same_state(&at_once[i].end, &alone[i].end));
    pthread_barrier_destroy(&ready);
}

typedef struct Two {
    two_context c;
    uint8_t image[TWO_BATCH][TWO_PIXELS];
    int32_t label[TWO_BATCH];
    unsigned char end[TWO_STATE_BYTES];
} Two;

static void begin_two(Two *two, void *arena)
{
    memset(two, 0, sizeof *two);
    for (int n = 0; n < TWO_BATCH; n++) {
        for (int i = 0; i < TWO_PIXELS; i++) two->image[n][i] = (uint8_t)(37 * n + 11 * i);
        two->label[n] = n % 4;
    }
    EXPECT_OK(two_init(&two->c, arena, TWO_ARENA_BYTES, NULL, NULL, 5));
}

static void train_two(Two *two)
{
    EXPECT_OK(two_train(&two->c, two->image[0], sizeof two->image, two->label,
                        sizeof two->label));
}

// Steps of the two nets take turns; each ends where it would have ended alone.
static void nets_do_not_meet(void)
{
    void *arena = new_arena(TWO_ARENA_BYTES);
    Two *alone = (Two *)calloc(2, sizeof *alone), *beside = alone + 1;
    Run one_alone = {.seed = 21};
    train_alone(&one_alone);
    begin_two(alone, arena);
    for (int i = 0; i < 20; i++) train_two(alone);
    EXPECT_OK(two_export(&alone->c, alone->end, sizeof alone->end));

    One *one = new_one(21);
    begin_two(beside, arena);
    for (unsigned i = 0; i < 20; i++) {
        Batch b = batch_of(i + 21);
        EXPECT_OK(train_some(one, &b, 1 + (i + 21) % ONE_BATCH));
        train_two(beside);
    }
    EXPECT_OK(two_export(&beside->c, beside->end, sizeof beside->end));
    EXPECT(!memcmp(alone->end, beside->end, sizeof alone->end));
    State end = state_of(one);
    EXPECT(same_state(&end, &one_alone.end));

    float scores[TWO_BATCH][4], map[TWO_BATCH][2 * 2 * 4];
    // Outputs come in the order in which the program names them.
    EXPECT_OK(two_infer(&beside->c, beside->image[0], sizeof beside->image, scores[0], sizeof scores,
                        map[0], sizeof map));
    for (int n = 0; n < TWO_BATCH; n++)
        for (int i = 0; i < 16; i++) EXPECT(map[n][i] >= 0);
    free_one(one);
    EXPECT_OK(cudaFree(arena));
    free(alone);
}

int main(void)
{
    threads_do_not_meet();
    nets_do_not_meet();
    return 0;
}
