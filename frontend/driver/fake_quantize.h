// Quantization-aware training: the maps and weights of a program that inference
// in integers of 8 bits stores so.
#ifndef CNNC_FAKE_QUANTIZE_H
#define CNNC_FAKE_QUANTIZE_H

#include "input.h"

// Lets the readers of these maps and weights round them, if g's train section
// has the setting.  The graph g is that of `in`, without gradients.  False
// after an error.
bool quantize_training(const Input *in, const FrontendOptions *options,
                       Graph *g);

#endif
