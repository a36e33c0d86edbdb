// Minimum cuts: against all cuts of small random graphs, against the simplest
// of methods on larger ones, and of graphs as deep as nets are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "../../passes/remat/min_cut.h"
#include "nets.h"

enum { SOURCE, SINK };

typedef struct Line {
    int32_t from, to;
    int64_t capacity;
} Line;

typedef struct Net {
    int32_t nodes, count;
    Line   *line;
} Net;

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

static void add_line(Net *n, int32_t from, int32_t to, int64_t capacity)
{
    n->line[n->count++] = (Line){from, to, capacity};
}

static Flow *flow_of(const Net *n)
{
    Flow *f = flow_new(arena, n->nodes);
    for (int32_t k = 0; k < n->count; k++) {
        assert_int_equal(flow_arc(f, n->line[k].from, n->line[k].to), k);
        flow_set(f, k, n->line[k].capacity);
    }
    return f;
}

static int64_t capacity_of(const Net *n, const bool *near)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < n->count; k++)
        if (near[n->line[k].from] && !near[n->line[k].to])
            sum += n->line[k].capacity;
    return sum;
}

// Some arcs are never to be cut, none of them from source; some lead back into
// source, out of sink, or from a node to itself.
static void draw_capacities(Net *n, uint64_t *seed)
{
    for (int32_t k = 0; k < n->count; k++) {
        bool whole = n->line[k].from != SOURCE && next_number(seed, 8) == 0;
        n->line[k].capacity = whole ? FLOW_WHOLE
                                    : (int64_t)next_number(seed, 8);
    }
}

static Net draw_net(uint64_t *seed, uint32_t most_nodes, uint32_t density)
{
    Net n = {.nodes = 2 + (int32_t)next_number(seed, most_nodes - 1)};
    uint32_t nodes = (uint32_t)n.nodes;
    uint32_t count = next_number(seed, density * nodes) + 1;
    n.line = NEW_ARRAY(arena, count, Line);
    for (uint32_t k = 0; k < count; k++)
        add_line(&n, (int32_t)next_number(seed, nodes),
                 (int32_t)next_number(seed, nodes), 0);
    draw_capacities(&n, seed);
    return n;
}

// ---- all cuts ---------------------------------------------------------------

// The least sum, and in near the union of all sets with that: it is one.
static int64_t least_of_all(const Net *n, bool *near)
{
    int64_t least = INT64_MAX;
    for (uint32_t set = 0; set < 1u << n->nodes; set++) {
        bool in[16];
        if (!(set >> SOURCE & 1) || set >> SINK & 1) continue;
        for (int32_t i = 0; i < n->nodes; i++) in[i] = set >> i & 1;
        int64_t sum = 0;
        for (int32_t k = 0; k < n->count && sum < FLOW_WHOLE; k++)
            if (in[n->line[k].from] && !in[n->line[k].to])
                sum += n->line[k].capacity;
        if (sum < least) memset(near, 0, (size_t)n->nodes);
        if (sum < least) least = sum;
        for (int32_t i = 0; i < n->nodes && sum == least; i++) near[i] |= in[i];
    }
    return least;
}

static void it_is_the_least_of_all_cuts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        uint64_t numbers = seed;
        Net n = draw_net(&numbers, 9, 4);
        Flow *f = flow_of(&n);
        for (int again = 0; again < 2; again++) {
            bool near[16], all[16] = {false};
            int64_t least = least_of_all(&n, all);
            assert_int_equal(flow_cut(f, SOURCE, SINK, near), least);
            assert_memory_equal(near, all, (size_t)n.nodes);
            draw_capacities(&n, &numbers);
            for (int32_t k = 0; k < n.count; k++)
                flow_set(f, k, n.line[k].capacity);
        }
        if (seed % 500 == 0) tear_down(NULL), set_up(NULL);
    }
}

// ---- path after path --------------------------------------------------------

typedef struct Paths {
    const Net *n;
    int64_t   *room, *back;     // of each line
    int32_t   *by, *queue;      // the line by which a node was found, or ~line
    bool      *found;
} Paths;

static bool find_path(Paths *p)
{
    int32_t count = 0;
    memset(p->found, 0, (size_t)p->n->nodes);
    p->found[p->queue[count++] = SOURCE] = true;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < p->n->count; k++) {
            const Line *line = &p->n->line[k];
            int32_t at = p->queue[i];
            if (line->from == at && p->room[k] > 0 && !p->found[line->to]) {
                p->by[line->to] = k;
                p->found[p->queue[count++] = line->to] = true;
            }
            if (line->to == at && p->back[k] > 0 && !p->found[line->from]) {
                p->by[line->from] = ~k;
                p->found[p->queue[count++] = line->from] = true;
            }
        }
    return p->found[SINK];
}

static int64_t fill_path(Paths *p)
{
    int64_t much = INT64_MAX;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = SINK; i != SOURCE;) {
            bool forth = p->by[i] >= 0;
            int32_t k = forth ? p->by[i] : ~p->by[i];
            int64_t *from = forth ? &p->room[k] : &p->back[k];
            int64_t *to = forth ? &p->back[k] : &p->room[k];
            if (pass == 0 && *from < much) much = *from;
            if (pass == 1) *from -= much, *to += much;
            i = forth ? p->n->line[k].from : p->n->line[k].to;
        }
    return much;
}

static int64_t flow_by_paths(const Net *n)
{
    Paths p = {n, NEW_ARRAY(arena, n->count, int64_t),
               NEW_ARRAY(arena, n->count, int64_t),
               NEW_ARRAY(arena, n->nodes, int32_t),
               NEW_ARRAY(arena, n->nodes, int32_t),
               NEW_ARRAY(arena, n->nodes, bool)};
    int64_t flow = 0;
    for (int32_t k = 0; k < n->count; k++) p.room[k] = n->line[k].capacity;
    while (find_path(&p)) flow += fill_path(&p);
    return flow;
}

static void it_is_the_flow_that_paths_find(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t numbers = seed;
        Net n = draw_net(&numbers, 60, 6);
        bool *near = NEW_ARRAY(arena, n.nodes, bool);
        int64_t least = flow_cut(flow_of(&n), SOURCE, SINK, near);
        assert_int_equal(least, flow_by_paths(&n));
        assert_int_equal(least, capacity_of(&n, near));
    }
}

// ---- deep graphs ------------------------------------------------------------

// One value after the other, each with a price and a step that makes it from
// the one before; of some the source asks.
static Net deep_net(int32_t steps, uint32_t asked, uint32_t back,
                    uint64_t seed)
{
    Net n = {.nodes = 2 + 2 * steps};
    n.line = NEW_ARRAY(arena, 6 * steps, Line);
    for (int32_t i = 0; i < steps; i++) {
        int32_t value = 2 + 2 * i, step = 3 + 2 * i;
        if (i == steps - 1 || next_number(&seed, asked) == 0)
            add_line(&n, SOURCE, value, 1 << 20);
        add_line(&n, value, step, 1 + next_number(&seed, 1 << 20));
        add_line(&n, step, SINK, 1 + next_number(&seed, 1 << 10));
        for (uint32_t k = 0; k < 3 && i > 0; k += back) {
            uint32_t reach = k == 0 ? 1 : (uint32_t)i;
            add_line(&n, step,
                     value - 2 - 2 * (int32_t)next_number(&seed, reach),
                     FLOW_WHOLE);
        }
    }
    return n;
}

static void it_is_quick_on_deep_graphs(void **state)
{
    (void)state;
    static const uint32_t asked[] = {1, 2, 100, 1u << 31};
    for (int i = 0; i < 4; i++)
        for (uint32_t back = 1; back <= 3; back++) {
            Net n = deep_net(10000, asked[i], back, 7);
            bool *near = NEW_ARRAY(arena, n.nodes, bool);
            int64_t least = flow_cut(flow_of(&n), SOURCE, SINK, near);
            assert_int_equal(least, capacity_of(&n, near));
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_the_least_of_all_cuts),
        TEST(it_is_the_flow_that_paths_find),
        TEST(it_is_quick_on_deep_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
