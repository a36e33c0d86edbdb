// Numbers that the program gives, as an argument of a kernel.
#pragma once
#include "real.cuh"

// List: COUNT numbers, by value; a kernel's arguments may take 4 KB in all.
template <int COUNT>
struct List { real at[COUNT]; };
