// Checks the content of the state and its changes: fresh weights, training
// steps, export and import, the figures, the settings, a loss that is not
// finite.
#include <math.h>

#include "nets.h"

static void seeds_draw_weights(void)
{
    One *one = new_one(3), *same = new_one(3), *other = new_one(4);
    State a = state_of(one), b = state_of(same), c = state_of(other);
    EXPECT(same_state(&a, &b) && !same_weights(&a, &c));
    EXPECT(one_param(-1) == NULL && one_param(ONE_PARAM_COUNT) == NULL);
    for (int i = 0; i < ONE_PARAM_COUNT; i++) {
        const one_tensor *t = one_param(i);
        size_t elements = 1, nonzero = 0;
        for (int k = 0; k < t->rank; k++) elements *= (size_t)t->shape[k];
        EXPECT(!strcmp(t->dtype, "f32") && t->bytes == 4 * elements);
        EXPECT(t->offset >= 256 && t->offset + t->bytes <= ONE_STATE_BYTES);
        for (size_t k = 0; k < elements; k++) {
            float x;
            memcpy(&x, a.bytes + t->offset + 4 * k, 4);
            EXPECT(fabsf(x) <= 1);
            nonzero += x != 0;
        }
        EXPECT(nonzero == (t->rank > 1 ? elements : 0));
    }
    EXPECT(!strcmp(one_param(0)->name, "first.weight"));
    EXPECT(one_param(0)->offset == ONE_FIRST_WEIGHT_OFFSET);
    EXPECT(one_param(0)->bytes == ONE_FIRST_WEIGHT_BYTES);
    EXPECT(!strcmp(one_param(0)->dtype, ONE_FIRST_WEIGHT_DTYPE));
    free_one(one);
    free_one(same);
    free_one(other);
}

// A launch that ended halfway: some of its blocks are still counted.
static void forget_blocks(void *arena)
{
    enum { ARRIVALS = 96 };
    const uint32_t arrived = 1000;
    EXPECT_OK(cudaMemcpy((unsigned char *)arena + ARRIVALS, &arrived, sizeof arrived,
                         cudaMemcpyHostToDevice));
}

// An exported state continues elsewhere as if it had never moved, after any
// result of a launch.
static void states_continue(void)
{
    One *one = new_one(5), *imported = new_one(6), *attached = new_one(7);
    One *all[] = {one, imported, attached};
    for (unsigned i = 0; i < 3; i++) {
        Batch b = batch_of(i);
        EXPECT_OK(train_some(one, &b, ONE_BATCH - i));
    }
    State s = state_of(one);
    EXPECT_OK(one_import(&imported->c, s.bytes, sizeof s.bytes));
    EXPECT_OK(cudaMemset(attached->arena, 0xff, ONE_ARENA_BYTES));
    EXPECT_OK(cudaMemcpy(attached->arena, s.bytes, sizeof s.bytes, cudaMemcpyHostToDevice));
    forget_blocks(attached->arena);
    EXPECT_OK(one_attach(&attached->c, attached->arena, ONE_ARENA_BYTES, NULL,
                         attached->cublas));
    for (int k = 1; k < 3; k++) {
        State t = state_of(all[k]);
        EXPECT(same_state(&s, &t));
    }
    Batch b = batch_of(9);
    one_figures want = {0};
    for (int k = 0; k < 3; k++) {
        EXPECT_OK(train_some(all[k], &b, ONE_BATCH));
        one_figures m = metrics_of(all[k], 0);
        State t = state_of(all[k]);
        if (k == 0) want = m, s = t;
        EXPECT(m.loss == want.loss && m.accuracy == want.accuracy && m.step == 4);
        EXPECT(same_state(&s, &t));
    }
    for (int k = 0; k < 3; k++) free_one(all[k]);
}

// Only training changes weights, and the batch staged before does not matter.
static void inference_changes_nothing(void)
{
    One *one = new_one(8), *disturbed = new_one(8);
    Batch a = batch_of(1), b = batch_of(2), c = batch_of(3);
    float logits[ONE_BATCH][3], some[3][3];
    for (int k = 0; k < 2; k++) EXPECT_OK(train_some(k ? disturbed : one, &a, ONE_BATCH));
    State before = state_of(disturbed);
    EXPECT_OK(infer_some(disturbed, &b, ONE_BATCH, logits[0]));
    EXPECT_OK(infer_some(disturbed, &b, 3, some[0]));
    EXPECT(!memcmp(logits, some, sizeof some));
    EXPECT_OK(evaluate_some(disturbed, &b, ONE_BATCH));
    State after = state_of(disturbed);
    EXPECT(same_weights(&before, &after));
    EXPECT_OK(train_some(one, &c, 3));
    EXPECT_OK(train_some(disturbed, &c, 3));
    before = state_of(one), after = state_of(disturbed);
    EXPECT(same_weights(&before, &after));
    free_one(one);
    free_one(disturbed);
}

// Figures are means over samples, until they are reset.
static void figures_are_means(void)
{
    One *one = new_one(9);
    Batch a = batch_of(1), b = batch_of(2);
    EXPECT(metrics_of(one, 0).samples == 0 && metrics_of(one, 0).loss == 0);
    EXPECT_OK(evaluate_some(one, &a, ONE_BATCH));
    one_figures of_a = metrics_of(one, 1);
    EXPECT_OK(evaluate_some(one, &b, 2));
    one_figures of_b = metrics_of(one, 1);
    EXPECT(of_a.samples == ONE_BATCH && of_b.samples == 2);
    EXPECT(of_a.step == 0 && of_a.updates == 0 && of_a.learning_rate == ONE_LEARNING_RATE);
    EXPECT(metrics_of(one, 0).samples == 0);
    EXPECT_OK(evaluate_some(one, &a, ONE_BATCH));
    EXPECT_OK(evaluate_some(one, &b, 2));
    one_figures both = metrics_of(one, 0);
    EXPECT(both.samples == ONE_BATCH + 2);
    double loss = (of_a.loss * ONE_BATCH + of_b.loss * 2) / (ONE_BATCH + 2);
    double accuracy = (of_a.accuracy * ONE_BATCH + of_b.accuracy * 2) / (ONE_BATCH + 2);
    EXPECT(fabs(both.loss - loss) < 1e-6 && fabs(both.accuracy - accuracy) < 1e-6);
    EXPECT(metrics_of(one, 0).samples == both.samples);
    free_one(one);
}

static void rate_can_be_set(void)
{
    One *one = new_one(10);
    Batch b = batch_of(1);
    EXPECT_OK(one_set(&one->c, ONE_RATE, 0.0));
    State before = state_of(one);
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    State after = state_of(one);
    EXPECT(metrics_of(one, 0).learning_rate == 0 && metrics_of(one, 0).updates == 1);
    for (int i = 0; i < ONE_PARAM_COUNT; i++)
        EXPECT(!memcmp(before.bytes + one_param(i)->offset, after.bytes + one_param(i)->offset,
                       one_param(i)->bytes));
    EXPECT_OK(one_set(&one->c, ONE_RATE, 0.25));
    EXPECT_OK(train_some(one, &b, ONE_BATCH));
    State moved = state_of(one);
    EXPECT(metrics_of(one, 0).learning_rate == 0.25);
    EXPECT(memcmp(after.bytes + one_param(0)->offset, moved.bytes + one_param(0)->offset,
                  one_param(0)->bytes));
    free_one(one);
}

// Such a training step is counted and changes nothing else; the next goes on.
static void non_finite_losses_are_skipped(void)
{
    const float bad[] = {NAN, INFINITY};
    for (int k = 0; k < 2; k++) {
        One *one = new_one(11);
        Batch good = batch_of(1), spoilt = batch_of(2);
        for (int i = 0; i < ONE_PIXELS; i++) spoilt.image[ONE_BATCH - 1][i] = bad[k];
        EXPECT_OK(train_some(one, &good, ONE_BATCH));
        State before = state_of(one);
        one_figures m = metrics_of(one, 0);
        EXPECT(m.step == 1 && m.updates == 1);
        EXPECT_OK(train_some(one, &spoilt, ONE_BATCH));
        State after = state_of(one);
        EXPECT(same_weights(&before, &after));
        one_figures skipped = metrics_of(one, 0);
        EXPECT(skipped.step == 2 && skipped.updates == 1);
        EXPECT(skipped.samples == m.samples && skipped.loss == m.loss);
        EXPECT_OK(train_some(one, &good, ONE_BATCH));
        after = state_of(one);
        EXPECT(!same_weights(&before, &after) && metrics_of(one, 0).updates == 2);
        EXPECT(isfinite(metrics_of(one, 0).loss));
        free_one(one);
    }
}

// A net that is trained on the same batch learns it.
static void training_lowers_the_loss(void)
{
    One *one = new_one(12);
    Batch b = batch_of(1);
    EXPECT_OK(evaluate_some(one, &b, ONE_BATCH));
    double first = metrics_of(one, 1).loss;
    for (int i = 0; i < 60; i++) EXPECT_OK(train_some(one, &b, ONE_BATCH));
    metrics_of(one, 1);
    EXPECT_OK(evaluate_some(one, &b, ONE_BATCH));
    EXPECT(metrics_of(one, 1).loss < 0.3 * first);
    free_one(one);
}

int main(void)
{
    seeds_draw_weights();
    states_continue();
    inference_changes_nothing();
    figures_are_means();
    rate_can_be_set();
    non_finite_losses_are_skipped();
    training_lowers_the_loss();
    return 0;
}
