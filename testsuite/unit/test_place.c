// The exact search for addresses against brute force. On tiny instances all
// orders of placing are tried, of which one gives the lowest height there is.
// On larger ones its answer is checked pair by pair, and perfect packings are
// made by cutting up a rectangle.
#define _POSIX_C_SOURCE 200809L     // open_memstream in graphs.h
#include "../../passes/placement/place.h"
#include "graphs.h"
#include "nets.h"

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

// Items that have no place yet go on top of those that have, in every order of
// ascending offsets.
static int64_t lowest(Item *items, int count, unsigned placed, int64_t from,
                      int64_t best, int64_t bound)
{
    int64_t top = 0;
    for (int i = 0; i < count; i++)
        if ((placed >> i & 1) && items[i].offset + items[i].size > top)
            top = items[i].offset + items[i].size;
    if (top >= best || best == bound) return best;
    if (placed == (1u << count) - 1) return top;
    for (int i = 0; i < count; i++) {
        Item *item = &items[i];
        if (placed >> i & 1) continue;
        item->offset = 0;
        for (int j = 0; j < count; j++)
            if ((placed >> j & 1) && live_together(item, &items[j]) &&
                items[j].offset + items[j].size > item->offset)
                item->offset = items[j].offset + items[j].size;
        if (item->offset >= from)
            best = lowest(items, count, placed | 1u << i, item->offset, best,
                          bound);
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

// One that is alive at the last step so far; from then on it has ended.
static int64_t end_one(Item *items, int count, int32_t step, uint64_t *seed)
{
    int i;
    do i = (int)next_number(seed, (uint32_t)count);
    while (items[i].last < 99 || items[i].first > step);
    items[i].last = step;
    return items[i].size;
}

// All steps are full. At each, two end and one begins in their bytes, which lie
// apart as often as not, or one ends and two begin.
static void draw_full(Item *items, int count, uint64_t *seed)
{
    int made = 0, alive = 3 + (int)next_number(seed, 3);
    for (; made < alive; made++)
        items[made] = (Item){.last = 99,
                             .size = 1 + (int64_t)next_number(seed, 4)};
    for (int32_t step = 0; made < count; step++) {
        int64_t size = end_one(items, made, step, seed);
        bool two = size > 1 && (alive < 3 || next_number(seed, 3) == 0);
        if (two && made + 2 <= count) {
            int64_t part = 1 + next_number(seed, (uint32_t)size - 1);
            items[made++] = (Item){.first = step + 1, .last = 99, .size = part};
            size -= part;
            alive++;
        } else if (alive > 1) {
            size += end_one(items, made, step, seed);
            alive--;
        }
        items[made++] = (Item){.first = step + 1, .last = 99, .size = size};
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
        Item items[10];
        Placing p;
        int count = 2 + (int)next_number(&seed, 8);
        if (round % 100 == 0) {
            tear_down(NULL);
            set_up(NULL);
        }
        if (round % 2) draw(items, count, &seed);
        else draw_full(items, count = 10, &seed);
        int64_t bound = place_bound(arena, items, count);
        int64_t exact = lowest(items, count, 0, 0, INT64_MAX, bound);
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

// Nine buffers need 9 bytes under a bound of 8, and as many live all the time
// and differ in nothing. The orders of these are not tried one by one.
static void equal_buffers_are_one_choice(void **state)
{
    (void)state;
    enum { EQUAL = 9 };
    Item items[9 + EQUAL] = {
        {0, 1, .size = 2}, {0, 4, .size = 2}, {0, 0, .size = 4},
        {1, 3, .size = 3}, {1, 2, .size = 1}, {2, 2, .size = 1},
        {2, 3, .size = 1}, {3, 4, .size = 2}, {4, 4, .size = 4},
    };
    Placing p;
    for (int i = 0; i < EQUAL; i++)
        items[9 + i] = (Item){.last = 4, .size = 1};
    assert_false(search(items, 9 + EQUAL, 0, 2 * 1000 * 1000, &p));
    assert_int_equal(p.best_top, 9 + EQUAL);
    assert_int_equal(p.least, 9 + EQUAL);
}

// ---- larger ones ------------------------------------------------------------

// Cuts the rectangle of steps x height into count items, at random; they stay
// where they are.
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
                                   .last = item->last, .size = item->size,
                                   .offset = item->offset};
            item->last = item->first + half - 1;
        } else if (item->size > 1) {
            int64_t part = 1 + next_number(seed, (uint32_t)item->size - 1);
            items[made++] = (Item){.first = item->first, .last = item->last,
                                   .size = item->size - part,
                                   .offset = item->offset + part};
            item->size = part;
        }
    }
}

static void small_rectangles_are_put_together(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 10000; round++) {
        Item items[16];
        Placing p;
        int count = 8 + round % 9;
        int64_t height = 20 + round % 20;
        if (round % 100 == 0) {
            tear_down(NULL);
            set_up(NULL);
        }
        cut_up(items, count, 4 + round % 5, height, &seed);
        assert_true(search(items, count, 0, 1000 * 1000 * 1000, &p));
        assert_int_equal(p.best_top, height);
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

static int largest_of(const Item *items, int count)
{
    int largest = 0;
    double most = 0;
    for (int i = 0; i < count; i++) {
        double area = (double)items[i].size *
                      (items[i].last - items[i].first + 1);
        if (area > most) most = area, largest = i;
    }
    return largest;
}

// Cuts a rectangle into count items, of which the largest is cut each time.
static void cut_evenly(Item *items, int count, int32_t steps, int64_t height,
                       uint64_t *seed)
{
    items[0] = (Item){.last = steps - 1, .size = height};
    for (int made = 1; made < count; made++) {
        Item *item = &items[largest_of(items, made)];
        uint32_t length = (uint32_t)(item->last - item->first);
        items[made] = *item;
        if (next_number(seed, 2) == 0 && length > 0) {
            item->last = item->first + (int32_t)next_number(seed, length);
            items[made].first = item->last + 1;
        } else {
            item->size = 1 + next_number(seed, (uint32_t)item->size - 1);
            items[made].size -= item->size;
        }
    }
}

// Failures that end an order prove nothing: a placement of this height exists.
static void an_end_without_an_answer_is_no_proof(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    for (uint64_t round = 0; round < 2; round++) {
        Item items[COUNT];
        Placing p;
        uint64_t seed = 51 + round;
        cut_evenly(items, COUNT, 10000, 1 << 20, &seed);
        search(items, COUNT, 0, 50 * 1000 * 1000, &p);
        assert_int_equal(p.least, 1 << 20);
    }
}

// More work never ends higher, and none leaves the old answer.
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
        assert_true(work == 0 || p.work < work);
        assert_true(p.work > -1000 * 1000);
        before = p.best_top;
    }
    assert_true(before < 150000);
}

// A thousand buffers that fill every step: no other method finds this.
static void nothing_is_wasted_where_every_step_is_full(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    for (uint64_t round = 0; round < 3; round++) {
        Item items[COUNT];
        uint64_t seed = 21 + round;
        int64_t least;
        PlaceGoal goal = {.work = PLACE_WORK};
        cut_evenly(items, COUNT, 10000, 1 << 20, &seed);
        assert_int_equal(place_towards(arena, items, COUNT, &goal, &least),
                         1 << 20);
        assert_int_equal(height_of(items, COUNT), 1 << 20);
    }
}

// Each order fills the lowest place first, so a buffer rests on another or on
// the ground, and the height is that of the answer.
static void buffers_rest_on_the_lowest_ground(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    for (uint64_t round = 0; round < 20; round++) {
        Item items[COUNT];
        int32_t order[COUNT];
        uint64_t seed = 31 + round;
        cut_up(items, COUNT, 300, 100000, &seed);
        for (int i = 0; i < COUNT; i += 7) items[i].size = 0;
        Placing p = {.arena = arena, .items = items, .count = COUNT,
                     .steps = 300, .work = INT64_MAX, .order = order};
        place_order(&p, round % 2 ? BY_FULL_AREA : BY_SIZE);
        int64_t top = place_lowest(&p);
        assert_int_equal(height_of(items, COUNT), top);
        for (int i = 0; i < COUNT; i++) {
            bool rests = items[i].offset == 0;
            for (int j = 0; j < COUNT && !rests; j++)
                rests = items[j].size > 0 &&
                        items[j].offset + items[j].size == items[i].offset &&
                        items[j].first <= items[i].last &&
                        items[i].first <= items[j].last;
            assert_true(rests);
        }
    }
}

// Other orders end lower than the first ones, and time ends them.
static void other_orders_improve_the_answer(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    Item items[COUNT];
    int32_t order[COUNT];
    int64_t best[COUNT];
    uint64_t seed = 41;
    cut_up(items, COUNT, 500, 100000, &seed);
    Placing p = {.arena = arena, .items = items, .count = COUNT, .steps = 500,
                 .bound = 100000, .goal = 100000, .work = 20 * 1000 * 1000,
                 .order = order, .best = best, .best_top = INT64_MAX};
    place_order(&p, ground_orders[0]);
    int64_t first = place_lowest(&p);
    place_keep(&p, first);
    assert_false(place_improve(&p));
    assert_true(p.best_top < first && p.work <= 0);
    for (int i = 0; i < COUNT; i++) items[i].offset = best[i];
    assert_int_equal(height_of(items, COUNT), p.best_top);
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

// Makes the largest buffer a byte smaller, so that a step is not full.
static void leave_a_byte(Item *items, int32_t count)
{
    int32_t largest = 0;
    for (int32_t i = 1; i < count; i++)
        if (items[i].size > items[largest].size) largest = i;
    items[largest].size--;
}

// A known placement is taken up where none is found without it in no time. One
// whose buffers overlap, or are past the end or nowhere, does no harm.
static void hints_are_followed_where_they_can_be(void **state)
{
    (void)state;
    enum { COUNT = 300, HEIGHT = 100000 };
    for (uint64_t round = 0; round < 20; round++) {
        Item items[COUNT];
        int64_t hints[COUNT], least;
        uint64_t seed = 11 + round;
        PlaceGoal goal = {.work = 0};
        cut_up(items, COUNT, 400, HEIGHT, &seed);
        leave_a_byte(items, COUNT);
        for (int i = 0; i < COUNT; i++)
            hints[i] = items[i].offset;
        assert_true(place_towards(arena, items, COUNT, &goal, &least) > HEIGHT);
        goal.hints = hints;
        assert_int_equal(place_towards(arena, items, COUNT, &goal, &least),
                         HEIGHT);
        assert_int_equal(height_of(items, COUNT), HEIGHT);
        for (int i = 0; i < COUNT; i++)
            if (i % 3 == 0) hints[i] = i % 2 ? INT64_MAX : 1000 * i - 1;
        int64_t top = place_towards(arena, items, COUNT, &goal, &least);
        assert_int_equal(height_of(items, COUNT), top);
    }
}

static bool never_late(void)
{
    looks++;
    return false;
}

// An equal search is not made twice; any difference makes it another.
static void known_placements_are_recalled(void **state)
{
    (void)state;
    enum { COUNT = 300, HEIGHT = 100000 };
    Item items[COUNT];
    uint64_t seed = 11;
    Known *known = known_new(arena);
    PlaceGoal goal = {.work = 1000, .is_late = never_late};
    cut_up(items, COUNT, 400, HEIGHT, &seed);
    leave_a_byte(items, COUNT);
    int64_t top = place_or_recall(known, arena, items, COUNT, &goal);
    int64_t offset = items[7].offset;
    assert_true(top > HEIGHT);
    looks = 0;
    items[7].offset = INT64_MAX;
    assert_int_equal(place_or_recall(known, arena, items, COUNT, &goal), top);
    assert_true(looks == 0 && items[7].offset == offset);
    goal.work++;
    place_or_recall(known, arena, items, COUNT, &goal);
    assert_true(looks > 0);
    looks = 0;
    items[7].size *= 2;
    top = place_or_recall(known, arena, items, COUNT, &goal);
    assert_true(looks > 0);
    assert_int_equal(height_of(items, COUNT), top);
}

// Keys differ by kind, order, and where one list ends and the next begins.
static void unequal_problems_have_unequal_keys(void **state)
{
    (void)state;
    const int32_t some[] = { 1, 2, 3 };
    KnownKey key[5];
    for (int i = 0; i < 5; i++)
        key[i] = key_of_kind(i == 0 ? KNOWN_ORDER : KNOWN_SCHEDULES);
    key_add_all(&key[2], some, 3);
    key_add_all(&key[3], some, 2);
    key_add_all(&key[3], some + 2, 1);
    key_add_all(&key[4], some, 1);
    key_add_all(&key[4], some + 1, 2);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_true(key[i].low != key[j].low &&
                        key[i].high != key[j].high);
}

// Results take no more room than there is; without any nothing is kept.
static void results_have_a_bounded_room(void **state)
{
    (void)state;
    Known *known = known_new(arena);
    KnownKey key = key_of_kind(KNOWN_ORDER);
    int rooms = 0, result;
    while (rooms < 1000 && known_room(known, 1 << 20) != NULL) rooms++;
    assert_true(rooms > 0 && rooms < 1000);
    assert_null(known_room(NULL, 1));
    assert_null(known_find(NULL, key));
    assert_null(known_find(known, key));
    known_keep(known, key, &result);
    assert_ptr_equal(known_find(known, key), &result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tiny_instances_end_at_the_lowest_height),
        TEST(equal_buffers_are_one_choice),
        TEST(small_rectangles_are_put_together),
        TEST(perfect_packings_are_found),
        TEST(searching_again_gives_the_same),
        TEST(an_end_without_an_answer_is_no_proof),
        TEST(work_bounds_the_search),
        TEST(nothing_is_wasted_where_every_step_is_full),
        TEST(buffers_rest_on_the_lowest_ground),
        TEST(other_orders_improve_the_answer),
        TEST(no_time_leaves_a_placement_all_the_same),
        TEST(a_goal_above_the_bound_is_enough),
        TEST(hints_are_followed_where_they_can_be),
        TEST(known_placements_are_recalled),
        TEST(unequal_problems_have_unequal_keys),
        TEST(results_have_a_bounded_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
