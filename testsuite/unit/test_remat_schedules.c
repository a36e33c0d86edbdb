// The bound for recomputation against the cheapest schedule of all, on
// small random problems, found by going through every state that there is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../passes/remat/remat_bound.h"
#include "brute_remat.h"
#include "nets.h"
#include "remats.h"

enum { MANY = 1000 };           // cuts: more than there are corners

static Arena *arena;

// The most of the bounds at all steps; -1 if one says that none fits.
static int64_t bound_of_all(const Remat *r, int64_t capacity)
{
    int64_t most = 0;
    for (int32_t t = 0; t < r->step_count; t++) {
        RematCurve c = remat_curve(r, t, capacity, MANY);
        int64_t bound = remat_bound(&c, capacity);
        if (bound < 0) return -1;
        if (bound > most) most = bound;
    }
    return most;
}

typedef struct Tally {
    int asked, fit, equal, none, said_none, repeats;
} Tally;

// At a capacity, whether the cheapest schedule of all is one, and costs no less
// than the bound; how often it costs just that.
static void bounds_the_cheapest(const Remat *r, int64_t capacity, Tally *n)
{
    RematSchedule p, base = remat_base(arena, r);
    int64_t cost = cheapest_program(arena, r, capacity, &p);
    int64_t bound = bound_of_all(r, capacity);
    int32_t at, some;
    // The least that fits is the least of which a bound says that it may.
    int64_t least = remat_least_at_fullest(r, r->step_count, &at);
    assert_int_equal(capacity < least, bound < 0);
    assert_int_equal(bound_of_all(r, least - 1), -1);
    assert_true(remat_least_at_fullest(r, 1, &some) <= least);
    assert_int_equal(
        remat_bound_at_fullest(r, capacity, r->step_count, &at), bound);
    assert_true(remat_bound_at_fullest(r, capacity, 1, &at) <= bound ||
                bound < 0);
    n->asked++;
    n->none += cost < 0;
    n->said_none += bound < 0;
    if (cost < 0) return;
    assert_int_equal(remat_cost(r, &p), cost);
    assert_true(remat_peak(r, &p, NULL) <= capacity);
    assert_true(bound >= 0);
    assert_true(cost - remat_cost(r, &base) >= bound);
    n->fit++;
    n->equal += cost - remat_cost(r, &base) == bound;
    n->repeats += p.count > base.count;
}

// No schedule is cheaper than the one called cheapest: not one in which
// steps are recomputed at random, in as many bytes as it needs.
static void compare_with_random(const Remat *r, uint64_t seed)
{
    RematSchedule p = {0, NEW_ARRAY(arena, 4 * r->step_count, int32_t)};
    for (int32_t i = 0; i < r->step_count; i++) {
        int32_t again =
            (int32_t)next_number(&seed, (uint32_t)r->backward_start);
        bool may = i >= r->backward_start && r->may_repeat[again];
        if (may && next_number(&seed, 2)) p.step[p.count++] = again;
        p.step[p.count++] = i;
    }
    int64_t cost = cheapest_program(arena, r, remat_peak(r, &p, NULL), NULL);
    assert_true(cost > 0 && cost <= remat_cost(r, &p));
}

static const RematKind tiny[] = {
    {4, 4, 9, 9, 0, 0, 0, 0, true},
    {5, 5, 9, 9, 0, 0, 0, 0, true},
    {4, 3, 9, 9, 0, 0, 0, 40, false},
    {4, 4, 9, 9, 30, 10, 10, 40, false},
    {5, 2, 20, 9, 20, 0, 0, 20, false},
};

static void no_program_is_cheaper(void **state)
{
    (void)state;
    Tally n = {0};
    for (uint64_t seed = 1; seed <= 150; seed++) {
        arena = arena_new();
        Remat r = random_remat(arena, seed, tiny[seed % 5]);
        RematSchedule base = remat_base(arena, &r);
        int64_t peak = remat_peak(&r, &base, NULL);
        for (int i = 0; i < 6; i++)
            bounds_the_cheapest(&r, peak - peak * i / 12, &n);
        for (uint64_t i = 1; i <= 4; i++) compare_with_random(&r, seed * i);
        arena_free(arena);
    }
    print_message("%d capacities, %d fit, %d by repeats; the bound is the cost "
                  "of %d; of %d that do not fit it says %d\n",
                  n.asked, n.fit, n.repeats, n.equal, n.none, n.said_none);
    assert_true(n.repeats > 50 && n.said_none > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_program_is_cheaper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
