// References of batch moments, and of the sums for their gradient.
#include <math.h>
#include "batch_moments.h"
#include "column_reduce.h"
#include "../dtype.h"
#include "../op/op_checks.h"

int64_t batch_rows(const Ref *r)
{
    return r->samples * r->n->attr[PIXELS].i;
}

double deviation(const Ref *r, double variance)
{
    return sqrt(variance + r->n->attr[EPSILON].f);
}

double normalized(double x, int64_t c, double *const in[4], double epsilon)
{
    double y = (x - in[2][c]) / sqrt(in[3][c] + epsilon);
    if (in[0] != NULL) y *= in[0][c];
    return in[1] != NULL ? y + in[1][c] : y;
}

// Adds a pair to the partial sums of row i's split.
static void add_pair(const Ref *r, Shape x, int64_t i, double a, double b)
{
    int64_t C = columns_of(x), c = i % C;
    int64_t split = i / C / ceil_div(rows_of(x), r->n->attr[SPLITS].i);
    r->out[0][2 * split * C + c] += a;
    r->out[0][(2 * split + 1) * C + c] += b;
}

void statistics_reference(const Ref *r)
{
    Shape x = ref_in(r, 0);
    ref_clear(r, 0);
    for (int64_t i = 0; i < batch_rows(r) * columns_of(x); i++) {
        double shifted = r->in[0][i] - r->in[0][i % columns_of(x)];
        add_pair(r, x, i, shifted, shifted * shifted);
    }
}

// Computes the mean from x itself, then the mean square of the deviations.
void moments_reference(const Ref *r)
{
    int64_t C = elements(ref_out(r, 0)), rows = batch_rows(r);
    const double *x = r->in[1];
    for (int64_t c = 0; c < C; c++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < rows; i++) sum += x[i * C + c];
        r->out[0][c] = sum / (double)rows;
        for (int64_t i = 0; i < rows; i++)
            squares += pow(x[i * C + c] - r->out[0][c], 2);
        r->out[1][c] = squares / (double)rows;
        r->out[2][c] = (r->in[2] != NULL ? r->in[2][c] : 1) /
                       deviation(r, r->out[1][c]);
    }
}

void reduce_reference(const Ref *r)
{
    Shape x = ref_in(r, 1);
    ref_clear(r, 0);
    for (int64_t i = 0; i < batch_rows(r) * columns_of(x); i++) {
        double centred = r->in[1][i] - r->in[2][i % columns_of(x)];
        add_pair(r, x, i, r->in[0][i], r->in[0][i] * centred);
    }
}

void sums_reference(const Ref *r)
{
    Shape partials = ref_in(r, 0);
    int64_t C = partials.dim[2];
    for (int64_t c = 0; c < C; c++) {
        double sum = 0, product = 0;
        for (int64_t s = 0; s < partials.dim[0]; s++) {
            sum += r->in[0][2 * s * C + c];
            product += r->in[0][(2 * s + 1) * C + c];
        }
        r->out[0][c] = sum;
        r->out[1][c] = product / deviation(r, r->in[1][c]);
    }
}

// sum, product = (dy, x, mean, variance), with other results.
static void products_reference(const Ref *r)
{
    int64_t C = columns_of(ref_in(r, 1));
    for (int64_t c = 0; c < C; c++) {
        double sum = 0, product = 0;
        for (int64_t i = c; i < batch_rows(r) * C; i += C) {
            sum += r->in[0][i];
            product += r->in[0][i] * (r->in[1][i] - r->in[2][c]);
        }
        r->out[0][c] = sum;
        r->out[1][c] = product / deviation(r, r->in[3][c]);
    }
}

// ---- several rules in one ---------------------------------------------------

// Runs a rule as if r's node had only these operands and results.
static void run_as(const Ref *r, void (*rule)(const Ref *), const int *operands,
                   int operand_count, const int *results, int result_count)
{
    ValueId in_ids[4], out_ids[4];
    double *in[4], *out[4];
    Node n = *r->n;
    for (int k = 0; k < operand_count; k++) {
        // Indices past the operands are results, for rules that read them.
        int at = operands[k], made = at - n.operand_count;
        in_ids[k] = made < 0 ? r->n->operands[at] : r->n->results[made];
        in[k] = made < 0 ? r->in[at] : r->out[made];
    }
    for (int k = 0; k < result_count; k++) {
        out_ids[k] = r->n->results[results[k]];
        out[k] = r->out[results[k]];
    }
    n.operands = in_ids, n.results = out_ids;
    n.operand_count = operand_count, n.result_count = result_count;
    Ref as = *r;
    as.n = &n, as.in = in, as.out = out;
    rule(&as);
}

void statistics_moments_reference(const Ref *r)
{
    enum { X, WEIGHT, HEADER, OPERANDS, PARTIALS = 3 };
    run_as(r, statistics_reference, (int[]){ X }, 1, (int[]){ PARTIALS }, 1);
    run_as(r, moments_reference, (int[]){ OPERANDS + PARTIALS, X, WEIGHT }, 3,
           (int[]){ 0, 1, 2 }, 3);
}

void reduce_sums_reference(const Ref *r)
{
    enum { DY, X, MEAN, VARIANCE, HEADER, OPERANDS, PARTIALS = 2 };
    run_as(r, reduce_reference, (int[]){ DY, X, MEAN }, 3,
           (int[]){ PARTIALS }, 1);
    run_as(r, sums_reference, (int[]){ OPERANDS + PARTIALS, VARIANCE }, 2,
           (int[]){ 0, 1 }, 2);
}

// ---- of a result ------------------------------------------------------------

// Rounds result 0 to its type, as the sums read it.
static void store_result(const Ref *r)
{
    DType dtype = r->g->values[r->n->results[0]].dtype;
    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++)
        r->out[0][i] = rounded(dtype, r->out[0][i]);
}

// Runs a rule on result 0 and these operands, with results from 1 on.
static void run_on_result(const Ref *r, void (*rule)(const Ref *),
                          const int *operands, int operand_count,
                          int64_t pixels, double epsilon)
{
    Node n = *r->n;
    Ref as = *r;
    int results[] = { 1, 2, 3, 4 };
    store_result(r);
    n.attr[EPSILON].f = epsilon;
    n.attr[PIXELS].i = pixels;
    n.attr[SPLITS].i = 1;
    as.n = &n;
    run_as(&as, rule, operands, operand_count, results, n.result_count - 1);
}

void made_moments_reference(const Ref *r, int weight, int64_t pixels,
                            double epsilon)
{
    int result = r->n->operand_count;
    run_on_result(r, moments_reference, (int[]){ result, result, weight }, 3,
                  pixels, epsilon);
}

void made_products_reference(const Ref *r, int x, int64_t pixels,
                             double epsilon)
{
    int result = r->n->operand_count;
    run_on_result(r, products_reference,
                  (int[]){ result, x, x + 1, x + 2 }, 4, pixels, epsilon);
}

void made_norm_reference(const Ref *r, int first, double epsilon)
{
    double *const *in = r->in + first, *y = r->out[0];
    DType map = r->g->map;

    for (int64_t i = 0; i < elements(ref_out(r, 0)); i++) {
        int64_t c = i % columns_of(ref_out(r, 0));
        y[i] = normalized(rounded(map, y[i]), c, in, epsilon);
        if (in[NORM_OTHER] != NULL)
            y[i] = rounded(map, y[i]) + in[NORM_OTHER][i];
    }
}
