// How cudart gives the kernels of a program, which nvcc compiled, to host.cpp.
#ifndef CNNC_PTX_HOST_LAUNCH_H
#define CNNC_PTX_HOST_LAUNCH_H

#include <string>

#include "decode.h"

namespace ptx {

// Each launch with this symbol runs the kernel.  All three live as long as the
// program.
void add_kernel(const char *symbol, const Kernel &kernel, const Module &module);

// A kernel's name as people write it, without parameters: relu<4>.
std::string plain_name(const char *mangled);

}

#endif
