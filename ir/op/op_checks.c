// Functions that several operators share: checks of operands, the shape of one
// number per sample, the cost and the launch of elementwise operators.
//
// They do not depend on the operator that calls them.
#include <math.h>
#include <string.h>
#include "../dtype.h"
#include "op_checks.h"

Init init_of(const ArgValue *arg, double fan_in, double fan_out)
{
    static const struct { const char *word; double variance, of_out; } rules[] =
        { { "he", 2, 0 }, { "glorot", 2, 1 }, { "lecun", 1, 0 } };
    const char *word = arg->word;

    if (word == NULL) return (Init){ INIT_CONSTANT, arg->f };
    size_t length = strcspn(word, "_");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strncmp(word, rules[i].word, length) != 0) continue;
        double fan = fan_in + rules[i].of_out * fan_out;
        double deviation = sqrt(rules[i].variance / fan);
        return strcmp(word + length, "_normal") == 0
            ? (Init){ INIT_NORMAL, deviation }
            : (Init){ INIT_UNIFORM, sqrt(3) * deviation };
    }
    return (Init){ INIT_ORTHOGONAL, 1 };
}

const char *operand_text(Build *b, int k)
{
    Graph *g = b->g;
    const Value *value = &g->values[b->operand[k]];
    Shape shape = value->shape, sample = { .rank = 0 };
    for (int i = 1; i < shape.rank; i++)
        sample.dim[sample.rank++] = shape.dim[i];
    if (value->classes == 0) return shape_text(g, sample);
    sample.dim[sample.rank++] = value->classes;
    return arena_print(g->arena, "class%s", shape_text(g, sample));
}

bool build_wants_real(Build *b, int k)
{
    const Value *value = &b->g->values[b->operand[k]];
    if (value->classes > 0) {
        error(b->g->diag, b->operand_pos[k],
              "%s needs real numbers, but this is a class label", b->op->name);
        return false;
    }
    return build_wants(b, k, value->shape.rank, "any shape");
}

bool build_wants_scores(Build *b)
{
    Graph *g = b->g;
    if (!build_wants(b, 0, 2, "[classes]")) return false;

    int64_t scores = g->values[b->operand[0]].shape.dim[1];
    int64_t classes = g->values[b->operand[1]].classes;
    if (classes == 0 || g->values[b->operand[1]].shape.rank != 1) {
        error(g->diag, b->operand_pos[1],
              "%s needs an input of class[%lld] here, but this is %s",
              b->op->name, (long long)scores, operand_text(b, 1));
        return false;
    }
    if (classes != scores) {
        error(g->diag, b->operand_pos[0],
              "%s has %lld scores per sample for a label of class[%lld]",
              b->op->name, (long long)scores, (long long)classes);
        return false;
    }
    return true;
}

void build_affine(Build *b, const ArgValue *arg, Shape channels,
                  ValueId *operands)
{
    if (arg[0].i)
        operands[0] = build_norm_param(b, "weight", channels,
                                       (Init){ INIT_CONSTANT, 1 });
    if (arg[1].i)
        operands[1] = build_norm_param(b, "bias", channels,
                                       (Init){ INIT_CONSTANT, 0 });
}

bool has_rank(const Graph *g, const Node *n, int k, int rank)
{
    return n->operands[k] != NONE &&
           g->values[n->operands[k]].shape.rank == rank;
}

bool is_vector_of(const Graph *g, const Node *n, int k, int64_t count)
{
    return n->operands[k] == NONE ||
           (has_rank(g, n, k, 1) &&
            g->values[n->operands[k]].shape.dim[0] == count);
}

Shape shape_of_rows(const Graph *g, const Node *n)
{
    Shape a = g->values[n->operands[0]].shape;
    Shape b = g->values[n->operands[1]].shape;
    bool fits = a.rank > 1 && b.rank > 0 && a.dim[0] == b.dim[0];
    return fits ? shape_of(1, a.dim[0]) : shape_of(0);
}

double batch_samples(const Ref *r)
{
    const double *header = r->header;
    double batches = fmax(header[HEADER_ACCUMULATED_BATCHES], 1);
    return is_accumulating(r->g) ? header[HEADER_ACCUMULATED] / batches
                                 : (double)r->samples;
}

void ref_add_figures(double *sums, const double *more, int figures)
{
    for (int j = 0; j < 2 * figures; j += 2) {
        if (!isfinite(more[j] + more[j + 1])) continue;
        sums[j] += more[j];
        sums[j + 1] += more[j + 1];
    }
}

void ref_begin_update(const Ref *r)
{
    double *header = r->header, samples = header[HEADER_ACCUMULATED];
    header[HEADER_SKIP] = samples == 0 || header[HEADER_ACCUMULATED_SKIP] != 0;
    if (header[HEADER_SKIP] != 0) return;
    header[HEADER_SAMPLES] += samples;
    ref_add_figures(header + HEADER_SUM_0, header + HEADER_ACCUMULATED_SUM_0,
                    MAX_FIGURES);
}

const char *needs_total(const Graph *g, const Node *n)
{
    (void)g, (void)n;
    return "the count of labels in the whole batch";
}

double largest_of(const double *row, int64_t count)
{
    double largest = row[0];
    for (int64_t i = 1; i < count; i++) largest = fmax(largest, row[i]);
    return largest;
}

double exp_sum_of(const double *row, int64_t count, double largest)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += exp(row[i] - largest);
    return sum;
}

void take_attrs(const Build *b, Attr *attr)
{
    const AttrSpec *spec = b->op->attrs;
    for (int i = 0; spec[i].name != NULL; i++)
        if (spec[i].type == ATTR_FLOAT) attr[i].f = b->arg[i].f;
        else if (spec[i].type == ATTR_LIST) attr[i].list = b->arg[i].list;
        else attr[i].i = b->arg[i].i;
}

double decay_of(const Graph *g, ValueId weight, double decay)
{
    return g->values[weight].decayed ? decay : 0;
}

void launch_slots(Launch *l, const Node *n, int results, int operands)
{
    const Kernel *kernel = &n->op->kernels[n->kernel];
    Slot in[MAX_SLOTS], out[MAX_SLOTS];
    int count = kernel_slots(kernel_operands(n->op, n->kernel), in, MAX_SLOTS);
    kernel_slots(kernel->results, out, MAX_SLOTS);
    for (int k = 0; k < results; k++) launch_value(l, n->results[k]);
    for (int k = 0; k < operands; k++)
        if (slot_at(in, count, k)->typed) launch_load(l, n, k);
        else launch_value(l, n->operands[k]);
    for (int k = 0; k < results; k++)
        if (out[k].typed) launch_result_type(l, n->results[k]);
}

void ref_clear(const Ref *r, int k)
{
    int64_t count = elements(ref_out(r, k));
    for (int64_t i = 0; i < count; i++) r->out[k][i] = 0;
}

static int64_t common_vec(int64_t vec, int64_t count)
{
    while (count % vec) vec /= 2;
    return vec;
}

// Operands computed on load are vectors within one pixel of all their sources.
static int64_t loaded_vec(const Graph *g, ValueId v, int64_t vec)
{
    if (v == NONE || is_stored(g, v)) return vec;
    const Shape *shape = &g->values[v].shape;
    const Node *maker = &g->nodes[g->values[v].def];
    vec = common_vec(vec, shape->dim[shape->rank - 1]);
    for (int k = 0; k < maker->operand_count; k++)
        vec = loaded_vec(g, maker->operands[k], vec);
    return vec;
}

int64_t stored_vec(const Graph *g, const Node *n, int64_t count)
{
    bool halves = false;
    for (int k = 0; k < n->operand_count + n->result_count; k++) {
        ValueId v = k < n->operand_count ? n->operands[k]
                                         : n->results[k - n->operand_count];
        halves |= v != NONE && is_half(g->values[v].dtype);
    }
    return common_vec(halves ? 8 : 4, count);
}

int64_t vec_width(const Graph *g, const Node *n, int64_t count)
{
    int64_t vec = stored_vec(g, n, count);
    for (int k = 0; k < n->operand_count; k++)
        vec = loaded_vec(g, n->operands[k], vec);
    return vec;
}

void launch_elements(Launch *l, const char *kernel, int64_t count)
{
    enum { BLOCK = 256 };
    int64_t grid = ceil_div(count, BLOCK);
    launch_kernel(l, kernel, grid < INT32_MAX ? grid : INT32_MAX, BLOCK);
}
