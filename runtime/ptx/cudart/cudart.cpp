// CUDA's runtime library for programs that nvcc has compiled and linked.  Calls
// are those of runtime/host; kernels are the PTX of the program's fatbinary.
//
// Here are only the calls that runtime/host lacks: those by which nvcc's host
// code registers and launches kernels, and those about device variables.
#include <map>
#include <mutex>
#include <stdexcept>

#include "../../host/host.h"
#include "../decode.h"
#include "../host_launch.h"
#include "fatbinary.h"

namespace {

// The device code of one file that nvcc has compiled.
struct Program {
    const void *fatbinary;
    std::unique_ptr<ptx::Module> module;    // from its first use on
    std::string failure;                    // why there is none
};

struct Variable {
    Program    *program;
    std::string name;
    size_t      bytes;
};

// The first part of a launch's arguments.  The bytes of the parameters follow,
// as the kernel places them.
struct alignas(16) Head {
    const ptx::Kernel *kernel;
};

}

// A kernel of the program.  CUDA's cudaKernel_t points to it.
struct CUkern_st {
    Program           *program;
    std::string        symbol, name;        // mangled; as people write it
    const ptx::Kernel *kernel;              // null: not yet launched
};
typedef CUkern_st *cudaKernel_t;

namespace {

struct Registry {
    std::mutex lock;
    std::vector<std::unique_ptr<Program>> programs;
    std::map<const void *, CUkern_st> kernels;      // by the host's function
    std::map<const void *, Variable> variables;     // by the host's variable
};

Registry &registry()
{
    static Registry &all = lasting<Registry>();
    return all;
}

// A launch's configuration, between <<<...>>> and the kernel's stub.
struct Configuration {
    dim3         grid, block;
    size_t       shared;
    cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

// Returns the program's module, or null after a report.  The caller holds the
// registry's lock.
ptx::Module *module_of(Program &program)
{
    if (program.module) return program.module.get();
    try {
        if (program.failure.empty())
            program.module = std::make_unique<ptx::Module>(ptx::parse(
                ptx::ptx_of_fatbinary(program.fatbinary), "the fatbinary"));
    } catch (const std::exception &error) {
        program.failure = error.what();
        report("%s", program.failure.c_str());
    }
    return program.module.get();
}

// Finds the code of a kernel that is launched for the first time.
cudaError_t load(CUkern_st &kernel)
{
    Inside inside;
    std::lock_guard<std::mutex> hold(registry().lock);
    if (kernel.kernel) return cudaSuccess;
    ptx::Module *module = module_of(*kernel.program);
    if (!module) return cudaErrorNoKernelImageForDevice;
    try {
        kernel.kernel = &module->kernel(kernel.symbol);
    } catch (const std::exception &error) {
        report("kernel %s: the program's PTX, %s", kernel.name.c_str(),
               error.what());
        return cudaErrorNoKernelImageForDevice;
    }
    ptx::add_kernel(kernel.symbol.c_str(), *kernel.kernel, *module);
    return cudaSuccess;
}

// Reports a launch that the interpreter does not support.
cudaError_t check_support(const CUkern_st &kernel, size_t shared)
{
    size_t bytes = kernel.kernel->parameter_bytes;
    if (shared == 0 && bytes <= MAX_PARAMETER_BYTES) return cudaSuccess;
    if (shared > 0)
        report("kernel %s: %zu bytes of dynamic shared memory are not "
               "supported", kernel.name.c_str(), shared);
    else
        report("kernel %s: its %zu bytes of parameters are more than %zu",
               kernel.name.c_str(), bytes, MAX_PARAMETER_BYTES);
    return cudaErrorNotSupported;
}

// The function of a HostLaunch that finds each argument.
int find_arguments(const void *arguments, const void **each)
{
    const Head &head = *static_cast<const Head *>(arguments);
    int count = 0;
    for (const ptx::Kernel::Parameter &p : head.kernel->parameters)
        each[count++] = (const char *)arguments + sizeof head + p.offset;
    return count;
}

cudaError_t launch(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                   size_t shared, cudaStream_t stream)
{
    if (!kernel) return fail(cudaErrorInvalidDeviceFunction);
    if (cudaError_t error = load(*kernel)) return fail(error);
    if (cudaError_t error = check_support(*kernel, shared)) return fail(error);
    const ptx::Kernel &code = *kernel->kernel;
    struct {
        Head          head;
        unsigned char bytes[MAX_PARAMETER_BYTES];
    } all;
    all.head.kernel = &code;
    for (size_t i = 0; i < code.parameters.size(); i++)
        memcpy(all.bytes + code.parameters[i].offset, arguments[i],
               code.parameters[i].bytes);
    return host_launch({-1, kernel->name.c_str(), grid, block, stream, nullptr,
                        &all, nullptr, 0,
                        sizeof all.head + code.parameter_bytes,
                        kernel->symbol.c_str(), find_arguments});
}

// Returns a device variable's address, which counts as device memory from now
// on, and its size.
cudaError_t find_variable(const void *symbol, void **at, size_t *bytes)
{
    Inside inside;
    {
        std::lock_guard<std::mutex> hold(registry().lock);
        auto found = registry().variables.find(symbol);
        if (found == registry().variables.end())
            return cudaErrorInvalidSymbol;
        const Variable &v = found->second;
        const ptx::Module *module = module_of(*v.program);
        if (!module) return cudaErrorNoKernelImageForDevice;
        *at = module->variable(v.name, bytes);
        if (!*at || *bytes != v.bytes) {
            report("variable %s: the program's PTX %s", v.name.c_str(),
                   *at ? "has another size" : "has none");
            return cudaErrorInvalidSymbol;
        }
    }
    return cuda_host_symbol(at, *at, *bytes);
}

// The calls that copy to a variable or from it check its bounds here.
cudaError_t find_part(const void *symbol, size_t bytes, size_t offset,
                      char **part)
{
    void *at = nullptr;
    size_t size = 0;
    if (cudaError_t error = find_variable(symbol, &at, &size)) return error;
    if (offset > size || bytes > size - offset) {
        report("a copy of %zu bytes at byte %zu of a variable of %zu", bytes,
               offset, size);
        return cudaErrorInvalidValue;
    }
    *part = static_cast<char *>(at) + offset;
    return cudaSuccess;
}

}

extern "C" {

// ---- calls of nvcc's host code before main ---------------------------------

void **__cudaRegisterFatBinary(void *wrapper)
{
    Inside inside;
    Registry &r = registry();
    std::lock_guard<std::mutex> hold(r.lock);
    r.programs.emplace_back(new Program{wrapper, nullptr, ""});
    return (void **)r.programs.back().get();
}

void __cudaRegisterFatBinaryEnd(void **) {}

// The registry stays: tables of launches are written after this call.
void __cudaUnregisterFatBinary(void **) {}

// Managed variables would need it.
char __cudaInitModule(void **)
{
    return 0;
}

void __cudaRegisterFunction(void **program, const char *function, char *,
                            const char *symbol, int, uint3 *, uint3 *, dim3 *,
                            dim3 *, int *)
{
    Inside inside;
    std::lock_guard<std::mutex> hold(registry().lock);
    registry().kernels[function] = {(Program *)program, symbol,
                                    ptx::plain_name(symbol), nullptr};
}

void __cudaRegisterVar(void **program, char *variable, char *, const char *name,
                       int, size_t bytes, int, int)
{
    Inside inside;
    std::lock_guard<std::mutex> hold(registry().lock);
    registry().variables[variable] = {(Program *)program, name, bytes};
}

// ---- launches --------------------------------------------------------------

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     cudaStream_t stream)
{
    Inside inside;
    configurations.push_back({grid, block, shared, stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       cudaStream_t *stream)
{
    Inside inside;
    if (configurations.empty()) return fail(cudaErrorInvalidConfiguration);
    const Configuration &last = configurations.back();
    *grid = last.grid;
    *block = last.block;
    *shared = last.shared;
    *stream = last.stream;
    configurations.pop_back();
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    std::lock_guard<std::mutex> hold(registry().lock);
    auto found = registry().kernels.find(function);
    if (found == registry().kernels.end())
        return fail(cudaErrorInvalidDeviceFunction);
    *kernel = &found->second;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void **arguments, size_t shared,
                               cudaStream_t stream)
{
    return launch(kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
                             void **arguments, size_t shared,
                             cudaStream_t stream)
{
    cudaKernel_t kernel;
    if (cudaError_t error = __cudaGetKernel(&kernel, function)) return error;
    return launch(kernel, grid, block, arguments, shared, stream);
}

// ---- device variables ------------------------------------------------------

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    Call call("cudaGetSymbolAddress");
    size_t bytes;
    if (call.error) return call.error;
    if (!pointer) return finish(cudaErrorInvalidValue);
    return finish(find_variable(symbol, pointer, &bytes));
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    Call call("cudaGetSymbolSize");
    void *at;
    if (call.error) return call.error;
    if (!bytes) return finish(cudaErrorInvalidValue);
    return finish(find_variable(symbol, &at, bytes));
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from,
                               size_t bytes, size_t offset, cudaMemcpyKind kind)
{
    Call call("cudaMemcpyToSymbol");
    char *to;
    if (call.error) return call.error;
    cudaError_t error = find_part(symbol, bytes, offset, &to);
    return error ? finish(error) : cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                 size_t offset, cudaMemcpyKind kind)
{
    Call call("cudaMemcpyFromSymbol");
    char *from;
    if (call.error) return call.error;
    cudaError_t error = find_part(symbol, bytes, offset, &from);
    return error ? finish(error) : cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                    size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream)
{
    Call call("cudaMemcpyToSymbolAsync");
    char *to;
    if (call.error) return call.error;
    cudaError_t error = find_part(symbol, bytes, offset, &to);
    return error ? finish(error)
                 : cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol,
                                      size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream)
{
    Call call("cudaMemcpyFromSymbolAsync");
    char *from;
    if (call.error) return call.error;
    cudaError_t error = find_part(symbol, bytes, offset, &from);
    return error ? finish(error)
                 : cudaMemcpyAsync(to, from, bytes, kind, stream);
}

}
