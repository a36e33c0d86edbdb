// The way from a launch of runtime/host to the interpreter.
//
//     CNNC_HOST_PTX=net.ptx       nvcc's PTX of the same emitted file
//     CNNC_HOST_PTX_BOTH=1        runs each launch both ways from the same
//                                 bytes and compares all device memory; keeps
//                                 the bytes of the program's own way
//     CNNC_HOST_PTX_RACES=1       looks for races in shared memory
//     CNNC_HOST_PTX_FENCES=1      shows stores of other blocks after fences
//     CNNC_HOST_PTX_SEED=N        random orders of blocks, warps and lanes
//     CNNC_HOST_PTX_TRUNCATE=1    sums of tensor cores, in a model of a GPU
//     CNNC_HOST_PTX_TABLE=FILE    writes a line a step: counts of a profiler,
//                                 without init's launches on no samples
//     CNNC_HOST_PTX_LINES=FILE    writes the lines that have run, each with its
//                                 kernel's launches and largest grid, and its
//                                 requests to shared memory, passes, the least
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <map>
#include <mutex>

#include "../host/host.h"
#include "block.h"
#include "host_launch.h"
#include "rounding.h"

namespace {

using ptx::Counts;

std::string demangled(const char *symbol)
{
    int status = 0;
    char *text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string name = text ? text : symbol;
    free(text);
    return name;
}

// The kernel in the name of a HostKernel<&kernel>, without its parameters.
// Compilers write HostKernel<&(void f<4>(int))> or HostKernel<&f>.
std::string kernel_in(const std::string &name)
{
    size_t begin = name.find('&'), end = name.rfind('>');
    if (begin == std::string::npos || end == std::string::npos) return name;
    std::string kernel = name.substr(begin + 1, end - begin - 1);
    if (!kernel.empty() && kernel[0] == '(')
        kernel = kernel.substr(1, kernel.rfind(')') - 1);
    return kernel;
}

// The same without a leading "void " and the parameters.
std::string without_parameters(std::string name)
{
    if (name.compare(0, 5, "void ") == 0) name = name.substr(5);
    int depth = 0;
    for (size_t i = 0; i < name.size(); i++) {
        if (name[i] == '<') depth++;
        if (name[i] == '>') depth--;
        // "(anonymous namespace)" is no list of parameters.
        if (name[i] == '(' && depth == 0 && i > 0 && name[i - 1] != ':')
            return name.substr(0, i);
    }
    return name;
}

// The same without blanks: how g++'s and nvcc's names agree.
std::string plain(const std::string &name)
{
    std::string result = without_parameters(name);
    result.erase(std::remove(result.begin(), result.end(), ' '), result.end());
    return result;
}

struct Row {
    std::string kernel;
    long launches = 0, counted = 0, compared = 0, equal = 0;
    Counts counts;                              // of those counted
};

// A kernel, or null until a launch names it, and the module that has it.
struct Found {
    const ptx::Kernel *kernel;
    const ptx::Module *module;
};

struct Session {
    std::mutex lock;
    std::unique_ptr<ptx::Module> module;        // null: cudart has them
    std::map<std::string, std::string> names;   // plain -> mangled
    std::map<const char *, Found> kernels;      // by a launch's symbol
    std::map<std::pair<int, std::string>, Row> rows;
    ptx::Options options;
    int  step = -1;                             // that runs
    std::vector<unsigned char> before, after;   // a launch of the twin
    bool both = false;
    FILE *table = nullptr;
    std::string failure;                        // of the file
};

void write_table();
void write_lines();

// Opens the table first, so that a run does not end without it.
void open_table(Session &s)
{
    const char *path = getenv("CNNC_HOST_PTX_TABLE");
    if (!path) return;
    if (s.options.seed != 0 || s.options.check_fences)
        s.failure = "CNNC_HOST_PTX_TABLE counts in ascending order, and goes "
                    "neither with CNNC_HOST_PTX_SEED nor with "
                    "CNNC_HOST_PTX_FENCES";
    else if (!(s.table = fopen(path, "w")))
        s.failure = std::string("can't write '") + path + "'";
    s.options.count_memory = true;
}

Session &session()
{
    static Session &s = *[] {
        auto *made = new Session;
        const char *path = getenv("CNNC_HOST_PTX");
        if (path && *path) try {
            made->module = ptx::read_module(path);
            for (const std::string &name : made->module->kernel_names())
                made->names[plain(demangled(name.c_str()))] = name;
        } catch (const std::exception &error) {
            made->failure = error.what();
        }
        made->both = is_asked("CNNC_HOST_PTX_BOTH");
        made->options.find_races = is_asked("CNNC_HOST_PTX_RACES");
        made->options.check_fences = is_asked("CNNC_HOST_PTX_FENCES");
        made->options.truncate = is_asked("CNNC_HOST_PTX_TRUNCATE");
        const char *seed = getenv("CNNC_HOST_PTX_SEED");
        if (seed) made->options.seed = strtoull(seed, nullptr, 10);
        open_table(*made);
        if (made->table || made->both) atexit(write_table);
        if (getenv("CNNC_HOST_PTX_LINES")) {
            made->options.count_memory = true;
            atexit(write_lines);
        }
        return made;
    }();
    return s;
}

Found find_kernel(Session &s, const HostLaunch &launch)
{
    Found &known = s.kernels[launch.symbol];
    if (known.kernel) return known;
    std::string name = plain(kernel_in(demangled(launch.symbol)));
    auto found = s.names.find(name);
    if (found == s.names.end())
        throw ptx::Fault{"the PTX has no kernel " + name};
    known = {&s.module->kernel(found->second), s.module.get()};
    return known;
}

bool is_memory(uint64_t at, size_t bytes, uint64_t *begin, uint64_t *end)
{
    DeviceRange range;
    if (!find_step_range(session().step, (uintptr_t)at, bytes, &range))
        return false;
    *begin = range.begin;
    *end = range.end;
    return true;
}

// Counts a launch, but not the first one of a step: the calls init and attach
// run each step once, on no samples.
void interpret(Session &s, const HostLaunch &launch, Row &row)
{
    ptx::Launch own;
    Found found = find_kernel(s, launch);
    own.kernel = found.kernel;
    own.module = found.module;
    const HostExtent *extents[2] = {&launch.grid, &launch.block};
    uint32_t *sizes[2] = {own.grid, own.block};
    for (int i = 0; i < 2; i++) {
        sizes[i][0] = (uint32_t)extents[i]->x;
        sizes[i][1] = (uint32_t)extents[i]->y;
        sizes[i][2] = (uint32_t)extents[i]->z;
    }
    const void *arguments[MAX_PARAMETER_BYTES];
    size_t count = (size_t)launch.find(launch.arguments, arguments);
    const auto &parameters = own.kernel->parameters;
    if (count != parameters.size())
        throw ptx::Fault{"the PTX's kernel has other parameters"};
    own.parameters.resize(own.kernel->parameter_bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(own.parameters.data() + parameters[i].offset, arguments[i],
               parameters[i].bytes);
    own.options = s.options;
    own.is_memory = is_memory;
    s.step = launch.step;
    run_launch(own);
    if (row.launches++ == 0 && launch.step >= 0) return;
    row.counted++;
    row.counts.add(own.counts);
}

void take(std::vector<unsigned char> &bytes,
          const std::vector<DeviceRange> &ranges)
{
    bytes.clear();
    for (const DeviceRange &r : ranges)
        bytes.insert(bytes.end(), (unsigned char *)r.begin,
                     (unsigned char *)r.end);
}

void restore(const std::vector<unsigned char> &bytes,
             const std::vector<DeviceRange> &ranges)
{
    size_t at = 0;
    for (const DeviceRange &r : ranges) {
        memcpy((void *)r.begin, bytes.data() + at, r.end - r.begin);
        at += r.end - r.begin;
    }
}

// True for the NaN of a CPU, of a GPU, or of a GPU's 16 bits.  The order of its
// operands decides which of them a sum has.  Other NaN may be integers.
bool is_made_nan(uint32_t bits)
{
    bits &= 0x7fffffff;
    return bits == 0x7fc00000 || bits == 0x7fffffff || bits == 0x7fffe000 ||
           bits == 0x7fff0000;
}

// Reports words that differ from the twin's.  True if none does.
bool compare(const HostLaunch &launch, const std::vector<DeviceRange> &ranges,
             const unsigned char *twin)
{
    long words = 0;
    size_t first = 0;
    double error = 0, norm = 0;
    for (const DeviceRange &r : ranges) {
        const auto *own = (const unsigned char *)r.begin;
        size_t bytes = r.end - r.begin;
        twin += bytes;
        if (!memcmp(own, twin - bytes, bytes)) continue;
        for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
            uint32_t x = 0, y = 0;      // the last word may lack bytes
            size_t count = std::min(sizeof x, bytes - at);
            memcpy(&x, own + at, count);
            memcpy(&y, twin - bytes + at, count);
            if (x == y || (is_made_nan(x) && is_made_nan(y))) continue;
            if (words++ == 0) first = at;
            double wanted = (double)ptx::bits_as<float>(y);
            double d = (double)ptx::bits_as<float>(x) - wanted;
            if (std::isfinite(d)) error += d * d, norm += wanted * wanted;
        }
    }
    if (words > 0)
        report("step %d, kernel %s: %ld words differ from the PTX's, the first "
               "at byte %zu; as floats by %.2g of their norm",
               launch.step, launch.kernel, words, first,
               norm > 0 ? std::sqrt(error / norm) : 0);
    return words == 0;
}

void write_table()
{
    Session &s = session();
    if (s.both) {
        long compared = 0, equal = 0;
        for (const auto &row : s.rows) {
            compared += row.second.compared;
            equal += row.second.equal;
        }
        fprintf(stderr, "host: %ld launches run both ways, %ld equal\n",
                compared, equal);
    }
    if (!s.table) return;
    fputs("step launches", s.table);
    for (const ptx::Column &c : columns_of(Counts()))
        fprintf(s.table, " %s", c.name);
    fputs(" kernel\n", s.table);
    for (const auto &r : s.rows) {
        if (r.second.counted == 0) continue;
        fprintf(s.table, "%d %ld", r.first.first, r.second.counted);
        for (const ptx::Column &c : columns_of(r.second.counts))
            fprintf(s.table, " %llu", (unsigned long long)c.count);
        fprintf(s.table, " %s\n", r.second.kernel.c_str());
    }
    if (ferror(s.table) | fclose(s.table))
        report("the table of counts can't be written");
}

void write_lines()
{
    std::map<int, std::pair<const ptx::Kernel *, Counts::Passes>> lines;
    for (const auto &k : session().kernels) {
        const ptx::Kernel *own = k.second.kernel;
        for (size_t i = 0; own && i < own->code.size(); i++)
            if (own->has_run[i])
                lines[own->code[i].line] = {own, own->passes[i]};
    }
    FILE *file = fopen(getenv("CNNC_HOST_PTX_LINES"), "w");
    if (!file) return;
    for (const auto &line : lines) {
        const ptx::Kernel &kernel = *line.second.first;
        const Counts::Passes &p = line.second.second;
        fprintf(file, "%d", line.first);
        for (uint64_t count : {kernel.launches, kernel.most_blocks, p.requests,
                               p.passes, p.least})
            fprintf(file, " %llu", (unsigned long long)count);
        fputs("\n", file);
    }
    fclose(file);
}

}

void ptx::add_kernel(const char *symbol, const Kernel &kernel,
                     const Module &module)
{
    Session &s = session();
    std::lock_guard<std::mutex> hold(s.lock);
    s.kernels[symbol] = {&kernel, &module};
}

std::string ptx::plain_name(const char *mangled)
{
    return without_parameters(demangled(mangled));
}

cudaError_t host_run_ptx(const HostLaunch &launch,
                         cudaError_t (*twin)(const HostLaunch &))
{
    Session &s = session();
    std::lock_guard<std::mutex> hold(s.lock);
    Inside inside;
    if (!s.failure.empty()) {
        report("%s", s.failure.c_str());
        return cudaErrorLaunchFailure;
    }
    if (!launch.symbol) {
        report("compile the emitted file with -DCNNC_HOST_PTX");
        return cudaErrorLaunchFailure;
    }
    if (s.both && !launch.threads) {
        report("CNNC_HOST_PTX_BOTH=1 wants a program that g++ has compiled");
        return cudaErrorLaunchFailure;
    }
    Row &row = s.rows[{launch.step, launch.symbol}];
    row.kernel = launch.kernel;
    try {
        if (!s.both) {
            interpret(s, launch, row);
            return cudaSuccess;
        }
        std::vector<DeviceRange> ranges = step_ranges(launch.step);
        take(s.before, ranges);
        cudaError_t error = twin(launch);
        take(s.after, ranges);
        restore(s.before, ranges);
        interpret(s, launch, row);
        row.compared++;
        row.equal += compare(launch, ranges, s.after.data());
        restore(s.after, ranges);
        return error;
    } catch (const ptx::Fault &fault) {
        report("step %d, kernel %s: %s", launch.step, launch.kernel,
               fault.what.c_str());
    } catch (const std::exception &error) {
        report("step %d, kernel %s: %s", launch.step, launch.kernel,
               error.what());
    }
    return cudaErrorLaunchFailure;
}
