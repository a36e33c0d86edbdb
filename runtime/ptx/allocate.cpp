// Slots by live ranges: data flow between pieces of straight code, then a scan.
#include "allocate.h"

#include <algorithm>
#include <map>

#include "warp.h"

namespace ptx {

namespace {

typedef std::vector<uint64_t> Set;

bool has(const Set &set, int i) { return set[(size_t)i / 64] >> i % 64 & 1; }
void add(Set &set, int i) { set[(size_t)i / 64] |= 1ull << i % 64; }

// Statements that follow one another; jumps come to the first and leave from
// the last.
struct Piece {
    size_t begin, end;
    Set in, out, read, written;     // read: before it is written
};

std::vector<Piece> pieces_of(const std::vector<RegisterUse> &uses, size_t words)
{
    std::vector<bool> begins(uses.size() + 1, false);
    begins[0] = begins[uses.size()] = true;
    for (size_t i = 0; i < uses.size(); i++) {
        if (uses[i].target >= 0) begins[(size_t)uses[i].target] = true;
        if (uses[i].target >= 0 || uses[i].ends) begins[i + 1] = true;
    }
    std::vector<Piece> pieces;
    for (size_t i = 0; i < uses.size(); i++) {
        if (begins[i])
            pieces.push_back({i, i, Set(words), Set(words), Set(words),
                              Set(words)});
        Piece &p = pieces.back();
        for (int r : uses[i].reads)
            if (!has(p.written, r)) add(p.read, r);
        for (int r : uses[i].writes) {
            if (uses[i].is_guarded && !has(p.written, r)) add(p.read, r);
            add(p.written, r);
        }
        p.end = i + 1;
    }
    return pieces;
}

void find_live(std::vector<Piece> &pieces, const std::vector<RegisterUse> &uses)
{
    std::map<size_t, size_t> at;    // statement -> piece
    for (size_t k = 0; k < pieces.size(); k++) at[pieces[k].begin] = k;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = pieces.size(); k-- > 0;) {
            Piece &p = pieces[k];
            const RegisterUse &last = uses[p.end - 1];
            auto join = [&p](const Piece &next) {
                for (size_t i = 0; i < p.out.size(); i++)
                    p.out[i] |= next.in[i];
            };
            if (!last.ends && k + 1 < pieces.size()) join(pieces[k + 1]);
            if (last.target >= 0) join(pieces[at[(size_t)last.target]]);
            for (size_t i = 0; i < p.out.size(); i++) {
                uint64_t in = p.read[i] | (p.out[i] & ~p.written[i]);
                changed |= in != p.in[i];
                p.in[i] = in;
            }
        }
    }
}

// The statements between which a register lives.
struct Range {
    int id;
    size_t begin, end;
};

std::vector<Range> ranges_of(const std::vector<Piece> &pieces,
                             const std::vector<RegisterUse> &uses, int count)
{
    std::vector<Range> ranges;
    for (int r = 0; r < count; r++) ranges.push_back({r, SIZE_MAX, 0});
    auto touch = [&](int r, size_t at) {
        Range &range = ranges[(size_t)r];
        range.begin = std::min(range.begin, at);
        range.end = std::max(range.end, at);
    };
    for (const Piece &p : pieces) {
        for (int r = 0; r < count; r++) {
            if (has(p.in, r)) touch(r, p.begin);
            if (has(p.out, r)) touch(r, p.end);
        }
        for (size_t i = p.begin; i < p.end; i++) {
            for (int r : uses[i].reads) touch(r, i);
            for (int r : uses[i].writes) touch(r, i);
        }
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    return ranges;
}

}

std::vector<int32_t> allocate(const std::vector<RegisterUse> &uses,
                              const std::vector<int> &register_bytes,
                              size_t &bytes)
{
    int count = (int)register_bytes.size();
    std::vector<int32_t> place((size_t)count, 0);
    if (uses.empty() || count == 0) return place;
    auto pieces = pieces_of(uses, (size_t)count / 64 + 1);
    find_live(pieces, uses);

    struct Busy { size_t end; int32_t place; int bytes; };
    std::vector<Busy> busy;
    std::map<int, std::vector<int32_t>> free;   // by bytes
    for (const Range &range : ranges_of(pieces, uses, count)) {
        if (range.begin == SIZE_MAX) continue;  // never used
        for (size_t i = 0; i < busy.size();) {
            // A result may not lie over an operand: a function may store a lane
            // before it reads the next.
            if (busy[i].end < range.begin) {
                free[busy[i].bytes].push_back(busy[i].place);
                busy[i] = busy.back();
                busy.pop_back();
            } else {
                i++;
            }
        }
        int each = register_bytes[(size_t)range.id];
        auto &list = free[each];
        if (list.empty()) {
            list.push_back((int32_t)bytes);
            bytes += (size_t)each * WARP;
        }
        place[(size_t)range.id] = list.back();
        busy.push_back({range.end, list.back(), each});
        list.pop_back();
    }
    return place;
}

}
