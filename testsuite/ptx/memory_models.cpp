// Races, values that nobody wrote, loads that nvcc moves up, values of other blocks. Small kernels,
// each with the words that the interpreter must say, or none.
#include <cstdio>
#include <cstring>

#include "small_kernel.h"

using namespace ptx;

namespace {

struct Case {
    const char *name;
    const char *body;
    const char *says;           // a part of the fault; "": there is none
    uint32_t threads = 64, blocks = 1;
};

// Thread 0 alone, then the others
#define FIRST "setp.eq.u32 %p0, %r0, 0;\n"
#define WAIT "bar.sync 0;\n"
// Two threads of each block store a 1, and %r6 says how many ones the blocks have stored.  Thread 0
// counts the blocks.  All threads of the last one must find the ones.
#define ONES                                                                                       \
    "mov.u32 %r4, %ctaid.x;\nmul.lo.u32 %r1, %r4, 8;\ncvt.u64.u32 %d2, %r1;\n"                      \
    "add.s64 %d2, %d0, %d2;\nmov.u32 %r5, 1;\nmov.u32 %r6, 6;\nmov.u32 %r3, 9;\n"                   \
    "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 33;\n@%p0 st.global.u32 [%d2], %r5;\n"        \
    "@%p1 st.global.u32 [%d2+4], %r5;\n"
#define FENCE "@%p0 membar.gl;\n"
#define COUNT "@%p0 atom.global.inc.u32 %r3, [%d0+4096], 2;\n"
#define LAST                                                                                       \
    "setp.eq.u32 %p2, %r3, 2;\n{ .reg .pred %p1; mov.pred %p1, %p2;\n"                             \
    "bar.red.or.pred %p2, 0, %p1; }\n@!%p2 bra END;\n"
#define FIND                                                                                       \
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d0];\nld.global.v2.u32 {%r14, %r15}, [%d0+16];\n" \
    "add.u32 %r10, %r10, %r11;\nadd.u32 %r10, %r10, %r12;\nadd.u32 %r10, %r10, %r13;\n"            \
    "add.u32 %r10, %r10, %r14;\nadd.u32 %r10, %r10, %r15;\n"                                       \
    "setp.ne.u32 %p3, %r10, %r6;\n@%p3 trap;\nEND:"
#define SPECULATED "@%p0 st.shared.u32 [%r8], %r0;\nld.shared.u32 %r3, [%r8];\n"

const Case cases[] = {
    // ---- shared memory ----
    {"each thread its own", AT(4) "st.shared.u32 [%r2], %r0;\nld.shared.u32 %r3, [%r2];\n"
                                  "st.global.u32 [%d2], %r3;", ""},
    {"a barrier between", AT(4) "st.shared.u32 [%r2], %r0;\n" WAIT
                                "ld.shared.u32 %r3, [%r8+4];\nst.global.u32 [%d2], %r3;", ""},
    {"no barrier", AT(4) "st.shared.u32 [%r2], %r0;\nld.shared.u32 %r3, [%r8+4];\n"
                         "st.global.u32 [%d2], %r3;",
     "in a race: thread 1 wrote byte 4 since the last barrier"},
    {"a barrier of the warp orders its lanes",
     AT(4) "st.shared.u32 [%r2], %r0;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r3, [%r8+4];\n"
           "st.global.u32 [%d2], %r3;", "", 32},
    {"a barrier of the warp orders no other warp",
     AT(4) "st.shared.u32 [%r2], %r0;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r3, [%r8+4];\n"
           "st.global.u32 [%d2], %r3;", "in a race: thread 1 wrote byte 4"},
    {"two writers", "st.shared.u32 [%r8], %r0;",
     "a race: thread 1 writes byte 0, and thread 0 wrote"},
    {"a writer after readers",
     FIRST "@%p0 st.shared.u32 [%r8], %r0;\n" WAIT "ld.shared.u32 %r3, [%r8];\n"
           "@%p0 st.shared.u32 [%r8], %r3;",
     "writes byte 0, and another thread read it"},
    {"nobody wrote", AT(4) "ld.shared.u32 %r3, [%r2];\nst.global.u32 [%d2], %r3;",
     "from byte 0, which nobody wrote"},
    {"another block's values are none",
     AT(4) "mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 st.shared.u32 [%r2], %r0;\n"
           "ld.shared.u32 %r3, [%r2];\nst.global.u32 [%d2], %r3;",
     "which nobody wrote", 32, 2},
    {"a part of a vector", AT(8) "st.shared.u32 [%r2], %r0;\nld.shared.v2.u32 {%r3, %r4}, [%r2];\n"
                                 "st.global.u32 [%d2], %r3;", ""},
    {"the other part of a vector",
     AT(8) "st.shared.u32 [%r2], %r0;\nld.shared.v2.u32 {%r3, %r4}, [%r2];\n"
           "st.global.u32 [%d2], %r4;", "which nobody wrote"},
    {"generic addresses", AT(4) "cvt.u64.u32 %d3, %r1;\nadd.s64 %d3, %d1, %d3;\n"
                                "st.u32 [%d3], %r0;\nld.u32 %r3, [%d1+4];\nst.u32 [%d2], %r3;",
     "in a race: thread 1 wrote byte 4"},

    // ---- loads that are moved up, and their uses ----
    {"a value that nobody uses", FIRST SPECULATED "add.s32 %r3, %r3, 1;", ""},
    {"used by the writer alone", AT(4) FIRST SPECULATED "@%p0 st.global.u32 [%d2], %r3;", ""},
    {"stored", AT(4) FIRST SPECULATED "add.s32 %r4, %r3, 1;\nst.global.u32 [%d2], %r4;",
     "depends on a value that thread 1 read at line"},
    {"an address", FIRST SPECULATED "cvt.u64.u32 %d3, %r3;\nadd.s64 %d3, %d0, %d3;\n"
                                    "ld.global.u8 %h0, [%d3];", "depends on a value"},
    {"a guard", AT(4) FIRST SPECULATED "setp.eq.u32 %p1, %r3, 0;\n@%p1 st.global.u32 [%d2], %r0;",
     "its guard depends on a value"},
    {"a branch", FIRST SPECULATED "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra END;\nadd.s32 %r4, %r0, 1;\n"
                                  "END:", "its guard depends on a value"},
    {"another lane", FIRST SPECULATED "shfl.sync.idx.b32 %r4, %r3, 0, 31, 0xffffffff;",
     "depends on a value"},
    {"a condition that decides alone",
     AT(4) FIRST SPECULATED "setp.eq.u32 %p1, %r3, 9;\nand.pred %p2, %p0, %p1;\n"
                            "@%p2 st.global.u32 [%d2], %r0;", ""},
    {"a condition that does not decide",
     AT(4) FIRST SPECULATED "setp.eq.u32 %p1, %r3, 9;\nor.pred %p2, %p0, %p1;\n"
                            "@%p2 st.global.u32 [%d2], %r0;", "its guard depends on a value"},
    {"a condition that is negated",
     AT(4) FIRST SPECULATED "setp.eq.u32 %p1, %r3, 9;\nor.pred %p2, !%p0, %p1;\n"
                            "@!%p2 st.global.u32 [%d2], %r0;", ""},
    {"a predicate that is a number",
     AT(4) FIRST SPECULATED "xor.pred %p1, %p0, -1;\n@!%p1 st.global.u32 [%d2], %r3;", ""},
    {"true as a number negates",
     FIRST "xor.pred %p1, %p0, -1;\n@%p1 st.global.u32 [%d0], %r0;", "a race: thread 2 writes byte"},
    {"false as a number", FIRST "and.pred %p1, %p0, 0;\n@%p1 st.global.u32 [%d0], %r0;", "", 64, 2},
    {"not chosen", AT(4) FIRST SPECULATED "selp.b32 %r4, %r3, %r0, %p0;\n"
                                          "st.global.u32 [%d2], %r4;", ""},
    {"chosen", AT(4) FIRST SPECULATED "selp.b32 %r4, %r0, %r3, %p0;\nst.global.u32 [%d2], %r4;",
     "depends on a value"},
    {"written anew", AT(4) FIRST SPECULATED "mov.u32 %r3, 1;\nst.global.u32 [%d2], %r3;", ""},

    // ---- global memory ----
    {"each thread its own word", AT(4) "st.global.u32 [%d2], %r0;\nld.global.u32 %r3, [%d2];\n"
                                       "st.global.u32 [%d2+512], %r3;", ""},
    {"a neighbour's word",
     AT(4) "st.global.u32 [%d2], %r0;\nld.global.u32 %r3, [%d0+4];\nst.global.u32 [%d2+512], %r3;",
     "in a race: thread 1 wrote byte"},
    {"a neighbour's word after a barrier",
     AT(4) "st.global.u32 [%d2], %r0;\n" WAIT "ld.global.u32 %r3, [%d0+4];\n"
           "st.global.u32 [%d2+512], %r3;", ""},
    {"bytes of one word", AT(1) "st.global.u8 [%d2], %h0;", ""},
    {"two blocks read", AT(4) "ld.global.u32 %r3, [%d2];", "", 64, 3},
    {"two blocks write", FIRST "@%p0 st.global.u32 [%d0], %r0;",
     "a race: thread 0 writes byte", 64, 2},
    {"a block reads what another wrote",
     AT(4) "mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 st.global.u32 [%d2], %r0;\n" WAIT
           "@!%p1 ld.global.u32 %r3, [%d2];\n@!%p1 st.global.u32 [%d2+512], %r3;",
     "of another block wrote byte", 64, 2},
    {"a block writes what several read",
     AT(4) "ld.global.u32 %r3, [%d2];\nmov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, 2;\n"
           "@%p1 st.global.u32 [%d2], %r3;", "of another block read it", 64, 3},
    {"atomics are no race", "atom.global.add.u32 %r3, [%d0], 1;", "", 64, 3},
    {"blocks with atomics may wait for each other",
     AT(4) "st.global.u32 [%d2], %r9;\natom.global.add.u32 %r3, [%d0+4096], 1;", "", 64, 2},

    // ---- values of other blocks ----
    {"fences around a count", ONES WAIT FENCE COUNT FENCE LAST FIND, "", 64, 3},
    {"no fence before it", ONES WAIT COUNT FENCE LAST FIND, "a trap", 64, 3},
    {"no fence after it", ONES WAIT FENCE COUNT LAST FIND, "a trap", 64, 3},
    {"no barrier before the fence", ONES FENCE COUNT FENCE LAST FIND, "a trap", 64, 3},
    {"a fence of others, and no barrier", ONES "membar.gl;\n" COUNT FENCE LAST FIND, "a trap", 64, 3},
    {"a fence of others, and a barrier after it", ONES "@!%p0 membar.gl;\n" WAIT COUNT FENCE LAST FIND,
     "a trap", 64, 3},
    {"a fence after the vote, of thread 0 alone", ONES WAIT FENCE COUNT LAST FENCE FIND, "a trap", 64, 3},
    {"one fence before two counts",
     ONES WAIT FENCE "@%p0 atom.global.add.u32 %r7, [%d0+4100], 1;\n" COUNT FENCE LAST FIND, "", 64, 3},
    {"stores between two counts",
     FIRST FENCE "@%p0 atom.global.add.u32 %r7, [%d0+4100], 1;\n" ONES WAIT COUNT FENCE LAST FIND,
     "a trap", 64, 3},
    {"a vote is of all threads",
     "setp.eq.u32 %p0, %r0, 40;\nbar.red.or.pred %p1, 0, %p0;\n@!%p1 trap;\n"
     "bar.red.or.pred %p1, 0, !%p1;\n@%p1 trap;", "", 64},
    {"a vote is a barrier", AT(4) FIRST "st.shared.u32 [%r2], %r0;\nbar.red.or.pred %p1, 0, %p0;\n"
                                        "ld.shared.u32 %r3, [%r8+4];\nst.global.u32 [%d2], %r3;", ""},
};

int check(const Case &c)
{
    Options options;
    options.find_races = options.check_fences = true;
    std::string said;
    try {
        run_small_kernel(c.name, c.body, c.threads, c.blocks, options);
    } catch (const Fault &fault) {
        said = fault.what;
    }
    if (*c.says ? said.find(c.says) != said.npos : said.empty()) return 0;
    printf("%s: said '%s', wanted '%s'\n", c.name, said.c_str(), c.says);
    return 1;
}

}

int main()
{
    int failures = 0, count = 0;
    try {
        for (const Case &c : cases) {
            failures += check(c);
            count++;
        }
    } catch (const std::exception &error) {
        printf("%s: %s\n", cases[count].name, error.what());
        failures++;
    }
    printf("%d kernels, %d failures\n", count, failures);
    return failures != 0;
}
