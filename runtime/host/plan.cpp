// Fills dead and unwritten bytes of an arena with NaN, by the plan.
//
// CNNC_HOST_PLAN names the plans (JSON, as cnnc --emit=plan writes them) in the
// order of their step numbers: train.json:eval.json gives steps 0..T-1 to the
// first and T.. to the second.  Before the first step of a buffer's life its
// bytes become 0xff, and after the last step they do again; so a step that
// reads what nobody has written, or what is dead, computes with NaN.
//
// A buffer and its aliases live as one, from the first step of any of them to
// the last.  Not filled: what persists; an input before its first step, since
// the caller has put it there; an output after its last, since the caller will
// fetch it.
#include <algorithm>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "json.h"

namespace {

struct Fill {
    size_t offset, bytes;
};

struct Step {
    std::vector<Fill> before, after;
    size_t            arena_bytes; // that its plan needs
};

struct Arena {
    uintptr_t start;
    size_t    bytes;
};

// A root buffer and all that aliases it.
struct Group {
    int64_t first, last;
    bool    persistent, input, output;
};

struct Plans {
    std::vector<Step> steps;
    bool              named = false, broken = false;
    Plans();
    bool add(const std::string &path);
    bool add_buffers(const Json &list, size_t first_step);
};

std::mutex arena_lock;
std::vector<Arena> arenas;
thread_local int library_step = -1;

bool read_file(const std::string &path, std::string *text)
{
    FILE *file = fopen(path.c_str(), "rb");
    if (!file) return false;
    char part[4096];
    size_t count;
    while ((count = fread(part, 1, sizeof part, file)) > 0)
        text->append(part, count);
    bool sound = !ferror(file);
    fclose(file);
    return sound;
}

// The end of each buffer's chain of aliases; false if one leads nowhere.
bool find_roots(const std::vector<Json> &buffers, std::vector<size_t> *roots)
{
    for (size_t k = 0; k < buffers.size(); k++) {
        size_t root = k, links = 0;
        while (buffers[root]["alias_of"].kind == Json::NUMBER) {
            double next = buffers[root]["alias_of"].number;
            if (!(next >= 0 && next < (double)buffers.size()) ||
                ++links > buffers.size())
                return false;
            root = (size_t)next;
        }
        roots->push_back(root);
    }
    return true;
}

void join(Group *group, const Json &buffer)
{
    group->first = std::min(group->first, (int64_t)buffer["first"].number);
    group->last = std::max(group->last, (int64_t)buffer["last"].number);
    group->persistent |= buffer["persistent"].boolean;
    group->input |= buffer["kind"].string == "input";
    group->output |= buffer["output"].boolean;
}

bool Plans::add_buffers(const Json &list, size_t first_step)
{
    const std::vector<Json> &buffers = list.array;
    int64_t count = (int64_t)(steps.size() - first_step);
    std::vector<size_t> roots;
    std::vector<Group> groups(buffers.size(), {count, -1, false, false, false});
    if (!find_roots(buffers, &roots)) return false;
    for (size_t k = 0; k < buffers.size(); k++)
        join(&groups[roots[k]], buffers[k]);
    for (size_t k = 0; k < buffers.size(); k++) {
        const Group &group = groups[k];
        if (roots[k] != k || group.persistent) continue;
        if (group.first < 0 || group.first > group.last || group.last >= count)
            return false;
        Fill fill = {(size_t)buffers[k]["offset"].number,
                     (size_t)buffers[k]["bytes"].number};
        Step *first = &steps[first_step];
        if (!group.input) first[group.first].before.push_back(fill);
        if (!group.output) first[group.last].after.push_back(fill);
    }
    return true;
}

bool Plans::add(const std::string &path)
{
    std::string text, fault;
    Json plan;
    if (!read_file(path, &text)) {
        report("CNNC_HOST_PLAN: %s can't be read", path.c_str());
        return false;
    }
    if (!json_read(text, &plan, &fault)) {
        report("CNNC_HOST_PLAN: %s: %s", path.c_str(), fault.c_str());
        return false;
    }
    size_t first_step = steps.size();
    steps.resize(first_step + plan["steps"].array.size(),
                 {{}, {}, (size_t)plan["arena_bytes"].number});
    if (plan["schema"].number == 1 && add_buffers(plan["buffers"], first_step))
        return true;
    report("CNNC_HOST_PLAN: %s is no plan of schema 1", path.c_str());
    return false;
}

Plans::Plans()
{
    const char *paths = getenv("CNNC_HOST_PLAN");
    if (!paths || !*paths) return;
    named = true;
    std::string rest = paths;
    while (!rest.empty() && !broken) {
        size_t colon = std::min(rest.find(':'), rest.size());
        broken = !add(rest.substr(0, colon));
        rest.erase(0, colon + 1);
    }
}

const Plans &plans()
{
    static const Plans all;
    return all;
}

bool find_arena(const volatile void *const *pointers, int count, Arena *found)
{
    std::lock_guard<std::mutex> hold(arena_lock);
    for (int i = 0; i < count; i++)
        for (const Arena &arena : arenas)
            if ((uintptr_t)pointers[i] - arena.start < arena.bytes) {
                *found = arena;
                return true;
            }
    return false;
}

void fill_all(const Arena &arena, const std::vector<Fill> &fills)
{
    for (const Fill &fill : fills)
        memset((void *)(arena.start + fill.offset), FILL, fill.bytes);
}

}

bool has_plan()
{
    return plans().named;
}

bool step_begins(int step, const volatile void *const *pointers, int count)
{
    if (!plans().named) return true;
    if (plans().broken) return false;
    Arena arena;
    if (step < 0 || !find_arena(pointers, count, &arena)) return true;
    if ((size_t)step >= plans().steps.size()) {
        report("step %d: the plans of CNNC_HOST_PLAN have %zu steps", step,
               plans().steps.size());
        return false;
    }
    const Step &planned = plans().steps[(size_t)step];
    if (arena.bytes < planned.arena_bytes) {
        report("step %d: the plan needs an arena of %zu bytes, here are %zu",
               step, planned.arena_bytes, arena.bytes);
        return false;
    }
    fill_all(arena, planned.before);
    return true;
}

void step_ends(int step, const volatile void *const *pointers, int count)
{
    Arena arena;
    if (plans().named && step >= 0 && find_arena(pointers, count, &arena))
        fill_all(arena, plans().steps[(size_t)step].after);
}

void host_arena_at(const void *pointer, size_t bytes)
{
    Inside inside;
    add_device_memory(pointer, bytes);
    forget_arenas(pointer, bytes);
    std::lock_guard<std::mutex> hold(arena_lock);
    arenas.push_back({(uintptr_t)pointer, bytes});
}

void forget_arenas(const void *pointer, size_t bytes)
{
    uintptr_t start = (uintptr_t)pointer;
    std::lock_guard<std::mutex> hold(arena_lock);
    arenas.erase(std::remove_if(arenas.begin(), arenas.end(),
                                [=](const Arena &arena) {
                                    return arena.start - start < bytes;
                                }),
                 arenas.end());
}

void host_library_step(int step)
{
    library_step = step;
}

int announced_step()
{
    return library_step;
}

int take_library_step()
{
    int step = library_step;
    library_step = -1;
    return step;
}
