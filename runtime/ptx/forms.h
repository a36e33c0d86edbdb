// Forms: the opcodes that the interpreter knows.
//
// A form is an opcode with all of its modifiers, a pattern of its operands, and
// the function that runs it.  A pattern has a letter an operand, results before
// the bar:
//
//     1 2 4 8     a register or number of as many bytes; a register for 1 has 2
//     r           a register of any size, or a number as wide as the access
//     p           a predicate; q of p|q is an operand of its own
//     a           an address; its base is a register of 8 bytes, or of 4 in
//                 shared memory, or a variable
//     b           a second address, with a register of 8 bytes
//     [44]        braces around so many operands
//     n           a number, which becomes Instruction.number
//     ?           after it: the operand may lack
//
// For example "add.rn.f32" has "4|44" and "ld.global.v2.f32" "[44]|a".
#ifndef CNNC_PTX_FORMS_H
#define CNNC_PTX_FORMS_H

#include <string>
#include <unordered_map>

#include "text.h"
#include "warp.h"

namespace ptx {

struct Form {
    Run   run;
    const char *pattern;
    Group group;
    Flow  flow = Flow::NEXT;
    uint8_t bytes = 0, count = 1;       // of an access
    int64_t number = 0;                 // a variant
    bool  is_signed = false;
};

typedef std::unordered_map<std::string, Form> Forms;

// An opcode such as mov.b64 has several patterns.  The key of its first form is
// the opcode, of the others "opcode#2", "opcode#3" and so on.  The first one
// that fits the operands counts.
inline void add_form(Forms &forms, const std::string &opcode, const Form &form)
{
    std::string key = opcode;
    for (int n = 2; !forms.emplace(key, form).second; n++)
        key = opcode + "#" + std::to_string(n);
}

// Each adds its forms.
void add_integer_forms(Forms &forms);       // integers.cpp
void add_float_forms(Forms &forms);         // floats.cpp
void add_conversion_forms(Forms &forms);    // conversions.cpp
void add_predicate_forms(Forms &forms);     // predicates.cpp: setp, selp, ...
void add_memory_forms(Forms &forms);        // memory.cpp
void add_async_forms(Forms &forms);         // async.cpp: cp.async
void add_matrix_forms(Forms &forms);        // matrix.cpp: ldmatrix, mma
void add_warp_forms(Forms &forms);          // exchange.cpp: shfl, vote
void add_control_forms(Forms &forms);       // control.cpp: bra, bar, membar

// All of them.
const Forms &all_forms();

// ---- building functions of F::of -------------------------------------------

// D = F::of(A)
template <class D, class A, class F>
void run_unary(Warp &w, const Instruction &i, Mask lanes)
{
    const A *a = w.at<A>(i.slot[1]);
    D to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = F::of(a[l]);
    put(w.at<D>(i.slot[0]), to, lanes);
}

// D = F::of(A, B)
template <class D, class A, class B, class F>
void run_binary(Warp &w, const Instruction &i, Mask lanes)
{
    const A *a = w.at<A>(i.slot[1]);
    const B *b = w.at<B>(i.slot[2]);
    D to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = F::of(a[l], b[l]);
    put(w.at<D>(i.slot[0]), to, lanes);
}

// D = F::of(A, B, C)
template <class D, class A, class B, class C, class F>
void run_ternary(Warp &w, const Instruction &i, Mask lanes)
{
    const A *a = w.at<A>(i.slot[1]);
    const B *b = w.at<B>(i.slot[2]);
    const C *c = w.at<C>(i.slot[3]);
    D to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = F::of(a[l], b[l], c[l]);
    put(w.at<D>(i.slot[0]), to, lanes);
}

}

#endif
