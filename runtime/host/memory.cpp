// Device memory: host memory on a list of the runtime, which tells whether an
// address belongs to the device.  Every allocation has a guard page on either
// side and starts as bytes 0xff, which is NaN at every precision.  So a read
// before the first write is noticed.
//
// Freed memory is a guard too, and its addresses are not used for a while, so
// that the runtime recognizes a pointer into it.
#include <deque>
#include <map>
#include <mutex>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>
#include "host.h"

namespace {

// A symbol belongs to the program and is never freed.
enum RangeKind { ALLOCATED, PINNED, SYMBOL, FREED };

// The limits of freed ranges that are kept: their number, and bytes of
// addresses.
constexpr size_t MOST_FREED = 1024, MOST_FREED_BYTES = (size_t)1 << 36;

struct Range {
    size_t    bytes;
    RangeKind kind;
};

struct Memory {
    std::mutex                 lock;
    std::map<uintptr_t, Range> ranges; // by start address
    std::deque<uintptr_t>      freed;  // start addresses, oldest first
    size_t                     used = 0, freed_bytes = 0;
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

// Returns the range that holds the address, or the end of the list.
std::map<uintptr_t, Range>::iterator range_at(uintptr_t at)
{
    auto next = memory.ranges.upper_bound(at);
    if (next == memory.ranges.begin()) return memory.ranges.end();
    --next;
    return at < next->first + next->second.bytes ? next : memory.ranges.end();
}

// Returns the addresses of the ranges freed longest ago to the system.
void forget_freed(size_t most, size_t most_bytes)
{
    while (memory.freed.size() > most || memory.freed_bytes > most_bytes) {
        auto range = memory.ranges.find(memory.freed.front());
        size_t bytes = mapped(range->second.bytes) + 2 * page();
        munmap((void *)(range->first - page()), bytes);
        memory.freed_bytes -= bytes;
        memory.ranges.erase(range);
        memory.freed.pop_front();
    }
}

// Returns a range's memory to the system and makes its addresses inaccessible.
void free_range(std::map<uintptr_t, Range>::iterator range)
{
    size_t bytes = mapped(range->second.bytes);
    void *trap = mmap((void *)range->first, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                      -1, 0);
    if (trap == MAP_FAILED) perror("the host runtime: freeing memory"), abort();
    memory.used -= bytes;
    range->second.kind = FREED;
    memory.freed.push_back(range->first);
    memory.freed_bytes += bytes + 2 * page();
    forget_freed(MOST_FREED, MOST_FREED_BYTES);
}

// Returns fresh memory between its guards, or null.
void *map(size_t bytes, RangeKind kind)
{
    std::lock_guard<std::mutex> hold(memory.lock);
    size_t free = total_memory() - memory.used;
    if (bytes > free || mapped(bytes) > free) return nullptr;
    void *guard = MAP_FAILED;
    for (int i = 0; i < 2 && guard == MAP_FAILED; i++) {
        if (i > 0) forget_freed(0, 0); // they may occupy the addresses
        guard = mmap(nullptr, mapped(bytes) + 2 * page(), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
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
    free_range(range);
    give_resource();
    return cudaSuccess;
}

}

bool is_device_memory(const volatile void *pointer, size_t bytes, bool pinned)
{
    uintptr_t at = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = range_at(at);
    return range != memory.ranges.end() && range->second.kind != FREED &&
           (pinned || range->second.kind != PINNED) &&
           bytes <= range->second.bytes - (at - range->first);
}

bool find_device_range(uintptr_t at, size_t bytes, DeviceRange *found)
{
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = range_at(at);
    if (range == memory.ranges.end() || range->second.kind == FREED ||
        bytes > range->second.bytes - (at - range->first))
        return false;
    *found = {range->first, range->first + range->second.bytes};
    return true;
}

std::vector<DeviceRange> device_ranges()
{
    std::lock_guard<std::mutex> hold(memory.lock);
    std::vector<DeviceRange> list;
    for (const auto &range : memory.ranges)
        if (range.second.kind == ALLOCATED || range.second.kind == SYMBOL)
            list.push_back({range.first, range.first + range.second.bytes});
    return list;
}

bool is_host_memory(const void *pointer, size_t bytes)
{
    uintptr_t at = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = range_at(at);
    if (range != memory.ranges.end())
        return range->second.kind == PINNED &&
               bytes <= range->second.bytes - (at - range->first);
    range = memory.ranges.lower_bound(at);
    return range == memory.ranges.end() || range->first - at >= bytes;
}

bool touches_freed_memory(const void *pointer, size_t bytes)
{
    uintptr_t at = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(memory.lock);
    auto range = range_at(at);
    if (range == memory.ranges.end()) range = memory.ranges.lower_bound(at);
    for (; range != memory.ranges.end(); ++range) {
        if (range->first > at && range->first - at >= bytes) return false;
        if (range->second.kind == FREED) return true;
    }
    return false;
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
                   device ? nullptr : address, {}};
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
        std::vector<std::map<uintptr_t, Range>::iterator> live;
        for (auto range = memory.ranges.begin(); range != memory.ranges.end();
             ++range)
            if (range->second.kind == ALLOCATED || range->second.kind == PINNED)
                live.push_back(range);
        for (auto range : live) {
            forget_arenas((void *)range->first, range->second.bytes);
            free_range(range); // may erase other ranges, but none of these
            give_resource();
        }
    }
    forget_errors();
    return cudaSuccess;
}
