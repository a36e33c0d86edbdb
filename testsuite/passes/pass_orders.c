// Orders of the passes: each row of passes.def at the farthest places that the
// `after` columns accept.  There are the same launches and arenas for all nets.
// And each entry of `after` is needed: an order that it alone refuses
// gives another result for some net, or none.
//
//     pass_orders NET.cnn [OPTION...] -- NET.cnn [OPTION...] -- ...
//
// Options: f16, bf16, infer, budget=BYTES, split=SAMPLES.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../frontend/driver/input.h"
#include "../../passes/pass.h"

enum { MOST_NETS = 32 };

typedef struct Net {
    const char *path;
    Mode        mode;
    DType       map;            // F16, BF16; otherwise F32
    int64_t     budget, split;
    uint64_t    result;         // of the table's order
} Net;

static Net nets[MOST_NETS];
static int net_count;

static void read_option(Net *net, const char *word)
{
    if (strcmp(word, "f16") == 0) net->map = F16;
    else if (strcmp(word, "bf16") == 0) net->map = BF16;
    else if (strcmp(word, "infer") == 0) net->mode = INFER;
    else if (strncmp(word, "budget=", 7) == 0) net->budget = atoll(word + 7);
    else if (strncmp(word, "split=", 6) == 0) net->split = atoll(word + 6);
    else net->path = word;
}

static void read_nets(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (i == 1 || strcmp(argv[i], "--") == 0) {
            if (net_count == MOST_NETS) exit(2);
            nets[net_count++] = (Net){ .mode = TRAIN, .map = F32 };
        }
        if (strcmp(argv[i], "--") != 0)
            read_option(&nets[net_count - 1], argv[i]);
    }
}

// ---- a result ---------------------------------------------------------------

static uint64_t mixed(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

// The launches in order, with the addresses of their operands and results, and
// the arena.
static uint64_t hash_of(const Graph *g)
{
    uint64_t hash = mixed(UINT64_C(0xcbf29ce484222325), &g->arena_bytes,
                          sizeof g->arena_bytes);
    for (NodeId i = 0; i < g->node_count; i++) {
        const Node *n = &g->nodes[i];
        if (!is_launch(n)) continue;
        hash = mixed(hash, n->op->name, strlen(n->op->name));
        hash = mixed(hash, &n->kernel, sizeof n->kernel);
        hash = mixed(hash, &n->grouped, sizeof n->grouped);
        for (int32_t k = 0; k < n->operand_count; k++)
            if (n->operands[k] != NONE)
                hash = mixed(hash, &g->values[n->operands[k]].offset,
                             sizeof(int64_t));
        for (int32_t k = 0; k < n->result_count; k++)
            if (n->results[k] != NONE)
                hash = mixed(hash, &g->values[n->results[k]].offset,
                             sizeof(int64_t));
    }
    return hash;
}

static uint64_t result_of(const Net *net, const int *order)
{
    Arena *arena = arena_new();
    FILE *nowhere = fopen("/dev/null", "w");
    Diag diag = { .arena = arena, .stream = nowhere };
    FrontendOptions options = { .mode = net->mode, .real = F32,
                                .map = net->map };
    PassOptions passes_on;
    Input in;
    uint64_t result = 0;
    pass_options_default(&passes_on, 2);
    passes_on.budget = net->budget;
    passes_on.split_samples = net->split;
    passes_on.split_pixels = net->split > 0;
    passes_on.order = order;
    if (!input_open(&in, arena, &diag, net->path)) exit(3);
    Graph *g = input_graph(&in, &options);
    if (g == NULL) exit(4);
    if (run_passes(g, &passes_on)) result = hash_of(g);
    arena_free(arena);
    fclose(nowhere);
    return result;
}

// Runs in a process of its own, for an order may end in a fault of the
// compiler. Then, and after an error, the result is 0.
static uint64_t result_apart(const Net *net, const int *order)
{
    int ends[2];
    uint64_t result = 0;
    fflush(stdout);
    if (pipe(ends) != 0) exit(5);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(6);
        result = result_of(net, order);
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 6);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof result) != sizeof result) result = 0;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return result;
}

// ---- orders -----------------------------------------------------------------

static void move(int order[PASS_COUNT], int from, int to)
{
    for (int i = 0; i < PASS_COUNT; i++) order[i] = i;
    int step = from < to ? 1 : -1;
    for (int i = from; i != to; i += step) order[i] = order[i + step];
    order[to] = from;
}

// The first net with another result, or -1.
static int other_result(const int *order)
{
    for (int i = 0; i < net_count; i++)
        if (result_apart(&nets[i], order) != nets[i].result) return i;
    return -1;
}

// The farthest place from a row, backwards or forwards, that the table accepts;
// the row's own, if it accepts none.
static int farthest(int from, int step, int *refused)
{
    int place = from;
    for (int to = from + step; to >= 0 && to < PASS_COUNT; to += step) {
        int order[PASS_COUNT];
        move(order, from, to);
        if (pass_too_early(&(PassOptions){ .order = order }) == NULL)
            place = to;
        else
            (*refused)++;
    }
    return place;
}

// A row at the farthest place has passed all rows that it may pass, so that the
// places between are not tried.
static int check_moves(void)
{
    int faults = 0, refused = 0, equal = 0;
    for (int from = 0; from < PASS_COUNT; from++)
        for (int step = -1; step <= 1; step += 2) {
            int order[PASS_COUNT], to = farthest(from, step, &refused);
            if (to == from) continue;
            move(order, from, to);
            int other = other_result(order);
            if (other < 0) {
                equal++;
                continue;
            }
            faults++;
            printf("%s at the place of %s is accepted, and %s differs\n",
                   passes[from].name, passes[to].name, nets[other].path);
        }
    printf("%d orders refused, %d give the same, %d faults\n", refused, equal,
           faults);
    return faults;
}

// The first order of all that obeys every entry of the table but one: there row
// runs before `after`.  False: other entries do not let it.
static bool order_without(int order[PASS_COUNT], int row, int after)
{
    uint32_t ran = 0;
    for (int place = 0; place < PASS_COUNT; place++) {
        int next = -1;
        for (int i = 0; i < PASS_COUNT && next < 0; i++) {
            uint32_t first = passes[i].after;
            if (i == row) first &= ~(UINT32_C(1) << after);
            if (i == after) first |= UINT32_C(1) << row;
            if (!(ran & UINT32_C(1) << i) && (first & ~ran) == 0) next = i;
        }
        if (next < 0) return false;
        order[place] = next;
        ran |= UINT32_C(1) << next;
    }
    return true;
}

static int check_entries(void)
{
    int faults = 0, entries = 0;
    for (int row = 0; row < PASS_COUNT; row++)
        for (int after = 0; after < PASS_COUNT; after++) {
            if (!(passes[row].after & UINT32_C(1) << after)) continue;
            int order[PASS_COUNT];
            entries++;
            if (order_without(order, row, after) && other_result(order) >= 0)
                continue;
            faults++;
            printf("%s need not be after %s\n", passes[row].name,
                   passes[after].name);
        }
    printf("%d entries, %d not needed\n", entries, faults);
    return faults;
}

int main(int argc, char **argv)
{
    read_nets(argc, argv);
    for (int i = 0; i < net_count; i++) {
        nets[i].result = result_of(&nets[i], NULL);
        if (nets[i].result != 0) continue;
        printf("%s does not compile\n", nets[i].path);
        return 1;
    }
    return net_count > 0 && check_moves() + check_entries() == 0 ? 0 : 1;
}
