// Placement and the plan: random instances, exact ones, large ones; and a
// checker that must catch faults planted in a sound plan, or a check of every
// byte must find that it does no harm.
#define _POSIX_C_SOURCE 200809L     // open_memstream
#include <time.h>
#include "../../passes/placement/place.h"
#include "brute_plan.h"
#include "graphs.h"
#include "nets.h"

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

// ---- placement --------------------------------------------------------------

static void assert_apart(const Item *items, int count, int64_t top)
{
    int64_t highest = 0;
    for (int i = 0; i < count; i++) {
        const Item *a = &items[i];
        assert_true(a->offset >= 0 && a->offset % ALIGNMENT == 0);
        if (a->offset + a->size > highest) highest = a->offset + a->size;
        for (int j = 0; j < i; j++) {
            const Item *b = &items[j];
            assert_true(a->last < b->first || b->last < a->first ||
                        a->offset + a->size <= b->offset ||
                        b->offset + b->size <= a->offset);
        }
    }
    assert_int_equal(highest, top);
}

static Item random_item(uint64_t *seed, uint32_t steps, uint32_t length)
{
    int32_t first = (int32_t)next_number(seed, steps);
    int32_t last = first + (int32_t)next_number(seed, length);
    if (last >= (int32_t)steps) last = (int32_t)steps - 1;
    int64_t size = 256 * (1 + (int64_t)next_number(seed, 20));
    return (Item){.first = first, .last = last, .size = size};
}

static void random_buffers_never_overlap(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 60; round++) {
        int count = 1 + (int)next_number(&seed, 60);
        Item *items = NEW_ARRAY(arena, count, Item);
        for (int i = 0; i < count; i++)
            items[i] = random_item(&seed, 30, 10);
        int64_t bound = place_bound(arena, items, count);
        int64_t top = place(arena, items, count);
        assert_true(top >= bound && top <= bound + bound / 4);
        assert_apart(items, count, top);
    }
}

static void placing_again_gives_the_same(void **state)
{
    (void)state;
    Item items[200], again[200];
    uint64_t seed = 7;
    for (int i = 0; i < 200; i++)
        items[i] = again[i] = random_item(&seed, 100, 30);
    place(arena, items, 200);
    place(arena, again, 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(items[i].offset, again[i].offset);
}

static void nested_lives_reach_the_bound(void **state)
{
    (void)state;
    Item items[100];
    uint64_t seed = 3;
    for (int i = 0; i < 100; i++) {
        items[i] = random_item(&seed, 1, 1);
        items[i].first = i;
        items[i].last = 250 - i;
    }
    int64_t top = place(arena, items, 100);
    assert_int_equal(top, place_bound(arena, items, 100));
    assert_apart(items, 100, top);
}

// Each lives until the next is made.
static void chains_reach_the_bound(void **state)
{
    (void)state;
    Item items[300];
    uint64_t seed = 4;
    for (int i = 0; i < 300; i++) {
        items[i] = random_item(&seed, 1, 1);
        items[i].first = i;
        items[i].last = i + 1;
    }
    int64_t top = place(arena, items, 300);
    assert_int_equal(top, place_bound(arena, items, 300));
    assert_apart(items, 300, top);
}

static void nothing_to_place_is_nothing(void **state)
{
    (void)state;
    assert_int_equal(place(arena, NULL, 0), 0);
}

// Time limits are generous, for slow and sanitized builds.
static void many_buffers_are_placed_fast(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    Item *items = NEW_ARRAY(arena, COUNT, Item);
    uint64_t seed = 5;
    for (int i = 0; i < COUNT; i++)
        items[i] = random_item(&seed, 100000, 50);
    double start = seconds();
    int64_t top = place(arena, items, COUNT);
    assert_true(seconds() - start < 20);
    assert_true(top <= 2 * place_bound(arena, items, COUNT));
}

// ---- plans of graphs --------------------------------------------------------

static Plan *plan_net(uint64_t seed, int layers, bool chain, unsigned passes)
{
    Graph *g = random_net(arena, &diag, seed, layers, chain);
    place_net(g, passes);
    Plan *plan = plan_of(g);
    assert_int_equal(plan->max_live_bytes, g->max_live_bytes);
    return plan;
}

static void assert_sound(const Plan *plan)
{
    const char *wrong = verify_plan(arena, plan);
    if (wrong) fail_msg("%s", wrong);
}

static void plans_are_sound_under_all_passes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        for (unsigned passes = 0; passes < 8; passes++) {
            Plan *plan = plan_net(seed, 8 + (int)seed, seed & 1, passes);
            assert_sound(plan);
            assert_true(sound_by_bytes(arena, plan));
        }
    }
}

static void state_is_a_prefix_in_order(void **state)
{
    (void)state;
    Graph *g = random_net(arena, &diag, 2, 20, false);
    place_net(g, 7);
    int64_t at = 256;
    assert_int_equal(g->values[g->header].offset, 0);
    for (int pass = 0; pass < 2; pass++) {
        for (ValueId v = 0; v < g->value_count; v++) {
            const Value *value = &g->values[v];
            if (v == g->header || value->kind != (pass ? STATE : PARAM))
                continue;
            assert_int_equal(value->offset, at);
            at += padded(value_bytes(value));
        }
    }
    assert_int_equal(g->state_bytes, at);
}

static void each_pass_only_lowers_the_arena(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        int64_t least = INT64_MAX;
        const unsigned passes[] = {0, 4, 6, 7};
        for (int i = 0; i < 4; i++) {
            Plan *plan = plan_net(seed, 30, false, passes[i]);
            assert_true(plan->arena_bytes <= least);
            least = plan->arena_bytes;
        }
    }
}

static void large_nets_are_planned_and_checked_fast(void **state)
{
    (void)state;
    double start = seconds();
    Plan *plan = plan_net(9, 10000, true, 7);
    assert_sound(plan);
    assert_true(seconds() - start < 20);
    assert_true(plan->step_count > 25000);
    assert_true(plan->arena_bytes <= plan->max_live_bytes * 1.001);
}

// ---- planted faults ---------------------------------------------------------

static Plan *copy_plan(const Plan *plan)
{
    Plan *copy = NEW(arena, Plan);
    *copy = *plan;
    copy->steps = NEW_ARRAY(arena, plan->step_count, PlanStep);
    copy->buffers = NEW_ARRAY(arena, plan->buffer_count, PlanBuffer);
    memcpy(copy->steps, plan->steps,
           (size_t)plan->step_count * sizeof(PlanStep));
    memcpy(copy->buffers, plan->buffers,
           (size_t)plan->buffer_count * sizeof(PlanBuffer));
    return copy;
}

static int64_t nudge(uint64_t *seed, uint32_t reach)
{
    return (int64_t)next_number(seed, 2 * reach + 1) - reach;
}

static void spoil_buffer(Plan *plan, uint64_t *seed)
{
    uint32_t count = (uint32_t)plan->buffer_count;
    PlanBuffer *buffer = &plan->buffers[next_number(seed, count)];
    const PlanBuffer *other = &plan->buffers[next_number(seed, count)];
    switch (next_number(seed, 10)) {
    case 0: buffer->offset += 256 * nudge(seed, 8); break;
    case 1: buffer->offset = other->offset; break;
    case 2: buffer->offset += nudge(seed, 300); break;
    case 3: buffer->first += (int32_t)nudge(seed, 3); break;
    case 4: buffer->last += (int32_t)nudge(seed, 3); break;
    case 5: buffer->alias_of = (int32_t)next_number(seed, count + 1) - 1; break;
    case 6: buffer->view = !buffer->view; break;
    case 7: buffer->bytes += nudge(seed, 600); break;
    case 8: buffer->persistent = !buffer->persistent; break;
    default: buffer->output = !buffer->output; break;
    }
}

static void spoil_step(Plan *plan, uint64_t *seed)
{
    uint32_t count = (uint32_t)plan->step_count;
    PlanStep *step = &plan->steps[next_number(seed, count)];
    PlanStep *other = &plan->steps[next_number(seed, count)];
    PlanStep moved = *step;
    switch (next_number(seed, 5)) {
    case 0:
        *step = *other;
        *other = moved;
        break;
    case 1: step->in_place_count = 0; break;
    case 2: step->reads = other->reads;
            step->read_count = other->read_count; break;
    case 3: step->write_count = step->write_count > 0; break;
    default: step->writes = other->writes;
             step->write_count = other->write_count; break;
    }
}

static void spoil(Plan *plan, uint64_t *seed)
{
    uint32_t choice = next_number(seed, 10);
    if (choice == 0)
        plan->arena_bytes += 128 * nudge(seed, 4);
    else if (choice == 1)
        plan->max_live_bytes += 256 * nudge(seed, 2);
    else if (choice < 5)
        spoil_step(plan, seed);
    else
        spoil_buffer(plan, seed);
}

static void planted_faults_are_caught_or_harmless(void **state)
{
    (void)state;
    uint64_t seed = 11;
    int caught = 0, harmful = 0;
    for (int i = 0; i < 3000; i++) {
        if (i % 100 == 0) {
            tear_down(NULL);
            set_up(NULL);
        }
        Plan *plan = copy_plan(plan_net((uint64_t)i / 20, 4 + i % 12, i & 1,
                                        4 | (i / 4 % 4)));
        spoil(plan, &seed);
        bool sound = verify_plan(arena, plan) == NULL;
        bool harmless = sound_by_bytes(arena, plan);
        assert_true(harmless || !sound);
        caught += !sound;
        harmful += !harmless;
    }
    assert_true(harmful > 1500);
    assert_true(caught >= harmful);
}

static void circles_and_wild_ids_are_caught(void **state)
{
    (void)state;
    Plan *plan = copy_plan(plan_net(1, 10, true, 7));
    PlanBuffer *buffers = plan->buffers;
    int k = plan->buffer_count - 1;
    PlanBuffer kept = buffers[k];
    buffers[k].alias_of = k;
    assert_non_null(verify_plan(arena, plan));
    buffers[k].alias_of = plan->buffer_count;
    assert_non_null(verify_plan(arena, plan));
    buffers[k] = kept;
    buffers[k].bytes = INT64_MAX;
    assert_non_null(verify_plan(arena, plan));
    buffers[k] = kept;
    buffers[k].offset = INT64_MAX - 255;
    assert_non_null(verify_plan(arena, plan));
    buffers[k] = kept;
    plan->steps[0].reads[0] = -7;
    assert_non_null(verify_plan(arena, plan));
}

// Though its bytes are kept, the printed plan would have no output: a name that
// no step touches is left out.
static void an_output_that_only_a_name_is_is_caught(void **state)
{
    (void)state;
    Plan *plan = copy_plan(plan_net(1, 30, false, 7));
    int k = 0;
    while (!plan->buffers[k].view) k++;
    assert_sound(plan);
    plan->buffers[k].output = true;
    const char *wrong = verify_plan(arena, plan);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, "is an output, and its value is not"));
}

// ---- text -------------------------------------------------------------------

static void printed_plans_have_a_line_a_buffer(void **state)
{
    (void)state;
    char *text;
    size_t length;
    Plan *plan = plan_net(1, 5, true, 7);
    FILE *out = open_memstream(&text, &length);
    plan_print_json(plan, out);
    fclose(out);
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "{\"id\": ")); at++) lines++;
    assert_int_equal(lines, plan->buffer_count);
    assert_non_null(strstr(text, "\"schema\": 1,"));
    free(text);
    out = open_memstream(&text, &length);
    plan_print_csv(plan, out);
    fclose(out);
    const char *header = "id,lower,upper,size,offset\n0,0,";
    assert_memory_equal(text, header, strlen(header));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_buffers_never_overlap),
        TEST(placing_again_gives_the_same),
        TEST(nested_lives_reach_the_bound),
        TEST(chains_reach_the_bound),
        TEST(nothing_to_place_is_nothing),
        TEST(many_buffers_are_placed_fast),
        TEST(plans_are_sound_under_all_passes),
        TEST(state_is_a_prefix_in_order),
        TEST(each_pass_only_lowers_the_arena),
        TEST(large_nets_are_planned_and_checked_fast),
        TEST(planted_faults_are_caught_or_harmless),
        TEST(circles_and_wild_ids_are_caught),
        TEST(an_output_that_only_a_name_is_is_caught),
        TEST(printed_plans_have_a_line_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
