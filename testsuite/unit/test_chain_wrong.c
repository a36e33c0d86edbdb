// Chains and schedules that are none, and schedules that are no better after a
// change.
#define _POSIX_C_SOURCE 200809L     // fork
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "brute_chain.h"
#include "draw_chain.h"
#include "nets.h"

static Arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void next_arena(void)
{
    arena_free(arena);
    arena = arena_new();
}

// ---- wrong schedules -------------------------------------------------------

static void spoil(ChainSchedule *p, uint64_t *seed)
{
    ChainOp *op = &p->ops[next_number(seed, (uint32_t)p->count)];
    ChainOp *other = &p->ops[next_number(seed, (uint32_t)p->count)], old = *op;
    switch (next_number(seed, 4)) {
    case 0:
        op->run = op->run == CHAIN_KEEP ? CHAIN_DROP : CHAIN_KEEP;
        break;
    case 1:
        *op = *other;
        *other = old;
        break;
    case 2:
        for (; op + 1 < p->ops + p->count; op++) *op = op[1];
        p->count--;
        break;
    default:
        if (op->run >= CHAIN_WAY) op->way ^= 1;
        break;
    }
}

static bool has_ways(const Chain *c, const ChainSchedule *p)
{
    for (int k = 0; k < p->count; k++) {
        const ChainOp *op = &p->ops[k];
        const ChainStage *stage = &c->stages[op->stage];
        if (op->run == CHAIN_TURN ? op->way >= stage->turn_count
                                  : op->run >= CHAIN_WAY &&
                                    op->way >= stage->way_count)
            return false;
    }
    return true;
}

// A right schedule, spoilt. It does not run to its end, or it is right again,
// and then no cheaper than the table's in its bytes.
static void spoilt_schedules_are_refused_or_no_better(void **state)
{
    (void)state;
    int refused = 0, right = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        Drawing d = drawing(seed);
        Chain *c = draw_chain(arena, &d, 7);
        ChainTable *t = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        int64_t least = chain_least(t), cost, peak;
        ChainSchedule p;
        chain_find(arena, t, (least + t->enough) / 2, &p);
        spoil(&p, &d.seed);
        if (!has_ways(c, &p)) continue;
        if (brute_walk(c, &p, ALL_RULES, &cost, &peak)) {
            assert_int_equal(chain_cost(c, &p), cost);
            assert_int_equal(chain_peak(c, &p), peak);
            assert_true(cost >= chain_table_cost(t, peak));
            right++;
        } else {
            refused++;
        }
        next_arena();
    }
    assert_true(refused > 500 && right > 100);
}

// ---- invalid chains, invalid schedules ---------------------------------

// True if a call ends its process as a bug() does; it runs in one of its own.
static bool is_a_bug(void (*call)(const Chain *, const ChainSchedule *),
                     const Chain *c, const ChainSchedule *p)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        call(c, p);
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 70;
}

static void call_check(const Chain *c, const ChainSchedule *p)
{
    (void)p;
    chain_check(c);
}

static void call_peak(const Chain *c, const ChainSchedule *p)
{
    (void)chain_peak(c, p);
}

static void a_number_that_cannot_be_is_a_bug(void **state)
{
    (void)state;
    ChainTurn turn[] = {{1, {4, 4}}, {1, {4, 9}}};
    ChainWay way = {1, 2, 3, true, false, {8, 8}, {7, 7}};
    ChainStage stages[] = {
        {.output = 5, .gradient = 4, .cost = 1, .peak = {5, 5}, .way_count = 1,
         .turn_count = 1, .ways = &way, .turns = &turn[0]},
        {.turn_count = 1, .turns = &turn[1]},
    };
    Chain c = {2, stages};
    assert_false(is_a_bug(call_check, &c, NULL));
    int64_t *number[] = {
        &stages[0].output, &stages[0].gradient, &stages[0].cost,
        &stages[0].peak.held, &stages[0].peak.last, &way.forward,
        &way.backward, &way.kept, &way.in_forward.held,
        &way.in_backward.held, &way.in_backward.last, &turn[0].cost,
        &turn[0].peak.held, &turn[0].peak.last, &turn[1].peak.last,
        &stages[1].gradient};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        int64_t right = *number[i];
        *number[i] = -1;
        assert_true(is_a_bug(call_check, &c, NULL));
        *number[i] = right;
    }
    int64_t *tight[] = {&stages[0].peak.held, &stages[0].peak.last,
                        &way.in_forward.held, &way.in_backward.held,
                        &way.in_backward.last, &turn[0].peak.held,
                        &turn[0].peak.last};
    for (size_t i = 0; i < sizeof tight / sizeof *tight; i++) {
        *tight[i] -= 1;
        assert_true(is_a_bug(call_check, &c, NULL));
        *tight[i] += 1;
    }
    way.backward = (int64_t)1 << 53;
    assert_true(is_a_bug(call_check, &c, NULL));
    way.backward = 2;
    stages[1].turn_count = 0;
    assert_true(is_a_bug(call_check, &c, NULL));
    stages[1].turn_count = 1;
    c.count = 0;
    assert_true(is_a_bug(call_check, &c, NULL));
}

// chain_peak refuses schedules that cannot run at all.
static void a_schedule_that_cannot_run_is_a_bug(void **state)
{
    (void)state;
    int refused = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Drawing d = drawing(seed);
        Chain *c = draw_chain(arena, &d, 5);
        ChainTable *t = chain_table(arena, c, INT64_MAX, 10000, CHAIN_UP);
        int64_t cost, peak;
        ChainSchedule p;
        chain_find(arena, t, (chain_least(t) + t->enough) / 2, &p);
        assert_false(is_a_bug(call_peak, c, &p));
        spoil(&p, &d.seed);
        if (!has_ways(c, &p)) continue;
        if (!brute_walk(c, &p, ANY_PROGRAMME, &cost, &peak)) {
            assert_true(is_a_bug(call_peak, c, &p));
            refused++;
        }
        next_arena();
    }
    assert_true(refused > 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(spoilt_schedules_are_refused_or_no_better),
        TEST(a_number_that_cannot_be_is_a_bug),
        TEST(a_schedule_that_cannot_run_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
