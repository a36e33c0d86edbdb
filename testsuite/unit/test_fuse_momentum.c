// Gradients that are added to momenta as they are stored, by the references. A
// step has the same results as without that, and a skipped one has none.
#define _POSIX_C_SOURCE 200809L     // open_memstream in graphs.h
#include <math.h>
#include "graphs.h"
#include "nets.h"


#define CONV "stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 groups=1 "

// A convolution whose gradients come in splits, one whose gradients come whole,
// a dense layer; the slope of the result is an input.
static const char text[] =
    "net n mode=train batch=2 real=f64 epochs=1 states=1\n"
    "optimizer sgd lr=0.5 momentum=0.75 weight_decay=0.25\n"
    "facts has_gradients\n"
    "%0 header u8[256] state\n"
    "%1 x f64[2, 3, 3, 2] input\n"
    "%2 dy f64[2, 3, 3, 4] input\n"
    "%3 dz f64[2, 5] input\n"
    "%4 w f64[4, 1, 1, 2] param uniform=1 decayed\n"
    "%5 b f64[4] param uniform=1\n"
    "%6 v f64[4, 1, 1, 2] param uniform=1 decayed\n"
    "%7 f f64[5, 18] param uniform=1 decayed\n"
    "%8 mw f64[4, 1, 1, 2] state of=%4\n"
    "%9 mb f64[4] state of=%5\n"
    "%10 mv f64[4, 1, 1, 2] state of=%6\n"
    "%11 mf f64[5, 18] state of=%7\n"
    "[0] forward rows: %12 rows f64[2, 18] = flatten(x)\n"
    "[1] backward whole: %13 dv f64[4, 1, 1, 2] gradient of=%6, - = "
    "conv.wgrad(dy, x) " CONV "splits=1\n"
    "[2] backward parts: %14 ws f64[3, 4, 1, 1, 2] workspace, "
    "%15 bs f64[3, 4] workspace = conv.wgrad(dy, x) " CONV "splits=3\n"
    "[3] backward sum: %16 dw f64[4, 1, 1, 2] gradient of=%4, "
    "%17 db f64[4] gradient of=%5 = sum_splits(ws, bs)\n"
    "[4] backward dense: %18 df f64[5, 18] gradient of=%7, "
    "-, %19 space u8[256] workspace = dense.wgrad(dz, rows)\n"
    "[5] update w.sgd: sgd(w, dw, mw, header) lr=0.5 momentum=0.75 "
    "weight_decay=0.25\n"
    "[6] update b.sgd: sgd(b, db, mb, header) lr=0.5 momentum=0.75 "
    "weight_decay=0.25\n"
    "[7] update v.sgd: sgd(v, dv, mv, header) lr=0.5 momentum=0.75 "
    "weight_decay=0.25\n"
    "[8] update f.sgd: sgd(f, df, mf, header) lr=0.5 momentum=0.75 "
    "weight_decay=0.25\n"
    "[9] update advance_step: advance_step(header)\n";

enum { FIRST_GIVEN = 1, GIVEN_END = 12, FIRST_STATE_VALUE = 4 };

static Graph *read_net(void)
{
    Graph *g = read_text(text);
    assert_non_null(g);
    return g;
}

// Numbers for all that nothing makes, and the header of a step.
static Tensors given(const Graph *g, bool skip)
{
    Tensors t = tensors_new(g);
    uint64_t seed = 1;
    for (ValueId v = FIRST_GIVEN; v < GIVEN_END; v++)
        for (int64_t i = 0; i < elements(g->values[v].shape); i++)
            t.data[v][i] = (double)next_number(&seed, 2000) / 1000 - 1;
    t.data[g->header][HEADER_RATE] = 0.5;
    t.data[g->header][HEADER_SKIP] = skip;
    return t;
}

static void expect_alike(const Graph *g, Tensors a, Tensors b, bool alike)
{
    double most = 0;
    for (ValueId v = FIRST_STATE_VALUE; v < GIVEN_END; v++)
        for (int64_t i = 0; i < elements(g->values[v].shape); i++)
            most = fmax(most, fabs(a.data[v][i] - b.data[v][i]));
    assert_true((most < 1e-12) == alike);
}

static void a_step_is_what_it_was(void **state)
{
    (void)state;
    Graph *plain = read_net(), *g = read_net();
    pass_fuse_momentum(g, all_passes());
    verify(g, "fuse_momentum");
    assert_int_equal(g->value_count, plain->value_count - 5);
    Tensors want = given(plain, false), got = given(g, false);
    expect_alike(g, want, got, true);
    for (int step = 0; step < 2; step++) {
        interpret(plain, &want, 2);
        expect_alike(g, want, got, false);
        interpret(g, &got, 2);
        expect_alike(g, want, got, true);
    }
}

static void a_skipped_step_changes_nothing(void **state)
{
    (void)state;
    Graph *g = read_net();
    pass_fuse_momentum(g, all_passes());
    Tensors before = given(g, true), after = given(g, true);
    interpret(g, &after, 2);
    expect_alike(g, before, after, true);
}

// A gradient that outlives the step, and the one that the same launch makes.
static void what_is_kept_is_made(void **state)
{
    (void)state;
    Graph *g = read_net();
    int32_t count = g->value_count;
    g->values[17].output = true;
    pass_fuse_momentum(g, all_passes());
    assert_int_equal(g->value_count, count - 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_step_is_what_it_was),
        TEST(a_skipped_step_changes_nothing),
        TEST(what_is_kept_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
