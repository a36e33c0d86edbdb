// mean_iou's counts through the C interface: over training steps and
// evaluations together, anew after a reset, and without skipped steps.
#include <math.h>

#include "iou.h"
#include "nets.h"

typedef struct Scene {
    float scores[IOU_BATCH][4][3];
    int32_t mask[IOU_BATCH][4], label[IOU_BATCH];
} Scene;

// Pixels of which class `guess[i]` is predicted, and of class `truth[i]`.
static Scene scene_of(const char *guess, const char *truth)
{
    Scene s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < 4 * IOU_BATCH; i++) {
        s.scores[i / 4][i % 4][guess[i] - '0'] = 1;
        s.mask[i / 4][i % 4] = truth[i] - '0';
    }
    return s;
}

static int train(iou_context *c, const Scene *s, size_t samples)
{
    return iou_train(c, &s->scores[0][0][0], samples * sizeof s->scores[0],
                     s->mask[0], samples * sizeof s->mask[0], s->label,
                     samples * sizeof s->label[0]);
}

static int evaluate(iou_context *c, const Scene *s, size_t samples)
{
    return iou_evaluate(c, &s->scores[0][0][0], samples * sizeof s->scores[0],
                        s->mask[0], samples * sizeof s->mask[0], s->label,
                        samples * sizeof s->label[0]);
}

// The mean since the last reset.
static double mean_of(iou_context *c, int reset)
{
    iou_figures figures;
    EXPECT_OK(iou_metrics(c, &figures, reset));
    return figures.mean_iou;
}

static int near(double a, double b)
{
    return fabs(a - b) < 1e-5;
}

int main(void)
{
    iou_context c;
    cublasHandle_t cublas;
    void *arena = new_arena(IOU_ARENA_BYTES);
    memset(&c, 0, sizeof c);
    EXPECT_OK(cublasCreate(&cublas));
    EXPECT_OK(iou_init(&c, arena, IOU_ARENA_BYTES, NULL, cublas, 1));

    // Class 0: 4 right of 5; of 1: 5 right of 7; pixels labelled 2 don't count,
    // but one predicted to be 2 does: 0 right of 1.
    Scene a = scene_of("000011121111", "000001111111");
    a.mask[2][3] = 2;
    EXPECT_OK(train(&c, &a, 3));
    double first = (4.0 / 5 + 5.0 / 7 + 0.0 / 1) / 3;
    EXPECT(near(mean_of(&c, 0), first));

    // The loss of this one is not a number: nothing of it may count.
    Scene bad = scene_of("222222222222", "000011110000");
    bad.label[1] = 7;
    EXPECT_OK(train(&c, &bad, 3));
    EXPECT(near(mean_of(&c, 0), first));
    EXPECT_OK(train(&c, &bad, 3));

    // Two samples of another, 3 right of 5 for either class; then the same in
    // an evaluation.
    Scene b = scene_of("000011112222", "000111100000");
    EXPECT_OK(train(&c, &b, 2));
    double second = ((4.0 + 3) / (5 + 5) + (5.0 + 3) / (7 + 5) + 0) / 3;
    EXPECT(near(mean_of(&c, 0), second));
    EXPECT_OK(evaluate(&c, &b, 2));
    double third = ((4.0 + 6) / (5 + 10) + (5.0 + 6) / (7 + 10) + 0) / 3;
    EXPECT(near(mean_of(&c, 1), third));

    // A reset forgets, even where a skipped step comes first.
    EXPECT_OK(train(&c, &bad, 3));
    EXPECT_OK(train(&c, &b, 2));
    EXPECT(near(mean_of(&c, 0), 3.0 / 5));
    EXPECT_OK(cublasDestroy(cublas));
    EXPECT_OK(cudaFree(arena));
    return 0;
}
