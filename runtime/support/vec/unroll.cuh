// Loops over what a thread keeps in registers.
#pragma once

// UNROLL: the loop that follows in full, however large its body is.  What is indexed by a variable
// lies in memory, the whole struct that it is in too; where the body computes an operand on load,
// nvcc would leave the loop, and with it the variable.  On the host there is nothing to gain.
#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif
