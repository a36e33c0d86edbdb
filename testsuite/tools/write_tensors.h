// Writes safetensors files for tests in C.
#ifndef TESTSUITE_WRITE_TENSORS_H
#define TESTSUITE_WRITE_TENSORS_H

#include "../../ir/base/tensors.h"

// Writes all as F64.  False, said on standard error, if it can't.
bool tensors_write(const char *path, const TensorFile *file);

#endif
