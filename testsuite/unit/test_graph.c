// The graph: names, changes, uses, and its text there and back.
#define _POSIX_C_SOURCE 200809L     // open_memstream
#include <time.h>
#include "graphs.h"

// ---- names ------------------------------------------------------------------

static Graph *empty_graph(void)
{
    return graph_new(arena, &diag, "test", TRAIN, 2, F32);
}

static ValueId add_value(Graph *g, const char *name)
{
    return graph_value(g, name, INPUT, F32, shape_of(2, (int64_t)2, (int64_t)3),
                       (Pos){ .line = 1, .column = 1, .length = 1 });
}

static void taken_names_get_suffixes(void **state)
{
    Graph *g = empty_graph();
    static const char *const names[][2] = {
        { "x", "x" }, { "x", "x_2" }, { "x_3", "x_3" }, { "x", "x_4" },
        { "x_3", "x_3_2" }, { "header", "header_2" }, { "x", "x_5" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ValueId v = add_value(g, names[i][0]);
        assert_string_equal(g->values[v].name, names[i][1]);
    }
}

static void a_new_value_is_nothing_special(void **state)
{
    Graph *g = empty_graph();
    ValueId v = add_value(g, "x");
    const Value *value = &g->values[v];
    (void)state;
    assert_int_equal(value->def, NONE);
    assert_int_equal(value->gradient_of, NONE);
    assert_int_equal(value->alias_of, NONE);
    assert_false(value->persistent || value->output);
    assert_true(g->values[g->header].persistent);
    assert_int_equal(value_bytes(value), 24);
    assert_string_equal(shape_text(g, value->shape), "[2, 3]");
}

static void products_past_62_bits_are_refused(void **state)
{
    Graph *g = empty_graph();
    int64_t large = (int64_t)1 << 31;
    char *said;
    size_t length;
    (void)state;

    diag.stream = open_memstream(&said, &length);
    graph_value(g, "fits", INPUT, U8, shape_of(2, large, large), (Pos){ 0 });
    assert_int_equal(diag.error_count, 0);
    graph_value(g, "wide", INPUT, F32, shape_of(2, large, large), (Pos){ 0 });
    assert_int_equal(diag.error_count, 1);
    fclose(diag.stream);
    assert_non_null(strstr(said, "error: wide of [2147483648, 2147483648]"));
    free(said);
}

// ---- changes ----------------------------------------------------------------

static void replacing_moves_readers_and_the_output(void **state)
{
    Graph *g = read_text(chain_text);
    ValueId a = value_called(g, "a"), b = value_called(g, "b");
    ValueId c = value_called(g, "c");
    (void)state;
    graph_replace(g, b, a);
    assert_int_equal(g->nodes[2].operands[0], a);
    assert_int_equal(g->nodes[2].operands[1], a);
    graph_replace(g, c, a);
    assert_true(g->values[a].output);
    assert_false(g->values[c].output);
}

static void compacting_drops_and_renumbers(void **state)
{
    Graph *g = read_text(chain_text);
    (void)state;
    add_value(g, "unread");
    graph_replace(g, value_called(g, "a"), value_called(g, "image"));
    g->nodes[0].op = NULL;
    graph_compact(g);
    verify(g, "compact");
    assert_string_equal(print_text(g),
        "net chain mode=infer batch=2 real=f32\n"
        "\n"
        "%0 header u8[256] state\n"
        "%1 image f32[2, 3] input\n"
        "\n"
        "[0] forward b: %2 b f32[2, 3] = relu(image)\n"
        "[1] forward c: %3 c f32[2, 3] output = add(b, b)\n");
    // The names of dropped values are free again.
    ValueId a = add_value(g, "a");
    assert_string_equal(g->values[a].name, "a");
    ValueId c = add_value(g, "c");
    assert_string_equal(g->values[c].name, "c_2");
}

static void readers_are_counted_once(void **state)
{
    Graph *g = read_text(chain_text);
    ValueId a = value_called(g, "a"), b = value_called(g, "b");
    Uses uses = graph_uses(g);
    (void)state;
    assert_int_equal(uses.start[b + 1] - uses.start[b], 1);
    assert_int_equal(uses.list[uses.start[b]], 2);
    assert_int_equal(uses.start[a + 1] - uses.start[a], 1);
    assert_int_equal(uses.list[uses.start[a]], 1);
    assert_int_equal(uses.start[g->value_count], 3);
}

// b is read by c through both slots; once b is an output, c is not the last.
static void the_only_reader_is_found(void **state)
{
    Graph *g = read_text(chain_text);
    ValueId image = value_called(g, "image"), b = value_called(g, "b");
    Uses uses = graph_uses(g);
    (void)state;
    assert_int_equal(only_reader(g, &uses, image), 0);
    assert_int_equal(only_reader(g, &uses, b), 2);
    assert_int_equal(only_reader(g, &uses, g->header), NONE);
    assert_int_equal(only_reader(g, &uses, NONE), NONE);
    g->values[b].output = true;
    assert_int_equal(only_reader(g, &uses, b), NONE);
    g->nodes[2].operands[0] = image;
    uses = graph_uses(g);
    assert_int_equal(only_reader(g, &uses, image), NONE);
}

// ---- text -------------------------------------------------------------------

static void text_reads_back_to_itself(void **state)
{
    Graph *g = read_text(step_text);
    (void)state;
    assert_non_null(g);
    char *once = print_text(g);
    assert_string_equal(once, step_text);
    Graph *again = read_text(once);
    assert_string_equal(print_text(again), once);
    assert_int_equal(again->nodes[6].phase, UPDATE);
    assert_int_equal(again->nodes[0].operands[2], NONE);
    assert_true(again->values[3].init.scale == g->values[3].init.scale);
    assert_true(again->training.keep_gradients);
}

static void text_by_hand_may_leave_out(void **state)
{
    Graph *g = read_text(
        "# a comment\n"
        "net hand mode=infer batch=1 real=f64   # another\n"
        "x f64[1, 3] input\n"
        "\n"
        "forward y: y f64[1, 3] output = relu( %1 )\n");
    (void)state;
    assert_non_null(g);
    verify(g, "read");
    assert_int_equal(g->nodes[0].operands[0], value_called(g, "x"));
}

static void ids_may_come_in_any_order(void **state)
{
    Graph *g = read_text(
        "net order mode=infer batch=1 real=f32\n"
        "%3 x f32[1] input\n"
        "%2 w f32[1] param\n"
        "[0] forward y: %1 y f32[1] output = add(x, w) @1:1+1\n");
    (void)state;
    verify(g, "read");
    assert_int_equal(value_called(g, "y"), 1);
    assert_int_equal(g->nodes[0].operands[0], 3);
}

// A fault in the text, and the message for it.
static void expect_refused(const char *text, const char *wanted)
{
    char *said;
    size_t length;
    diag.stream = open_memstream(&said, &length);
    assert_null(read_text(text));
    fclose(diag.stream);
    if (strstr(said, wanted) == NULL)
        fail_msg("said \"%s\" instead of \"%s\"", said, wanted);
    free(said);
}

#define NET "net bad mode=infer batch=1 real=f32\n"

static void faults_in_text_have_a_place(void **state)
{
    (void)state;
    expect_refused("", "there is no graph");
    expect_refused("x f32[1] input\n", "1:2: error: the text of a graph");
    expect_refused(NET "x f33[1]\n", "2:6: error: \"f33\" is none of");
    expect_refused(NET "x f32[1, 0]\n", "too large to be addressed, or empty");
    expect_refused(NET "x f32[4294967296, 4294967296]\n", "too large");
    expect_refused(NET "x f32[1, 1, 1, 1, 1, 1]\n", "too many dimensions");
    expect_refused(NET "x f32[1] inptu\n", "2:15: error: a value has no such");
    expect_refused(NET "x f32[1]\nx f32[1]\n", "3:9: error: this name or id");
    expect_refused(NET "%1 x f32[1]\n%1 y f32[1]\n", "name or id is taken");
    expect_refused(NET "%999999999 x f32[1]\n", "there is no such id");
    expect_refused(NET "%3 x f32[1]\n", "an id is named that no value has");
    expect_refused(NET "forward y: y f32[1] = relu(x)\n",
                   "no value is called x, so far");
    expect_refused(NET "forward y: y f32[1] = rleu()\n",
                   "there is no operator \"rleu\"");
    expect_refused(NET "forward y: y f32[1] = relu.dgrad()\n",
                   "relu has no such kernel");
    expect_refused(NET "x f32[1]\nforward y: y f32[1] = relu(x) size=1\n",
                   "relu has no attribute size");
    expect_refused(NET "x f32[1]\nforward y: y f32[1] = relu(x) @1:2\n",
                   "3:35: error: expected '+'");
    expect_refused(NET "x f32[1]\nforward y: y f32[1] = relu(%7)\n",
                   "an id is named that no value has");
    expect_refused("net a batch=99999999999999999999\n", "number is too large");
}

// ---- size -------------------------------------------------------------------

// 100,000 nodes, all of one name: whatever is not linear shows.
static void size_costs_only_its_share(void **state)
{
    Graph *g = empty_graph();
    ValueId last = add_value(g, "image");
    clock_t begin = clock();
    (void)state;
    g->mode = INFER;
    for (int i = 0; i < 100000; i++) {
        ValueId next = graph_value(g, "relu", ACTIVATION, F32,
                                   g->values[last].shape, (Pos){ .line = 1 });
        graph_node(g, find_op("relu", 4), 0, FORWARD, "relu",
                   (Pos){ .line = 1 }, 1, &last, 1, &next);
        last = next;
    }
    g->values[last].output = true;
    assert_string_equal(g->values[last].name, "relu_100000");
    char *once = print_text(g);
    Graph *again = read_text(once);
    assert_non_null(again);
    graph_compact(again);
    verify(again, "read");
    assert_string_equal(print_text(again), once);
    Tensors t = tensors_new(again);
    interpret(again, &t, 2);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    print_message("             %.2f s for 100000 nodes\n", seconds);
    assert_true(seconds < 10);  // quadratic, it would be minutes
}

// ---- all of them ------------------------------------------------------------

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(taken_names_get_suffixes),
        TEST(a_new_value_is_nothing_special),
        TEST(products_past_62_bits_are_refused),
        TEST(replacing_moves_readers_and_the_output),
        TEST(compacting_drops_and_renumbers),
        TEST(readers_are_counted_once),
        TEST(the_only_reader_is_found),
        TEST(text_reads_back_to_itself),
        TEST(text_by_hand_may_leave_out),
        TEST(ids_may_come_in_any_order),
        TEST(faults_in_text_have_a_place),
        TEST(size_costs_only_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
