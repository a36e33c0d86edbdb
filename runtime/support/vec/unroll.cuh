// Loops over what a thread keeps in registers.
#pragma once

// UNROLL: unrolls the next loop in full.  An array whose index is not constant would be in memory.
#ifndef UNROLL
#define UNROLL _Pragma("unroll")
#endif
