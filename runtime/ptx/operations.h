// Forms of a function of each lane's values, from a class F with F::of.
#ifndef CNNC_PTX_OPERATIONS_H
#define CNNC_PTX_OPERATIONS_H

#include "forms.h"

namespace ptx {

// "4|44" for results of type D and operands of types A
template <class D, class... A>
const char *pattern_of()
{
    static const char pattern[] = {
        (char)('0' + sizeof(D)), '|', (char)('0' + sizeof(A))..., 0,
    };
    return pattern;
}

template <class F, class D, class A>
Form unary(Group group)
{
    return {run_unary<D, A, F>, pattern_of<D, A>(), group};
}

template <class F, class D, class A, class B>
Form binary(Group group)
{
    return {run_binary<D, A, B, F>, pattern_of<D, A, B>(), group};
}

template <class F, class D, class A, class B, class C>
Form ternary(Group group)
{
    return {run_ternary<D, A, B, C, F>, pattern_of<D, A, B, C>(), group};
}

// NOLINTNEXTLINE(misc-redundant-expression): NaN alone differs from itself
template <class T> bool is_nan(T a) { return a != a; }

// The value of a predicate operand, which the text may negate.
inline Mask predicate_of(const Warp &w, const Instruction &i, int operand)
{
    const Mask value = w.predicate[i.slot[operand]];
    return i.negated >> operand & 1 ? ~value : value;
}

}

#endif
