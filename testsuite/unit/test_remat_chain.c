// Training steps as chains of stages, and where they are cut. Schedules made of
// a chain's schedules are valid and have the chain's cost, on nets of random
// blocks. On small ones they are compared with the cheapest schedule of all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "../../passes/remat/remat_chain.h"
#include "../../passes/remat/remat_search.h"
#include "brute_remat.h"
#include "nets.h"
#include "remats.h"

enum { MANY = 1000 };           // stages: more than there are

static Arena *arena;

static void assert_stages(const char *text, const char *forward,
                          const char *backward)
{
    Remat r = remat_read(arena, text);
    RematStages s = remat_stages(arena, &r, MANY);
    RematSchedule f = remat_schedule(arena, forward);
    RematSchedule b = remat_schedule(arena, backward);
    assert_int_equal(s.count + 1, f.count);
    assert_int_equal(s.count + 1, b.count);
    for (int32_t i = 0; i <= s.count; i++) {
        assert_int_equal(s.forward[i], f.step[i]);
        assert_int_equal(s.backward[i], b.step[i]);
    }
}

// ---- cuts -------------------------------------------------------------------

static void a_chain_is_cut_at_each_step(void **state)
{
    (void)state;
    assert_stages("2 x:64 > a:64\n2 a > b:64\n2 b > c:64\n|\n"
                  "1 c > n:64\n1 b n > m:64\n1 a m > l:64\n1 x l > k:64\n",
                  "0 1 2 3", "7 5 4 3");
}

// Nothing is cut where two values cross; a small one does not count.
static void a_residual_block_is_whole(void **state)
{
    (void)state;
    assert_stages("2 x:64 > a:64\n2 a > b:64\n2 b > c:64\n2 c a > d:64\n"
                  "2 d > e:64\n|\n"
                  "1 e > g:64\n1 d g > h:64\n1 c h > i:64\n1 b i > j:64\n"
                  "1 a h j > k:64\n1 x k > l:64\n",
                  "0 1 4 5", "11 10 6 5");
    assert_stages("2 x:640 > a:640\n2 a > s:1\n2 a s > b:640\n"
                  "2 b s > c:640\n|\n"
                  "1 c > n:9\n1 b n > m:9\n1 a s m > l:9\n1 x l > k:9\n",
                  "0 1 3 4", "8 6 5 4");
}

// A step of the backward pass that reads a distant value joins the stages
// between.
static void backward_steps_that_reach_back_join_stages(void **state)
{
    (void)state;
    assert_stages("2 x:64 > a:64\n2 a > b:64\n2 b > c:64\n2 c > d:64\n|\n"
                  "1 d > n:64\n1 a c n > m:64\n1 b m > l:64\n1 x l > k:64\n",
                  "0 1 3 4", "8 7 5 4");
}

// A step that may not repeat runs once, and is no reason for a cut.
static void what_may_not_repeat_is_no_cut(void **state)
{
    (void)state;
    assert_stages("2 x:64 > a:64\n2! a > b:64\n2 b > c:64\n2 c > d:64\n|\n"
                  "1 d > o:64\n1 c o > n:64\n1 b n > m:64\n1 a m > l:64\n"
                  "1 x l > k:64\n",
                  "0 1 3 4", "9 6 5 4");
}

static void the_smallest_neighbours_are_merged(void **state)
{
    (void)state;
    Remat r = remat_read(arena,
        "2 x:99 > a:99\n2 a > b:40\n2 b > c:40\n2 c > d:99\n|\n"
        "1 d > o:9\n1 c o > n:9\n1 b n > m:9\n1 a m > l:9\n1 x l > k:9\n");
    RematStages all = remat_stages(arena, &r, MANY);
    RematStages s = remat_stages(arena, &r, 3);
    assert_int_equal(all.count, 4);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.forward[1], 1);
    assert_int_equal(s.forward[2], 3);
    assert_int_equal(s.output[1], all.output[2]);
}

// ---- random blocks ----------------------------------------------------------

typedef struct Draft {
    uint64_t seed;
    char     text[1 << 14];
    int      used;
    int      letter;            // of the next value
} Draft;

static int draw(Draft *d, int most)
{
    return (int)next_number(&d->seed, (uint32_t)most);
}

static void write_text(Draft *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_text(Draft *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    d->used += vsnprintf(d->text + d->used, sizeof d->text - (size_t)d->used,
                         format, args);
    va_end(args);
    assert_true((size_t)d->used < sizeof d->text);
}

static int new_letter(Draft *d)
{
    if (d->letter == '|') d->letter++;
    assert_true(d->letter < 256);
    return d->letter++;
}

// A forward step from values a and, if it is none of 0, b.
static int add_forward(Draft *d, int a, int b)
{
    int made = new_letter(d);
    write_text(d, "%d %c", 1 + draw(d, 40), a);
    if (b != 0) write_text(d, " %c", b);
    write_text(d, " > %c:%d", made, 64 + draw(d, 192));
    if (b == 0 && draw(d, 3) == 0) write_text(d, " %c/%c", made, a);
    write_text(d, "\n");
    return made;
}

static int add_backward(Draft *d, int gradient, int read, int other)
{
    int made = new_letter(d);
    write_text(d, "%d", 1 + draw(d, 40));
    if (gradient != 0) write_text(d, " %c", gradient);
    if (read != 0) write_text(d, " %c", read);
    if (other != 0 && other != gradient) write_text(d, " %c", other);
    write_text(d, " > %c:%d", made, 32 + draw(d, 128));
    if (gradient != 0 && draw(d, 2)) write_text(d, " %c/%c", made, gradient);
    write_text(d, "\n");
    return made;
}

enum { MOST_BLOCKS = 24 };

typedef struct Block {
    int x, a, b, y;             // a and b are 0 where it has none
} Block;

static Block add_block(Draft *d, int x, int most_steps)
{
    Block block = {.x = x};
    int steps = 1 + draw(d, most_steps);
    if (steps > 1) block.a = add_forward(d, x, 0);
    if (steps > 2) block.b = add_forward(d, block.a, 0);
    block.y = add_forward(d, steps > 2 ? block.b : steps > 1 ? block.a : x,
                          steps > 1 && draw(d, 2) ? x : 0);
    return block;
}

static int add_block_back(Draft *d, const Block *block, int gradient)
{
    int first = gradient;
    if (block->b != 0)
        gradient = add_backward(d, gradient, draw(d, 2) ? block->b : block->y,
                                0);
    if (block->a != 0)
        gradient = add_backward(d, gradient, draw(d, 4) ? block->a : 0, 0);
    return add_backward(d, gradient, draw(d, 4) ? block->x : block->y, first);
}

static Remat draw_blocks(uint64_t seed, int blocks, int most_steps)
{
    static Draft d;
    Block block[MOST_BLOCKS];
    d = (Draft){.seed = seed, .letter = 'A'};
    int x = new_letter(&d);
    write_text(&d, "3 %c:64 > ", x);
    x = new_letter(&d);
    write_text(&d, "%c:128\n", x);
    for (int i = 0; i < blocks; i++) {
        block[i] = add_block(&d, x, most_steps);
        x = block[i].y;
    }
    write_text(&d, "|\n");
    int gradient = add_backward(&d, 0, x, 0);
    for (int i = blocks - 1; i >= 0; i--)
        gradient = add_block_back(&d, &block[i], gradient);
    return remat_read(arena, d.text);
}

// ---- schedules --------------------------------------------------------------

// Bytes that the chain does not count: of values made once.
static int64_t once_bytes(const RematStages *s)
{
    int64_t bytes = 0;
    for (int32_t v = 0; v < s->r->value_count; v++)
        if (s->once[v]) bytes += s->r->bytes[v];
    return bytes;
}

// Each schedule begins with all forward steps, and has each other step once, in
// order.
static void assert_whole(const Remat *r, const RematSchedule *p)
{
    int32_t next = r->backward_start;
    for (int32_t i = 0; i < r->backward_start; i++)
        assert_int_equal(p->step[i], i);
    for (int32_t i = r->backward_start; i < p->count; i++)
        if (p->step[i] >= r->backward_start)
            assert_int_equal(p->step[i], next++);
        else assert_true(r->may_repeat[p->step[i]]);
    assert_int_equal(next, r->step_count);
}

// The cost of the schedule beyond one run of each step, from the schedule
// itself.
static int64_t repeats_cost(const Remat *r, const RematSchedule *p)
{
    RematSchedule base = remat_base(arena, r);
    return remat_cost(r, p) - remat_cost(r, &base);
}

typedef struct Tally {
    int schedules, repeats, full;
} Tally;

static void holds_what_the_chain_says(const Remat *r, int most, Tally *n)
{
    RematStages s = remat_stages(arena, r, most);
    RematChain c = remat_chain_of(arena, &s);
    ChainTable *t = chain_table(arena, &c.chain, INT64_MAX / 4, 2000, CHAIN_UP);
    int64_t least = chain_least(t), last = INT64_MAX;
    for (int k = 0; k <= 8; k++) {
        ChainSchedule p;
        int64_t capacity = least + (t->enough - least) * k / 8;
        if (!chain_find(arena, t, capacity, &p)) continue;
        RematSchedule schedule = remat_chain_schedule(arena, &s, &c, &p);
        int64_t peak = remat_peak(r, &schedule, NULL);
        assert_whole(r, &schedule);
        assert_true(chain_peak(&c.chain, &p) <= capacity);
        assert_true(peak <= chain_peak(&c.chain, &p) + once_bytes(&s));
        assert_true(chain_cost(&c.chain, &p) * c.scale <=
                    remat_cost(r, &schedule));
        if (t->is_exact) assert_true(chain_cost(&c.chain, &p) <= last);
        last = chain_cost(&c.chain, &p);
        n->schedules++;
        n->repeats += repeats_cost(r, &schedule) > 0;
        n->full += peak >= chain_peak(&c.chain, &p);
    }
}

// Long stages occur if products may not repeat.  A run looks at the steps from
// the first to the last that it needs.  Many values are tried at a time only
// until that has taken some work.
static void a_long_stage_takes_bounded_work(void **state)
{
    (void)state;
    enum { STEPS = 800, MOST = 100000000 };
    RematKind kind = { .forward = STEPS, .backward = STEPS, .most_bytes = 40,
                       .most_cost = 9 };
    Remat r = random_remat(arena, 5, kind);
    RematStages s = remat_stages(arena, &r, MANY);
    RematChain c = remat_chain_of(arena, &s);
    print_message("%d stages, %lld steps looked at\n", (int)s.count,
                  (long long)c.looks);
    assert_true(c.looks < MOST);
}

static void programs_hold_what_the_chain_says(void **state)
{
    (void)state;
    Tally n = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        Arena *outer = arena;
        arena = arena_new();
        Remat r = draw_blocks(seed, 3 + (int)(seed % 18), 3);
        holds_what_the_chain_says(&r, seed % 2 ? MANY : 6, &n);
        arena_free(arena);
        arena = outer;
    }
    print_message(
        "%d schedules, %d with repeats, %d as full as the chain says\n",
        n.schedules, n.repeats, n.full);
    assert_true(n.schedules > 2000);
    assert_true(n.repeats > n.schedules / 2);
    assert_true(n.full > n.schedules * 9 / 10);
}

typedef struct Best {
    const Remat *r;
    int64_t capacity, cost;     // the least of those within capacity, or -1
} Best;

static void take_best(void *to, RematSchedule schedule)
{
    Best *best = to;
    int64_t cost = remat_cost(best->r, &schedule);
    if (remat_peak(best->r, &schedule, NULL) > best->capacity) return;
    if (best->cost < 0 || cost < best->cost) best->cost = cost;
}

// For small chains, no schedule is cheaper than the cheapest of all, and most
// are as cheap where they can be.
static void programs_are_near_the_cheapest(void **state)
{
    (void)state;
    int asked = 0, found = 0, equal = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        Arena *outer = arena;
        arena = arena_new();
        Remat r = draw_blocks(seed * 7919, 3, 2);
        RematSchedule base = remat_base(arena, &r);
        int64_t peak = remat_peak(&r, &base, NULL);
        for (int k = 1; k <= 3 && r.value_count <= 13; k++) {
            Best best = {&r, peak - peak * k / 8, -1};
            int64_t cost = cheapest_program(arena, &r, best.capacity, NULL);
            if (!remat_chain(&r, 3 * REMAT_WORK, take_best, &best) || cost < 0) continue;
            asked++;
            found += best.cost >= 0;
            equal += best.cost == cost;
            assert_true(best.cost < 0 || best.cost >= cost);
        }
        arena_free(arena);
        arena = outer;
    }
    print_message("%d that fit, %d found, %d as cheap as can be\n", asked,
                  found, equal);
    assert_true(asked > 80 && found > 70 && equal > 35);
}

// Graphs of fewer than three stages are left to others.
static void take_none(void *to, RematSchedule schedule)
{
    (void)schedule;
    ++*(int *)to;
}

static void short_nets_are_left_alone(void **state)
{
    (void)state;
    int taken = 0;
    Remat r = remat_read(arena, "2 x:64 > a:64\n2 a x > b:64\n|\n"
                                "1 b > g:64\n1 a g > h:64\n");
    assert_false(remat_chain(&r, 3 * REMAT_WORK, take_none, &taken));
    assert_int_equal(taken, 0);
}

static int begin(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_cut_at_each_step),
        cmocka_unit_test(a_residual_block_is_whole),
        cmocka_unit_test(backward_steps_that_reach_back_join_stages),
        cmocka_unit_test(what_may_not_repeat_is_no_cut),
        cmocka_unit_test(the_smallest_neighbours_are_merged),
        cmocka_unit_test(a_long_stage_takes_bounded_work),
        cmocka_unit_test(programs_hold_what_the_chain_says),
        cmocka_unit_test(programs_are_near_the_cheapest),
        cmocka_unit_test(short_nets_are_left_alone),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
