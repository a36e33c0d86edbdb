// A fatbinary has a header and entries, each with a header of its own: PTX or
// machine code for one kind of GPU.  CUDA documents the wrapper alone, in
// fatbinary_section.h.
#include "fatbinary.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace {

enum : uint32_t { WRAPPER_MAGIC = 0x466243b1, MAGIC = 0xba55ed50 };

struct Wrapper {
    uint32_t             magic, version;
    const unsigned char *fatbinary;
    const void          *more;
};

struct Header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;                 // of all entries
};

struct Entry {
    enum : uint16_t { PTX = 1 };
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;                 // of its content
    uint32_t compressed_bytes;      // 0: the content is not compressed
    uint32_t options, cuda_version;
    uint32_t architecture;          // 80: compute_80
};

const char *const ADVICE =
    "; compile with nvcc -arch=sm_80 --no-compress -cudart shared, no -rdc";

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error(what + ADVICE);
}

template <class T>
T read(const unsigned char *at)
{
    T value;
    memcpy(&value, at, sizeof value);
    return value;
}

}

std::string ptx::ptx_of_fatbinary(const void *wrapper)
{
    auto w = read<Wrapper>(static_cast<const unsigned char *>(wrapper));
    if (w.magic != WRAPPER_MAGIC) fail("the program's fatbinary is unknown");
    auto h = read<Header>(w.fatbinary);
    if (h.magic != MAGIC || h.header_bytes < sizeof h)
        fail("the program's fatbinary has an unknown header");
    const unsigned char *at = w.fatbinary + h.header_bytes;
    const unsigned char *end = at + h.bytes;
    uint32_t newest = 0, others = 0, compressed = 0;
    std::string text;
    while (at < end) {
        if ((size_t)(end - at) < sizeof(Entry))
            fail("an entry of the program's fatbinary is too short");
        auto e = read<Entry>(at);
        auto left = (uint64_t)(end - at);
        if (e.header_bytes < sizeof e || e.header_bytes > left ||
            e.bytes > left - e.header_bytes)
            fail("an entry of the program's fatbinary has a wrong length");
        const char *content = (const char *)at + e.header_bytes;
        at += e.header_bytes + e.bytes;
        if (e.kind != Entry::PTX) {
            others++;
        } else if (e.compressed_bytes) {
            compressed++;
        } else if (e.architecture >= newest) {
            newest = e.architecture;
            text.assign(content, strnlen(content, e.bytes));
        }
    }
    if (!text.empty()) return text;
    fail(compressed ? "the program's PTX is compressed"
         : others   ? "the program has machine code for GPUs, and no PTX"
                    : "the program has no PTX");
}
