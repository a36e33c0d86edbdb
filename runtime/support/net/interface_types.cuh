// The types of the C interface, in C99, for the emitted header.  The emitter replaces `net_` and
// `NET_` by the net's own name.  That moves columns, so the names of fields are not aligned.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct CUstream_st;                     // cudaStream_t points to it
struct cublasContext;                   // cublasHandle_t points to it

// The result of every call.
typedef enum net_status {
    NET_OK = 0,
    NET_BAD_ARGUMENT,                   // a null pointer, or a wrong size or value
    NET_BAD_ARENA,                      // too small, not aligned, not allocated, or freed
    NET_BAD_STATE,                      // another net's: its STATE_HASH differs, or for inference
                                        // its PARAMS_HASH; or a number in its header that no run
                                        // can produce
    NET_CUDA_FAILED,
    NET_CUBLAS_FAILED,
    NET_NOT_READY                       // before init or attach, or after a failed launch
} net_status;

// Settings that set() can change between training steps.
typedef enum net_setting {
    NET_RATE                            // the learning rate, from 0 to FLT_MAX; a schedule
                                        // multiplies it
} net_setting;

// A failure; all text is static.
typedef struct net_error {
    net_status status;
    int code;                           // cudaError_t or cublasStatus_t
    int step;                           // its number in the plan, or -1
    int line;                           // of the net's source, or 0
    const char *call;                   // the call that failed
    const char *text;                   // the message of CUDA or cuBLAS
    size_t wanted, given;               // bytes, if a size was wrong
} net_error;

// One net in one arena.  The caller owns the context and everything that it points to.
typedef struct net_context {
    unsigned char *arena;
    struct CUstream_st *stream;
    struct cublasContext *cublas;
    int ready;                          // init or attach succeeded, and nothing failed since
    net_error error;
} net_context;

// A tensor in the arena; dtype is f32, f64, i32 or u8.
typedef struct net_tensor {
    const char *name, *dtype;
    int rank;
    int64_t shape[5];
    size_t offset, bytes;
} net_tensor;
