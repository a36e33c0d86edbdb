// The exact search for addresses against brute force: on tiny instances all
// orders of placing are tried, of which one gives the lowest height there is.
// On larger ones what it finds is checked pair by pair, and perfect packings
// are made by cutting up a rectangle.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../passes/place.h"
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

static bool live_together(const Item *a, const Item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

// The highest end, after a look at every pair.
static int64_t height_of(const Item *items, int count)
{
    int64_t top = 0;
    for (int i = 0; i < count; i++) {
        const Item *a = &items[i];
        assert_true(a->offset >= 0);
        if (a->offset + a->size > top) top = a->offset + a->size;
        for (int j = 0; j < i; j++) {
            const Item *b = &items[j];
            assert_true(!live_together(a, b) ||
                        a->offset + a->size <= b->offset ||
                        b->offset + b->size <= a->offset);
        }
    }
    return top;
}

// ---- brute force ------------------------------------------------------------

// Items that have no place yet go on top of those that have, in every order.
static int64_t lowest(Item *items, int count, unsigned placed, int64_t top,
                      int64_t best)
{
    if (top >= best) return best;
    if (placed == (1u << count) - 1) return top;
    for (int i = 0; i < count; i++) {
        Item *item = &items[i];
        if (placed >> i & 1) continue;
        item->offset = 0;
        for (int j = 0; j < count; j++)
            if ((placed >> j & 1) && live_together(item, &items[j]) &&
                items[j].offset + items[j].size > item->offset)
                item->offset = items[j].offset + items[j].size;
        int64_t end = item->offset + item->size;
        best = lowest(items, count, placed | 1u << i, end > top ? end : top,
                      best);
    }
    return best;
}

// Few steps and sizes, so that twins, ties and sections left out are frequent.
static void draw(Item *items, int count, uint64_t *seed)
{
    uint32_t steps = 2 + next_number(seed, 7), sizes = 2 + next_number(seed, 9);
    for (int i = 0; i < count; i++) {
        int32_t first = (int32_t)next_number(seed, steps);
        int32_t last = first + (int32_t)next_number(seed, steps);
        if (last >= (int32_t)steps) last = (int32_t)steps - 1;
        items[i] = (Item){.first = first, .last = last,
                          .size = (int64_t)next_number(seed, sizes)};
    }
}

// The search alone, from a placement that is as bad as can be.
static bool search(Item *items, int count, int64_t goal, int64_t work,
                   Placing *p)
{
    *p = (Placing){.arena = arena, .items = items, .count = count,
                   .work = work, .order = NEW_ARRAY(arena, count, int32_t),
                   .best = NEW_ARRAY(arena, count, int64_t)};
    for (int i = 0; i < count; i++) {
        p->best[i] = p->best_top;
        p->best_top += items[i].size;
        if (items[i].last >= p->steps) p->steps = items[i].last + 1;
    }
    p->bound = p->least = place_bound(arena, items, count);
    p->goal = goal > p->bound ? goal : p->bound;
    bool reached = place_search(p);
    for (int i = 0; i < count; i++) items[i].offset = p->best[i];
    assert_int_equal(height_of(items, count), p->best_top);
    assert_true(!reached || p->best_top <= p->goal);
    return reached;
}

static void tiny_instances_end_at_the_lowest_height(void **state)
{
    (void)state;
    enum { PLENTY = 1000 * 1000 * 1000 };
    uint64_t seed = 21;
    int above = 0;
    for (int round = 0; round < 6000; round++) {
        Item items[8];
        Placing p;
        int count = 2 + (int)next_number(&seed, 6);
        if (round % 100 == 0) {
            tear_down(NULL);
            set_up(NULL);
        }
        draw(items, count, &seed);
        int64_t exact = lowest(items, count, 0, 0, INT64_MAX);
        int64_t bound = place_bound(arena, items, count);
        search(items, count, 0, PLENTY, &p);
        assert_int_equal(p.best_top, exact);
        assert_int_equal(p.least, exact);
        assert_true(search(items, count, exact + round % 3, PLENTY, &p));
        if (exact == bound) continue;
        above++;
        assert_false(search(items, count, exact - 1, PLENTY, &p));
        assert_int_equal(p.best_top, exact);
    }
    assert_true(above > 30);
}

// ---- larger ones ------------------------------------------------------------

// Cuts the rectangle of steps x height into count items, at random.
static void cut_up(Item *items, int count, int32_t steps, int64_t height,
                   uint64_t *seed)
{
    items[0] = (Item){.last = steps - 1, .size = height};
    for (int made = 1; made < count;) {
        Item *item = &items[next_number(seed, (uint32_t)made)];
        int32_t length = item->last - item->first + 1;
        if (next_number(seed, 2) == 0 && length > 1) {
            int32_t half = 1 + (int32_t)next_number(seed, (uint32_t)length - 1);
            items[made++] = (Item){.first = item->first + half,
                                   .last = item->last, .size = item->size};
            item->last = item->first + half - 1;
        } else if (item->size > 1) {
            int64_t part = 1 + next_number(seed, (uint32_t)item->size - 1);
            items[made++] = (Item){.first = item->first, .last = item->last,
                                   .size = item->size - part};
            item->size = part;
        }
    }
}

static void perfect_packings_are_found(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 20; round++) {
        Item items[100];
        Placing p;
        int count = 20 + 4 * round;
        cut_up(items, count, 300, 1000, &seed);
        assert_int_equal(place_bound(arena, items, count), 1000);
        assert_true(search(items, count, 0, 400 * 1000 * 1000, &p));
        assert_int_equal(p.best_top, 1000);
    }
}

static void searching_again_gives_the_same(void **state)
{
    (void)state;
    Item items[300], again[300];
    Placing p, q;
    uint64_t seed = 6;
    cut_up(items, 300, 400, 100000, &seed);
    for (int i = 0; i < 300; i++) again[i] = items[i];
    search(items, 300, 0, 30 * 1000 * 1000, &p);
    search(again, 300, 0, 30 * 1000 * 1000, &q);
    assert_true(p.best_top == q.best_top && p.work == q.work);
    for (int i = 0; i < 300; i++)
        assert_int_equal(items[i].offset, again[i].offset);
}

// More work never ends higher, and none leaves what was there.
static void work_bounds_the_search(void **state)
{
    (void)state;
    Item items[200];
    Placing p;
    uint64_t seed = 8;
    int64_t before = INT64_MAX;
    cut_up(items, 200, 400, 100000, &seed);
    for (int64_t work = 0; work < 100 * 1000 * 1000; work = 10 * work + 1000) {
        search(items, 200, 0, work, &p);
        assert_true(p.best_top <= before);
        assert_true(p.work > -1000 * 1000);
        before = p.best_top;
    }
    assert_true(before < 150000);
}

static int looks;
static bool late_at_once(void)
{
    looks++;
    return true;
}

static void no_time_leaves_a_placement_all_the_same(void **state)
{
    (void)state;
    Item items[300];
    uint64_t seed = 9;
    int64_t least;
    PlaceGoal goal = {.work = INT64_MAX, .is_late = late_at_once};
    cut_up(items, 300, 400, 100000, &seed);
    int64_t top = place_towards(arena, items, 300, &goal, &least);
    assert_int_equal(height_of(items, 300), top);
    assert_true(looks > 0 && least == 100000 && top > least);
}

static void a_goal_above_the_bound_is_enough(void **state)
{
    (void)state;
    Item items[60];
    uint64_t seed = 10;
    int64_t least;
    cut_up(items, 60, 400, 1000, &seed);
    PlaceGoal goal = {.height = 2000, .work = 0};
    assert_true(place_towards(arena, items, 60, &goal, &least) <= 2000);
    assert_int_equal(least, 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tiny_instances_end_at_the_lowest_height),
        TEST(perfect_packings_are_found),
        TEST(searching_again_gives_the_same),
        TEST(work_bounds_the_search),
        TEST(no_time_leaves_a_placement_all_the_same),
        TEST(a_goal_above_the_bound_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
