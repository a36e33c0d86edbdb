// Gradients summed over batches: by the references, the mean over all samples;
// and the verifiers' errors for a batch that ends in the wrong place.
#define _POSIX_C_SOURCE 200809L

#include "graphs.h"
#include <math.h>
#include "../../ir/families/grad_accumulation.h"
#include "../../ir/plan/plan.h"
#include "nets.h"

#define VALUES                                                                 \
    "optimizer sgd lr=0.5\n"                                                   \
    "facts has_gradients\n"                                                    \
    "%0 header u8[256] state\n"                                                \
    "%1 x f64[2, 3] input\n"                                                   \
    "%2 dy f64[2, 5] input\n"                                                  \
    "%3 w f64[5, 3] param uniform=1\n"
#define SUM "%4 s f64[5, 3] gradient persistent of=%3\n"
#define WGRAD                                                                  \
    "backward wgrad: %5 dw f64[5, 3] gradient of=%3, -, %6 space u8[256] "     \
    "workspace = dense.wgrad(dy, x)\n"
#define ADD "backward add: accumulate_grad(s, dw, header)\n"
#define NEXT "backward next: accumulate_grad.next(header)\n"
#define BEGIN "update begin: accumulate_grad.begin(header)\n"
#define MEAN "update mean: accumulate_grad.mean(s, header)\n"
#define SGD "update w.sgd: sgd(w, s, -, header) lr=0.5\n"
#define END                                                                    \
    "update clear: accumulate_grad.clear(header)\n"                         \
    "update advance_step: advance_step(header)\n"
#define NET "net n mode=train batch=2 real=f64 epochs=1 step_batch=4\n"

static const char text[] =
    NET VALUES SUM WGRAD ADD NEXT BEGIN MEAN SGD END;

enum { X = 1, DY, W, S, DW };

// ---- the references ---------------------------------------------------------

// The nodes of a batch, or those of the update.
static void run(Graph *g, Tensors *t, int64_t samples, bool updates)
{
    Graph part = *g;
    part.nodes = NEW_ARRAY(arena, g->node_count, Node);
    for (NodeId i = 0; i < g->node_count; i++) {
        part.nodes[i] = g->nodes[i];
        if ((g->nodes[i].phase == UPDATE) != updates) part.nodes[i].op = NULL;
    }
    interpret(&part, t, samples);
}

// Draws a batch, whose gradient is the mean over these samples, and adds that
// many times the gradient to want.
static void draw(Tensors *t, uint64_t *seed, int samples, double *want)
{
    for (int i = 0; i < 2 * 3; i++)
        t->data[X][i] = (double)next_number(seed, 2000) / 1000 - 1;
    for (int i = 0; i < 2 * 5; i++)
        t->data[DY][i] = i / 5 < samples
            ? (double)next_number(seed, 2000) / 1000 / samples : 0;
    for (int i = 0; i < 5 * 3; i++)
        for (int n = 0; n < samples; n++)
            want[i] += samples * t->data[DY][5 * n + i / 3] *
                       t->data[X][3 * n + i % 3];
}

static void the_update_is_by_the_mean(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    Tensors t = tensors_new(g);
    uint64_t seed = 1;
    double *header = t.data[g->header];
    header[HEADER_RATE] = 0.5;
    for (int i = 0; i < 5 * 3; i++) t.data[S][i] = NAN;
    for (int step = 1; step <= 2; step++) {
        double want[5 * 3] = { 0 }, before[5 * 3];
        memcpy(before, t.data[W], sizeof before);
        draw(&t, &seed, 2, want);
        run(g, &t, 2, false);
        draw(&t, &seed, 1, want);
        run(g, &t, 1, false);
        assert_true(header[HEADER_ACCUMULATED] == 3);
        assert_true(header[HEADER_ACCUMULATED_BATCHES] == 2);
        assert_memory_equal(before, t.data[W], sizeof before);
        run(g, &t, 2, true);
        for (int i = 0; i < 5 * 3; i++)
            assert_true(fabs(t.data[W][i] - before[i] + 0.5 * want[i] / 3) <
                        1e-12);
        assert_true(header[HEADER_ACCUMULATED] == 0);
        assert_true(header[HEADER_STEP] == step);
        assert_true(header[HEADER_SAMPLES] == 3 * step);
    }
}

static void a_bad_batch_skips_the_step(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    Tensors t = tensors_new(g);
    uint64_t seed = 1;
    double *header = t.data[g->header], unused[5 * 3];
    for (int bad = 0; bad < 3; bad++) {     // a third step has no batch
        double before[5 * 3];
        memcpy(before, t.data[W], sizeof before);
        for (int batch = 0; batch < 2 && bad < 2; batch++) {
            draw(&t, &seed, 2, unused);
            if (batch == bad) header[HEADER_ACCUMULATED_SKIP] = 1;
            run(g, &t, 2, false);
        }
        run(g, &t, 2, true);
        assert_memory_equal(before, t.data[W], sizeof before);
        assert_true(header[HEADER_SAMPLES] == 0);
        assert_true(header[HEADER_UPDATES] == 0);
        assert_true(header[HEADER_STEP] == bad + 1);
    }
}

// ---- the verifiers ----------------------------------------------------------

static const char *const unsound[] = {
    // No end; an update before it; one that reads a result of one batch; values
    // left after it; no sum; a step that is smaller than a batch.
    NET VALUES SUM WGRAD ADD BEGIN MEAN SGD END,
    NET VALUES SUM WGRAD ADD BEGIN NEXT MEAN SGD END,
    NET VALUES SUM WGRAD ADD NEXT BEGIN MEAN
        "update w.sgd: sgd(w, dw, -, header) lr=0.5\n" END,
    NET VALUES SUM WGRAD NEXT ADD BEGIN MEAN SGD END,
    NET VALUES WGRAD NEXT BEGIN END,
    "net n mode=train batch=2 real=f64 epochs=1 step_batch=1\n" VALUES SUM WGRAD
        ADD NEXT BEGIN MEAN SGD END,
    // Persistent sums without steps in batches.
    "net n mode=train batch=2 real=f64 epochs=1\n" VALUES SUM WGRAD
        ADD NEXT BEGIN MEAN SGD END,
};

static void graphs_are_verified(void **state)
{
    (void)state;
    assert_true(is_sound(read_text(text)));
    for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++) {
        Graph *g = read_text(unsound[i]);
        assert_true(g == NULL || !is_sound(g));
    }
}

static Plan *plan_text(Graph **g)
{
    *g = read_text(text);
    place_net(*g, 7);
    verify(*g, "assign_offsets");
    return plan_of(*g);
}

static void a_plan_says_where_a_batch_ends(void **state)
{
    (void)state;
    Graph *g;
    Plan *plan = plan_text(&g);
    int right = plan->batch_steps;
    assert_string_equal(plan->steps[right - 1].name, "next");
    assert_string_equal(plan->steps[right].name, "begin");
    assert_null(verify_program(arena, g, plan));
    for (int steps = -1; steps <= plan->step_count + 1; steps++) {
        plan->batch_steps = steps;
        assert_true((verify_program(arena, g, plan) == NULL) ==
                    (steps == right));
        bool one_run = steps == 0;      // which the plan alone may well have
        assert_true((verify_plan(arena, plan) == NULL) ==
                    (steps == right || one_run));
    }
}

// The sums are there for evaluation too: after the state, before the rest.
static void sums_follow_the_state(void **state)
{
    (void)state;
    Graph *g;
    const Plan *plan = plan_text(&g);
    assert_true(is_sum(g, S) && !is_sum(g, W));
    assert_int_equal(g->values[S].offset, plan->state_bytes);
    for (ValueId v = X; v < g->value_count; v++)
        if (!g->values[v].persistent)
            assert_true(g->values[v].offset >= plan->state_bytes + ALIGNMENT);
}

// The update reads a result of the last batch alone.
static void an_update_reads_what_persists(void **state)
{
    (void)state;
    Graph *g;
    Plan *plan = plan_text(&g);
    PlanStep *update = &plan->steps[plan->batch_steps];
    while (strcmp(update->name, "w.sgd") != 0) update++;
    for (int k = 0; k < update->read_count; k++)
        if (update->reads[k] == S) update->reads[k] = DW;
    plan->buffers[DW].last = (int32_t)(update - plan->steps);
    const char *wrong = verify_plan(arena, plan);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, "of the last batch alone"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_update_is_by_the_mean), TEST(a_bad_batch_skips_the_step),
        TEST(graphs_are_verified), TEST(a_plan_says_where_a_batch_ends),
        TEST(sums_follow_the_state), TEST(an_update_reads_what_persists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
