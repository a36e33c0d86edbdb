// How the lanes of a warp go on: branches, calls, barriers, lanes that wait for
// one another.
//
// Lanes at one instruction run together.  Among several groups the one with the
// lowest instruction runs first, so that lanes meet again after a branch.  A
// seed makes the choice random: on a GPU each lane has its own program counter.
#include "block.h"
#include "forms.h"
#include "views.h"

namespace ptx {

namespace {

int first_of(Mask lanes) { return __builtin_ctz(lanes); }

Mask lanes_that(const Warp &w, Lane state)
{
    Mask lanes = 0;
    for (int l = 0; l < WARP; l++) lanes |= (Mask)(w.lane[l] == state) << l;
    return lanes & w.alive;
}

// The lanes of a warp that run together.
struct Running {
    uint32_t pc;
    Mask     lanes;
    uint32_t limit;                 // where others wait to be met
};

bool choose(Warp &w, Running &run)
{
    Mask ready = lanes_that(w, Lane::RUNS);
    if (ready == 0) return false;
    Launch &launch = *w.block->launch;
    run.pc = UINT32_MAX;
    for (int l = 0; l < WARP; l++)
        if (ready >> l & 1 && w.pc[l] < run.pc) run.pc = w.pc[l];
    if (launch.options.seed != 0) {
        int skip = (int)launch.draw((uint32_t)__builtin_popcount(ready));
        Mask left = ready;
        while (skip-- > 0) left &= left - 1;
        run.pc = w.pc[first_of(left)];
    }
    run.lanes = 0;
    run.limit = UINT32_MAX;
    for (int l = 0; l < WARP; l++) {
        if (!(ready >> l & 1)) continue;
        if (w.pc[l] == run.pc) run.lanes |= 1u << l;
        else if (w.pc[l] > run.pc && w.pc[l] < run.limit) run.limit = w.pc[l];
    }
    return true;
}

void set_pc(Warp &w, Mask lanes, uint32_t pc)
{
    for (int l = 0; l < WARP; l++)
        if (lanes >> l & 1) w.pc[l] = pc;
}

void set_state(Warp &w, Mask lanes, Lane state)
{
    for (int l = 0; l < WARP; l++)
        if (lanes >> l & 1) w.lane[l] = state;
}

// The lanes that an instruction names.
Mask members_of(Warp &w, const Instruction &i, Mask lanes)
{
    if (i.group != Group::WARP) return w.started;
    const uint32_t *mask = w.at<uint32_t>(i.slot[i.target]);
    Mask members = mask[first_of(lanes)];
    for (int l = 0; l < WARP; l++)
        if (lanes >> l & 1 && mask[l] != members)
            fault(i, "lanes name %08x and %08x as its members", members,
                  mask[l]);
    return members & w.started;
}

// True if the lanes go on at the next instruction: all members are there.
bool meet(Warp &w, const Instruction &i, Mask lanes, uint32_t pc)
{
    Mask members = members_of(w, i, lanes);
    if (lanes & ~members)
        fault(i, "lanes %08x run it, and it names %08x", lanes, members);
    if (members & ~w.alive)
        fault(i, "it names lanes %08x, which have ended", members & ~w.alive);
    set_pc(w, lanes, pc);
    set_state(w, lanes, Lane::AT_SYNC);
    Mask here = 0;
    for (int l = 0; l < WARP; l++)
        here |= (Mask)(w.lane[l] == Lane::AT_SYNC && w.pc[l] == pc) << l;
    if ((here & members) != members) return false;
    i.run(w, i, members);
    // bar.warp.sync orders memory; an instruction with a result does not.
    w.meetings += i.group == Group::WARP && i.results == 0;
    set_state(w, members, Lane::RUNS);
    set_pc(w, members, pc + 1);
    return true;
}

[[noreturn]] void never_met(const Warp &w)
{
    Mask waiting = lanes_that(w, Lane::AT_SYNC);
    const Instruction &i =
        w.block->launch->kernel->code[w.pc[first_of(waiting)]];
    fault(i, "lanes %08x wait for others, which wait elsewhere", waiting);
}

// Lanes that go on at a target, and others that do not.
bool branch(Warp &w, Running &run, Mask taken, uint32_t target)
{
    Counts &counts = w.block->launch->counts;
    counts.branches++;
    if (taken == 0) {
        run.pc++;
        return true;
    }
    if (taken != run.lanes) {
        counts.divergent++;
        set_pc(w, run.lanes & ~taken, run.pc + 1);
        set_pc(w, taken, target);
        return false;
    }
    // At the end of a loop, lanes at earlier instructions go first.
    if (target < run.pc && run.limit != UINT32_MAX) {
        set_pc(w, taken, target);
        return false;
    }
    run.pc = target;
    return true;
}

void call(Warp &w, Running &run, uint32_t target)
{
    for (int l = 0; l < WARP; l++)
        if (run.lanes >> l & 1) w.returns[l].push_back(run.pc + 1);
    set_pc(w, run.lanes, target);
}

void come_back(Warp &w, Mask lanes)
{
    for (int l = 0; l < WARP; l++) {
        if (!(lanes >> l & 1)) continue;
        w.pc[l] = w.returns[l].back();
        w.returns[l].pop_back();
    }
}

// The lanes wait until the block is released: views.h.
void hold(Warp &w, const Running &run)
{
    set_pc(w, run.lanes, run.pc);
    set_state(w, run.lanes, Lane::HELD);
}

// Runs the lanes to a place where others may be chosen.
void run_together(Warp &w, Running run)
{
    const Kernel &kernel = *w.block->launch->kernel;
    Counts &counts = w.block->launch->counts;
    for (;;) {
        if (run.pc >= run.limit) {
            set_pc(w, run.lanes, run.pc);
            return;
        }
        const Instruction &i = kernel.code[run.pc];
        Mask lanes = run.lanes;
        if (i.guard != NO_SLOT) {
            Mask p = w.predicate[i.guard];
            lanes &= i.guard_negated ? ~p : p;
        }
        bool stops = w.block->stops != Block::NEVER &&
                     i.group == Group::ATOMIC && lanes != 0;
        if (stops && w.block->stops == Block::BEFORE_ATOMIC) {
            hold(w, run);
            return;
        }
        if (!w.doubts.empty()) w.doubts.follow(w, i, run.lanes, lanes);
        kernel.has_run[run.pc] = 1;
        counts.instructions++;
        counts.lanes += (uint64_t)__builtin_popcount(run.lanes);
        counts.groups[(int)i.group]++;
        if (i.flow == Flow::NEXT) {
            if (lanes != 0) i.run(w, i, lanes);
            run.pc++;
            if (stops) {
                hold(w, run);
                return;
            }
            continue;
        }
        if (i.flow == Flow::BRANCH) {
            if (!branch(w, run, lanes, (uint32_t)i.target)) return;
            continue;
        }
        // Lanes that the guard excludes go on.
        Mask others = run.lanes & ~lanes;
        set_pc(w, others, run.pc + 1);
        if (lanes == 0) {
            run.pc++;
            continue;
        }
        switch (i.flow) {
        case Flow::TOGETHER:
            if (!meet(w, i, lanes, run.pc) || others != 0 ||
                run.limit != UINT32_MAX)
                return;
            run.pc++;
            continue;
        case Flow::BARRIER:
            set_pc(w, lanes, run.pc);
            set_state(w, lanes, Lane::AT_BARRIER);
            return;
        case Flow::CALL:
            run.lanes = lanes;
            call(w, run, (uint32_t)i.target);
            return;
        case Flow::RETURN:
            come_back(w, lanes);
            return;
        case Flow::EXIT:
            w.alive &= ~lanes;
            set_state(w, lanes, Lane::ENDED);
            return;
        default:
            fault(i, "it can't run");
        }
    }
}

void do_nothing(Warp &, const Instruction &, Mask) {}

void fence(Warp &w, const Instruction &, Mask lanes)
{
    if (w.block->launch->views) w.block->launch->views->fence(w, lanes);
}

}

void run_warp(Warp &w)
{
    Running run = {};
    while (choose(w, run)) run_together(w, run);
    if (lanes_that(w, Lane::AT_SYNC) != 0) never_met(w);
}

void add_control_forms(Forms &forms)
{
    for (const char *name : {"bra", "bra.uni"})
        forms[name] = {do_nothing, "", Group::CONTROL, Flow::BRANCH};
    for (const char *name : {"call", "call.uni"})
        forms[name] = {do_nothing, "", Group::CONTROL, Flow::CALL};
    for (const char *name : {"ret", "ret.uni"})
        forms[name] = {do_nothing, "", Group::CONTROL, Flow::RETURN};
    forms["exit"] = {do_nothing, "", Group::CONTROL, Flow::EXIT};
    for (const char *name :
         {"bar.sync", "barrier.sync", "barrier.sync.aligned"})
        forms[name] = {do_nothing, "n", Group::CONTROL, Flow::BARRIER};
    forms["bar.red.or.pred"] = {do_nothing, "p|np", Group::CONTROL,
                                Flow::BARRIER};
    for (const char *name : {"membar.gl", "membar.sys", "fence.acq_rel.gpu",
                             "fence.sc.gpu", "fence.acq_rel.sys"})
        forms[name] = {fence, "", Group::CONTROL};
    for (const char *name : {"membar.cta", "fence.acq_rel.cta"})
        forms[name] = {do_nothing, "", Group::CONTROL};
    forms["trap"] = {[](Warp &, const Instruction &i, Mask) {
                         fault(i, "a trap");
                     }, "", Group::CONTROL};
}

}
