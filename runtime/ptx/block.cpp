// Blocks of a launch, one after another, and their warps between two barriers.
#include "block.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "operations.h"
#include "race.h"
#include "views.h"

namespace ptx {

void fault(const Instruction &of, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    throw Fault{"line " + std::to_string(of.line) + ", " + of.name + ": " +
                text};
}

// A xorshift generator: Marsaglia, "Xorshift RNGs" (2003).
uint32_t Launch::draw(uint32_t below)
{
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return (uint32_t)(random % below);
}

namespace {

const size_t LINE = 64;             // bytes; frames begin at one

size_t to_line(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

uint32_t special_value(const Block &b, Special which, const Warp &w, int lane)
{
    const uint32_t *size = b.launch->block;
    uint32_t thread = (uint32_t)(w.index * WARP + lane);
    switch (which) {
    case Special::TID_X: return thread % size[0];
    case Special::TID_Y: return thread / size[0] % size[1];
    case Special::TID_Z: return thread / size[0] / size[1];
    case Special::LANE: return (uint32_t)lane;
    case Special::WARP_INDEX: return (uint32_t)w.index;
    default: break;
    }
    int i = (int)which;
    if (which <= Special::NTID_Z) return size[i - (int)Special::NTID_X];
    if (which <= Special::CTAID_Z) return b.index[i - (int)Special::CTAID_X];
    return b.launch->grid[i - (int)Special::NCTAID_X];
}

// Begins the block of this index.
void start(Block &b, const uint32_t (&index)[3])
{
    const Kernel &kernel = *b.launch->kernel;
    const uint32_t *grid = b.launch->grid;
    std::copy(index, index + 3, b.index);
    b.number = (index[2] * grid[1] + index[1]) * grid[0] + index[0];
    // Shared memory has no values at first: NaN, and no index that is in range.
    std::fill(b.shared.begin(), b.shared.end(), (unsigned char)0xff);
    for (Warp &w : b.warps) {
        w.alive = w.started;
        w.carry = 0;
        w.copies.clear();
        w.doubts.clear();
        w.epoch = w.meetings = 0;
        for (int l = 0; l < WARP; l++) {
            w.pc[l] = kernel.entry;
            w.lane[l] = w.started >> l & 1 ? Lane::RUNS : Lane::ENDED;
            w.groups[l] = 0;
            w.seen[l] = w.observed[l] = 0;
            w.fences[l] = {0, 0};
            w.returns[l].clear();
        }
        for (const SpecialSlot &s : kernel.specials)
            for (int l = 0; l < WARP; l++)
                w.at<uint32_t>(s.slot)[l] = special_value(b, s.which, w, l);
    }
    b.launch->counts.blocks++;
    for (const Warp &w : b.warps)
        b.launch->counts.threads += (uint64_t)__builtin_popcount(w.started);
}

// The result of bar.red.or: true if a lane's predicate is.
void vote(Block &b, const Instruction &i)
{
    bool any = false;
    for (const Warp &w : b.warps) any |= (predicate_of(w, i, 1) & w.alive) != 0;
    for (Warp &w : b.warps)
        put_predicate(w, i.slot[0], any ? ALL_LANES : 0, w.alive);
}

// All lanes that live wait at a barrier: it must be the same one.
void pass_barrier(Block &b)
{
    const std::vector<Instruction> &code = b.launch->kernel->code;
    int64_t at = -1;
    for (Warp &w : b.warps)
        for (int l = 0; l < WARP; l++) {
            if (!(w.alive >> l & 1)) continue;
            if (at < 0) at = w.pc[l];
            if (at != w.pc[l])
                fault(code[w.pc[l]], "thread %d waits here, others at line %d",
                      w.index * WARP + l, code[(size_t)at].line);
            w.lane[l] = Lane::RUNS;
            w.pc[l]++;
        }
    const Instruction &i = code[(size_t)at];
    if (i.results > 0) vote(b, i);
    for (Warp &w : b.warps) w.epoch++;
    if (b.launch->views) Views::pass_barrier(b);
}

void check_copies(const Block &b)
{
    for (const Warp &w : b.warps)
        for (const Copy &c : w.copies)
            if (c.lanes != 0)
                throw Fault{"the kernel ends with copies for which no thread "
                            "has waited"};
}

enum class Phase { AT_BARRIER, HELD, ENDED };

// Runs a block until its next barrier or its end, or until lanes are held.
Phase run_phase(Block &b)
{
    Launch &launch = *b.launch;
    std::vector<Warp *> order;
    for (Warp &w : b.warps) order.push_back(&w);
    if (launch.options.seed != 0)
        for (size_t i = order.size(); i > 1; i--)
            std::swap(order[i - 1], order[launch.draw((uint32_t)i)]);
    bool waits = false, is_held = false;
    for (Warp *w : order) {
        run_warp(*w);
        waits |= w->alive != 0;
        for (Lane lane : w->lane) is_held |= lane == Lane::HELD;
        if (is_held && b.stops == Block::AFTER_ATOMIC) break;
    }
    if (is_held) return Phase::HELD;
    if (waits) {
        pass_barrier(b);
        return Phase::AT_BARRIER;
    }
    check_copies(b);
    if (b.launch->views) b.launch->views->end_block(b);
    return Phase::ENDED;
}

// True if the block is held; otherwise it has ended.
bool run_block(Block &b)
{
    for (;;) {
        Phase phase = run_phase(b);
        if (phase != Phase::AT_BARRIER) return phase == Phase::HELD;
    }
}

void release(Block &b)
{
    b.stops = Block::NEVER;
    for (Warp &w : b.warps)
        for (Lane &lane : w.lane)
            if (lane == Lane::HELD) lane = Lane::RUNS;
}

}

Block::Block(Launch &of) : launch(&of), index{0, 0, 0}
{
    const Kernel &kernel = *of.kernel;
    uint32_t threads = of.block[0] * of.block[1] * of.block[2];
    size_t predicates = to_line((size_t)kernel.predicates * sizeof(Mask));
    size_t registers = to_line(kernel.frame_bytes);
    size_t each = registers + predicates +
                  to_line(kernel.local_bytes * WARP) + LINE;
    shared.resize(kernel.shared_bytes);
    warps.resize((threads + WARP - 1) / WARP);
    frames.reset(new unsigned char[each * warps.size() + LINE]());
    auto *at = (unsigned char *)to_line((size_t)frames.get());
    if (of.options.find_races) races.reset(new Races(true, false));
    for (size_t i = 0; i < warps.size(); i++, at += each) {
        Warp &w = warps[i];
        w.frame = at;
        w.constants = kernel.constants.data();
        w.predicate = (Mask *)(at + registers);
        w.local = at + registers + predicates;
        w.block = this;
        w.index = (int)i;
        uint32_t rest = threads - (uint32_t)i * WARP;
        w.started = rest >= WARP ? ALL_LANES : (1u << rest) - 1;
    }
}

Block::~Block() = default;
Launch::Launch() = default;
Launch::~Launch() = default;

void run_launch(Launch &launch)
{
    launch.random = launch.options.seed;
    uint64_t count = (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
    launch.kernel->launches++;
    launch.kernel->most_blocks = std::max(launch.kernel->most_blocks, count);
    Block block(launch);
    std::unique_ptr<Block> held;
    if (launch.options.check_fences && launch.kernel->has_atomics && count > 1)
        launch.views.reset(new Views);
    if (launch.options.find_races)
        launch.races.reset(new Races(false, !launch.kernel->has_atomics));
    uint64_t first = launch.options.seed % count;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t n = (first + i) % count;
        uint32_t index[3] = {(uint32_t)(n % launch.grid[0]),
                             (uint32_t)(n / launch.grid[0] % launch.grid[1]),
                             (uint32_t)(n / launch.grid[0] / launch.grid[1])};
        if (i == 0 && launch.views) {
            held.reset(new Block(launch));
            held->stops = Block::BEFORE_ATOMIC;
            start(*held, index);
            if (!run_block(*held)) held.reset();
            continue;
        }
        if (held && i + 1 == count) block.stops = Block::AFTER_ATOMIC;
        start(block, index);
        run_block(block);
    }
    if (held) {
        for (Block *b : {held.get(), &block}) {
            release(*b);
            run_block(*b);
        }
    }
    if (launch.views) launch.views->end_launch();
}

}
