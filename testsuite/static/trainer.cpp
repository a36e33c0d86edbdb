// All of the trainer in one file, as a net's would be, and of the program of
// --tune, for the analysers.
#include "../../runtime/trainer/main.cuh"
#include "../../runtime/trainer/ranks.cuh"
#include "../../runtime/tune/tune.cuh"
