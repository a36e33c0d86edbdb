// Safetensors files for tests in C: a reader of the files of this project's
// programs and PyTorch, and a writer.  Every element is a double here; it
// shares nothing with the runtime's reader, which tests compare it with.
#ifndef TESTSUITE_TENSORS_H
#define TESTSUITE_TENSORS_H

#include <stdbool.h>
#include <stdint.h>
#include "../../ir/base/arena.h"

enum { TENSOR_RANK = 8 };

typedef struct Tensor {
    const char *name;
    int         rank;
    int64_t     dim[TENSOR_RANK];
    int64_t     count;          // elements
    double     *data;
} Tensor;

typedef struct TensorFile {
    Tensor *tensor;
    int     count, capacity;
} TensorFile;

// False, said on standard error, if path can't be read or is no such file.
bool tensors_read(Arena *arena, const char *path, TensorFile *file);

// Writes all as F64.  False, said on standard error, if it can't.
bool tensors_write(const char *path, const TensorFile *file);

// Adds a tensor of these dimensions; data are kept, not copied.
void tensors_add(Arena *arena, TensorFile *file, const char *name, int rank,
                 const int64_t *dim, double *data);

// NULL: there is none.
const Tensor *tensors_find(const TensorFile *file, const char *name);

#endif
