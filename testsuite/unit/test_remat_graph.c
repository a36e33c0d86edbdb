// Graphs as problems of recomputation, and schedules as graphs: by
// hand, on small ones.
#define _POSIX_C_SOURCE 200809L     // fork in verdicts.h, and open_memstream
#include "verdicts.h"
#include "../../ir/plan/plan.h"
#include "../../passes/remat/remat_graph.h"
#include "nets.h"
#include "remats.h"

#define CONV "stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 groups=1 splits=1"
#define MAP "f32[2, 4, 4, 4]"   // of 512 bytes
#define HEAD                                                          \
    "net n mode=train batch=2 real=f32 epochs=1 states=1\n"           \
    "optimizer sgd lr=0.1 momentum=0.9\n"                             \
    "facts has_gradients is_scheduled\n"                              \
    "%0 header u8[256] state\n"                                       \
    "%1 x " MAP " input\n"                                            \
    "%2 w f32[4, 1, 1, 4] param uniform=1 decayed\n"                  \
    "%3 m f32[4, 1, 1, 4] state of=%2\n"

// The steps are a, c, e, the gradient, the update, and the second reader of a.
// s is computed on load, and flat a name.
static const char chain[] =
    HEAD
    "[0] forward a: %4 a " MAP " = conv(x, w, -) " CONV "\n"
    "[1] forward s: %5 s " MAP " = swish(a) fused_load\n"
    "[2] forward c: %6 c " MAP " = conv(s, w, -) " CONV "\n"
    "[3] forward flat: %7 flat f32[2, 64] = flatten(c)\n"
    "[4] forward e: %8 e f32[2, 64] = tanh(flat)\n"
    "[5] backward d.w: %9 d.w f32[4, 1, 1, 4] gradient of=%2, - ="
        " conv.wgrad(c, x) " CONV "\n"
    "[6] update w.sgd: sgd(w, d.w, m, header) lr=0.1 momentum=0.9\n"
    "[7] backward f: %10 f f32[2, 64] = mul(e, flat)\n"
    "[8] backward g: %11 g " MAP " output = conv(s, m, -) " CONV "\n"
    "[9] update end: advance_step(header)\n";

enum { A, C_, E_, D_W, SGD, F, G, END };

// The value of r that has the bytes of the class; it is known by its makers.
static int32_t made_by(const Remat *r, int32_t step)
{
    assert_true(r->makes[step + 1] > r->makes[step]);
    return r->make[r->makes[step]];
}

static bool reads(const Remat *r, int32_t step, int32_t v)
{
    for (int32_t k = r->reads[step]; k < r->reads[step + 1]; k++)
        if (r->read[k] == v) return true;
    return false;
}

static void launches_are_steps(void **state)
{
    (void)state;
    Graph *g = read_text(chain);
    Remat r = remat_of(g);
    assert_int_equal(r.step_count, END + 1);
    assert_int_equal(r.backward_start, D_W);
    int32_t a = made_by(&r, A), c = made_by(&r, C_), e = made_by(&r, E_);
    assert_int_equal(r.bytes[a], 512);
    assert_int_equal(r.bytes[c], 512);
    assert_int_equal(r.bytes[e], 512);
    assert_int_equal(r.bytes[made_by(&r, D_W)], 256);
    // Through values without bytes: a is read where s is, c where flat is.
    assert_true(reads(&r, C_, a) && reads(&r, G, a) && !reads(&r, E_, a));
    assert_true(reads(&r, E_, c) && reads(&r, D_W, c) && reads(&r, F, c));
    // Persistent values are no values of the problem; updates make none.
    assert_int_equal(r.makes[SGD], r.makes[SGD + 1]);
    assert_int_equal(r.reads[SGD + 1] - r.reads[SGD], 1);
    assert_int_equal(r.reads[END], r.reads[END + 1]);
    for (int32_t i = 0; i <= END; i++) {
        assert_true(r.cost[i] > 0);
        assert_int_equal(r.may_repeat[i], i < D_W);
    }
    assert_true(r.kept[made_by(&r, G)]);
    assert_false(r.kept[a] || r.kept[c] || r.kept[e]);
}

// In the order of the graph, the names of its nodes.
static void has_nodes(const Graph *g, const char *names)
{
    char *said = arena_print(arena, "%s", "");
    for (NodeId i = 0; i < g->node_count; i++)
        said = arena_print(arena, "%s%s%s", said, i > 0 ? " " : "",
                           g->nodes[i].name);
    assert_string_equal(said, names);
}

static const Node *node_called(const Graph *g, const char *name)
{
    for (NodeId i = 0; i < g->node_count; i++)
        if (strcmp(g->nodes[i].name, name) == 0) return &g->nodes[i];
    fail_msg("no node is called %s", name);
    return NULL;
}

static const char *operand(const Graph *g, const char *node, int k)
{
    return g->values[node_called(g, node)->operands[k]].name;
}

static Graph *apply(const char *text, const char *schedule)
{
    Graph *g = read_text(text);
    RematSchedule p = remat_schedule(arena, schedule);
    assert_non_null(g);
    remat_apply(g, &p);
    const char *said = verdict(g);
    if (said != NULL) fail_msg("%s", said);
    return g;
}

static void a_program_of_each_once_is_the_graph(void **state)
{
    (void)state;
    assert_string_equal(print_text(apply(chain, "0 1 2 3 4 5 6 7")),
                        print_text(read_text(chain)));
}

static void an_update_waits_for_who_reads_again(void **state)
{
    (void)state;
    Graph *g = apply(chain, "0 1 2 3 4 5 0 6 7");
    has_nodes(g, "a s c flat e d.w f a.again w.sgd s.again g end");
    g = apply(chain, "0 1 2 3 0 4 5 6 7");
    has_nodes(g, "a s c flat e d.w a.again w.sgd f s.again g end");
    // Two repeats, and those who read the momentum that it would move.
    g = apply(chain, "0 1 2 3 4 0 5 1 6 7");
    has_nodes(g, "a s c flat e d.w a.again f s.again c.again w.sgd g end");
}

static void an_update_that_waits_is_waited_for(void **state)
{
    (void)state;
    // g reads m, which the update changes: it comes after that.
    Graph *g = apply(chain, "0 1 2 3 4 5 6 0 7");
    has_nodes(g, "a s c flat e d.w f a.again w.sgd s.again g end");
}

static void everything_reads_what_was_made_last(void **state)
{
    (void)state;
    Graph *g = apply(chain, "0 1 2 3 4 0 1 5 0 6 7");
    has_nodes(g, "a s c flat e d.w a.again s.again c.again flat.again f "
                 "a.again_2 w.sgd s.again_2 g end");
    assert_string_equal(operand(g, "c.again", 0), "s.again");
    assert_string_equal(operand(g, "s.again", 0), "a.again");
    assert_string_equal(operand(g, "f", 0), "e");
    assert_string_equal(operand(g, "f", 1), "flat.again");
    assert_string_equal(operand(g, "s.again_2", 0), "a.again_2");
    assert_string_equal(operand(g, "g", 0), "s.again_2");
    // A copy of a copy is one of the first.
    ValueId twice = value_called(g, "a.again_2");
    assert_int_equal(g->values[twice].recompute_of, value_called(g, "a"));
    assert_int_equal(node_called(g, "a.again_2")->phase, RECOMPUTE);
    assert_true(node_called(g, "s.again_2")->fused_load);
}

static void a_name_that_is_an_output_stays(void **state)
{
    (void)state;
    static const char named[] =
        HEAD
        "[0] forward a: %4 a " MAP " = conv(x, w, -) " CONV "\n"
        "[1] forward e: %5 e " MAP " = tanh(a)\n"
        "[2] forward flat: %6 flat f32[2, 64] output = flatten(e)\n"
        "[3] backward f: %7 f " MAP " output = mul(a, x)\n"
        "[4] update end: advance_step(header)\n";
    has_nodes(apply(named, "0 1 0 2 3"), "a e a.again f end flat");
}

static void a_text_of_it_is_read_again(void **state)
{
    (void)state;
    Graph *g = apply(chain, "0 1 2 3 4 0 1 5 0 6 7");
    char *printed = print_text(g);
    assert_string_equal(print_text(read_text(printed)), printed);
}

// ---- maps that are joined ---------------------------------------------------

#define JOIN(of_b, of_c)                                                     \
    HEAD                                                                     \
    "[0] forward a: %4 a " MAP " = conv(x, w, -) " CONV "\n"                 \
    "[1] forward b: %5 b " MAP " = conv(" of_b ", w, -) " CONV "\n"          \
    "[2] forward j: %6 j f32[2, 4, 4, 8] = concat(a, b) axis=3 in_place\n"   \
    "[3] forward c: %7 c " MAP " = conv(" of_c ", w, -) " CONV "\n"          \
    "[4] backward d: %8 d " MAP " = add(c, x)\n"                             \
    "[5] backward f: %9 f f32[2, 4, 4, 8] output = mul(j, j)\n"              \
    "[6] update end: advance_step(header)\n"

static const char apart[] = JOIN("x", "x"), early[] = JOIN("a", "x");

static void parts_of_a_join_are_one_value(void **state)
{
    (void)state;
    Remat r = remat_of(read_text(apart));
    int32_t j = made_by(&r, 0);
    assert_int_equal(made_by(&r, 1), j);
    assert_int_equal(r.bytes[j], 1024);
    assert_int_equal(r.makers[j + 1] - r.makers[j], 2);
    assert_int_equal(r.maker[r.makers[j]], 0);
    assert_int_equal(r.maker[r.makers[j] + 1], 1);
    assert_true(r.may_repeat[0] && r.may_repeat[1] && r.may_repeat[2]);
    assert_true(reads(&r, 4, j) && !reads(&r, 1, j));
}

static void a_join_that_is_read_while_made_is_made_once(void **state)
{
    (void)state;
    Remat r = remat_of(read_text(early));
    int32_t j = made_by(&r, 0);
    // The first makes it, the second reads it: it adds to the old value.
    assert_int_equal(r.makers[j + 1] - r.makers[j], 1);
    assert_int_equal(r.makes[1], r.makes[2]);
    assert_true(reads(&r, 1, j) && reads(&r, 4, j));
    assert_false(r.may_repeat[0] || r.may_repeat[1]);
    assert_true(r.may_repeat[2]);
    RematSchedule base = remat_base(arena, &r);
    assert_int_equal(remat_peak(&r, &base, NULL) > 0, 1);
}

static void joins_are_made_again_whole(void **state)
{
    (void)state;
    // A name is made for its reader, from the values that exist then.
    Graph *g = apply(apart, "0 1 2 3 0 1 4 5");
    has_nodes(g, "a b c d a.again b.again j f end");
    assert_string_equal(operand(g, "j", 0), "a.again");
    assert_string_equal(operand(g, "j", 1), "b.again");
    g = apply(apart, "0 1 2 3 4 0 1 5");
    has_nodes(g, "a b c d j f a.again b.again end");
}

// ---- the overwritten value
// ---------------------------------------------------

static void overs_are_those_of_the_order(void **state)
{
    (void)state;
    Remat r = remat_of(read_text(chain));
    // e = tanh(flat) may lie over c, whose name flat is, and f over e or c.
    assert_int_equal(r.overs[E_ + 1] - r.overs[E_], 1);
    assert_int_equal(r.over[r.overs[E_]].result, made_by(&r, E_));
    assert_int_equal(r.over[r.overs[E_]].value, made_by(&r, C_));
    assert_int_equal(r.overs[F + 1] - r.overs[F], 2);
    for (int32_t k = r.overs[F]; k < r.overs[F + 1]; k++)
        assert_int_equal(r.over[k].result, made_by(&r, F));
    // The bytes that are counted are those that schedule counts.
    RematSchedule base = remat_base(arena, &r);
    int64_t x = 512, a = 512, c = 512, e = 512, d_w = 256;
    int32_t at;
    assert_int_equal(remat_peak(&r, &base, &at), x + a + c + e + d_w);
    assert_int_equal(at, D_W);
}

// ---- plans of it ------------------------------------------------------------

static const char drawing[] =
    HEAD
    "[0] forward a: %4 a " MAP " = conv(x, w, -) " CONV "\n"
    "[1] forward b: %5 b " MAP " = dropout(a, header) rate=0.5 number=0\n"
    "[2] backward d.w: %6 d.w f32[4, 1, 1, 4] gradient of=%2, - ="
        " conv.wgrad(b, x) " CONV "\n"
    "[3] update w.sgd: sgd(w, d.w, m, header) lr=0.1 momentum=0.9\n"
    "[4] backward f: %7 f " MAP " output = mul(b, x)\n"
    "[5] update end: advance_step(header)\n";

// Puts the node of that name before another.
static void move_before(Graph *g, const char *name, const char *other)
{
    NodeId from = (NodeId)(node_called(g, name) - g->nodes);
    NodeId to = (NodeId)(node_called(g, other) - g->nodes);
    Node moved = g->nodes[from];
    assert_true(to < from);
    memmove(&g->nodes[to + 1], &g->nodes[to],
            (size_t)(from - to) * sizeof moved);
    g->nodes[to] = moved;
    for (NodeId i = 0; i < g->node_count; i++)
        for (int32_t k = 0; k < g->nodes[i].result_count; k++)
            if (g->nodes[i].results[k] != NONE)
                g->values[g->nodes[i].results[k]].def = i;
}

// Returns the fault of a plan of the schedule, in which one node runs before
// another; NULL: nothing.
static const char *plan_fault(const char *text, const char *schedule,
                              const char *name, const char *other)
{
    Graph *was = read_text(text), *g = apply(text, schedule);
    g->written = was->nodes;
    g->written_count = was->node_count;
    if (name != NULL) move_before(g, name, other);
    pass_liveness(g, all_passes());
    PassOptions views = *all_passes();
    views.enabled[PASS_share_buffers] = false;
    pass_share_buffers(g, &views);
    pass_assign_offsets(g, all_passes());
    g->facts |= IS_GROUPED | HAS_LIFETIMES | IS_SHARED | IS_PLACED;
    return verify_program(arena, g, plan_of(g));
}

static void no_update_runs_before_a_repeat_that_reads_it(void **state)
{
    (void)state;
    static const char schedule[] = "0 1 2 3 0 1 4 5";
    const char *wrong = plan_fault(drawing, schedule, NULL, NULL);
    if (wrong != NULL) fail_msg("%s", wrong);
    wrong = plan_fault(drawing, schedule, "w.sgd", "a.again");
    assert_string_equal(wrong, "a.again comes too late for w");
    wrong = plan_fault(drawing, schedule, "end", "b.again");
    assert_string_equal(wrong, "b.again comes too late for header");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(launches_are_steps),
        TEST(a_program_of_each_once_is_the_graph),
        TEST(an_update_waits_for_who_reads_again),
        TEST(an_update_that_waits_is_waited_for),
        TEST(everything_reads_what_was_made_last),
        TEST(a_name_that_is_an_output_stays),
        TEST(a_text_of_it_is_read_again),
        TEST(parts_of_a_join_are_one_value),
        TEST(a_join_that_is_read_while_made_is_made_once),
        TEST(joins_are_made_again_whole),
        TEST(overs_are_those_of_the_order),
        TEST(no_update_runs_before_a_repeat_that_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
