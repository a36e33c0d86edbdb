// The counts of small kernels, each of which is known from its text: instructions by class, lanes,
// branches, requests to memory against the least.
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "small_kernel.h"

using namespace ptx;

namespace {

struct Case {
    const char *name;
    const char *body;
    const char *counts;         // columns and their numbers
    uint32_t threads = 32, blocks = 1;
};

const Case cases[] = {
    {"words side by side", AT(4) "ld.global.u32 %r3, [%d2];\nst.global.u32 [%d2], %r3;",
     "load_requests 1 load_bytes 128 load_sectors 4 load_least 4 store_requests 1 store_bytes 128 "
     "store_sectors 4 store_least 4 load_global 1 store_global 1"},
    {"every second word", AT(8) "ld.global.u32 %r3, [%d2];\nst.global.u32 [%d2], %r3;",
     "load_bytes 128 load_sectors 8 load_least 4 store_sectors 8 store_least 4"},
    {"a sector for each lane", AT(32) "ld.global.u32 %r3, [%d2];", "load_sectors 32 load_least 4"},
    {"words between sectors", AT(4) "ld.global.u32 %r3, [%d2+16];", "load_sectors 5 load_least 4"},
    {"all lanes at one word", "ld.global.u32 %r3, [%d0+4];",
     "load_requests 1 load_bytes 128 load_sectors 1 load_least 1"},
    {"four words a lane", AT(16) "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d2];",
     "load_bytes 512 load_sectors 16 load_least 16"},
    {"bytes side by side", AT(1) "st.global.u8 [%d2], %h0;",
     "store_bytes 32 store_sectors 1 store_least 1"},
    {"half of the lanes",
     AT(4) "setp.lt.u32 %p0, %r0, 16;\n@%p0 ld.global.u32 %r3, [%d2];",
     "load_requests 1 load_bytes 64 load_sectors 2 load_least 2"},
    {"none of the lanes",
     "setp.gt.u32 %p0, %r0, 99;\n@%p0 ld.global.u32 %r3, [%d0];",
     "load_requests 0 load_bytes 0 load_global 1"},
    {"generic addresses", AT(8) "ld.u32 %r3, [%d2];\nst.u32 [%d1], %r3;\nld.u32 %r3, [%d1];",
     "load_requests 1 load_sectors 8 load_least 4 store_requests 0 shared_requests 2 "
     "shared_passes 2 shared_bytes 256"},
    {"atomics at one word", "atom.global.add.u32 %r3, [%d0], 1;\nred.shared.add.u32 [%r8], 1;",
     "atomic 2 atomic_requests 1 atomic_bytes 128 atomic_sectors 1 atomic_least 1 "
     "shared_requests 1 load_requests 0 store_requests 0"},
    {"atomics at words of their own", AT(8) "atom.global.add.u32 %r3, [%d2], 1;",
     "atomic_requests 1 atomic_sectors 8 atomic_least 4"},
    {"a local array", "st.local.u32 [local], %r0;\nld.local.u32 %r3, [local];",
     "local 2 load_requests 0 store_requests 0 shared_requests 0"},

    {"a bank for each lane", AT(4) "st.shared.u32 [%r2], %r0;\nld.shared.u32 %r3, [%r2];",
     "shared_requests 2 shared_bytes 256 shared_passes 2 shared_least 2 load_shared 1 "
     "store_shared 1"},
    {"every second bank", AT(8) "ld.shared.u32 %r3, [%r2];", "shared_passes 2 shared_least 1"},
    {"one bank", AT(128) "ld.shared.u32 %r3, [%r2];", "shared_passes 32 shared_least 1"},
    {"one bank, which lanes share", "ld.shared.u32 %r3, [%r8];", "shared_passes 1 shared_least 1"},
    {"halves of words", AT(2) "ld.shared.u16 %h0, [%r2];",
     "shared_bytes 64 shared_passes 1 shared_least 1"},
    {"8 bytes a lane", AT(8) "ld.shared.v2.u32 {%r3, %r4}, [%r2];",
     "shared_bytes 256 shared_passes 2 shared_least 2"},
    {"8 bytes a lane in four banks", AT(64) "ld.shared.v2.u32 {%r3, %r4}, [%r2];",
     "shared_passes 16 shared_least 2"},
    {"16 bytes a lane", AT(16) "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];",
     "shared_passes 4 shared_least 4"},
    {"16 bytes a lane in four banks", AT(128) "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];",
     "shared_passes 32 shared_least 4"},
    {"16 bytes of a quarter warp",
     AT(16) "setp.lt.u32 %p0, %r0, 8;\n@%p0 ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];",
     "shared_passes 1 shared_least 1"},
    {"a matrix of rows side by side",
     AT(16) "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2];",
     "load_matrix 1 shared_requests 1 shared_bytes 512 shared_passes 4 shared_least 4"},
    {"a matrix of rows in four banks",
     AT(128) "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];",
     "shared_bytes 128 shared_passes 8 shared_least 1"},
    {"asynchronous copies",
     AT(16) "cp.async.cg.shared.global [%r2], [%d2], 16;\ncp.async.wait_all;",
     "async 2 load_requests 1 load_bytes 512 load_sectors 16 shared_requests 1 shared_passes 4"},
    {"products",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
     "{%r9, %r9, %r9, %r9}, {%r9, %r9}, {%f0, %f1, %f2, %f3};\n"
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, "
     "{%r9, %r9, %r9, %r9}, {%r9, %r9}, {%f0, %f1, %f2, %f3};",
     "mma 2 instructions 9 lanes 288"},

    // The head has five moves and a conversion of an address; `ret` is the last.
    {"nothing", "", "instructions 7 lanes 224 move 5 integer 1 control 1 threads 32 blocks 1"},
    {"blocks and a last warp of 8 lanes", "", "instructions 42 lanes 840 threads 120 blocks 3", 40,
     3},
    {"classes",
     "add.s32 %r3, %r0, 1;\nadd.rn.f32 %f0, %f0, %f0;\nadd.rn.f64 %e0, %e0, %e0;\n"
     "cvt.rn.f32.s32 %f1, %r0;\nsetp.eq.s32 %p0, %r0, 1;\nex2.approx.f32 %f2, %f0;\n"
     "shfl.sync.bfly.b32 %r4|%p1, %r0, 1, 31, -1;\nbar.sync 0;",
     "instructions 15 integer 2 float 1 double 1 convert 1 move 5 predicate 1 special 1 warp 1 "
     "control 2 mma 0 branches 0"},
    {"a branch that all take", "bra $end;\nadd.s32 %r3, %r0, 1;\n$end:",
     "branches 1 divergent 0 instructions 8"},
    {"a branch that none takes", "setp.gt.u32 %p0, %r0, 99;\n@%p0 bra $end;\nadd.s32 %r3, %r0, 1;\n"
     "$end:", "branches 1 divergent 0 instructions 10 lanes 320"},
    {"a branch that 8 lanes take",
     "setp.lt.u32 %p0, %r0, 8;\n@%p0 bra $end;\nadd.s32 %r3, %r0, 1;\nadd.s32 %r3, %r3, 1;\n$end:",
     "branches 1 divergent 1 instructions 11 lanes 336"},
    {"a loop that lanes leave one after another",
     "$again:\nadd.s32 %r9, %r9, 1;\nsetp.le.u32 %p0, %r9, %r0;\n@%p0 bra $again;",
     "branches 32 divergent 31 instructions 103 lanes 1808"},
    {"a guard is no branch", "setp.lt.u32 %p0, %r0, 8;\n@%p0 add.s32 %r3, %r0, 1;",
     "branches 0 divergent 0 instructions 9 lanes 288"},
};

std::map<std::string, uint64_t> counts_of(const Case &c, bool checks_fences)
{
    Options options;
    options.count_memory = true;
    options.check_fences = checks_fences;
    Counts one = run_small_kernel(c.name, c.body, c.threads, c.blocks, options);
    // Two launches have twice the counts of one.
    Counts both = one;
    both.add(one);
    std::map<std::string, uint64_t> counts;
    for (const Column &column : columns_of(both)) counts[column.name] = column.count;
    for (const Column &column : columns_of(one)) counts[column.name] -= column.count;
    return counts;
}

int check(const Case &c)
{
    int failures = 0;
    std::map<std::string, uint64_t> counts = counts_of(c, false);
    std::istringstream wanted(c.counts);
    std::string name;
    for (uint64_t count; wanted >> name >> count;)
        if (!counts.count(name) || counts[name] != count) {
            printf("%s: %s is %llu, not %llu\n", c.name, name.c_str(),
                   (unsigned long long)counts[name], (unsigned long long)count);
            failures++;
        }
    return failures;
}

// Blocks that add to a word: those that wait for others are counted once.
int check_waiting()
{
    const Case c = {"blocks that wait for others",
                    "ld.global.u32 %r3, [%d0];\natom.global.add.u32 %r3, [%d0], 1;\n"
                    "add.s32 %r3, %r3, 1;", "", 64, 5};
    std::map<std::string, uint64_t> plain = counts_of(c, false), held = counts_of(c, true);
    if (plain == held && plain["atomic"] == 10 && plain["atomic_requests"] == 10) return 0;
    printf("%s: %llu atomics, and %llu with fences\n", c.name,
           (unsigned long long)plain["atomic"], (unsigned long long)held["atomic"]);
    return 1;
}

}

int main()
{
    int failures = 0, count = 1;
    try {
        failures = check_waiting();
        for (const Case &c : cases) {
            failures += check(c);
            count++;
        }
    } catch (const Fault &fault) {
        printf("%s\n", fault.what.c_str());
        failures++;
    } catch (const std::exception &error) {
        printf("%s\n", error.what());
        failures++;
    }
    printf("%d kernels, %d failures\n", count, failures);
    return failures != 0;
}
