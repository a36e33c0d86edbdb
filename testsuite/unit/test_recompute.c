// Graphs in which nodes are recomputed: their text goes out and in, and each
// way in which a copy is none is caught.
#define _POSIX_C_SOURCE 200809L     // fork in verdicts.h, and open_memstream
#include "../../ir/verify/program_order.h"
#include "verdicts.h"

// a is recomputed from x, and b, a name for it, with it.
static const char text[] =
    "net again mode=train batch=2 real=f32\n"
    "optimizer sgd lr=0.1 @8:3+4\n"
    "facts has_gradients is_scheduled\n"
    "\n"
    "%0 header u8[256] state\n"
    "%1 x f32[2, 1, 1, 4] input @2:1+1\n"
    "%2 w f32[2, 1, 1, 4] param uniform=1 decayed @2:1+1\n"
    "%3 other f32[2, 1, 1, 4] input @3:1+1\n"
    "\n"
    "[0] forward a: %4 a f32[2, 1, 1, 4] = scale(x) factor=2 @4:1+1\n"
    "[1] forward b: %5 b f32[2, 4] = flatten(a) @5:1+1\n"
    "[2] forward c: %6 c f32[2, 1, 1, 4] = mul(a, other) @6:1+1\n"
    "[3] forward p: %7 p f32[2, 1, 1, 4] = relu(c) @7:1+1\n"
    "[4] backward d: %8 d.c f32[2, 1, 1, 4] gradient of=%6 = add(c, p)"
    " @7:1+1\n"
    "[5] recompute a.again: %9 a.again f32[2, 1, 1, 4] recompute_of=%4 = "
    "scale(x) factor=2 @4:1+1\n"
    "[6] recompute b.again: %10 b.again f32[2, 4] recompute_of=%5 = "
    "flatten(a.again) @5:1+1\n"
    "[7] recompute c.again: %11 c.again f32[2, 1, 1, 4] recompute_of=%6 ="
    " mul(a.again, other) @6:1+1\n"
    "[8] backward e: %12 d.a f32[2, 1, 1, 4] gradient of=%4 ="
    " add(d.c, c.again) @4:1+1\n"
    "[9] update w.sgd: sgd(w, d.a, -, header) @8:3+4\n";

enum { A = 4, C = 6, A_AGAIN = 9, B_AGAIN, C_AGAIN };
enum { COPY_A = 5, COPY_B, COPY_C, GRADIENT_A };

static void assert_sound(const Graph *g)
{
    const char *said = verdict(g);
    if (said != NULL) fail_msg("%s", said);
}

static void texts_go_out_and_in(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    assert_non_null(g);
    assert_sound(g);
    assert_int_equal(g->nodes[COPY_A].phase, RECOMPUTE);
    assert_int_equal(g->values[A_AGAIN].recompute_of, A);
    assert_int_equal(g->values[A].recompute_of, NONE);
    char *printed = print_text(g);
    Graph *same = read_text(printed);
    assert_non_null(same);
    assert_int_equal(same->values[C_AGAIN].recompute_of, C);
    assert_string_equal(print_text(same), printed);
    // A copy of a graph has them, too.
    assert_string_equal(print_text(graph_copy(g, arena)), printed);
}

// The first `from` in the text is `to`.
static Graph *changed(const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    size_t before = (size_t)(at - text);
    char *copy = arena_print(arena, "%.*s%s%s", (int)before, text, to,
                             at + strlen(from));
    Graph *g = read_text(copy);
    assert_non_null(g);
    return g;
}

static void what_does_something_else_is_no_copy(void **state)
{
    static const char says[] = "it does not recompute another node";
    (void)state;
    expect_fault(changed("recompute_of=%4 = scale(x) factor=2",
                         "recompute_of=%4 = relu(x)"),
                 says);
    expect_fault(changed("recompute_of=%4 = scale(x)",
                         "recompute_of=%4 = scale(c)"),
                 says);
    expect_fault(changed("recompute_of=%4 = scale(x) factor=2",
                         "recompute_of=%4 = scale(x) factor=3"), says);
    expect_fault(changed("mul(a.again, other) ", "mul(other, a.again) "), says);
    expect_fault(changed("mul(a.again, other) ", "mul(a.again, a) "), says);
    expect_fault(changed("mul(a.again, other) ",
                         "mul(a.again, other) act=relu "), says);
    expect_fault(changed("recompute_of=%6 =", "recompute_of=%7 ="), says);
    expect_fault(changed("recompute_of=%6 =", "recompute_of=%4 ="), says);
    // Its operands from the first run are the same.
    assert_sound(changed("mul(a.again, other) ", "mul(a, other) "));
    Graph *g = read_text(text);
    g->nodes[COPY_A].fused_load = true;
    expect_fault(g, says);
}

static void copies_have_the_values_of_what_they_copy(void **state)
{
    (void)state;
    expect_fault(changed(" recompute_of=%4", ""),
                 "it is no copy, but a copy makes it");
    expect_fault(changed("recompute_of=%4", "recompute_of=%1"), "it can't recompute %1");
    expect_fault(changed("recompute_of=%4", "recompute_of=%9"), "it can't recompute %9");
    expect_fault(changed("recompute_of=%6 =", "recompute_of=%9 ="), "it can't recompute %9");
    Graph *g = read_text(text);
    g->values[A_AGAIN].recompute_of = 99;
    expect_fault(g, "it can't recompute %99");
    g->values[A_AGAIN].recompute_of = -7;
    expect_fault(g, "it can't recompute %-7");
    g = read_text(text);
    g->values[A_AGAIN].kind = GRADIENT;
    expect_fault(g, "it is not like a, which it recomputes");
    g = read_text(text);
    g->values[B_AGAIN].output = true;
    expect_fault(g, "it is not like b, which it recomputes");
    g = read_text(text);
    g->values[C_AGAIN].dtype = I32;
    expect_fault(g, "it is not like c, which it recomputes");
    g = read_text(text);
    g->values[C_AGAIN].shape.dim[3] = 5;
    expect_fault(g, "should have the shape");
}

// A launch with several results, of which two are alike.
static const char moments[] =
    "net moments mode=train batch=2 real=f32\n"
    "optimizer sgd lr=0.1\n"
    "facts has_gradients is_scheduled\n"
    "%0 header u8[256] state\n"
    "%1 x f32[2, 1, 1, 4] input\n"
    "%2 w f32[4] param uniform=1 decayed\n"
    "[0] forward s: %3 s f32[1, 2, 4] workspace = batchnorm.statistics(x)"
        " momentum=0.1 epsilon=1e-05 pixels=2 splits=1\n"
    "[1] forward m: %4 mean f32[4], %5 variance f32[4], %6 factor f32[4] ="
        " batchnorm.moments(s, x, w) momentum=0.1 epsilon=1e-05 pixels=2"
        " splits=1\n"
    "[2] recompute m.again: %7 mean.again f32[4] recompute_of=%4, %8 "
        "variance.again f32[4] recompute_of=%5, %9 factor.again f32[4] recompute_of=%6 ="
        " batchnorm.moments(s, x, w) momentum=0.1 epsilon=1e-05 pixels=2"
        " splits=1\n"
    "[3] backward b: %10 y f32[4] output = add(mean.again, variance.again)\n";

static void each_result_is_that_of_its_place(void **state)
{
    (void)state;
    Graph *g = read_text(moments);
    assert_sound(g);
    ValueId mean = value_called(g, "mean.again");
    ValueId variance = value_called(g, "variance.again");
    g->values[mean].recompute_of = value_called(g, "variance");
    g->values[variance].recompute_of = value_called(g, "mean");
    expect_fault(g, "it does not recompute another node");
}

static void what_is_no_copy_makes_none(void **state)
{
    (void)state;
    expect_fault(changed("gradient of=%6 =",
                         "gradient of=%6 recompute_of=%6 ="),
                 "it is a copy, but no copy makes it");
    expect_fault(changed("other f32[2, 1, 1, 4] input",
                         "other f32[2, 1, 1, 4] input recompute_of=%1"),
                 "%3 other (line 3): it is a copy, but no copy makes it");
    expect_fault(changed("[8] backward e", "[8] recompute e"),
                 "it is no copy, but a copy makes it");
}

static void what_changes_the_state_runs_once(void **state)
{
    (void)state;
    expect_fault(changed("[9] update w.sgd", "[9] recompute w.sgd"),
                 "it does not recompute another node");
    Graph *g = changed("recompute_of=%6 = mul(a.again, other) @6:1+1",
                       "gradient of=%6 recompute_of=%8 = add(c, p) @7:1+1");
    expect_fault(g, "it recomputes a node that is not forward");
}

static void what_is_written_is_what_runs(void **state)
{
    const Node *nodes;
    const int32_t *place;
    (void)state;
    Graph *g = read_text(text);
    assert_null(nodes_as_written(arena, g, &nodes, &place));
    // Without the copies, as the program had it before there were any.
    Node *written = NEW_ARRAY(arena, g->node_count, Node);
    for (NodeId i = 0; i < g->node_count; i++)
        if (g->nodes[i].phase != RECOMPUTE)
            written[g->written_count++] = g->nodes[i];
    g->written = written;
    assert_null(nodes_as_written(arena, g, &nodes, &place));
    assert_string_equal(nodes[6].name, "w.sgd");
    for (int i = 0; i < 7; i++) assert_int_equal(place[i], i);
    // A copy has the source place of its original.
    for (int i = 7; i < 10; i++) {
        assert_int_equal(nodes[i].phase, RECOMPUTE);
        assert_int_equal(place[i], i - 7);
    }
    // No forward node is lost, or another.
    g->nodes[COPY_B].phase = FORWARD;
    assert_non_null(nodes_as_written(arena, g, &nodes, &place));
    g->nodes[COPY_B].phase = RECOMPUTE;
    g->nodes[C - A].op = g->nodes[GRADIENT_A].op;
    assert_string_equal(nodes_as_written(arena, g, &nodes, &place),
                        "c differs from the program");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_go_out_and_in),
        TEST(what_does_something_else_is_no_copy),
        TEST(copies_have_the_values_of_what_they_copy),
        TEST(each_result_is_that_of_its_place),
        TEST(what_is_no_copy_makes_none),
        TEST(what_changes_the_state_runs_once),
        TEST(what_is_written_is_what_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
