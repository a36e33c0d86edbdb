// Reads the plans of CNNC_HOST_PLAN.
//
// The variable names plans (JSON of cnnc --emit=plan) in the order of their
// step numbers.  With train.json:eval.json, steps 0..T-1 belong to the first
// plan and steps from T on to the second.  watch.cpp compares launches with
// them.
//
// A plan with "batch_steps" counts as two: its first "batch_steps" steps, which
// run once for each batch, and the update.
//
// Bytes of a buffer become 0xff before the first step of its live range and
// after the last.  So a step that reads unwritten or dead bytes computes with
// NaN.  The live range of a buffer and its aliases is one, from the first step
// of any to the last.  Three cases are not filled: persistent buffers; an input
// before its first step, because the caller has set it; an output after its
// last step, because the caller will fetch it.
#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include "host.h"
#include "json.h"
#include "plan.h"

namespace {

// A root buffer with all its aliases; first and last are steps of the plan.
struct Group {
    int64_t first, last;
    bool    persistent, input, output;
};

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

// Finds the end of each buffer's chain of aliases; false if a link is invalid.
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

bool find_fills(const std::vector<Json> &buffers, PlannedStep *steps,
                int64_t count)
{
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
        Bytes fill = {(size_t)buffers[k]["offset"].number,
                      (size_t)buffers[k]["bytes"].number};
        if (!group.input) steps[group.first].before.push_back(fill);
        if (!group.output) steps[group.last].after.push_back(fill);
    }
    return true;
}

Touched touch(const Json &buffer, bool writes)
{
    size_t rows = 1, bytes = (size_t)buffer["bytes"].number, stride = bytes;
    if (buffer["rows"].kind == Json::NUMBER && buffer["rows"].number >= 1) {
        rows = (size_t)buffer["rows"].number;
        stride = (size_t)buffer["stride"].number;
        bytes /= rows;
    }
    return {buffer["name"].string, (size_t)buffer["offset"].number, bytes,
            rows, std::max<size_t>(stride, 1), writes};
}

// Adds the buffers of the arena that the step reads or writes; inputs in the
// caller's memory come after it.  Returns false if an id is invalid.
bool add_touched(const Json &ids, const std::vector<Json> &buffers, bool writes,
                 PlannedStep *step)
{
    // The loop appends each buffer, so it is not a mere test.
    // NOLINTNEXTLINE(readability-use-anyofallof)
    for (const Json &id : ids.array) {
        if (!(id.number >= 0 && id.number < (double)buffers.size()))
            return false;
        Touched touched = touch(buffers[(size_t)id.number], writes);
        if (touched.offset < step->arena_bytes)
            step->touched.push_back(touched);
    }
    return true;
}

// True for a loss or a metric.
bool is_scored(const Json &step, const std::vector<Json> &buffers)
{
    const std::vector<Json> &writes = step["writes"].array;
    return !writes.empty() &&
           buffers[(size_t)writes[0].number]["kind"].string == "scalar";
}

bool read_steps(const Json &plan, int first, PlannedStep *steps)
{
    const std::vector<Json> &all = plan["steps"].array;
    const std::vector<Json> &buffers = plan["buffers"].array;
    int count = (int)all.size(), update = (int)plan["batch_steps"].number;
    bool knows = false;
    if (update < 0 || update > count) return false;
    for (const Json &step : all) knows |= step["kernel"].kind == Json::STRING;
    for (size_t i = 0; i < all.size(); i++) {
        PlannedStep *step = &steps[i];
        step->name = all[i]["name"].string;
        step->kernel = all[i]["kernel"].string;
        step->knows_kernels = knows;
        step->arena_bytes = (size_t)plan["arena_bytes"].number;
        bool updates = (int)i >= update;
        step->first = first + (updates ? update : 0);
        step->last = first + (updates ? count : update) - 1;
        if (!add_touched(all[i]["writes"], buffers, true, step) ||
            !add_touched(all[i]["reads"], buffers, false, step))
            return false;
        step->optional =
            plan["mode"].string == "eval" && is_scored(all[i], buffers);
    }
    return find_fills(buffers, steps, (int64_t)all.size());
}

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
    size_t first = steps.size();
    steps.resize(first + plan["steps"].array.size());
    if (plan["schema"].number == 1 &&
        read_steps(plan, (int)first, steps.data() + first))
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
