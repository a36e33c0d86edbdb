// The types of the C interface.  `net_` and `NET_` become the net's own name;
// this text is C99 and stands in the emitted header.  Since that moves columns, names
// of fields stand in none.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct CUstream_st;                     // what cudaStream_t points to
struct cublasContext;                   // what cublasHandle_t points to

// What every call returns.
typedef enum net_status {
    NET_OK = 0,
    NET_BAD_ARGUMENT,                   // a null pointer, or a wrong size or value
    NET_BAD_ARENA,                      // too small, not aligned, not allocated, or freed
    NET_BAD_STATE,                      // of another net: its STATE_HASH differs, or
                                        // for inference alone its PARAMS_HASH; or a
                                        // number in its header that no run leaves there
    NET_CUDA_FAILED,
    NET_CUBLAS_FAILED,
    NET_NOT_READY                       // before init or attach, or after a failed launch
} net_status;

// What set() can change between training steps.
typedef enum net_setting {
    NET_RATE                            // the learning rate, from 0 to FLT_MAX; a
                                        // schedule's factor is of it
} net_setting;

// What is known of a failure; all text is static.
typedef struct net_error {
    net_status status;
    int code;                           // cudaError_t or cublasStatus_t
    int step;                           // of the plan, or -1
    int line;                           // of the net's source, or 0
    const char *call;                   // what failed
    const char *text;                   // what CUDA or cuBLAS say of it
    size_t wanted, given;               // bytes, where a size was wrong
} net_error;

// One net in one arena.  The caller owns it, and all that it points to.
typedef struct net_context {
    unsigned char *arena;
    struct CUstream_st *stream;
    struct cublasContext *cublas;
    int ready;                          // init or attach succeeded, nothing failed since
    net_error error;
} net_context;

// A tensor in the arena; dtype is f32, f64, i32 or u8.
typedef struct net_tensor {
    const char *name, *dtype;
    int rank;
    int64_t shape[5];
    size_t offset, bytes;
} net_tensor;
