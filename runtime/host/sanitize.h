// Annotations for AddressSanitizer and ThreadSanitizer.  They are empty in
// builds without them.
//
// ThreadSanitizer knows the threads of a block as fibers.  It must see their
// accesses, but not those of the scheduler, since all fibers access the same
// few words there.  So code that runs between two fibers is marked UNSEEN.
#ifndef CNNC_HOST_SANITIZE_H
#define CNNC_HOST_SANITIZE_H

#include <stddef.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define HOST_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HOST_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define HOST_TSAN 1
#endif

#ifdef HOST_TSAN
#include <sanitizer/tsan_interface.h>
#ifdef __clang__
#define UNSEEN __attribute__((disable_sanitizer_instrumentation))
#else
#define UNSEEN __attribute__((no_sanitize("thread")))
#endif
enum { SEES_RACES = 1 };
UNSEEN static inline void *race_self() { return __tsan_get_current_fiber(); }
UNSEEN static inline void *race_create() { return __tsan_create_fiber(0); }
UNSEEN static inline void race_destroy(void *fiber)
{
    __tsan_destroy_fiber(fiber);
}
// Switches without synchronization: the switch orders no accesses.
UNSEEN static inline void race_switch(void *fiber)
{
    __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
// Accesses before a release happen before those after a later acquire.
UNSEEN static inline void race_release(void *at) { __tsan_release(at); }
UNSEEN static inline void race_acquire(void *at) { __tsan_acquire(at); }
#else
#define UNSEEN
enum { SEES_RACES = 0 };
static inline void *race_self() { return nullptr; }
static inline void *race_create() { return nullptr; }
static inline void race_destroy(void *) {}
static inline void race_switch(void *) {}
static inline void race_release(void *) {}
static inline void race_acquire(void *) {}
#endif

// trap() poisons memory and untrap() unpoisons it, up to the exact end of a
// region.  The raw_ functions access poisoned memory without a report.
#ifdef HOST_ASAN
#include <sanitizer/asan_interface.h>
enum { TRAPS = 1 };
static inline void trap(const void *at, size_t bytes)
{
    __asan_poison_memory_region(at, bytes);
}
static inline void untrap(const void *at, size_t bytes)
{
    __asan_unpoison_memory_region(at, bytes);
}
__attribute__((no_sanitize("address"))) static inline void
raw_fill(void *to, int value, size_t bytes)
{
    volatile unsigned char *byte = (volatile unsigned char *)to;
    volatile size_t *word = (volatile size_t *)to;
    size_t words = (size_t)to % sizeof *word ? 0 : bytes / sizeof *word;
    size_t pattern = ~(size_t)0 / 255 * (unsigned char)value;
    for (size_t i = 0; i < words; i++) word[i] = pattern;
    for (size_t i = words * sizeof *word; i < bytes; i++)
        byte[i] = (unsigned char)value;
}
__attribute__((no_sanitize("address"))) static inline void
raw_copy(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *byte = (volatile unsigned char *)to;
    volatile size_t *word = (volatile size_t *)to;
    bool aligned = ((size_t)to | (size_t)from) % sizeof *word == 0;
    size_t words = aligned ? bytes / sizeof *word : 0;
    for (size_t i = 0; i < words; i++) word[i] = ((const size_t *)from)[i];
    for (size_t i = words * sizeof *word; i < bytes; i++)
        byte[i] = ((const unsigned char *)from)[i];
}
#else
enum { TRAPS = 0 };
static inline void trap(const void *, size_t) {}
static inline void untrap(const void *, size_t) {}
static inline void raw_fill(void *to, int value, size_t bytes)
{
    memset(to, value, bytes);
}
static inline void raw_copy(void *to, const void *from, size_t bytes)
{
    memmove(to, from, bytes);
}
#endif

#endif
