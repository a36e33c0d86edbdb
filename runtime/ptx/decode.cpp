// The decoder: statements of a kernel and of the functions that it calls.
#include "decode.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "allocate.h"
#include "forms.h"

namespace ptx {

const Forms &all_forms()
{
    static const Forms forms = [] {
        Forms all;
        add_integer_forms(all);
        add_float_forms(all);
        add_conversion_forms(all);
        add_predicate_forms(all);
        add_memory_forms(all);
        add_async_forms(all);
        add_matrix_forms(all);
        add_warp_forms(all);
        add_control_forms(all);
        return all;
    }();
    return forms;
}

namespace {

size_t aligned(size_t at, size_t to) { return (at + to - 1) / to * to; }

// Bytes of a variable in the host's memory.
struct Storage {
    unsigned char *at;
    size_t bytes;
};

typedef std::map<std::string, Storage> Globals;

struct Place {
    int id;                         // of a register; a predicate's number
    int bytes;                      // 0: a predicate
};

// The registers of an instruction's slots, whose places are not known yet; -1.
typedef std::array<int32_t, MOST_SLOTS> Pending;

class Decoder {
    const Text &text;
    const Globals &globals;
    Kernel &kernel;

    std::map<std::string, size_t> shared, local;    // offsets of variables
    std::map<std::pair<uint64_t, int>, int32_t> constants;
    std::optional<int32_t> no_predicate;        // no register has its number
    std::map<Special, int32_t> specials;
    std::map<std::string, uint32_t> entries;        // of functions in the code

    // The function that is being decoded.
    const Function *function = nullptr;
    std::map<std::string, Place> places;
    std::vector<int> register_bytes;
    std::vector<RegisterUse> uses;                  // one an instruction
    std::vector<Pending> pending;               // likewise
    std::vector<std::pair<size_t, std::string>> jumps;
    size_t begin = 0;                               // its first instruction

    // ---- names -------------------------------------------------------------

    [[noreturn]] static void fail(int line, const std::string &what)
    {
        throw TextError(line, what);
    }

    // The declaration of a register, or null: a range's has the name without
    // its number.
    const Registers *declared(const std::string &name) const
    {
        auto exact = function->registers.find(name);
        if (exact != function->registers.end() && exact->second.count == 0)
            return &exact->second;
        size_t end = name.size();
        while (end > 0 && isdigit((unsigned char)name[end - 1])) end--;
        auto range = function->registers.find(name.substr(0, end));
        if (end == name.size() || range == function->registers.end() ||
            strtol(name.c_str() + end, nullptr, 10) >= range->second.count)
            return nullptr;
        return &range->second;
    }

    const Place *register_called(const std::string &name)
    {
        auto known = places.find(name);
        if (known != places.end()) return &known->second;
        const Registers *r = declared(name);
        if (r == nullptr) return nullptr;
        Place place = {kernel.predicates, 0};
        if (r->bytes == 0) {
            kernel.predicates++;
        } else {
            place = {(int)register_bytes.size(), r->bytes < 2 ? 2 : r->bytes};
            register_bytes.push_back(place.bytes);
        }
        return &(places[name] = place);
    }

    int32_t special_called(const std::string &name)
    {
        static const std::map<std::string, Special> names = {
            {"%tid.x", Special::TID_X}, {"%tid.y", Special::TID_Y},
            {"%tid.z", Special::TID_Z}, {"%ntid.x", Special::NTID_X},
            {"%ntid.y", Special::NTID_Y}, {"%ntid.z", Special::NTID_Z},
            {"%ctaid.x", Special::CTAID_X}, {"%ctaid.y", Special::CTAID_Y},
            {"%ctaid.z", Special::CTAID_Z}, {"%nctaid.x", Special::NCTAID_X},
            {"%nctaid.y", Special::NCTAID_Y}, {"%nctaid.z", Special::NCTAID_Z},
            {"%laneid", Special::LANE}, {"%warpid", Special::WARP_INDEX},
        };
        auto which = names.find(name);
        if (which == names.end()) return NO_SLOT;
        auto known = specials.find(which->second);
        if (known != specials.end()) return known->second;
        int32_t slot = (int32_t)kernel.frame_bytes;
        kernel.frame_bytes += sizeof(uint32_t) * WARP;
        kernel.specials.push_back({which->second, slot});
        return specials[which->second] = slot;
    }

    const Variable *variable_called(const std::string &name) const
    {
        for (const auto *list : {&function->variables, &text.variables})
            for (const Variable &v : *list)
                if (v.name == name) return &v;
        return nullptr;
    }

    static size_t offset_in(std::map<std::string, size_t> &offsets, size_t &end,
                            const Variable &v, const std::string &key)
    {
        auto known = offsets.find(key);
        if (known != offsets.end()) return known->second;
        size_t at = aligned(end, v.align);
        end = at + v.bytes;
        return offsets[key] = at;
    }

    // A function's parameter or result, or one of a call: both are memory of
    // the lane.
    size_t local_offset(const Function &f, const Variable &v)
    {
        return offset_in(local, kernel.local_bytes, v, f.name + " " + v.name);
    }

    const Variable *own_parameter(const std::string &name) const
    {
        for (const auto *list : {&function->parameters, &function->results})
            for (const Variable &v : *list)
                if (v.name == name) return &v;
        return nullptr;
    }

    // Sets the address of a variable in its space, for a lane.
    bool address_of(const std::string &name, uint64_t &at)
    {
        const Variable *v = variable_called(name);
        const Variable *own = own_parameter(name);
        if (own != nullptr && function->is_kernel) {
            at = kernel.parameters[(size_t)(own - function->parameters.data())]
                     .offset;
        } else if (own != nullptr) {
            at = local_offset(*function, *own);
        } else if (v == nullptr) {
            return false;
        } else if (v->space == Space::SHARED) {
            at = offset_in(shared, kernel.shared_bytes, *v, name);
        } else if (v->space == Space::LOCAL || v->space == Space::PARAM) {
            at = local_offset(*function, *v);
        } else {
            auto storage = globals.find(name);
            if (storage == globals.end()) return false;
            at = (uint64_t)(uintptr_t)storage->second.at;
        }
        return true;
    }

    int32_t constant(uint64_t bits, int bytes)
    {
        if (bytes < 8) bits &= (1ull << 8 * bytes) - 1;
        auto key = std::make_pair(bits, bytes);
        auto known = constants.find(key);
        if (known != constants.end()) return known->second;
        size_t at = kernel.constants.size();
        kernel.constants.resize(at + (size_t)bytes * WARP);
        for (int l = 0; l < WARP; l++)
            memcpy(&kernel.constants[at + (size_t)(l * bytes)], &bits,
                   (size_t)bytes);
        return constants[key] = (int32_t)at | 1;
    }

    // ---- operands ----------------------------------------------------------

    struct Item {
        char letter;                // of the pattern
        bool optional, is_result;
        int  in_braces;             // its number in a list; -1
    };

    static std::vector<Item> items_of(const char *pattern)
    {
        std::vector<Item> items;
        int braces = -1;
        bool results = strchr(pattern, '|') != nullptr;
        for (const char *c = pattern; *c != '\0'; c++) {
            if (*c == '|') results = false;
            else if (*c == '[') braces = 0;
            else if (*c == ']') braces = -1;
            else if (*c == '?') items.back().optional = true;
            else items.push_back({*c, false, results,
                                  braces < 0 ? -1 : braces++});
        }
        return items;
    }

    void use(const Place &place, bool is_result)
    {
        auto &list = is_result ? uses.back().writes : uses.back().reads;
        list.push_back(place.id);
    }

    // The slot of a register or number of `bytes` bytes.
    int32_t slot_of(const Statement &s, const Operand &o, int bytes, Item item,
                    size_t k)
    {
        if (o.kind == Operand::NUMBER)
            return constant(o.number, bytes == 1 ? 2 : bytes);
        if (o.kind != Operand::NAME) fail(s.line, "wanted a register");
        if (o.name == "_") return NO_SLOT;
        uint64_t address = 0;
        if (const Place *p = register_called(o.name)) {
            if (p->bytes != bytes && !(bytes == 1 && p->bytes == 2))
                fail(s.line, o.name + " has " + std::to_string(p->bytes) +
                                 " bytes, and " + s.opcode + " wants " +
                                 std::to_string(bytes));
            use(*p, item.is_result);
            pending.back()[k] = p->id;
            return 0;
        }
        int32_t special = special_called(o.name);
        if (special != NO_SLOT && bytes == 4 && !item.is_result) return special;
        if (address_of(o.name, address) && bytes >= 4 && !item.is_result)
            return constant(address, bytes);
        fail(s.line, "unknown operand '" + o.name + "' of " + s.opcode);
    }

    int32_t predicate_of(const Statement &s, const std::string &name)
    {
        const Place *p = register_called(name);
        if (p == nullptr || p->bytes != 0)
            fail(s.line, "'" + name + "' is no predicate");
        return p->id;
    }

    // The predicate that nothing writes: a number that is a predicate is it, or
    // its negation.
    int32_t false_predicate()
    {
        if (!no_predicate) no_predicate = kernel.predicates++;
        return *no_predicate;
    }

    void decode_address(const Statement &s, const Operand &o, Item item,
                        Instruction &i, size_t k)
    {
        if (o.kind != Operand::ADDRESS) fail(s.line, "wanted an address");
        int64_t &offset = item.letter == 'a' ? i.number : i.second;
        offset = (int64_t)o.number;
        uint64_t at = 0;
        if (o.name.empty()) return;
        if (const Place *p = register_called(o.name)) {
            if (p->bytes != 8 && (p->bytes != 4 || item.letter == 'b'))
                fail(s.line, o.name + " is no address");
            if (item.letter == 'a') i.address_bytes = (uint8_t)p->bytes;
            use(*p, false);
            pending.back()[k] = p->id;
            i.slot[k] = 0;
        } else if (address_of(o.name, at)) {
            offset += (int64_t)at;
        } else {
            fail(s.line, "unknown address '" + o.name + "'");
        }
    }

    void decode_operand(const Statement &s, const Operand &o, Item item,
                        const Form &form, Instruction &i, size_t &k)
    {
        switch (item.letter) {
        case 'n':
            if (o.kind != Operand::NUMBER) fail(s.line, "wanted a number");
            i.number = (int64_t)o.number;
            return;
        case 'p':
            if (o.kind == Operand::NUMBER) i.slot[k] = false_predicate();
            else i.slot[k] = o.name == "_" ? NO_SLOT : predicate_of(s, o.name);
            i.predicates |= (uint16_t)(1 << k);
            if (o.negated || (o.kind == Operand::NUMBER && o.number != 0))
                i.negated |= (uint8_t)(1 << k);
            k++;
            return;
        case 'a': case 'b':
            decode_address(s, o, item, i, k++);
            return;
        case 'r': {
            int bytes = form.bytes;
            const Place *p = o.kind == Operand::NAME ? register_called(o.name)
                                                     : nullptr;
            if (p != nullptr && p->bytes >= bytes) bytes = p->bytes;
            i.register_bytes = (uint8_t)(bytes == 1 ? 2 : bytes);
            i.slot[k] = slot_of(s, o, bytes, item, k);
            k++;
            return;
        }
        default:
            i.slot[k] = slot_of(s, o, item.letter - '0', item, k);
            k++;
        }
    }

    // ---- instructions ------------------------------------------------------

    Instruction &append(const Statement &s, const Form &form)
    {
        Instruction i;
        i.run = form.run;
        i.flow = form.flow;
        i.group = form.group;
        i.bytes = form.bytes;
        i.count = form.count;
        i.number = form.number;
        i.is_signed = form.is_signed;
        i.line = s.line;
        i.name = s.opcode.c_str();
        for (int32_t &slot : i.slot) slot = NO_SLOT;
        kernel.code.push_back(i);
        uses.emplace_back();
        pending.emplace_back();
        pending.back().fill(-1);
        return kernel.code.back();
    }

    void guard(const Statement &s, Instruction &i)
    {
        if (s.guard.empty()) return;
        i.guard = predicate_of(s, s.guard);
        i.guard_negated = s.guard_negated;
        uses.back().is_guarded = true;
    }

    // True if the operands have the braces of the pattern.
    static bool fits(const Statement &s, const char *pattern)
    {
        size_t at = 0, braces = 0;
        for (const Item &item : items_of(pattern)) {
            if (item.in_braces > 0) {
                braces++;
                continue;
            }
            if (at < s.operands.size() && item.optional && item.is_result &&
                !s.operands[at].is_second)
                continue;
            if (at >= s.operands.size()) return item.optional;
            const Operand &o = s.operands[at++];
            if ((o.kind == Operand::LIST) != (item.in_braces == 0))
                return false;
            if (item.letter == 'p' && o.kind != Operand::NAME) return false;
        }
        size_t inside = 0;
        for (const Operand &o : s.operands)
            inside += o.kind == Operand::LIST ? o.list.size() - 1 : 0;
        return inside == braces;
    }

    // An opcode with several patterns has several forms: forms.h.
    static const Form &form_of(const Statement &s, const std::string &opcode)
    {
        auto first = all_forms().find(opcode), found = first;
        if (first == all_forms().end())
            fail(s.line, "unknown opcode '" + opcode + "'");
        for (int n = 2; found != all_forms().end(); n++) {
            if (fits(s, found->second.pattern)) return found->second;
            found = all_forms().find(opcode + "#" + std::to_string(n));
        }
        return first->second;
    }

    // A parameter of the kernel is memory of the block; one of another function
    // or of a call is memory of the lane.
    std::string opcode_of(const Statement &s) const
    {
        size_t dot = s.opcode.find(".param");
        if (dot != 2) return s.opcode;
        for (const Operand &o : s.operands) {
            const Variable *v = variable_called(o.name);
            if (o.kind == Operand::ADDRESS && function->is_kernel &&
                (v == nullptr || v->space != Space::PARAM))
                return s.opcode;
        }
        return s.opcode.substr(0, 2) + ".local" + s.opcode.substr(8);
    }

    void decode_call(const Statement &s)
    {
        const Operand *lists[2] = {nullptr, nullptr};
        std::string name;
        for (const Operand &o : s.operands) {
            if (o.kind == Operand::LIST) lists[name.empty() ? 0 : 1] = &o;
            else name = o.name;
        }
        auto called = text.functions.find(name);
        if (called == text.functions.end())
            fail(s.line, "call of an unknown function '" + name + "'");
        const Function &f = called->second;
        auto copy = [&](const Variable &to, const Function &of_to,
                        const Variable &from, const Function &of_from) {
            Instruction &i = append(s, form_of(s, "copy.local"));
            i.number = (int64_t)local_offset(of_to, to);
            i.second = (int64_t)local_offset(of_from, from);
            i.target = (int32_t)to.bytes;
            guard(s, i);
        };
        auto each = [&](const Operand *list, const std::vector<Variable> &of,
                        bool is_result) {
            size_t count = list == nullptr ? 0 : list->list.size();
            if (count != of.size()) fail(s.line, "wrong arguments of " + name);
            for (size_t k = 0; k < count; k++) {
                const Variable *own = variable_called(list->list[k].name);
                if (own == nullptr || own->bytes != of[k].bytes)
                    fail(s.line, "wrong argument of " + name);
                if (is_result) copy(*own, *function, of[k], f);
                else copy(of[k], f, *own, *function);
            }
        };
        each(lists[1], f.parameters, false);
        Instruction &i = append(s, form_of(s, s.opcode));
        guard(s, i);
        i.target = (int32_t)entries.at(name);
        each(lists[0], f.results, true);
    }

    // The operand of cvt may be a wider register: its lower bits count.  They
    // are moved to a register of their own first.
    Statement narrowed(const Statement &s, const Form &form)
    {
        Statement changed = s;
        const char *bar = strchr(form.pattern, '|');
        if (s.opcode.compare(0, 4, "cvt.") != 0 || bar == nullptr ||
            s.operands.size() != 2 || s.operands[1].kind != Operand::NAME)
            return changed;
        const Place *from = register_called(s.operands[1].name);
        int wanted = bar[1] == '1' ? 2 : bar[1] - '0';
        if (from == nullptr || from->bytes <= wanted) return changed;
        Operand &operand = changed.operands[1];
        operand.name = "narrowed " + std::to_string(kernel.code.size());
        places[operand.name] = {(int)register_bytes.size(), wanted};
        register_bytes.push_back(wanted);
        const char *opcode = wanted == 4         ? "cvt.u32.u64"
                             : from->bytes == 8 ? "cvt.u16.u64"
                                                : "cvt.u16.u32";
        Statement move;
        move.line = s.line;
        move.opcode = opcode;
        move.operands = {operand, s.operands[1]};
        decode_statement(move);
        kernel.code.back().name = opcode;
        return changed;
    }

    void decode_statement(const Statement &of)
    {
        if (of.opcode.compare(0, 4, "call") == 0) {
            decode_call(of);
            return;
        }
        const std::string opcode = opcode_of(of);
        const Form &form = form_of(of, opcode);
        const Statement s = narrowed(of, form);
        Instruction &i = append(s, form);
        i.name = of.opcode.c_str();
        guard(s, i);
        if (form.group == Group::ATOMIC) kernel.has_atomics = true;
        if (form.flow == Flow::BRANCH) {
            jumps.emplace_back(kernel.code.size() - 1, s.operands.at(0).name);
            uses.back().ends = s.guard.empty();
            return;
        }
        if (form.flow == Flow::EXIT || form.flow == Flow::RETURN)
            uses.back().ends = s.guard.empty();
        size_t k = 0, at = 0;
        for (Item item : items_of(form.pattern)) {
            const Operand *o = nullptr;
            if (item.in_braces > 0) at--;
            if (at < s.operands.size()) o = &s.operands[at++];
            if (o != nullptr && item.optional && item.is_result &&
                !o->is_second) {
                at--;
                o = nullptr;
            }
            if (o != nullptr && item.in_braces >= 0) {
                size_t n = (size_t)item.in_braces;
                o = o->kind == Operand::LIST && n < o->list.size()
                        ? &o->list[n] : nullptr;
            }
            if (o == nullptr && item.optional) {
                k++;
                continue;
            }
            if (o == nullptr) fail(s.line, s.opcode + " lacks an operand");
            decode_operand(s, *o, item, form, i, k);
            if (item.is_result) i.results = (uint8_t)k;
        }
        if (at < s.operands.size())
            fail(s.line, s.opcode + " has an operand too many");
        // The lanes that it names are its last operand.
        if (form.flow == Flow::TOGETHER && form.group == Group::WARP)
            i.target = (int32_t)k - 1;
    }

    // ---- functions ---------------------------------------------------------

    void place_registers(const std::vector<size_t> &first)
    {
        for (auto &jump : jumps) {
            auto label = function->labels.find(jump.second);
            if (label == function->labels.end())
                fail(kernel.code[jump.first].line,
                     "unknown label '" + jump.second + "'");
            size_t to = label->second < first.size()
                            ? first[label->second] : kernel.code.size() - 1;
            kernel.code[jump.first].target = (int32_t)to;
            uses[jump.first - begin].target = (int32_t)(to - begin);
        }
        auto at = allocate(uses, register_bytes, kernel.frame_bytes);
        for (size_t n = 0; n < pending.size(); n++)
            for (size_t k = 0; k < MOST_SLOTS; k++)
                if (pending[n][k] >= 0)
                    kernel.code[begin + n].slot[k] = at[(size_t)pending[n][k]];
    }

    void decode_function(const Function &f)
    {
        function = &f;
        places.clear();
        register_bytes.clear();
        uses.clear();
        pending.clear();
        jumps.clear();
        begin = kernel.code.size();
        entries[f.name] = (uint32_t)begin;
        std::vector<size_t> first;
        for (const Statement &s : f.body) {
            first.push_back(kernel.code.size());
            decode_statement(s);
        }
        // A body may end with a label.
        static const Statement end = {0, "ret", "", false, {}};
        append(end, form_of(end, "ret"));
        uses.back().ends = true;
        for (size_t i = begin; f.is_kernel && i < kernel.code.size(); i++)
            if (kernel.code[i].flow == Flow::RETURN)
                kernel.code[i].flow = Flow::EXIT;
        place_registers(first);
    }

    // The functions that f calls come before it.
    void decode_with_called(const Function &f, std::set<std::string> &open)
    {
        if (entries.count(f.name)) return;
        if (!open.insert(f.name).second)
            fail(f.line, f.name + " calls itself");
        for (const Statement &s : f.body) {
            if (s.opcode.compare(0, 4, "call") != 0) continue;
            for (const Operand &o : s.operands) {
                auto called = text.functions.find(o.name);
                if (o.kind == Operand::NAME &&
                    called != text.functions.end())
                    decode_with_called(called->second, open);
            }
        }
        decode_function(f);
    }

    void decode_parameters(const Function &f)
    {
        size_t end = 0;
        for (const Variable &v : f.parameters) {
            end = aligned(end, v.align);
            kernel.parameters.push_back({end, v.bytes});
            end += v.bytes;
        }
        kernel.parameter_bytes = end;
    }

public:
    Decoder(const Text &of, const Globals &variables, Kernel &to)
        : text(of), globals(variables), kernel(to)
    {
    }

    void decode(const Function &f)
    {
        kernel.name = f.name;
        decode_parameters(f);
        std::set<std::string> open;
        decode_with_called(f, open);
        kernel.entry = entries[f.name];
        kernel.local_bytes = aligned(kernel.local_bytes, 16);
        kernel.has_run.resize(kernel.code.size());
        kernel.passes.resize(kernel.code.size());
    }
};

}

struct Module::Parts {
    Text text;
    Globals globals;
    std::vector<std::unique_ptr<unsigned char[]>> memory;
    std::map<std::string, Kernel> kernels;
};

Module::Module(Text text) : parts(new Parts)
{
    parts->text = std::move(text);
    for (const Variable &v : parts->text.variables) {
        if (v.space != Space::GLOBAL && v.space != Space::CONST) continue;
        const size_t most = 256;    // alignment
        auto bytes = std::make_unique<unsigned char[]>(v.bytes + most);
        auto *at = (unsigned char *)aligned((size_t)bytes.get(), most);
        memset(at, 0, v.bytes);
        if (!v.initial.empty()) memcpy(at, v.initial.data(), v.initial.size());
        parts->globals[v.name] = {at, v.bytes};
        parts->memory.push_back(std::move(bytes));
    }
}

Module::~Module() = default;

std::vector<std::string> Module::kernel_names() const
{
    std::vector<std::string> names;
    for (const auto &f : parts->text.functions)
        if (f.second.is_kernel) names.push_back(f.first);
    return names;
}

const Kernel &Module::kernel(const std::string &name)
{
    auto known = parts->kernels.find(name);
    if (known != parts->kernels.end()) return known->second;
    auto f = parts->text.functions.find(name);
    if (f == parts->text.functions.end() || !f->second.is_kernel)
        throw TextError(0, "there is no kernel " + name);
    Kernel kernel;
    Decoder(parts->text, parts->globals, kernel).decode(f->second);
    return parts->kernels[name] = std::move(kernel);
}

void *Module::variable(const std::string &name, size_t *bytes) const
{
    auto found = parts->globals.find(name);
    if (found == parts->globals.end()) return nullptr;
    *bytes = found->second.bytes;
    return found->second.at;
}

bool Module::contains(uint64_t at, size_t bytes) const
{
    // NOLINTNEXTLINE(readability-use-anyofallof)
    for (const auto &g : parts->globals) {
        uint64_t begin = (uint64_t)(uintptr_t)g.second.at;
        if (at >= begin && at + bytes <= begin + g.second.bytes) return true;
    }
    return false;
}

std::unique_ptr<Module> read_module(const std::string &path)
{
    std::ifstream file(path);
    if (!file) throw std::runtime_error("can't read '" + path + "'");
    std::stringstream text;
    text << file.rdbuf();
    try {
        return std::make_unique<Module>(parse(text.str(), path));
    } catch (const TextError &error) {
        throw std::runtime_error(path + ", " + error.what());
    }
}

}
