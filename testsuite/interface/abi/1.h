// training
#define N_INTERFACE_ABI
#define N_ARENA_BYTES
#define N_INFER_ARENA_BYTES
#define N_STATE_BYTES
#define N_PARAMS_BYTES
#define N_STATISTICS_OFFSET
#define N_ARENA_ALIGN
#define N_BATCH
#define N_PARAMETERS
#define N_PARAM_COUNT
#define N_STATISTICS
#define N_STATISTIC_COUNT
#define N_USES_CUBLAS
#define N_TRAINS
#define N_STATE_HASH
#define N_PARAMS_HASH
#define N_PLAN_HASH
#define N_LEARNING_RATE
#define N_LOGITS_WEIGHT_OFFSET
#define N_LOGITS_WEIGHT_BYTES
#define N_LOGITS_WEIGHT_DTYPE
#define N_LOGITS_BIAS_OFFSET
#define N_LOGITS_BIAS_BYTES
#define N_LOGITS_BIAS_DTYPE
typedef enum n_status { N_OK = 0, N_BAD_ARGUMENT, N_BAD_ARENA, N_BAD_STATE, N_CUDA_FAILED, N_CUBLAS_FAILED, N_NOT_READY } n_status;
typedef enum n_setting { N_RATE } n_setting;
typedef struct n_error { n_status status; int code; int step; int line; const char *call; const char *text; size_t wanted, given; } n_error;
struct CUstream_st;
struct cublasContext;
typedef struct n_context { unsigned char *arena; struct CUstream_st *stream; struct cublasContext *cublas; int ready; n_error error; } n_context;
typedef struct n_tensor { const char *name, *dtype; int rank; int64_t shape[5]; size_t offset, bytes; } n_tensor;
typedef struct n_figures { uint64_t step, updates, samples; double learning_rate, loss, loss_weight; double accuracy, accuracy_weight; } n_figures;
int n_init(n_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream, struct cublasContext *cublas, uint64_t seed);
int n_attach(n_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream, struct cublasContext *cublas);
int n_train(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
int n_evaluate(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
int n_infer(n_context *c, const uint8_t *image, size_t image_bytes, float *logits, size_t logits_bytes);
int n_metrics(n_context *c, n_figures *figures, int reset);
int n_set(n_context *c, n_setting setting, double value);
int n_export(n_context *c, void *state, size_t bytes);
int n_import(n_context *c, const void *state, size_t bytes);
const n_tensor *n_param(int index);
const n_tensor *n_statistic(int index);
const n_error *n_last_error(const n_context *c);
const char *n_strerror(int status);
void *n_static_arena(void);

// two losses and two outputs, a schedule, averages
- typedef struct n_figures { uint64_t step, updates, samples; double learning_rate, loss, loss_weight; double accuracy, accuracy_weight; } n_figures;
- int n_infer(n_context *c, const uint8_t *image, size_t image_bytes, float *logits, size_t logits_bytes);
+ typedef struct n_figures { uint64_t step, updates, samples; double learning_rate, loss; double softmax_cross_entropy, softmax_cross_entropy_weight; double half, half_weight; } n_figures;
+ int n_infer(n_context *c, const uint8_t *image, size_t image_bytes, float *logits, size_t logits_bytes, float *x, size_t x_bytes);

// inference
- typedef enum n_setting { N_RATE } n_setting;
- typedef struct n_figures { uint64_t step, updates, samples; double learning_rate, loss, loss_weight; double accuracy, accuracy_weight; } n_figures;
- int n_train(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
- int n_evaluate(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
- int n_metrics(n_context *c, n_figures *figures, int reset);
- int n_set(n_context *c, n_setting setting, double value);

// accumulation
+ int n_accum(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
+ int n_apply(n_context *c);

// maps in f16, with a loss scale
- typedef struct n_figures { uint64_t step, updates, samples; double learning_rate, loss, loss_weight; double accuracy, accuracy_weight; } n_figures;
+ #define N_LOSS_SCALE
+ typedef struct n_figures { uint64_t step, updates, samples; double learning_rate, loss, loss_weight; double accuracy, accuracy_weight; double loss_scale; } n_figures;

// all in f64
- int n_infer(n_context *c, const uint8_t *image, size_t image_bytes, float *logits, size_t logits_bytes);
+ int n_infer(n_context *c, const uint8_t *image, size_t image_bytes, double *logits, size_t logits_bytes);

// weights as constants
+ int n_init_trained(n_context *c);

// maps in host memory
- typedef struct n_context { unsigned char *arena; struct CUstream_st *stream; struct cublasContext *cublas; int ready; n_error error; } n_context;
- int n_init(n_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream, struct cublasContext *cublas, uint64_t seed);
- int n_attach(n_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream, struct cublasContext *cublas);
- int n_train(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
- int n_evaluate(n_context *c, const uint8_t *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
- int n_infer(n_context *c, const uint8_t *image, size_t image_bytes, float *logits, size_t logits_bytes);
+ #define N_HOST_BYTES
+ #define N_HOST_EVENTS
+ struct CUevent_st;
+ typedef struct n_host { void *memory; size_t bytes; struct CUstream_st *stream; struct CUevent_st *events[N_HOST_EVENTS]; } n_host;
+ typedef struct n_context { unsigned char *arena; struct CUstream_st *stream; struct cublasContext *cublas; n_host host; int ready; n_error error; } n_context;
+ int n_init(n_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream, struct cublasContext *cublas, const n_host *host, uint64_t seed);
+ int n_attach(n_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream, struct cublasContext *cublas, const n_host *host);
+ int n_train(n_context *c, const float *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
+ int n_evaluate(n_context *c, const float *image, size_t image_bytes, const int32_t *label, size_t label_bytes);
+ int n_infer(n_context *c, const float *image, size_t image_bytes, float *logits, size_t logits_bytes);
