// Reads safetensors files, as the trainers, PyTorch and Keras write them.
// Every element is a double here.  It shares nothing with the reader of the
// trainers (runtime/trainer/safetensors.cuh), which tests compare it with.
#ifndef CNNC_TENSORS_H
#define CNNC_TENSORS_H

#include <stdbool.h>
#include <stdint.h>
#include "arena.h"

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

// Reads all tensors of a file.  Returns NULL, or the fault if path can't be
// read or is no such file.  The arena owns the tensors.
const char *tensors_read(Arena *arena, const char *path, TensorFile *file);

// Adds a tensor of these dimensions; data are kept, not copied.
void tensors_add(Arena *arena, TensorFile *file, const char *name, int rank,
                 const int64_t *dim, double *data);

// Returns the tensor of this name, or NULL.
const Tensor *tensors_find(const TensorFile *file, const char *name);

#endif
