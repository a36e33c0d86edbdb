// Loops over arrays in a thread's registers.
#pragma once

// UNROLL: unrolls the next loop completely.  An array whose index is not constant would be in
// memory.
#ifndef UNROLL
#define UNROLL _Pragma("unroll")
#endif
