// Small kernels as texts of PTX, for tests of the interpreter.
#ifndef SMALL_KERNEL_H
#define SMALL_KERNEL_H

#include <string>

#include "../../runtime/ptx/block.h"

// Each kernel begins with these. %r0: the thread; %d0: global, %d1: generic shared memory; %r8:
// shared memory; %r9: 0.
static const char *const small_kernel_head =
    ".version 9.0\n.target sm_80\n.address_size 64\n"
    ".global .align 128 .b8 memory[8192];\n"
    ".visible .entry kernel()\n{\n"
    ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<16>;\n.reg .b64 %d<8>;\n"
    ".reg .f32 %f<16>;\n.reg .f64 %e<4>;\n"
    ".shared .align 128 .b8 shared[8192];\n.local .align 16 .b8 local[64];\n"
    "mov.u32 %r0, %tid.x;\n"
    "mov.u64 %d0, memory;\n"
    "mov.u64 %d1, shared;\ncvta.shared.u64 %d1, %d1;\n"
    "mov.u32 %r8, shared;\n"
    "mov.u32 %r9, 0;\n";

// Set %d2 to an address in global memory, and %r2 to one in shared memory, of this many bytes a
// lane.
#define AT(bytes)                                                                                  \
    "mul.lo.u32 %r1, %r0, " #bytes ";\ncvt.u64.u32 %d2, %r1;\nadd.s64 %d2, %d0, %d2;\n"            \
    "add.s32 %r2, %r8, %r1;\n"

static inline bool has_no_memory(uint64_t, size_t, uint64_t *, uint64_t *)
{
    return false;
}

// Runs a kernel and returns its counts. Throws Fault, or TextError.
static inline ptx::Counts run_small_kernel(const char *name, const std::string &body,
                                           uint32_t threads, uint32_t blocks,
                                           const ptx::Options &options)
{
    ptx::Module module(ptx::parse(small_kernel_head + body + "\nret;\n}\n", name));
    ptx::Launch launch;
    launch.kernel = &module.kernel("kernel");
    launch.module = &module;
    for (int i = 0; i < 3; i++) launch.grid[i] = launch.block[i] = 1;
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.options = options;
    launch.is_memory = has_no_memory;
    run_launch(launch);
    return launch.counts;
}

#endif
