// Losses and metrics that are the mean of a function of two elements, f(a, b):
// what differs is f and its slopes.
//
// Kernel 0 makes the rows; of a large sample blocks leave partial sums first
// (kernel 1); kernel 2 is the gradient of both operands.  The kernels take f
// from a struct that is named as the operator is.
#ifndef CNNC_POINTWISE_LOSS_H
#define CNNC_POINTWISE_LOSS_H

#include "../op/op.h"

// Attributes that these operators begin with: of losses weight, and then,
// where f has one, its parameter.
enum { PAIR_WEIGHT, PAIR_SETTING };

ValueId build_pair(Build *b, const Attr *attr);
void pair_gradient(Gradient *c);

// The function of a, b and the parameter.
typedef double PairFunction(double a, double b, double setting);

void pair_cost(const Graph *g, const Node *n, Cost *cost);
void pair_launch(const Graph *g, const Node *n, Launch *l);
void pair_partial_launch(const Graph *g, const Node *n, Launch *l);
void pair_grad_launch(const Graph *g, const Node *n, Launch *l);
void pair_reference(const Ref *r, PairFunction *f);
void pair_partial_reference(const Ref *r, PairFunction *f);
void pair_grad_reference(const Ref *r, PairFunction *slope_a,
                         PairFunction *slope_b);

// The rows of Kernel that every one of them has.
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
