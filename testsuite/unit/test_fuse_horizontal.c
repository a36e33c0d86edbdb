// Launches of several nodes: the verifiers' errors for impossible groups.
#define _POSIX_C_SOURCE 200809L     // fork in verdicts.h, and open_memstream
#include "../../ir/launch_group.h"
#include "nets.h"
#include "verdicts.h"
#include "../../ir/plan/plan.h"


// Two parameters with averages, their gradients made one after the other.
static const char text[] =
    "net n mode=train batch=2 real=f64 epochs=1 average=0.5\n"
    "optimizer sgd lr=0.5\n"
    "facts has_gradients is_scheduled\n"
    "%0 header u8[256] state\n"
    "%1 x f64[2, 300] input\n"
    "%2 y f64[2, 5] input\n"
    "%3 w f64[300] param uniform=1\n"
    "%4 v f64[5] param uniform=1\n"
    "%5 aw f64[300] state copy=1 of=%3\n"
    "%6 av f64[5] state copy=1 of=%4\n"
    "[0] backward dw: %7 dw f64[300] gradient of=%3 = bias.grad(x) splits=1\n"
    "[1] update w.sgd: sgd(w, dw, -, header) lr=0.5\n"
    "[2] update w.average: average(aw, w, header) keep=0.5\n"
    "[3] backward dv: %8 dv f64[5] gradient of=%4 = bias.grad(y) splits=1\n"
    "[4] update v.sgd: sgd(v, dv, -, header) lr=0.5\n"
    "[5] update v.average: average(av, v, header) keep=0.5\n"
    "[6] update advance_step: advance_step(header)\n";

enum { W_SGD = 2, V_SGD, W_AVERAGE, V_AVERAGE, ADVANCE };

static Graph *grouped(void)
{
    Graph *g = read_text(text);
    g->decisions.waits.permille = 0;
    pass_fuse_horizontal(g, all_passes());
    return g;
}

// Operands of updates are alive anyway here, and wait: averages for all
// updates. The step is counted at the end of the last launch.
static void updates_wait_for_each_other(void **state)
{
    static const char *const order[] = { "dw", "dv", "w.sgd", "v.sgd",
                                         "w.average", "v.average",
                                         "advance_step" };
    Graph *g = grouped();
    (void)state;
    assert_null(verdict(g));
    for (int i = 0; i < 7; i++) {
        assert_string_equal(g->nodes[i].name, order[i]);
        assert_true(g->nodes[i].grouped ==
                    (i == V_SGD || i == V_AVERAGE || i == ADVANCE));
    }
    Launch l = { .g = g };
    group_launch(g, W_SGD, &l);
    assert_true(l.grid == 3);       // two blocks and one
    assert_true(item_bytes(&l) == 2 * (6 * 8 + 4));
}

static void faults_of_groups_are_caught(void **state)
{
    Graph *g;
    (void)state;
    g = grouped(), g->nodes[0].grouped = true;
    expect_fault(g, "dw (line 0): nothing before it can be grouped with it");
    g = grouped(), g->facts &= ~(uint32_t)IS_SCHEDULED;
    expect_fault(g, "w.sgd (line 0): nothing before it");
    g = grouped(), g->nodes[1].grouped = true;
    expect_fault(g, "dv (line 0): its launch can't be that of dw too");
    g = grouped(), g->nodes[W_AVERAGE].grouped = true;
    expect_fault(g, "it is grouped with w.sgd, which is of another kind");
    g = grouped(), g->nodes[V_AVERAGE].attr[0].f = 0.25;
    expect_fault(g, "its launch can't be that of w.average too");
    g = grouped(), g->nodes[V_AVERAGE].operands[0] = 5;
    expect_fault(g, "grouped with w.average, but both touch aw");
}

static void swap_nodes(Graph *g, NodeId a, NodeId b)
{
    Node other = g->nodes[a];
    g->nodes[a] = g->nodes[b];
    g->nodes[b] = other;
}

// The step is counted by a launch that can do that at its end, and nothing else
// comes after it there.
static void faults_of_what_is_done_last_are_caught(void **state)
{
    Graph *g = grouped();
    Launch l = { .g = g };
    (void)state;
    group_launch(g, W_AVERAGE, &l);
    assert_string_equal(l.type[l.type_count - 1].source->kernel, "AdvanceStep");
    swap_nodes(g, V_AVERAGE, ADVANCE);
    expect_fault(g, "v.average is grouped after the last operation");
    g = read_text(text), swap_nodes(g, 4, 6);
    g->nodes[4].grouped = true;
    expect_fault(g, "the launch of dv accepts no last operation");
}

// ---- several things to the same operands ------------------------------------

static const char scored[] =
    "net n mode=train batch=2 real=f64 epochs=1\n"
    "optimizer sgd lr=0.5\n"
    "facts has_gradients is_scheduled\n"
    "%0 header u8[256] state\n"
    "%1 x f64[2, 3] input\n"
    "%2 label i32[2] input classes=3\n"
    "%3 b f64[3] param uniform=1\n"
    "[0] forward logits: %4 logits f64[2, 3] = bias(x, b)\n"
    "[1] forward loss: %5 rows f64[2] scalar, - = "
    "softmax_cross_entropy(logits, label, -)\n"
    "[2] forward right: %6 right f64[2] scalar = "
    "accuracy(logits, label, -) ignore=-2147483648\n"
    "[3] forward accumulate_metrics: %7 figures f64[2] scalar output = "
    "accumulate_metrics(header, rows, right) losses=1\n"
    "[4] backward grad: %8 d.logits f64[2, 3] gradient of=%4 = "
    "softmax_cross_entropy.grad(logits, label, -)\n"
    "[5] backward db: %9 db f64[3] gradient of=%3 = bias.grad(d.logits) "
    "splits=1\n"
    "[6] update b.sgd: sgd(b, db, -, header) lr=0.5\n"
    "[7] update advance_step: advance_step(header)\n";

enum { LOSS_NODE = 1, RIGHT, SLOPE, METRICS_NODE, LOGITS = 4, ROWS, RIGHT_ROWS,
       FIGURES, D_LOGITS };

static Graph *grouped_rows(void)
{
    Graph *g = read_text(scored);
    g->decisions.waits.permille = 0;
    pass_fuse_horizontal(g, all_passes());
    return g;
}

// All of them are one launch. Its gradient is the last that reads the rows of
// logits, so that it can overwrite them; the figures follow.
static void a_loss_is_one_launch(void **state)
{
    static const char *const order[] = { "logits", "loss", "right", "grad",
                                         "accumulate_metrics", "db", "b.sgd",
                                         "advance_step" };
    Graph *g = grouped_rows();
    (void)state;
    assert_null(verdict(g));
    for (int i = 0; i < 8; i++) {
        assert_string_equal(g->nodes[i].name, order[i]);
        assert_true(g->nodes[i].grouped ==
                    ((i > LOSS_NODE && i <= METRICS_NODE) || i == 7));
    }
    place_net(g, 6);
    assert_null(verdict(g));
    assert_int_equal(g->values[D_LOGITS].alias_of, LOGITS);
    assert_int_equal(g->values[FIGURES].first, LOSS_NODE);
    Plan *plan = plan_of(g);
    assert_null(verify_program(arena, g, plan));
    assert_int_equal(plan->step_count, 4);
    assert_int_equal(plan->steps[1].read_count, 3);
    assert_int_equal(plan->steps[1].write_count, 5);
}

static void faults_of_rows_are_caught(void **state)
{
    Graph *g = grouped_rows();
    (void)state;
    swap_nodes(g, RIGHT, SLOPE);
    g->values[D_LOGITS].def = RIGHT;
    g->values[RIGHT_ROWS].def = SLOPE;
    place_net(g, 6);
    assert_int_equal(g->values[D_LOGITS].alias_of, NONE);
    g->values[D_LOGITS].alias_of = LOGITS;
    expect_fault(g, "d.logits overwrites a value that [3] needs");
    g = grouped_rows(), g->nodes[RIGHT].operands[0] = 1;
    expect_fault(g, "right (line 0): its launch can't be that of loss too");
    g = grouped_rows();
    place_net(g, 6);
    g->values[FIGURES].first = METRICS_NODE;
    expect_fault(g, "figures (line 0): it lives from [4]");
}

// A value that the first of a group reads lives until the last has run.
static void groups_read_at_once(void **state)
{
    Graph *g = grouped();
    (void)state;
    place_net(g, 6);
    assert_null(verdict(g));
    assert_true(g->values[7].last == V_SGD);
    g->values[7].last = W_SGD;
    expect_fault(g, "dw (line 0): it lives from [0] to [2], but [3]");
}

// ---- plans ------------------------------------------------------------------

static Plan *plan_groups(Graph **g)
{
    *g = grouped();
    place_net(*g, 6);
    return plan_of(*g);
}

static void expect_wrong(const Graph *g, const Plan *plan, const char *wanted)
{
    const char *said = verify_program(arena, g, plan);
    if (said == NULL) fail_msg("not caught: %s", wanted);
    if (strstr(said, wanted) == NULL)
        fail_msg("said \"%s\" instead of \"%s\"", said, wanted);
}

static void steps_are_the_groups(void **state)
{
    Graph *g;
    Plan *plan = plan_groups(&g);
    (void)state;
    assert_null(verify_program(arena, g, plan));
    assert_int_equal(plan->step_count, 4);
    assert_string_equal(plan->steps[2].more[0], "v.sgd");
    assert_int_equal(plan->steps[2].read_count, 5);
    assert_int_equal(plan->steps[2].write_count, 2);
    plan->steps[2].more_count = 0;
    expect_wrong(g, plan, "no step launches v.sgd");
    plan = plan_groups(&g);
    plan->steps[2].write_count--;
    expect_wrong(g, plan, "differs from the reads and writes of v.sgd");
    plan = plan_groups(&g);
    plan->steps[3].more[0] = "advance_step";
    expect_wrong(g, plan,
                 "step w.average launches advance_step, which is no launch "
                 "or has a step");
    plan = plan_groups(&g);
    g->nodes[V_SGD].name = "w.sgd_2";
    plan->steps[2].more[0] = "w.sgd";
    expect_wrong(g, plan, "step w.sgd launches w.sgd, which is no launch");
    plan = plan_groups(&g);
    g->nodes[V_SGD].grouped = false;
    expect_wrong(g, plan, "differs from the reads and writes of v.sgd");
}

// The update of w and a reader of it, in one step.
static void one_launch_has_no_order(void **state)
{
    Graph *g;
    (void)state;
    g = grouped();
    g->nodes[W_AVERAGE].grouped = true;
    place_net(g, 6);
    expect_wrong(g, plan_of(g), "w.average is launched with others that "
                 "touch w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(updates_wait_for_each_other),
        TEST(faults_of_groups_are_caught),
        TEST(faults_of_what_is_done_last_are_caught),
        TEST(a_loss_is_one_launch),
        TEST(faults_of_rows_are_caught),
        TEST(groups_read_at_once),
        TEST(steps_are_the_groups),
        TEST(one_launch_has_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
