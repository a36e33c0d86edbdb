// Checks that the gradients of a reference are the slopes of its loss.
#ifndef TESTSUITE_RANDOM_SLOPES_H
#define TESTSUITE_RANDOM_SLOPES_H

#include "reference.h"

// The start of a reference run: weights and data as given, the header of
// step 0.
void reference_begin(const Reference *ref, const Case *of, Tensors *t);

// False, with the two numbers, where the loss along a random direction of all
// parameters has another slope than the gradients say.  True of nets that can't
// be judged. These are of the integer mode, or have a loss that is not finite
// or that an operator without a gradient leads to.
bool slopes_agree(Arena *arena, const Reference *ref, const Case *of,
                  double *slope, double *gradient);

#endif
