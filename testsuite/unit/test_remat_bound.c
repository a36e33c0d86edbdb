// The bound for recomputation, by hand and against all sets of steps that
// may be recomputed on small random problems.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../passes/remat/remat_bound.h"
#include "brute_bound.h"
#include "nets.h"
#include "remats.h"

enum { MANY = 1000 };           // cuts: more than there are corners

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

// ---- by hand ----------------------------------------------------------------

static const char chain[] = "10 x:100 > a:20\n"
                            "11 a > b:30\n"
                            "12 b > c:40\n"
                            "|\n"
                            "1 c > u:5\n"
                            "1 c u > v:5\n"
                            "1 b v > w:5\n"
                            "1 a w > y:5\n"
                            "1 x y > z:5\n";

static void is_point(const RematCurve *c, int32_t i, int64_t bytes,
                     int64_t cost)
{
    assert_int_equal(c->point[i].bytes, bytes);
    assert_int_equal(c->point[i].cost, cost);
}

static void a_chain_has_a_corner_for_each_value(void **state)
{
    (void)state;
    Remat r = remat_read(arena, chain);
    RematCurve c = remat_curve(&r, r.backward_start, EVERYWHERE, MANY);
    // At the turn: c is read, u made; x is needed, and a and b.
    assert_int_equal(c.count, 3);
    is_point(&c, 0, 195, 0);
    is_point(&c, 1, 165, 11);
    is_point(&c, 2, 145, 21);
    assert_true(c.point[1].recomputed[1] && !c.point[1].recomputed[0]);
    assert_true(c.point[2].recomputed[1] && c.point[2].recomputed[0]);
    assert_int_equal(remat_bound(&c, 195), 0);
    // Bytes come in tens: of 49 above the bytes alive in any case 40 serve.
    assert_int_equal(remat_bound(&c, 194), 4);
    assert_int_equal(remat_bound(&c, 185), 4);
    assert_int_equal(remat_bound(&c, 184), 8);
    assert_int_equal(remat_bound(&c, 165), 11);
    assert_int_equal(remat_bound(&c, 145), 21);
    assert_int_equal(remat_bound(&c, 144), -1);
    // Where b is read: v as well, and w is made.
    c = remat_curve(&r, 5, EVERYWHERE, MANY);
    assert_int_equal(c.count, 2);
    is_point(&c, 0, 160, 0);
    is_point(&c, 1, 140, 10);
}

static void what_is_kept_or_fixed_stays(void **state)
{
    (void)state;
    Remat r = remat_read(arena, "1! x:1 > a:20\n1 a > b:30*\n1 b > c:40\n|\n"
                                "1 x > d:1\n1 a b c > e:1\n");
    RematCurve c = remat_curve(&r, 3, EVERYWHERE, MANY);
    assert_int_equal(c.count, 2);
    is_point(&c, 0, 92, 0);
    is_point(&c, 1, 52, 1);
}

static void what_is_kept_becomes_whole(void **state)
{
    (void)state;
    Remat r = remat_read(arena, "2 x:1 > a:20*\n|\n1 x > d:3\n1 d x > a\n");
    RematCurve c = remat_curve(&r, 1, EVERYWHERE, MANY);
    assert_int_equal(c.count, 2);
    is_point(&c, 0, 24, 0);
    is_point(&c, 1, 4, 2);
}

static void both_makers_of_a_value_run_again(void **state)
{
    (void)state;
    Remat r = remat_read(arena, "2 x:1 > a:20\n3 x > a\n|\n1 x > d:1\n"
                                "1 a x > e:1\n");
    RematCurve c = remat_curve(&r, 2, EVERYWHERE, MANY);
    assert_int_equal(c.count, 2);
    is_point(&c, 0, 22, 0);
    is_point(&c, 1, 2, 5);
}

// d goes over a, unless a is there to stay.
static void what_is_written_over_has_no_bytes(void **state)
{
    (void)state;
    Remat r = remat_read(arena, "2! x:1 > a:20\n|\n1 a > d:20 d/a\n"
                                "1 d > e:1\n");
    RematCurve c = remat_curve(&r, 1, EVERYWHERE, MANY);
    assert_int_equal(c.count, 1);
    is_point(&c, 0, 20, 0);
    r = remat_read(arena, "2! x:1 > a:20\n|\n1 a > d:20 d/a\n1 d a > e:1\n");
    c = remat_curve(&r, 1, EVERYWHERE, MANY);
    is_point(&c, 0, 40, 0);
    r = remat_read(arena, "2 x:1 > a:20\n|\n1 a > d:20 d/a\n1 d a > e:1\n");
    c = remat_curve(&r, 1, EVERYWHERE, MANY);
    assert_int_equal(c.count, 2);
    is_point(&c, 0, 40, 0);
    is_point(&c, 1, 21, 2);
}

// Nothing is recomputed before backward_start.
static void what_forward_reads_is_alive(void **state)
{
    (void)state;
    Remat r = remat_read(arena, "2 x:1 > a:20\n2 x > b:30\n2 a b > c:4\n|\n"
                                "1 c b > d:5\n1 d a > e:6\n");
    RematCurve c = remat_curve(&r, 1, EVERYWHERE, MANY);
    assert_int_equal(c.count, 1);
    is_point(&c, 0, 51, 0);
}

// ---- all sets of steps ------------------------------------------------------

static const RematKind small[] = {
    {8, 8, 9, 9, 0, 0, 0, 0, true},
    {8, 8, 9, 9, 0, 0, 0, 0, false},
    {7, 9, 9, 20, 30, 10, 10, 30, false},
    {9, 5, 30, 5, 20, 0, 0, 50, false},
    {6, 4, 3, 3, 50, 20, 20, 0, false},
};

// Every corner of the curve is one of the ways'; at every capacity the bound is
// their hull, taken at that number of whole units, and no way costs less.
static void curve_is_hull(const Remat *r, int32_t t, int *corners)
{
    static BruteWay ways[MOST_WAYS], corner[MOST_WAYS];
    int way_count = brute_ways(r, t, ways);
    int count = brute_corners(ways, way_count, corner);
    RematCurve c = remat_curve(r, t, EVERYWHERE, MANY);
    *corners += c.count;
    assert_int_equal(c.count, count);
    for (int32_t i = 0; i < c.count; i++) {
        uint32_t set = 0;
        for (int32_t s = 0; s < r->backward_start; s++)
            set |= (uint32_t)c.point[i].recomputed[s] << s;
        BruteWay way = brute_way(r, t, set);
        is_point(&c, i, way.bytes, way.cost);
        is_point(&c, i, corner[count - 1 - i].bytes,
                 corner[count - 1 - i].cost);
    }
    for (int64_t b = corner[0].bytes - 1; b <= c.point[0].bytes + 1; b++) {
        int64_t bound = remat_bound(&c, b);
        int64_t whole = b - (b - c.fixed) % c.unit;
        assert_true(bound <= brute_way_cost(ways, way_count, b));
        assert_int_equal(bound, b < corner[0].bytes
                                    ? -1 : brute_hull(corner, count, whole));
        if (b % 7 != 0) continue;
        RematCurve at = remat_curve(r, t, b, MANY);
        assert_int_equal(remat_bound(&at, b), bound);
        assert_true(at.line_count <= c.line_count);
        at = remat_curve(r, t, EVERYWHERE, 2);
        assert_true(remat_bound(&at, b) <= bound);
        assert_true(remat_bound(&at, b) >= 0 || bound < 0);
    }
}

static void it_is_the_hull_of_all_sets(void **state)
{
    (void)state;
    int problems = 0, corners = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        RematKind kind = small[seed % 5];
        Remat r = random_remat(arena, seed, kind);
        int32_t t = (int32_t)(seed / 5 % (uint64_t)r.step_count);
        curve_is_hull(&r, t, &corners);
        problems++;
        tear_down(NULL);
        set_up(NULL);
    }
    print_message("%d problems, %d corners\n", problems, corners);
    assert_true(corners > 2 * problems);
}

// Costs and bytes for which a product of both would be too large. Prices are
// rounded, and the bound may be a little less than the hull.
static void it_takes_large_numbers(void **state)
{
    (void)state;
    static BruteWay ways[MOST_WAYS];
    int corners = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t numbers = seed;
        Remat r = random_remat(arena, seed, small[seed % 5]);
        for (int32_t s = 0; s < r.step_count; s++)
            r.cost[s] = (r.cost[s] << 40) + next_number(&numbers, 99);
        for (int32_t v = 0; v < r.value_count; v++)
            r.bytes[v] = (r.bytes[v] << 33) +
                         256 * (int64_t)next_number(&numbers, 1 << 25);
        int count = brute_ways(&r, r.backward_start, ways);
        RematCurve c = remat_curve(&r, r.backward_start, EVERYWHERE, MANY);
        assert_int_equal(c.point[c.count - 1].bytes, ways[0].bytes);
        assert_int_equal(remat_bound(&c, ways[0].bytes - 1), -1);
        for (int i = 0; i < count; i++) {
            int64_t bound = remat_bound(&c, ways[i].bytes);
            assert_true(bound <= ways[i].cost);
            for (int32_t k = 0; k < c.count; k++) {
                if (c.point[k].bytes != ways[i].bytes) continue;
                assert_int_equal(c.point[k].cost, ways[i].cost);
                assert_true(bound >= ways[i].cost - (ways[i].cost >> 16));
                corners++;
            }
        }
        tear_down(NULL);
        set_up(NULL);
    }
    assert_true(corners > 500);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chain_has_a_corner_for_each_value),
        TEST(what_is_kept_or_fixed_stays),
        TEST(what_is_kept_becomes_whole),
        TEST(both_makers_of_a_value_run_again),
        TEST(what_is_written_over_has_no_bytes),
        TEST(what_forward_reads_is_alive),
        TEST(it_is_the_hull_of_all_sets),
        TEST(it_takes_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
