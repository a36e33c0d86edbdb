// Device memory: host memory that the runtime keeps a list of, so that it can
// tell whether an address is the device's.  Every allocation lies between two
// pages that trap, and starts out as bytes 0xff, which is NaN at every
// precision: what reads it before it is written shows.
#include <map>
#include <mutex>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "host.h"

namespace {

// A symbol belongs to the program, not to us: it is never freed.
enum RangeKind { ALLOCATED, PINNED, SYMBOL };

struct Range {
    size_t    bytes;
    RangeKind kind;
};

struct Memory {
    std::mutex                 lock;
    std::map<uintptr_t, Range> ranges; // by where they start
    size_t                     used = 0;
};

Memory memory;

size_t page()
{
    static const size_t bytes = (size_t)getpagesize();
    return bytes;
}

size_t total_memory()
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * page();
}

size_t mapped(size_t bytes)
{
    return (bytes + page() - 1) / page() * page();
}

// The range that holds the address, or the end of the list.
std::map<uintptr_t, Range>::iterator range_at(uintptr_t at)
{
    auto next = memory.ranges.upper_bound(at);
    if (next == memory.ranges.begin()) return memory.ranges.end();
    --next;
    return at < next->first + next->second.bytes ? next : memory.ranges.end();
}

cudaError_t allocate(void **pointer, size_t bytes, RangeKind kind)
{
    if (cudaError_t error = finish(cudaSuccess)) return error;
    if (!pointer) return finish(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    std::lock_guard<std::mutex> hold(memory.lock);
    size_t free = total_memory() - memory.used;
    if (bytes > free || mapped(bytes) > free)
        return finish(cudaErrorMemoryAllocation);
    void *guard = mmap(nullptr, mapped(bytes) + 2 * page(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard == MAP_FAILED) return finish(cudaErrorMemoryAllocation);
    void *start = (char *)guard + page();
    if (mprotect(start, mapped(bytes), PROT_READ | PROT_WRITE)) {
        munmap(guard, mapped(bytes) + 2 * page());
        return finish(cudaErrorMemoryAllocation);
    }
    memset(start, FILL, mapped(bytes));
    memory.ranges[(uintptr_t)start] = {bytes, kind};
    memory.used += mapped(bytes);
    *pointer = start;
    return cudaSuccess;
}

void unmap(uintptr_t start, size_t bytes)
{
    munmap((void *)(start - page()), mapped(bytes) + 2 * page());
    memory.used -= mapped(bytes);
}

cudaError_t release(void *pointer, RangeKind kind)
{
    if (cudaError_t error = finish(cudaSuccess)) return error;
    if (!pointer) return cudaSuccess;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = memory.ranges.find((uintptr_t)pointer);
    if (range == memory.ranges.end() || range->second.kind != kind)
        return finish(cudaErrorInvalidValue);
    forget_arenas(pointer, range->second.bytes);
    unmap(range->first, range->second.bytes);
    memory.ranges.erase(range);
    return cudaSuccess;
}

// Whether a copy may take these bytes for the device's, or for the host's.
bool is_side(const void *pointer, size_t bytes, bool device)
{
    return device ? is_device_memory(pointer, bytes, true)
                  : !touches_device_memory(pointer, bytes);
}

#ifdef HOST_ASAN
// Reads the first byte of the host's that AddressSanitizer forbids: it reports.
void check_host(const void *at, size_t bytes)
{
    if (is_trapped(at)) return;
    if (void *bad = __asan_region_is_poisoned(const_cast<void *>(at), bytes))
        (void)*(volatile char *)bad;
}
#else
void check_host(const void *, size_t) {}
#endif

void copy_bytes(void *to, const void *from, size_t bytes)
{
    if (!is_trapped(to) && !is_trapped(from)) {
        memmove(to, from, bytes);
        return;
    }
    check_host(to, bytes);
    check_host(from, bytes);
    raw_copy(to, from, bytes);
}

bool is_any(const void *pointer, size_t bytes)
{
    return is_side(pointer, bytes, true) || is_side(pointer, bytes, false);
}

}

bool is_device_memory(const volatile void *pointer, size_t bytes, bool pinned)
{
    uintptr_t at = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = range_at(at);
    return range != memory.ranges.end() &&
           (pinned || range->second.kind != PINNED) &&
           bytes <= range->second.bytes - (at - range->first);
}

bool touches_device_memory(const void *pointer, size_t bytes)
{
    uintptr_t at = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = range_at(at);
    if (range == memory.ranges.end()) range = memory.ranges.lower_bound(at);
    return range != memory.ranges.end() && range->second.kind != PINNED &&
           range->first < at + bytes;
}

void add_device_memory(const void *pointer, size_t bytes)
{
    if (is_device_memory(pointer, bytes, true)) return;
    std::lock_guard<std::mutex> hold(memory.lock);
    memory.ranges[(uintptr_t)pointer] = {bytes, SYMBOL};
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, ALLOCATED);
}

cudaError_t cudaFree(void *pointer)
{
    return release(pointer, ALLOCATED);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, PINNED);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned)
{
    return allocate(pointer, bytes, PINNED);
}

cudaError_t cudaFreeHost(void *pointer)
{
    return release(pointer, PINNED);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    if (!free || !total) return finish(cudaErrorInvalidValue);
    std::lock_guard<std::mutex> hold(memory.lock);
    *total = total_memory();
    *free = *total - memory.used;
    return finish(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind)
{
    if (cudaError_t error = finish(cudaSuccess)) return error;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return finish(cudaErrorInvalidMemcpyDirection);
    if (bytes == 0) return cudaSuccess;
    if (!to || !from) return finish(cudaErrorInvalidValue);
    bool sound = kind == cudaMemcpyDefault
                     ? is_any(to, bytes) && is_any(from, bytes)
                     : is_side(to, bytes, kind & cudaMemcpyHostToDevice) &&
                           is_side(from, bytes, kind & cudaMemcpyDeviceToHost);
    if (!sound) {
        report("a copy of %zu bytes to %p from %p does not fit its direction "
               "or the memory there", bytes, to, from);
        return finish(cudaErrorInvalidValue);
    }
    if (!may_copy(to) || !may_copy(from)) return finish(cudaErrorInvalidValue);
    copy_bytes(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    if (cudaError_t error = finish(cudaSuccess)) return error;
    if (bytes == 0) return cudaSuccess;
    if (!pointer || !is_device_memory(pointer, bytes, true)) {
        report("a memset of %zu bytes at %p: no device memory", bytes, pointer);
        return finish(cudaErrorInvalidValue);
    }
    if (!may_copy(pointer)) return finish(cudaErrorInvalidValue);
    if (is_trapped(pointer)) raw_fill(pointer, value, bytes);
    else memset(pointer, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                            cudaStream_t stream)
{
    if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
    return cudaMemset(pointer, value, bytes);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                     const void *pointer)
{
    if (!attributes) return finish(cudaErrorInvalidValue);
    bool device = is_device_memory(pointer, 1, false);
    bool pinned = !device && is_device_memory(pointer, 1, true);
    void *address = const_cast<void *>(pointer);
    *attributes = {device   ? cudaMemoryTypeDevice
                   : pinned ? cudaMemoryTypeHost
                            : cudaMemoryTypeUnregistered,
                   0, device || pinned ? address : nullptr,
                   device ? nullptr : address};
    return finish(cudaSuccess);
}

cudaError_t cuda_host_symbol(void **pointer, const void *symbol, size_t bytes)
{
    if (!pointer) return finish(cudaErrorInvalidValue);
    add_device_memory(symbol, bytes);
    *pointer = const_cast<void *>(symbol);
    return finish(cudaSuccess);
}

cudaError_t cudaDeviceReset(void)
{
    {
        std::lock_guard<std::mutex> hold(memory.lock);
        auto range = memory.ranges.begin();
        while (range != memory.ranges.end()) {
            if (range->second.kind == SYMBOL) {
                ++range;
                continue;
            }
            forget_arenas((void *)range->first, range->second.bytes);
            unmap(range->first, range->second.bytes);
            range = memory.ranges.erase(range);
        }
    }
    forget_errors();
    return cudaSuccess;
}
