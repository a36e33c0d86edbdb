// All of the trainer in one file, as a net's would be, for the analysers.
#include "../../runtime/trainer/main.cuh"
