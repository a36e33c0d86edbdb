// Elementwise operators of one operand: activations.
//
// Their kernels are two templates (runtime/support/vec/unary.cuh) over a
// functor; the operator's numbers are trailing arguments, in the order of its
// attributes.  The gradient needs one other value: the result, or the operand.
#ifndef CNNC_UNARY_H
#define CNNC_UNARY_H

#include "../op/op.h"
#include "../op/op_checks.h"

// The build rule: an operand of real numbers of any shape.  The arguments,
// floats or integers, become the attributes in order.
ValueId build_unary(Build *b);

// Gradient rules: kernel 1 from dy and the result, or from dy and the operand.
void gradient_from_result(Gradient *c);
void gradient_from_operand(Gradient *c);

// Launches part 0 or 1: unary_forward or unary_gradient with this functor.
void launch_functor(const Graph *g, const Node *n, Launch *l,
                    const char *functor);
// The same with the operator's own functor.
void launch_unary(const Graph *g, const Node *n, Launch *l);

// Part.load of operators without attributes: Applied with this functor.
bool load_unary(const Graph *g, const Node *n, Launch *l);
bool load_functor(const Node *n, Launch *l, const char *functor);

// y = f(x), and dx = f'(dy, v), where v is the value that the gradient reads.
void unary_reference(const Ref *r, double (*f)(const Attr *attr, double x));
void unary_gradient_reference(const Ref *r,
                              double (*f)(const Attr *attr, double dy,
                                          double v));

// The kernels of an operator with these rules; kept is "x" or "y".  load_rule
// is NULL if it has attributes.
#define UNARY_KERNELS(launch_rule, load_rule, forward_rule, gradient_rule,     \
                      kept)                                                    \
    { .name = "", .results = "y/", .in_place = "y/x",                          \
      .cost = cost_elementwise, .launch = launch_rule, .load = load_rule,      \
      .reference = forward_rule },                                             \
    { .name = "grad", .operands = "dy~ " kept "~", .results = "dx/",           \
      .in_place = "dx/dy dx/" kept, .cost = cost_elementwise,                  \
      .launch = launch_rule, .reference = gradient_rule },                     \
    { .results = NULL }

// The kernels of an operator without attributes, with the references Op.act and
// Op.act_gradient.  The gradient reads the result, or the operand.
extern const Kernel act_kernels[], operand_kernels[];

#endif
