// Comparisons and predicates.
#include <cmath>
#include <cstring>

#include "operations.h"
#include "rounding.h"

namespace ptx {

namespace {

// Bit l is byte l, which is 0 or 1.
Mask gathered(const uint8_t (&bytes)[WARP])
{
    Mask to = 0;
    for (int k = 0; k < WARP / 8; k++) {
        uint64_t word = 0;
        for (int j = 0; j < 8; j++)
            word |= (uint64_t)bytes[8 * k + j] << 8 * j;
        to |= (Mask)(word * 0x0102040810204080 >> 56) << 8 * k;
    }
    return to;
}

// ---- setp -------------------------------------------------------------------

struct Equal {
    template <class T> static bool of(T a, T b) { return a == b; }
};
struct Less {
    template <class T> static bool of(T a, T b) { return a < b; }
};
struct LessEqual {
    template <class T> static bool of(T a, T b) { return a <= b; }
};
struct Greater {
    template <class T> static bool of(T a, T b) { return a > b; }
};
struct GreaterEqual {
    template <class T> static bool of(T a, T b) { return a >= b; }
};
// Neither is NaN.
struct Ordered {
    template <class T> static bool of(T a, T b) 
    {
        return !is_nan(a) && !is_nan(b);
    }
};
// Ordered, and not equal
struct Unequal {
    template <class T> static bool of(T a, T b) { return a < b || a > b; }
};
template <class F>
struct Not {
    template <class T> static bool of(T a, T b) { return !F::of(a, b); }
};

// Bits of Instruction.number: how the result and a third predicate combine
enum Combine : int64_t { ALONE, AND, OR, XOR, FLUSHES = 4 };

Mask combined(Mask a, Mask b, int64_t how)
{
    return how == ALONE ? a : how == AND ? a & b : how == OR ? a | b : a ^ b;
}

float flushed(float a) { return flush(a); }
template <class T> T flushed(T a) { return a; }

template <class F, class T>
void run_setp(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[2]);
    const T *b = w.at<T>(i.slot[3]);
    uint8_t is[WARP];
    if (i.number & FLUSHES)
        for (int l = 0; l < WARP; l++)
            is[l] = F::of(flushed(a[l]), flushed(b[l]));
    else
        for (int l = 0; l < WARP; l++) is[l] = F::of(a[l], b[l]);
    const Mask value = gathered(is);
    const int64_t how = i.number & XOR;
    const Mask third = how == ALONE ? 0 : predicate_of(w, i, 4);
    const int32_t first = i.slot[0], second = i.slot[1];
    if (first != NO_SLOT)
        put_predicate(w, first, combined(value, third, how), lanes);
    if (second != NO_SLOT)
        put_predicate(w, second, combined(~value, third, how), lanes);
}

template <class F, class T>
void add_setp(Forms &forms, const std::string &comparison,
              const std::string &type, int64_t flags = 0)
{
    static const char *const names[] = {"", ".and", ".or", ".xor"};
    static const char *const patterns[][2] = {
        {"pp?|22", "pp?|22p"}, {"pp?|44", "pp?|44p"}, {"pp?|88", "pp?|88p"},
    };
    for (int how = ALONE; how <= XOR; how++) {
        Form form = {run_setp<F, T>, patterns[sizeof(T) / 4][how != ALONE],
                     Group::PREDICATE};
        form.number = how | flags;
        add_form(forms, "setp." + comparison + names[how] + type, form);
    }
}

template <class T>
void add_equal(Forms &forms, const std::string &type)
{
    add_setp<Equal, T>(forms, "eq", type);
    add_setp<Not<Equal>, T>(forms, "ne", type);
}

template <class T>
void add_order(Forms &forms, const std::string &type, int64_t flags = 0)
{
    add_setp<Less, T>(forms, "lt", type, flags);
    add_setp<LessEqual, T>(forms, "le", type, flags);
    add_setp<Greater, T>(forms, "gt", type, flags);
    add_setp<GreaterEqual, T>(forms, "ge", type, flags);
}

template <class U, class S>
void add_integer_setp(Forms &forms, const std::string &width)
{
    add_equal<U>(forms, ".b" + width);
    add_equal<U>(forms, ".u" + width);
    add_equal<S>(forms, ".s" + width);
    add_order<U>(forms, ".u" + width);
    add_order<S>(forms, ".s" + width);
    add_setp<Less, U>(forms, "lo", ".u" + width);
    add_setp<LessEqual, U>(forms, "ls", ".u" + width);
    add_setp<Greater, U>(forms, "hi", ".u" + width);
    add_setp<GreaterEqual, U>(forms, "hs", ".u" + width);
}

template <class T>
void add_float_setp(Forms &forms, const std::string &type, int64_t flags)
{
    add_setp<Equal, T>(forms, "eq", type, flags);
    add_setp<Unequal, T>(forms, "ne", type, flags);
    add_order<T>(forms, type, flags);
    add_setp<Not<Unequal>, T>(forms, "equ", type, flags);
    add_setp<Not<Equal>, T>(forms, "neu", type, flags);
    add_setp<Not<GreaterEqual>, T>(forms, "ltu", type, flags);
    add_setp<Not<Greater>, T>(forms, "leu", type, flags);
    add_setp<Not<LessEqual>, T>(forms, "gtu", type, flags);
    add_setp<Not<Less>, T>(forms, "geu", type, flags);
    add_setp<Ordered, T>(forms, "num", type, flags);
    add_setp<Not<Ordered>, T>(forms, "nan", type, flags);
}

// ---- testp ------------------------------------------------------------------

struct IsFinite {
    template <class T> static bool of(T a) { return std::isfinite(a); }
};
struct IsInfinite {
    template <class T> static bool of(T a) { return std::isinf(a); }
};
struct IsNumber {
    template <class T> static bool of(T a) { return !is_nan(a); }
};
struct IsNan {
    template <class T> static bool of(T a) { return is_nan(a); }
};
struct IsNormal {
    template <class T> static bool of(T a) { return std::isnormal(a); }
};
struct IsSubnormal {
    template <class T> static bool of(T a)
    {
        return a != 0 && std::isfinite(a) && !std::isnormal(a);
    }
};

template <class F, class T>
void run_testp(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    uint8_t is[WARP];
    for (int l = 0; l < WARP; l++) is[l] = F::of(a[l]);
    put_predicate(w, i.slot[0], gathered(is), lanes);
}

template <class T>
void add_testp(Forms &forms, const std::string &type, const char *pattern)
{
    const auto add = [&](const char *name, Run run) {
        add_form(forms, name + type, {run, pattern, Group::PREDICATE});
    };
    add("testp.finite", run_testp<IsFinite, T>);
    add("testp.infinite", run_testp<IsInfinite, T>);
    add("testp.number", run_testp<IsNumber, T>);
    add("testp.notanumber", run_testp<IsNan, T>);
    add("testp.normal", run_testp<IsNormal, T>);
    add("testp.subnormal", run_testp<IsSubnormal, T>);
}

// ---- selp, and predicates alone ---------------------------------------------

template <class T>
void run_selp(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    const T *b = w.at<T>(i.slot[2]);
    const Mask which = predicate_of(w, i, 3);
    T to[WARP];
    for (int part = 0; part < WARP; part += 8) {
        static const uint8_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
        for (int l = 0; l < 8; l++)
            to[part + l] =
                which >> part & bit[l] ? a[part + l] : b[part + l];
    }
    put(w.at<T>(i.slot[0]), to, lanes);
}

template <class T>
void add_selp(Forms &forms, const std::string &type, const char *pattern)
{
    add_form(forms, "selp" + type, {run_selp<T>, pattern, Group::INTEGER});
}

template <Combine HOW>
void run_combine(Warp &w, const Instruction &i, Mask lanes)
{
    const Mask a = predicate_of(w, i, 1), b = predicate_of(w, i, 2);
    put_predicate(w, i.slot[0], combined(a, b, HOW), lanes);
}

template <bool NEGATES>
void run_move(Warp &w, const Instruction &i, Mask lanes)
{
    const Mask a = predicate_of(w, i, 1);
    put_predicate(w, i.slot[0], NEGATES ? ~a : a, lanes);
}

void run_move_number(Warp &w, const Instruction &i, Mask lanes)
{
    put_predicate(w, i.slot[0], i.number ? ALL_LANES : 0, lanes);
}

}

void add_predicate_forms(Forms &forms)
{
    add_integer_setp<uint16_t, int16_t>(forms, "16");
    add_integer_setp<uint32_t, int32_t>(forms, "32");
    add_integer_setp<uint64_t, int64_t>(forms, "64");
    add_float_setp<float>(forms, ".f32", 0);
    add_float_setp<float>(forms, ".ftz.f32", FLUSHES);
    add_float_setp<double>(forms, ".f64", 0);
    add_testp<float>(forms, ".f32", "p|4");
    add_testp<double>(forms, ".f64", "p|8");
    for (const char *type : {".b16", ".u16", ".s16"})
        add_selp<uint16_t>(forms, type, "2|22p");
    for (const char *type : {".b32", ".u32", ".s32", ".f32"})
        add_selp<uint32_t>(forms, type, "4|44p");
    for (const char *type : {".b64", ".u64", ".s64", ".f64"})
        add_selp<uint64_t>(forms, type, "8|88p");
    const Group group = Group::PREDICATE;
    add_form(forms, "and.pred", {run_combine<AND>, "p|pp", group});
    add_form(forms, "or.pred", {run_combine<OR>, "p|pp", group});
    add_form(forms, "xor.pred", {run_combine<XOR>, "p|pp", group});
    add_form(forms, "not.pred", {run_move<true>, "p|p", group});
    add_form(forms, "mov.pred", {run_move<false>, "p|p", group});
    add_form(forms, "mov.pred", {run_move_number, "p|n", group});
}

}
