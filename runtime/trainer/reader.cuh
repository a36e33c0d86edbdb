// The reader: threads that fill the next batch while the net works on this one. Two pinned staging
// buffers are allocated once, so copies to the device are asynchronous.
//
// The states of a buffer: FREE, OPENING (one thread waits until the device has copied the previous
// batch), FILLING (threads fill rows), FULL, TAKEN (the net reads it), FREE.  Batches come in the
// order of the pass, whatever the threads do.
#pragma once
#include <cuda_runtime.h>
#include <pthread.h>

#include "fill.cuh"

enum StagingState {
    STAGING_FREE, STAGING_OPENING, STAGING_FILLING, STAGING_FULL, STAGING_TAKEN
};

// Staging: a buffer with a batch.
struct Staging {
    int state;
    void **data;                // one per column
    size_t *bytes;              // valid bytes; the last batch may be smaller
    long long first;            // position of its first sample in the order
    int samples, next, left;    // rows: all, the next to take, those still to fill
    cudaEvent_t copied;         // recorded after the calls that read the buffer
    bool recorded;
    int faulty;                 // the first row whose sample is damaged, or `samples`
    char fault[JPEG_MESSAGE];   // why
};

// BatchReader: two buffers, the threads, and the current pass.
struct BatchReader {
    int batch, column_count, thread_count, scratch_count;
    Staging staging[2];
    pthread_t *threads;
    PixelScratch *scratch;      // one per thread
    bool whole_images;          // crops are resized, so JPEG files are decoded as a whole
    int working;                // threads that have taken theirs
    pthread_mutex_t lock;       // protects all below, and states and rows of the buffers
    pthread_cond_t work, full;
    bool started, quit;
    cudaError_t error;          // from waiting for a copy
    const DataSet *set;
    const long long *order;     // sample numbers; NULL: 0, 1, ...
    Augmentation augmentation;
    bool augments;
    long long next, end;        // positions in the order: the next batch, the end
    unsigned opened, taken;     // batches since the reader started
};

// Opens the next batch in a free buffer, after the device has copied the previous one.  The lock
// must be held.  Returns false if there is no such batch or buffer.
static inline bool open_staging(BatchReader *r)
{
    Staging *s = &r->staging[r->opened % 2];
    if (s->state != STAGING_FREE || r->next >= r->end) return false;
    s->state = STAGING_OPENING;
    s->first = r->next;
    s->samples = (int)(r->end - r->next < r->batch ? r->end - r->next : r->batch);
    s->next = 0;
    s->left = s->faulty = s->samples;
    r->next += s->samples;
    r->opened++;
    if (s->recorded) {
        pthread_mutex_unlock(&r->lock);
        cudaError_t error = cudaEventSynchronize(s->copied);
        pthread_mutex_lock(&r->lock);
        if (error != cudaSuccess) r->error = error;
    }
    s->state = STAGING_FILLING;
    pthread_cond_broadcast(&r->work);
    return true;
}

// Keeps the fault of a row, if it is the first of the batch.
static inline void keep_fault(BatchReader *r, Staging *s, int row, const char *message)
{
    pthread_mutex_lock(&r->lock);
    if (row < s->faulty) {
        s->faulty = row;
        snprintf(s->fault, sizeof s->fault, "%s", message);
    }
    pthread_mutex_unlock(&r->lock);
}

// Fills some rows of a buffer; the lock is held before and after.  Returns false if none were left.
static inline bool fill_rows(BatchReader *r, Staging *s, const PixelScratch *scratch)
{
    if (s->state != STAGING_FILLING || s->next == s->samples) return false;
    int first = s->next, count = r->batch / (4 * r->thread_count) + 1;
    if (count > s->samples - first) count = s->samples - first;
    s->next += count;
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->set->column_count; i++) {
        const DataColumn *c = &r->set->columns[i];
        size_t bytes = c->input->bytes / (size_t)r->batch;
        for (int row = first; c->parts && row < first + count; row++) {
            long long at = s->first + row;
            const long long sample = r->order ? r->order[at] : at;
            if (!fill_row(r->set, c, r->augments ? &r->augmentation : NULL, sample, scratch,
                          (unsigned char *)s->data[i] + (size_t)row * bytes))
                keep_fault(r, s, row, scratch->jpeg->fault);
        }
    }
    pthread_mutex_lock(&r->lock);
    s->left -= count;
    if (s->left == 0) {
        s->state = STAGING_FULL;
        pthread_cond_broadcast(&r->full);
    }
    return true;
}

// The function of a thread.  It prefers the older buffer.
static inline void *read_batches(void *argument)
{
    BatchReader *r = (BatchReader *)argument;
    pthread_mutex_lock(&r->lock);
    const PixelScratch *scratch = &r->scratch[r->working++];
    while (!r->quit)
        if (!fill_rows(r, &r->staging[r->taken % 2], scratch) &&
            !fill_rows(r, &r->staging[(r->taken + 1) % 2], scratch) && !open_staging(r))
            pthread_cond_wait(&r->work, &r->lock);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

// Allocates the buffers for batches of these columns, and starts the threads.
static inline bool start_reader(BatchReader *r, const DataSet *set, int batch, int threads)
{
    r->batch = batch;
    r->column_count = set->column_count;
    r->threads = (pthread_t *)take_memory((size_t)threads * sizeof *r->threads);
    r->scratch = (PixelScratch *)take_memory((size_t)threads * sizeof *r->scratch);
    for (; r->scratch_count < threads; r->scratch_count++)
        r->scratch[r->scratch_count] =
            take_scratch(set->columns, set->column_count, r->whole_images);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    pthread_cond_init(&r->full, NULL);
    r->started = true;
    for (Staging &s : r->staging) {
        s.data = (void **)take_memory((size_t)set->column_count * sizeof *s.data);
        s.bytes = (size_t *)take_memory((size_t)set->column_count * sizeof *s.bytes);
        cudaError_t error = cudaEventCreateWithFlags(
            &s.copied, cudaEventDisableTiming | cudaEventBlockingSync);
        for (int i = 0; i < set->column_count && error == cudaSuccess; i++)
            error = cudaHostAlloc(&s.data[i], set->columns[i].input->bytes, cudaHostAllocDefault);
        if (error != cudaSuccess)
            return complain("wanted two pinned buffers for batches: %s", cudaGetErrorString(error));
    }
    // The size of a thread's share depends on thread_count, so it is set before the first one runs.
    r->thread_count = threads;
    for (int i = 0; i < threads; i++)
        if (int error = pthread_create(&r->threads[i], NULL, read_batches, r)) {
            r->thread_count = i;
            return complain("a reader thread can't be started: %s", strerror(error));
        }
    return true;
}

// Joins the threads and frees the buffers.
static inline void stop_reader(BatchReader *r)
{
    if (!r->started) return;
    pthread_mutex_lock(&r->lock);
    r->quit = true;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->thread_count; i++) pthread_join(r->threads[i], NULL);
    for (int i = 0; i < r->scratch_count; i++) leave_jpeg_room(r->scratch[i].jpeg);
    for (Staging &s : r->staging) {
        for (int i = 0; i < r->column_count && s.data; i++)
            if (s.data[i]) cudaFreeHost(s.data[i]);
        if (s.copied) cudaEventDestroy(s.copied);
    }
    pthread_cond_destroy(&r->work);
    pthread_cond_destroy(&r->full);
    pthread_mutex_destroy(&r->lock);
    *r = {};
}

// Starts a pass over positions first .. end - 1 of the order.  The previous pass must be over.
static inline void begin_pass(BatchReader *r, const DataSet *set, const long long *order,
                              long long first, long long end, const Augmentation *augmentation)
{
    pthread_mutex_lock(&r->lock);
    r->set = set;
    r->order = order;
    r->next = first;
    r->end = end;
    r->augments = augmentation != NULL;
    if (augmentation) r->augmentation = *augmentation;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
}

// Waits for the next batch of the pass.  Returns NULL at its end, or sets *failed after a complaint
// of the device or of a data file that has lost bytes.
static inline Staging *take_batch(BatchReader *r, bool *failed)
{
    pthread_mutex_lock(&r->lock);
    Staging *s = &r->staging[r->taken % 2];
    bool none = r->next >= r->end && s->state == STAGING_FREE;
    while (!none && s->state != STAGING_FULL) pthread_cond_wait(&r->full, &r->lock);
    if (!none) s->state = STAGING_TAKEN;
    *failed = r->error != cudaSuccess;
    pthread_mutex_unlock(&r->lock);
    if (*failed) complain("waiting for the device: %s", cudaGetErrorString(r->error));
    // A file that lost bytes may have damaged samples too.
    else *failed = !none && (!files_are_whole() ||
                             (s->faulty < s->samples && !complain("%s", s->fault)));
    if (none || *failed) return NULL;
    for (int i = 0; i < r->column_count; i++) {
        const DataColumn *c = &r->set->columns[i];
        s->bytes[i] = c->parts ? c->input->bytes / (size_t)r->batch * (size_t)s->samples : 0;
    }
    return s;
}

// Returns a batch to the reader after all calls that read it were made on this stream.  The reader
// waits for the device.
static inline bool give_batch(BatchReader *r, Staging *s, cudaStream_t stream)
{
    cudaError_t error = cudaEventRecord(s->copied, stream);
    pthread_mutex_lock(&r->lock);
    s->recorded = true;
    s->state = STAGING_FREE;
    r->taken++;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    return error == cudaSuccess ||
           complain("a batch can't be given back: %s", cudaGetErrorString(error));
}
