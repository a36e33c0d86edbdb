// Maps in host memory: the verifier's errors for copies, and copies
// that are found for random nets.
#define _POSIX_C_SOURCE 200809L     // fork in verdicts.h, and open_memstream
#include "verdicts.h"
#include "../../ir/gpu/gpu_model.h"
#include "../../ir/gpu/offload.h"
#include "../../passes/offload/host_copies.h"
#include "nets.h"

#define MAP "f32[2, 1, 1, 64]"      // of 512 bytes
#define HEAD                                                          \
    "net n mode=train batch=2 real=f32 states=1\n"                    \
    "optimizer sgd lr=0.1 momentum=0.9\n"                             \
    "facts has_gradients is_scheduled\n"                              \
    "%0 header u8[256] state\n"                                       \
    "%1 x " MAP " input\n"                                            \
    "%2 w f32[4] param uniform=1 decayed\n"                           \
    "%3 m f32[4] state of=%2\n"

// a and b go to one place, one after the other.
static const char text[] = HEAD
    "[0] forward a: %4 a " MAP " = tanh(x)\n"
    "[1] forward b: %5 b " MAP " = tanh(a)\n"
    "[2] forward a.offload: offload(a) place=512 event=1\n"
    "[3] forward c: %6 c " MAP " = tanh(b)\n"
    "[4] forward a.offload.wait: offload.wait(a) event=1\n"
    "[5] backward a.fetch: %7 a.back " MAP " recompute_of=%4 = offload.fetch()"
    " place=512 event=2\n"
    "[6] forward b.offload: offload(b) place=512 event=1\n"
    "[7] forward b.offload.wait: offload.wait(b) event=1\n"
    "[8] backward d: %8 d " MAP " = mul(c, c)\n"
    "[9] backward a.arrive: offload.arrive(a.back) event=2\n"
    "[10] backward e: %9 e " MAP " = mul(d, a.back)\n"
    "[11] backward b.fetch: %10 b.back " MAP
    " recompute_of=%5 = offload.fetch()"
    " place=512 event=1\n"
    "[12] backward b.arrive: offload.arrive(b.back) event=1\n"
    "[13] backward f: %11 f " MAP " output = mul(e, b.back)\n"
    "[14] update end: advance_step(header)\n";

// The first `from` in the text is `to`.
static Graph *changed(const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    size_t before = (size_t)(at - text);
    Graph *g = read_text(arena_print(arena, "%.*s%s%s", (int)before, text, to,
                                     at + strlen(from)));
    assert_non_null(g);
    return g;
}

// Without the line that begins so; ids are those of the text.
static Graph *without(const char *line)
{
    const char *at = strstr(text, line), *end = strchr(at, '\n');
    return changed(arena_copy(arena, at, (size_t)(end + 1 - at)), "");
}

static void sound_copies_pass(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    const char *said = verdict(g);
    if (said != NULL) fail_msg("%s", said);
    char *printed = print_text(g);
    assert_string_equal(print_text(read_text(printed)), printed);
    HostUse use = host_use(g);
    assert_int_equal(use.values, 2);
    assert_int_equal(use.moved, 1024);
    assert_int_equal(use.bytes, 1024);
    assert_int_equal(use.events, 3);
}

static void copies_are_waited_for(void **state)
{
    (void)state;
    expect_fault(without("[7] forward b.offload.wait"), "its event is still");
    expect_fault(without("[9] backward a.arrive"),
                 "it reads a value before its copy is done");
    Graph *g = without("[12] backward b.arrive");
    expect_fault(g, "it reads a value before its copy is done");
    g->nodes[12].operands[1] = value_called(g, "a.back");
    expect_fault(g, "nothing waits for the copy of b.back");
    // The fetch of another copy, of none, and twice.
    expect_fault(changed("offload.wait(a) event=1", "offload.wait(a) event=2"),
                 "no such copy is under way");
    expect_fault(changed("offload.wait(a) event=1", "offload.wait(b) event=1"),
                 "no such copy is under way");
    expect_fault(changed("[8] backward d", "[8] forward w2: offload.wait(b)"
                         " event=1\n[8] backward d"),
                 "no such copy is under way");
    expect_fault(changed("offload.arrive(a.back) event=2",
                         "offload.wait(a.back) event=2"),
                 "no such copy is under way");
}

static void events_are_of_one_copy_at_a_time(void **state)
{
    (void)state;
    expect_fault(changed("offload(b) place=512 event=1",
                         "offload(b) place=512 event=2"),
                 "its event is still another copy's");
    Graph *g = read_text(text);
    g->nodes[2].attr[COPY_EVENT].i = 0;
    expect_fault(g, "it has no place or no event");
    g = read_text(text);
    g->nodes[2].attr[COPY_PLACE].i = -512;
    expect_fault(g, "it has no place or no event");
}

static void what_comes_back_is_what_went(void **state)
{
    (void)state;
    // From elsewhere, partly; where b has gone since; before it has gone.
    expect_fault(changed("offload.fetch() place=512 event=2",
                         "offload.fetch() place=256 event=2"),
                 "host memory holds something else there");
    expect_fault(changed("offload.fetch() place=512 event=2",
                         "offload.fetch() event=2"),
                 "host memory holds something else there");
    expect_fault(changed("offload.fetch() place=512 event=1",
                         "offload.fetch() event=1"),
                 "host memory holds something else there");
    expect_fault(changed("recompute_of=%4", "recompute_of=%5"),
                 "it has not gone");
    expect_fault(changed("recompute_of=%5 = offload",
                         "recompute_of=%4 = offload"),
                 "host memory holds something else there");
    expect_fault(changed(" recompute_of=%5 = offload", " = offload"),
                 "it is no copy, but a copy makes it");
    Graph *g =
        changed("[5] backward a.fetch: %7 a.back " MAP " recompute_of=%4 ="
                " offload.fetch() place=512 event=2\n"
                "[6] forward b.offload: offload(b) place=512 event=1\n"
                "[7] forward b.offload.wait: offload.wait(b) event=1\n",
                "[6] forward b.offload: offload(b) place=512 event=1\n"
                "[7] forward b.offload.wait: offload.wait(b) event=1\n"
                "[5] backward a.fetch: %7 a.back " MAP " recompute_of=%4 ="
                " offload.fetch() place=512 event=2\n");
    expect_fault(g, "host memory holds something else there");
    expect_fault(changed("b.offload: offload(b)", "b.offload: offload(a)"),
                 "it has gone before");
}

static void what_must_stay_does(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    g->values[value_called(g, "a")].output = true;
    expect_fault(g, "can't leave the arena");
    g = read_text(text);
    g->nodes[2].operands[0] = g->nodes[4].operands[0] = value_called(g, "w");
    expect_fault(g, "can't leave the arena");
}

static Plan *plan_for(Graph *g)
{
    pass_liveness(g, all_passes());
    pass_share_buffers(g, all_passes());
    pass_assign_offsets(g, all_passes());
    return plan_of(g);
}

static void expect_unsound(const Graph *g, const Plan *plan, const char *wanted)
{
    const char *said = verify_program(arena, g, plan);
    if (said == NULL) fail_msg("not caught: %s", wanted);
    if (strstr(said, wanted) == NULL)
        fail_msg("said \"%s\" instead of \"%s\"", said, wanted);
}

// The copies of a plan are compared with the graph, in its own order.
static void plans_say_what_is_copied(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    Plan *plan = plan_for(g);
    const char *said = verify_program(arena, g, plan);
    if (said != NULL) fail_msg("%s", said);
    assert_int_equal(plan->host_bytes, 1024);
    plan->host_bytes += 256;
    expect_unsound(g, plan, "copies end at 1024 of host memory, not at 1280");
    plan->host_bytes -= 256;
    plan->steps[2].host = 0;
    expect_unsound(g, plan, "differs from the reads and writes of a.offload");
    plan->steps[2].host = 512;
    PlanStep step = plan->steps[9];
    plan->steps[9] = plan->steps[10];
    plan->steps[10] = step;
    expect_unsound(g, plan, "e: it reads a value before its copy is done");
}

// ---- random nets ------------------------------------------------------------

// A net in the order that schedule finds, and its live values.
static Graph *ordered(uint64_t seed, int layers)
{
    Graph *g = random_net(arena, &diag, seed, layers, false);
    pass_schedule(g, all_passes());
    g->facts |= IS_SCHEDULED;
    return g;
}

static Graph *shared(const Graph *g)
{
    Graph *copy = graph_copy(g, arena);
    pass_liveness(copy, all_passes());
    pass_share_buffers(copy, all_passes());
    copy->facts |= IS_GROUPED | HAS_LIFETIMES | IS_SHARED;
    return copy;
}

// The bytes alive at most, without persistent values, of a sound plan.
static int64_t most_alive(const Graph *g)
{
    Graph *copy = shared(g);
    pass_assign_offsets(copy, all_passes());
    Plan *plan = plan_of(copy);
    const char *wrong = verify_plan(arena, plan);
    if (wrong != NULL) fail_msg("%s", wrong);
    return plan->max_live_bytes - copy->state_bytes;
}

static int64_t most_of(const int64_t *bytes, int32_t count)
{
    int64_t most = 0;
    for (int32_t i = 0; i < count; i++)
        if (bytes[i] > most) most = bytes[i];
    return most;
}

// The steps of a model's offloads, in a copy of the net: they are sound, and
// the live bytes are the model's.
static Graph *check_offloaded(const Graph *g, const HostModel *m, int64_t most)
{
    HostCopy *steps;
    Graph *offloaded = graph_copy(g, arena);
    int32_t count = host_steps(m, &steps);
    put_copies(offloaded, steps, count);
    const Node **nodes = NEW_ARRAY(arena, offloaded->node_count, const Node *);
    for (NodeId i = 0; i < offloaded->node_count; i++)
        nodes[i] = &offloaded->nodes[i];
    const char *wrong =
        check_copies(arena, offloaded, nodes, offloaded->node_count);
    if (wrong != NULL) fail_msg("%s", wrong);
    assert_int_equal(most_alive(offloaded), most);
    return offloaded;
}

static void models_count_as_plans_do(void **state)
{
    int chosen = 0, waits = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Graph *g = ordered(seed, 4 + (int)(seed % 12));
        HostModel m = host_model(shared(g));
        int64_t whole = most_of(m.live, m.launch_count);
        assert_int_equal(whole, most_alive(g));
        for (int64_t percent = 100; percent >= 40; percent -= 10) {
            int64_t level = whole * percent / 100;
            if (!host_choose(&m, level)) break;
            int64_t most = host_layout(&m, level);
            assert_true(most <= level);
            Graph *offloaded = check_offloaded(g, &m, most);
            chosen += host_use(offloaded).values;
            waits += host_use(offloaded).waiting > 0;
            // With all the room that there is, and with none.
            most = host_layout(&m, INT64_MAX / 2);
            check_offloaded(g, &m, most);
            most = host_layout(&m, 0);
            check_offloaded(g, &m, most);
            for (int32_t i = 0; i < m.stay_count; i++)
                if (m.stay[i].offloaded) {
                    assert_int_equal(m.stay[i].gone, m.stay[i].from + 1);
                    assert_int_equal(m.stay[i].due, m.stay[i].to);
                }
        }
    }
    assert_true(chosen > 100);
    assert_true(waits > 0);
}

// Nothing is offloaded in vain, and named values are offloaded.
static void check_chosen(const Graph *g, int64_t percent)
{
    HostModel m = host_model(shared(g));
    int64_t level = most_of(m.live, m.launch_count) * percent / 100;
    if (!host_choose(&m, level)) return;
    Offloading offloading = { .level = level };
    offloading.value = NEW_ARRAY(arena, m.stay_count, ValueId);
    for (int32_t i = 0; i < m.stay_count; i++) {
        if (!m.stay[i].offloaded) continue;
        offloading.value[offloading.count++] = m.stay[i].value;
        m.stay[i].offloaded = false;
        assert_true(host_layout(&m, level) > level);
        m.stay[i].offloaded = true;
    }
    int64_t most = host_layout(&m, level);
    HostModel named = host_model(shared(g));
    host_offload(&named, &offloading);
    assert_memory_equal(named.alive, m.alive,
                        (size_t)m.launch_count * sizeof *m.alive);
    assert_int_equal(most_of(named.alive, m.launch_count), most);
}

static void what_is_chosen_is_needed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        Graph *g = ordered(seed, 4 + (int)(seed % 16));
        for (int percent = 98; percent > 40; percent -= 2)
            check_chosen(g, percent);
    }
}

// Values that must exist at the end stay, and so do the bytes that they alias.
static void outputs_stay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Graph *g = ordered(seed, 12);
        HostModel m = host_model(shared(g));
        for (int32_t i = 0; i < m.stay_count; i++) {
            Graph *kept = graph_copy(g, arena);
            kept->values[m.stay[i].value].output = true;
            HostModel less = host_model(shared(kept));
            for (int32_t k = 0; k < less.stay_count; k++)
                assert_int_not_equal(less.stay[k].value, m.stay[i].value);
        }
    }
}

// A copy takes launch + bytes / host; launches wait for the rest of it.
static void times_are_the_models(void **state)
{
    (void)state;
    Graph *g = read_text(text);
    const Gpu *gpu = graph_gpu(g);
    int64_t copy = copy_time(512, gpu), step = node_time(g, &g->nodes[0], gpu);
    assert_int_equal(copy, gpu->launch + (512 * INT64_C(1000000000000) +
                                          gpu->host - 1) / gpu->host);
    HostUse use = host_use(g);
    assert_int_equal(use.copying, 4 * copy);
    int64_t now = 2 * step, link = now + copy;      // a out, while c runs
    now += step;
    if (link > now) now = link;
    int64_t back = now + copy, out = back + copy;   // a in, b out: waited for
    now = out;
    now += node_time(g, &g->nodes[8], gpu);         // a is back by then
    now += node_time(g, &g->nodes[10], gpu) + copy; // b in
    int64_t launches = 0;
    for (NodeId i = 0; i < 13; i++) launches += node_time(g, &g->nodes[i], gpu);
    assert_int_equal(use.waiting, now - launches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sound_copies_pass),
        TEST(copies_are_waited_for),
        TEST(events_are_of_one_copy_at_a_time),
        TEST(what_comes_back_is_what_went),
        TEST(what_must_stay_does),
        TEST(plans_say_what_is_copied),
        TEST(models_count_as_plans_do),
        TEST(what_is_chosen_is_needed),
        TEST(outputs_stay),
        TEST(times_are_the_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
