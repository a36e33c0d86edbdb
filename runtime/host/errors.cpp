// Errors as in CUDA.  Each host thread remembers its latest error until
// cudaGetLastError.  An error that ruins the device, such as a failed launch,
// belongs to the program: every later call returns it, until cudaDeviceReset.
#include <atomic>
#include <mutex>
#include <set>
#include <stdarg.h>
#include <stdio.h>
#include <string>
#include "host.h"

static std::atomic<cudaError_t> sticky(cudaSuccess);
static thread_local cudaError_t last = cudaSuccess;
static std::mutex report_lock;
static char last_report[1024];

bool is_sticky(cudaError_t error)
{
    return error == cudaErrorLaunchFailure || error == cudaErrorIllegalAddress;
}

cudaError_t fail(cudaError_t error)
{
    if (is_sticky(error)) {
        cudaError_t none = cudaSuccess;
        sticky.compare_exchange_strong(none, error);
    }
    return last = error;
}

cudaError_t finish(cudaError_t error)
{
    if (sticky) return sticky;
    return error ? fail(error) : cudaSuccess;
}

void forget_errors()
{
    sticky = last = cudaSuccess;
    std::lock_guard<std::mutex> hold(report_lock);
    last_report[0] = 0;
}

cudaError_t cudaGetLastError(void)
{
    if (sticky) return sticky;
    cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return sticky ? sticky.load() : last;
}

const char *cudaGetErrorName(cudaError_t error)
{
#define NAME(name, number, text) if (error == name) return #name;
    CUDA_HOST_ERRORS(NAME)
#undef NAME
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
#define TEXT(name, number, text) if (error == name) return text;
    CUDA_HOST_ERRORS(TEXT)
#undef TEXT
    return "unrecognized error code";
}

void report(const char *format, ...)
{
    std::lock_guard<std::mutex> hold(report_lock);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_report, sizeof last_report, format, arguments);
    va_end(arguments);
    fprintf(stderr, "host: %s\n", last_report);
}

const char *cuda_host_report(void)
{
    return last_report;
}

bool is_first_mention(const char *kernel)
{
    static auto &mentioned = lasting<std::set<std::string>>();
    std::lock_guard<std::mutex> hold(report_lock);
    return mentioned.insert(kernel).second;
}
