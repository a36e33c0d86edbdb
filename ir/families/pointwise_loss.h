// Losses that are the mean of a function of two elements, f(a, b).  They differ
// in f and its derivatives.
//
// Part 0 makes the rows.  For large samples, blocks store partial sums first
// (part 1).  Part 2 is the gradient of both operands.  The kernels use a struct
// with f that is named like the operator.
#ifndef CNNC_POINTWISE_LOSS_H
#define CNNC_POINTWISE_LOSS_H

#include "../op/op.h"

// The first attributes of these operators: weight, then the parameters of f.
enum { PAIR_WEIGHT, PAIR_SETTING };

ValueId build_pair(Build *b, const Attr *attr);
void pair_gradient(Gradient *c);

// A function of a, b and the parameters, whose first is setting[0].f.
typedef double PairFunction(double a, double b, const Attr *setting);

void pair_cost(const Graph *g, const Node *n, Cost *cost);
void pair_launch(const Graph *g, const Node *n, Launch *l);
void pair_partial_launch(const Graph *g, const Node *n, Launch *l);
void pair_grad_launch(const Graph *g, const Node *n, Launch *l);
void pair_reference(const Ref *r, PairFunction *f);
void pair_partial_reference(const Ref *r, PairFunction *f);
void pair_grad_reference(const Ref *r, PairFunction *slope_a,
                         PairFunction *slope_b);

// The parts that all of them have.
#define PAIR_FORWARD(f)                                                        \
    { .name = "", .results = "rows", .cost = pair_cost,                        \
      .launch = pair_launch, .reference = f##_rows },                          \
    { .name = "partial", .operands = "a~ b~", .results = "partials",           \
      .cost = pair_cost, .launch = pair_partial_launch,                        \
      .reference = f##_partials }
#define PAIR_GRADIENT(f)                                                       \
    { .name = "grad", .operands = "a~ b~ header?", .results = "da?^ db?^",     \
      .in_place = "da/a da/b db/a db/b", .cost = pair_cost,                    \
      .launch = pair_grad_launch, .reference = f##_slopes }

#endif
