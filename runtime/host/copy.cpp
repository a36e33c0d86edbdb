// Copies and fills.  The call checks their addresses; the copy happens when its
// stream reaches it.
//
// The device does not access pageable memory, as on a GPU.  A copy from it
// takes the bytes during the call, and a copy to it waits for the stream.
// Pinned memory is accessed when the stream reaches the copy, so the program
// must not touch it before.
#include <string.h>
#include <vector>
#include "host.h"

namespace {

// True if a copy may use these bytes as device memory, or as host memory.
bool is_side(const void *pointer, size_t bytes, bool device)
{
    return device ? is_device_memory(pointer, bytes, true)
                  : is_host_memory(pointer, bytes);
}

bool is_any(const void *pointer, size_t bytes)
{
    return is_side(pointer, bytes, true) || is_side(pointer, bytes, false);
}

#ifdef HOST_ASAN
// Makes AddressSanitizer report the first byte that it forbids, by reading it.
void check_host(const void *at, size_t bytes)
{
    if (is_trapped(at)) return;
    if (void *bad = __asan_region_is_poisoned(const_cast<void *>(at), bytes))
        (void)*(volatile char *)bad;
}
#else
void check_host(const void *, size_t) {}
#endif

// True, with a report, if the memory was freed after a graph captured the call.
bool is_gone(const void *pointer, size_t bytes)
{
    if (!touches_freed_memory(pointer, bytes)) return false;
    report("a copy or memset of %zu bytes at %p, in memory that was freed",
           bytes, pointer);
    return true;
}

// Copies the bytes, when the stream reaches the copy.
cudaError_t copy_bytes(void *to, const void *from, size_t bytes)
{
    if (is_gone(to, bytes) || is_gone(from, bytes))
        return cudaErrorIllegalAddress;
    if (!may_copy(to, bytes) || !may_copy(from, bytes))
        return cudaErrorInvalidValue;
    if (!is_trapped(to) && !is_trapped(from)) {
        memmove(to, from, bytes);
        return cudaSuccess;
    }
    check_host(to, bytes);
    check_host(from, bytes);
    raw_copy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t fill_bytes(void *pointer, int value, size_t bytes)
{
    if (is_gone(pointer, bytes)) return cudaErrorIllegalAddress;
    if (!may_copy(pointer, bytes)) return cudaErrorInvalidValue;
    if (is_trapped(pointer)) raw_fill(pointer, value, bytes);
    else memset(pointer, value, bytes);
    return cudaSuccess;
}

cudaError_t check_copy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (bytes == 0) return cudaSuccess;
    if (!to || !from) return cudaErrorInvalidValue;
    bool sound = kind == cudaMemcpyDefault
                     ? is_any(to, bytes) && is_any(from, bytes)
                     : is_side(to, bytes, kind & cudaMemcpyHostToDevice) &&
                           is_side(from, bytes, kind & cudaMemcpyDeviceToHost);
    if (sound) return cudaSuccess;
    report("a copy of %zu bytes to %p from %p %s", bytes, to, from,
           touches_freed_memory(to, bytes)     ? "writes memory that was freed"
           : touches_freed_memory(from, bytes) ? "reads memory that was freed"
               : "does not fit its direction or the memory there");
    return cudaErrorInvalidValue;
}

// Gives the copy to a stream; pageable source memory is read during this call.
cudaError_t give_copy(void *to, const void *from, size_t bytes,
                      cudaStream_t stream)
{
    auto move = [=] { return copy_bytes(to, from, bytes); };
    if (works_at_once(stream)) return move();
    bool pageable_to = !is_device_memory(to, 1, true);
    bool pageable_from = !is_device_memory(from, 1, true);
    if ((pageable_to || pageable_from) && spoil_capture(stream)) {
        report("a copy of %zu bytes to %p from %p is captured: host memory "
               "must be pinned then", bytes, to, from);
        return cudaErrorStreamCaptureUnsupported;
    }
    if (pageable_to) {
        cudaError_t error = give_work(stream, move);
        return error ? error : finish_stream(stream);
    }
    if (!pageable_from) return give_work(stream, move);
    const char *bytes_from = static_cast<const char *>(from);
    auto kept = std::make_shared<const std::vector<char>>(bytes_from,
                                                          bytes_from + bytes);
    return give_work(stream,
                     [=] { return copy_bytes(to, kept->data(), bytes); });
}

cudaError_t give_fill(void *pointer, int value, size_t bytes,
                      cudaStream_t stream)
{
    if (cudaError_t error = finish(cudaSuccess)) return error;
    if (bytes == 0) return cudaSuccess;
    if (!pointer || !is_device_memory(pointer, bytes, true)) {
        report("a memset of %zu bytes at %p: %s", bytes, pointer,
               touches_freed_memory(pointer, bytes) ? "memory that was freed"
                                                    : "no device memory");
        return finish(cudaErrorInvalidValue);
    }
    return finish(give_work(
        stream, [=] { return fill_bytes(pointer, value, bytes); }));
}

}

// Waits if host memory takes part, pinned or not.
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind)
{
    Call call("cudaMemcpy");
    if (call.error) return call.error;
    if (cudaError_t error = finish(cudaSuccess)) return error;
    cudaError_t error = check_copy(to, from, bytes, kind);
    if (error || bytes == 0) return finish(error);
    error = check_capture();
    if (!error) error = give_copy(to, from, bytes, nullptr);
    if (error) return finish(error);
    bool waits = !is_device_memory(to, 1, false) ||
                 !is_device_memory(from, 1, false);
    return waits ? finish_stream(nullptr) : finish(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream)
{
    Call call("cudaMemcpyAsync");
    if (call.error) return call.error;
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = finish(cudaSuccess)) return error;
    cudaError_t error = check_copy(to, from, bytes, kind);
    if (!error && bytes) error = give_copy(to, from, bytes, stream);
    return finish(error);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    Call call("cudaMemset");
    if (call.error) return call.error;
    return give_fill(pointer, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                            cudaStream_t stream)
{
    Call call("cudaMemsetAsync");
    if (call.error) return call.error;
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    return give_fill(pointer, value, bytes, stream);
}
