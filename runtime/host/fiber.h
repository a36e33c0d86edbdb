// Switches from one stack to another, in a few instructions and without a
// system call.
//
// A stopped fiber is three words: stack pointer, frame pointer and the address
// at which it continues.  All other registers are declared as clobbered, so the
// compiler saves only those that the switching function's caller needs.  The
// switch is an indirect jump, not a return: a return to another fiber, and the
// returns after it, would be mispredicted.
#ifndef CNNC_HOST_FIBER_H
#define CNNC_HOST_FIBER_H

#include <stddef.h>
#include <stdint.h>
#include "sanitize.h"

struct Fiber {
    void *stack, *frame, *code;
};

// Prepares *fiber to call entry(), which must not return, on the stack that
// ends at `top`.
UNSEEN static inline void
fiber_prepare(Fiber *fiber, char *top, void (*entry)())
{
    uintptr_t end = (uintptr_t)top & ~(uintptr_t)15;
#ifdef __x86_64__
    end -= 8;                   // as if a call had left its return address
    *(void **)end = nullptr;
#endif
    *fiber = {(void *)end, nullptr, (void *)entry};
}

// Stops this fiber at `from` and continues the one stopped at `to`.
UNSEEN static inline __attribute__((always_inline)) void
fiber_switch(Fiber *from, const Fiber *to)
{
#if defined(__x86_64__)
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, 0(%0)\n\t"
                 "movq %%rbp, 8(%0)\n\t"
                 "movq %%rax, 16(%0)\n\t"
                 "movq 0(%1), %%rsp\n\t"
                 "movq 8(%1), %%rbp\n\t"
                 "jmpq *16(%1)\n"
                 "1:\n\t"
                 "endbr64"
                 : "+D"(from), "+S"(to)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12",
                   "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                   "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
#elif defined(__aarch64__)
    register Fiber *from_register asm("x0") = from;
    register const Fiber *to_register asm("x1") = to;
    asm volatile("adr x9, 1f\n\t"
                 "mov x10, sp\n\t"
                 "stp x10, x29, [x0]\n\t"
                 "str x9, [x0, #16]\n\t"
                 "ldp x10, x29, [x1]\n\t"
                 "ldr x16, [x1, #16]\n\t"
                 "mov sp, x10\n\t"
                 "br x16\n"
                 "1:\n\t"
                 "hint #36"     // bti j: a valid target of indirect jumps
                 : "+r"(from_register), "+r"(to_register)
                 :
                 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
                   "x12", "x13", "x14", "x15", "x16", "x17", "x19", "x20",
                   "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
                   "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
                   "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                   "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
                   "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#else
#error "no stack switch for this processor: write one here"
#endif
}

#endif
