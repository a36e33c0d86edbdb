// Liveness, schedule and share_buffers on graphs of a few nodes, where the
// answer is plain, and on random nets, where it must keep every rule.
#define _POSIX_C_SOURCE 200809L     // open_memstream in graphs.h
#include <time.h>
#include "graphs.h"
#include "nets.h"

static Graph *g;

static int set_up_graph(void **state)
{
    int result = set_up(state);
    g = graph_new(arena, &diag, "small", TRAIN, 4, F32);
    return result;
}

static ValueId value(const char *name, Kind kind, int64_t width)
{
    return graph_value(g, name, kind, F32, shape_of(2, (int64_t)4, width),
                       (Pos){.line = 1});
}

// y = op x, an activation of this width.
static ValueId apply(const Op *op, int64_t width, ValueId a, ValueId b)
{
    ValueId y = value("y", ACTIVATION, width);
    graph_node(g, op, 0, FORWARD, op->name, (Pos){.line = 1},
               b == NONE ? 1 : 2, (ValueId[]){a, b}, 1, &y);
    return y;
}

static ValueId layer(int64_t width, ValueId x)
{
    return apply(&stub_layer, width, x, value("weight", PARAM, width));
}

static void share(void)
{
    pass_liveness(g, all_passes());
    pass_share_buffers(g, all_passes());
}

static ValueId alias(ValueId v)
{
    return g->values[v].alias_of;
}

// ---- liveness ---------------------------------------------------------------

static void lives_begin_and_end_at_nodes(void **state)
{
    (void)state;
    ValueId image = value("image", INPUT, 8);
    ValueId a = layer(8, image), b = layer(8, a), c = layer(8, a);
    g->values[b].output = true;
    pass_liveness(g, all_passes());
    const struct { ValueId v; int first, last; } want[] = {
        {g->header, 0, 2}, {image, 0, 0}, {a, 0, 2}, {b, 1, 2}, {c, 2, 2}};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(g->values[want[i].v].first, want[i].first);
        assert_int_equal(g->values[want[i].v].last, want[i].last);
    }
}

// ---- share ------------------------------------------------------------------

static void results_go_over_operands_that_end(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId y = apply(&stub_unary, 8, x, NONE);
    ValueId z = apply(&stub_unary, 8, y, NONE);
    layer(8, z);
    share();
    assert_int_equal(alias(y), x);
    assert_int_equal(alias(z), y);
    assert_false(g->values[y].view);
    assert_int_equal(g->values[x].last, 3);     // that of z, which aliases it
}

static void what_is_read_later_is_not_written_over(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId y = apply(&stub_unary, 8, x, NONE);
    apply(&stub_sum, 8, y, x);
    share();
    assert_int_equal(alias(y), NONE);
}

static void what_a_view_reads_later_is_not_written_over(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId view = apply(&stub_flat, 8, x, NONE);
    ValueId y = apply(&stub_unary, 8, x, NONE);
    apply(&stub_sum, 8, y, view);
    share();
    assert_int_equal(alias(view), x);
    assert_true(g->values[view].view);
    assert_int_equal(alias(y), NONE);
}

static void views_are_written_over_when_all_names_end(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId view = apply(&stub_flat, 8, x, NONE);
    ValueId y = apply(&stub_unary, 8, view, NONE);
    layer(8, y);
    share();
    assert_int_equal(alias(y), view);
}

static void outputs_and_parameters_are_not_written_over(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    g->values[x].output = true;
    ValueId y = apply(&stub_unary, 8, x, NONE);
    ValueId z = apply(&stub_unary, 8, value("weight", PARAM, 8), NONE);
    share();
    assert_int_equal(alias(y), NONE);
    assert_int_equal(alias(z), NONE);
}

// layer's rule says nothing of in place, and sizes must agree where one does.
static void only_what_the_operator_allows(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId y = layer(8, x);
    ValueId z = apply(&stub_unary, 16, y, NONE);
    share();
    assert_int_equal(alias(y), NONE);
    assert_int_equal(alias(z), NONE);
}

static void an_operand_read_twice_needs_both_allowed(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId y = apply(&stub_sum, 8, x, x);      // y/a and y/b: both may be
    ValueId dx = value("dx", GRADIENT, 8);
    graph_node(g, &stub_layer, 1, BACKWARD, "dgrad", (Pos){.line = 1}, 3,
               (ValueId[]){y, value("w", PARAM, 8), y}, 1, &dx);
    share();
    assert_int_equal(alias(y), x);
    assert_int_equal(alias(dx), NONE);          // dy is read element by element
}

static void without_the_pass_views_remain(void **state)
{
    (void)state;
    ValueId x = layer(8, value("image", INPUT, 8));
    ValueId view = apply(&stub_flat, 8, x, NONE);
    ValueId y = apply(&stub_unary, 8, view, NONE);
    pass_liveness(g, all_passes());
    PassOptions views = *all_passes();
    views.enabled[PASS_share_buffers] = false;
    pass_share_buffers(g, &views);
    assert_int_equal(alias(view), x);
    assert_int_equal(alias(y), NONE);
}

// ---- schedule ---------------------------------------------------------------

// Where each value is made; every operand must come before.
static void assert_ordered(const Graph *net)
{
    bool *made = NEW_ARRAY(arena, net->value_count, bool);
    for (NodeId i = 0; i < net->node_count; i++) {
        const Node *n = &net->nodes[i];
        for (int k = 0; k < n->operand_count; k++) {
            ValueId v = n->operands[k];
            if (v != NONE && net->values[v].def != NONE) assert_true(made[v]);
        }
        for (int r = 0; r < n->result_count; r++) {
            if (n->results[r] == NONE) continue;
            assert_int_equal(net->values[n->results[r]].def, i);
            made[n->results[r]] = true;
        }
    }
}

// An updated weight is read by nothing that came before its update in the graph
// as it was built: data gradients and forward layers.
static void assert_updates_wait(const Graph *net)
{
    bool *updated = NEW_ARRAY(arena, net->value_count, bool);
    for (NodeId i = 0; i < net->node_count; i++) {
        const Node *n = &net->nodes[i];
        for (int k = 0; k < n->operand_count; k++)
            if (n->operands[k] != NONE) assert_false(updated[n->operands[k]]);
        if (n->op == &stub_update) updated[n->operands[0]] = true;
    }
}

static void orders_keep_every_dependence(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        Graph *net = random_net(arena, &diag, seed, 20, seed & 1);
        int32_t forward = 0;
        while (net->nodes[forward].phase == FORWARD) forward++;
        const char *last = net->nodes[net->node_count - 1].name;
        const char *loss = net->nodes[forward - 1].name;
        pass_schedule(net, all_passes());
        assert_ordered(net);
        assert_updates_wait(net);
        assert_string_equal(net->nodes[forward - 1].name, loss);
        assert_string_equal(net->nodes[net->node_count - 1].name, last);
    }
}

static void order_never_raises_what_is_alive(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        Graph *plain = random_net(arena, &diag, seed, 30, false);
        Graph *ordered = random_net(arena, &diag, seed, 30, false);
        place_net(plain, 4);
        place_net(ordered, 5);
        // The peak with sharing counts; without, it may be a little
        // higher, but not by more than the largest that could be shared.
        assert_true(ordered->max_live_bytes <= plain->max_live_bytes * 1.1);
    }
}

static void many_nodes_are_scheduled_and_shared_fast(void **state)
{
    (void)state;
    Graph *net = random_net(arena, &diag, 3, 30000, false);
    clock_t start = clock();
    pass_schedule(net, all_passes());
    pass_liveness(net, all_passes());
    pass_share_buffers(net, all_passes());
    assert_true(net->node_count > 80000);
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
}

#define OF_SMALL(name) \
    cmocka_unit_test_setup_teardown(name, set_up_graph, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_SMALL(lives_begin_and_end_at_nodes),
        OF_SMALL(results_go_over_operands_that_end),
        OF_SMALL(what_is_read_later_is_not_written_over),
        OF_SMALL(what_a_view_reads_later_is_not_written_over),
        OF_SMALL(views_are_written_over_when_all_names_end),
        OF_SMALL(outputs_and_parameters_are_not_written_over),
        OF_SMALL(only_what_the_operator_allows),
        OF_SMALL(an_operand_read_twice_needs_both_allowed),
        OF_SMALL(without_the_pass_views_remain),
        OF_SMALL(orders_keep_every_dependence),
        OF_SMALL(order_never_raises_what_is_alive),
        OF_SMALL(many_nodes_are_scheduled_and_shared_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
