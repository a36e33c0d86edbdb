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

Memory &memory = lasting<Memory>();

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

// Fresh memory between its guards, or null.
void *map(size_t bytes, RangeKind kind)
{
    std::lock_guard<std::mutex> hold(memory.lock);
    size_t free = total_memory() - memory.used;
    if (bytes > free || mapped(bytes) > free) return nullptr;
    void *guard = mmap(nullptr, mapped(bytes) + 2 * page(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard == MAP_FAILED) return nullptr;
    void *start = (char *)guard + page();
    if (mprotect(start, mapped(bytes), PROT_READ | PROT_WRITE)) {
        munmap(guard, mapped(bytes) + 2 * page());
        return nullptr;
    }
    memset(start, FILL, mapped(bytes));
    memory.ranges[(uintptr_t)start] = {bytes, kind};
    memory.used += mapped(bytes);
    if (kind == ALLOCATED) guard_memory(start, mapped(bytes), false);
    return start;
}

cudaError_t allocate(void **pointer, size_t bytes, RangeKind kind,
                     const char *call)
{
    if (cudaError_t error = finish(cudaSuccess)) return error;
    if (!pointer) return finish(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (cudaError_t error = check_capture()) return error;
    if (bytes == 0) return cudaSuccess;
    take_resource(call);
    *pointer = map(bytes, kind);
    if (*pointer) return cudaSuccess;
    give_resource();
    return finish(cudaErrorMemoryAllocation);
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
    if (cudaError_t error = check_capture()) return error;
    if (cudaError_t error = finish_streams()) return error;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = memory.ranges.find((uintptr_t)pointer);
    if (range == memory.ranges.end() || range->second.kind != kind)
        return finish(cudaErrorInvalidValue);
    forget_arenas(pointer, range->second.bytes);
    unmap(range->first, range->second.bytes);
    memory.ranges.erase(range);
    give_resource();
    return cudaSuccess;
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

bool find_guarded(uintptr_t at, size_t *offset, size_t *bytes)
{
    if (!memory.lock.try_lock()) return false;
    auto range = range_at(at);
    bool found = range != memory.ranges.end() &&
                 range->second.kind == ALLOCATED;
    if (found) {
        *offset = at - range->first;
        *bytes = range->second.bytes;
    }
    memory.lock.unlock();
    return found;
}

void open_device_memory(bool open)
{
    if (!is_deferring() || !guard_turns(open)) return;
    std::lock_guard<std::mutex> hold(memory.lock);
    for (auto &range : memory.ranges)
        if (range.second.kind == ALLOCATED)
            guard_memory((void *)range.first, mapped(range.second.bytes), open);
}

void add_device_memory(const void *pointer, size_t bytes)
{
    if (is_device_memory(pointer, bytes, true)) return;
    std::lock_guard<std::mutex> hold(memory.lock);
    memory.ranges[(uintptr_t)pointer] = {bytes, SYMBOL};
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    Call call("cudaMalloc");
    if (call.error) return call.error;
    return allocate(pointer, bytes, ALLOCATED, "cudaMalloc");
}

cudaError_t cudaFree(void *pointer)
{
    Call call("cudaFree");
    if (call.error) return call.error;
    return release(pointer, ALLOCATED);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    Call call("cudaMallocHost");
    if (call.error) return call.error;
    return allocate(pointer, bytes, PINNED, "cudaMallocHost");
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned)
{
    Call call("cudaHostAlloc");
    if (call.error) return call.error;
    return allocate(pointer, bytes, PINNED, "cudaHostAlloc");
}

cudaError_t cudaFreeHost(void *pointer)
{
    Call call("cudaFreeHost");
    if (call.error) return call.error;
    return release(pointer, PINNED);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    Call call("cudaMemGetInfo");
    if (call.error) return call.error;
    if (!free || !total) return finish(cudaErrorInvalidValue);
    std::lock_guard<std::mutex> hold(memory.lock);
    *total = total_memory();
    *free = *total - memory.used;
    return finish(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                     const void *pointer)
{
    Call call("cudaPointerGetAttributes");
    if (call.error) return call.error;
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
    Call call("cudaGetSymbolAddress");
    if (call.error) return call.error;
    if (!pointer) return finish(cudaErrorInvalidValue);
    add_device_memory(symbol, bytes);
    *pointer = const_cast<void *>(symbol);
    return finish(cudaSuccess);
}

cudaError_t cudaDeviceReset(void)
{
    Call call("cudaDeviceReset");
    if (call.error) return call.error;
    forget_streams();
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
            give_resource();
        }
    }
    forget_errors();
    return cudaSuccess;
}
