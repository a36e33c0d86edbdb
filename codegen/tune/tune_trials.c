// Selects the launches that the program of --tune measures: products on tensor cores of a training
// step, equal ones once. Finds the steps that stand for each in tiles of every size.
//
// The graphs differ only in tiles, so a launch is identified by its product and its node's name.

#include <string.h>

#include "../../ir/base/unique_names.h"
#include "tune.h"

// ---- selecting launches
// --------------------------------------------------------------------------

static bool same_types(const Launch *a, const Launch *b);

// True if the kernels are equal, with all template arguments.
static bool same_kernel(const Launch *a, const Launch *b)
{
    if (strcmp(a->kernel, b->kernel) != 0 || a->grid != b->grid || a->block != b->block ||
        a->constant_count != b->constant_count)
        return false;
    for (int i = 0; i < a->constant_count; i++)
        if (a->constant[i].value != b->constant[i].value) return false;
    return same_types(a, b);
}

static bool same_types(const Launch *a, const Launch *b)
{
    if (a->type_count != b->type_count) return false;
    for (int i = 0; i < a->type_count; i++) {
        const TypeArg *s = &a->type[i], *t = &b->type[i];
        if (!s->source != !t->source) return false;
        if (s->source ? !same_kernel(s->source, t->source) : strcmp(s->text, t->text) != 0)
            return false;
    }
    return true;
}

static Product *product_of(Tuner *t, const ProductSize *size)
{
    ProductKey key = product_key(size);
    for (int i = 0; i < t->count; i++) {
        ProductKey other = product_key(&t->products[i].size);
        if (same_product(&other, &key)) return &t->products[i];
    }
    return NULL;
}

static void add_trial(Tuner *t, Product *p, int step)
{
    Emitter *e = &t->e;
    for (int i = 0; i < p->count; i++)
        if (same_kernel(p->trials[i].launch, &e->launches[step])) {
            p->trials[i].count++;
            return;
        }
    p->trials = arena_grow(e->arena, p->trials, &p->capacity, (int64_t)p->count + 1,
                           sizeof *p->trials);
    Trial *trial = &p->trials[p->count++];
    *trial = (Trial){.node = e->nodes[step], .launch = &e->launches[step], .count = 1};
    for (int k = 0; k < TENSOR_TILES; k++) trial->step[k] = trial->sums[k] = NONE;
    const char *name = arena_print(e->arena, "launch_%s", word_of(e, trial->node->name));
    trial->function = names_take(e->taken, name, 0);
}

// Finds the products of the plain net, in the order of its steps.
static void find_products(Tuner *t)
{
    Emitter *e = &t->e;
    for (int s = 0; s < e->program[0].plan->step_count; s++) {
        const ProductSize *size = e->launches[s].product;
        if (!size) continue;
        Product *p = product_of(t, size);
        if (!p) {
            t->products = arena_grow(e->arena, t->products, &t->capacity, (int64_t)t->count + 1,
                                     sizeof *t->products);
            p = &t->products[t->count++];
            *p = (Product){.size = *size};
        }
        add_trial(t, p, s);
    }
}

// Returns the step of the program that reads this step's workspace, or NONE.
static int reading_step(const Emitter *e, const Program *p, int step)
{
    const Node *n = e->nodes[step];
    for (int r = 0; r < n->result_count; r++) {
        ValueId v = n->results[r];
        if (v == NONE || p->g->values[v].kind != WORKSPACE) continue;
        for (int s = step + 1; s < p->first_step + p->plan->step_count; s++)
            for (int k = 0; k < e->nodes[s]->operand_count; k++)
                if (e->nodes[s]->operands[k] == v) return s;
    }
    return NONE;
}

// Finds the steps of the products in the net with tiles of number k.
static void find_tiled(Tuner *t, int k)
{
    Emitter *e = &t->e;
    const Program *program = &e->program[1 + k];
    for (int s = program->first_step; s < program->first_step + program->plan->step_count; s++) {
        const ProductSize *size = e->launches[s].product;
        Product *p = size ? product_of(t, size) : NULL;
        const Node *n = e->nodes[s];
        for (int i = 0; p && i < p->count; i++) {
            Trial *trial = &p->trials[i];
            if (trial->step[k] != NONE || trial->node->phase != n->phase ||
                strcmp(trial->node->name, n->name) != 0)
                continue;
            trial->step[k] = s;
            trial->sums[k] = reading_step(e, program, s);
        }
    }
}

// Returns the number of tiles that fit all of the product's launches.
static int fitting_tiles(const Product *p)
{
    int fitting = 0;
    for (int k = 0; k < TENSOR_TILES; k++) {
        bool all = true;
        for (int i = 0; i < p->count; i++) all = all && p->trials[i].step[k] != NONE;
        fitting += all;
    }
    return fitting;
}

static void drop_settled(Tuner *t)
{
    int kept = 0;
    for (int i = 0; i < t->count; i++)
        if (fitting_tiles(&t->products[i]) > 1) t->products[kept++] = t->products[i];
    t->count = kept;
}

void find_trials(Tuner *t)
{
    find_products(t);
    for (int k = 0; k < TENSOR_TILES; k++) find_tiled(t, k);
    drop_settled(t);
}

// ---- steps of a trial
// ----------------------------------------------------------------------------

int trial_steps(const Trial *trial, int k, int steps[2])
{
    int count = 0;
    if (trial->step[k] != NONE) steps[count++] = trial->step[k];
    if (trial->sums[k] != NONE) steps[count++] = trial->sums[k];
    return count;
}

int measured_steps(const Tuner *t, int **all)
{
    int count = 0;
    *all = NEW_ARRAY(t->e.arena, t->e.step_count, int);
    bool *seen = NEW_ARRAY(t->e.arena, t->e.step_count, bool);
    FOR_TRIALS(t, product, trial)
        for (int k = 0; k < TENSOR_TILES; k++) {
            int steps[2], own = trial_steps(trial, k, steps);
            for (int i = 0; i < own; i++) {
                if (!seen[steps[i]]) (*all)[count++] = steps[i];
                seen[steps[i]] = true;
            }
        }
    return count;
}
