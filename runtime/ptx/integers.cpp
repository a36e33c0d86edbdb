// Integers: arithmetic, bits, and sums with carries.  All of it wraps around.
#include <type_traits>

#include "operations.h"

namespace ptx {

namespace {

// A type without undefined overflow that is not narrower than int.
template <class T>
using Unsigned = typename std::conditional<
    (sizeof(T) < 4), uint32_t, typename std::make_unsigned<T>::type>::type;

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
template <class T> struct Doubled;
template <> struct Doubled<int16_t> { typedef int32_t type; };
template <> struct Doubled<uint16_t> { typedef uint32_t type; };
template <> struct Doubled<int32_t> { typedef int64_t type; };
template <> struct Doubled<uint32_t> { typedef uint64_t type; };
template <> struct Doubled<int64_t> { typedef int128 type; };
template <> struct Doubled<uint64_t> { typedef uint128 type; };
template <class T> using Double = typename Doubled<T>::type;

template <class T> constexpr uint32_t BITS = 8 * sizeof(T);

// ---- arithmetic -------------------------------------------------------------

struct Add {
    template <class T> static T of(T a, T b)
    {
        return (T)((Unsigned<T>)a + (Unsigned<T>)b);
    }
};

struct Subtract {
    template <class T> static T of(T a, T b)
    {
        return (T)((Unsigned<T>)a - (Unsigned<T>)b);
    }
};

struct Low {
    template <class T> static T of(T a, T b)
    {
        return (T)((Unsigned<T>)a * (Unsigned<T>)b);
    }
};

struct High {
    template <class T> static T of(T a, T b)
    {
        return (T)((Double<T>)a * (Double<T>)b >> BITS<T>);
    }
};

struct Wide {
    template <class T> static Double<T> of(T a, T b)
    {
        return (Double<T>)a * (Double<T>)b;
    }
};

// A product, of which Product takes a part, and a sum.
template <class Product>
struct MultiplyAdd {
    template <class T, class C> static C of(T a, T b, C c)
    {
        return Add::of(Product::of(a, b), c);
    }
};

// The manual leaves results of a division by 0 open.
struct Divide {
    template <class T> static T of(T a, T b)
    {
        if (b == 0) return (T)-1;
        if (std::is_signed<T>::value && b == (T)-1)
            return Subtract::of((T)0, a);
        return (T)(a / b);
    }
};

struct Remainder {
    template <class T> static T of(T a, T b)
    {
        if (b == 0) return a;
        if (std::is_signed<T>::value && b == (T)-1) return 0;
        return (T)(a % b);
    }
};

struct Minimum {
    template <class T> static T of(T a, T b) { return a < b ? a : b; }
};

struct Maximum {
    template <class T> static T of(T a, T b) { return a > b ? a : b; }
};

struct Negate {
    template <class T> static T of(T a) { return Subtract::of((T)0, a); }
};

struct Absolute {
    template <class T> static T of(T a) { return a < 0 ? Negate::of(a) : a; }
};

struct SumOfDifference {
    template <class T> static T of(T a, T b, T c)
    {
        return Add::of(c, a < b ? Subtract::of(b, a) : Subtract::of(a, b));
    }
};

int32_t saturated(int64_t a)
{
    return (int32_t)(a < INT32_MIN ? INT32_MIN
                     : a > INT32_MAX ? INT32_MAX : a);
}

struct AddSaturated {
    static int32_t of(int32_t a, int32_t b)
    {
        return saturated((int64_t)a + b);
    }
};

struct SubtractSaturated {
    static int32_t of(int32_t a, int32_t b)
    {
        return saturated((int64_t)a - b);
    }
};

struct HighAddSaturated {
    static int32_t of(int32_t a, int32_t b, int32_t c)
    {
        return saturated((int64_t)High::of(a, b) + c);
    }
};

template <class T>
void add_arithmetic(Forms &forms, const std::string &type)
{
    const auto add = [&](const char *name, const Form &form) {
        add_form(forms, name + ("." + type), form);
    };
    const Group group = Group::INTEGER;
    add("add", binary<Add, T, T, T>(group));
    add("sub", binary<Subtract, T, T, T>(group));
    add("mul.lo", binary<Low, T, T, T>(group));
    add("mul.hi", binary<High, T, T, T>(group));
    add("mad.lo", ternary<MultiplyAdd<Low>, T, T, T, T>(group));
    add("mad.hi", ternary<MultiplyAdd<High>, T, T, T, T>(group));
    add("div", binary<Divide, T, T, T>(group));
    add("rem", binary<Remainder, T, T, T>(group));
    add("min", binary<Minimum, T, T, T>(group));
    add("max", binary<Maximum, T, T, T>(group));
    add("sad", ternary<SumOfDifference, T, T, T, T>(group));
    if constexpr (sizeof(T) < 8) {
        typedef Double<T> D;
        add("mul.wide", binary<Wide, D, T, T>(group));
        add("mad.wide", ternary<MultiplyAdd<Wide>, D, T, T, D>(group));
    }
    if constexpr (std::is_signed<T>::value) {
        add("neg", unary<Negate, T, T>(group));
        add("abs", unary<Absolute, T, T>(group));
    }
}

// ---- bits -------------------------------------------------------------------

struct And {
    template <class T> static T of(T a, T b) { return a & b; }
};

struct Or {
    template <class T> static T of(T a, T b) { return a | b; }
};

struct Xor {
    template <class T> static T of(T a, T b) { return a ^ b; }
};

struct Not {
    template <class T> static T of(T a) { return (T)~a; }
};

struct IsZero {
    template <class T> static T of(T a) { return a == 0; }
};

struct ShiftLeft {
    template <class T> static T of(T a, uint32_t by)
    {
        return by < BITS<T> ? (T)((Unsigned<T>)a << by) : (T)0;
    }
};

// The sign of a signed type moves in.
struct ShiftRight {
    template <class T> static T of(T a, uint32_t by)
    {
        if (std::is_signed<T>::value)
            return (T)(a >> (by < BITS<T> ? by : BITS<T> - 1));
        return by < BITS<T> ? (T)(a >> by) : (T)0;
    }
};

// Most warps shift by one amount, which vectors can do.
template <class T, class F>
void run_shift(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    const uint32_t *amounts = w.at<uint32_t>(i.slot[2]), by = amounts[0];
    uint32_t differ = 0;
    for (int l = 0; l < WARP; l++) differ |= amounts[l] ^ by;
    if (differ) return run_binary<T, T, uint32_t, F>(w, i, lanes);
    T to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = F::of(a[l], by);
    put(w.at<T>(i.slot[0]), to, lanes);
}

template <class F, class T>
Form shift(Group group)
{
    return {run_shift<T, F>, pattern_of<T, T, uint32_t>(), group};
}

struct CountOnes {
    template <class T> static uint32_t of(T a)
    {
        return (uint32_t)__builtin_popcountll(a);
    }
};

struct LeadingZeros {
    static uint32_t of(uint32_t a)
    {
        return a ? (uint32_t)__builtin_clz(a) : 32;
    }
    static uint32_t of(uint64_t a)
    {
        return a ? (uint32_t)__builtin_clzll(a) : 64;
    }
};

struct Reverse {
    template <class T> static T of(T a)
    {
        T to = 0;
        for (uint32_t k = 0; k < BITS<T>; k++)
            to |= (T)((a >> k & 1) << (BITS<T> - 1 - k));
        return to;
    }
};

// The place of the most significant bit that differs from the sign; ~0 if none.
struct FindTop {
    template <class T> static uint32_t of(T a)
    {
        typedef typename std::make_unsigned<T>::type U;
        const U bits = std::is_signed<T>::value && a < 0 ? (U)~a : (U)a;
        return BITS<T> - 1 - LeadingZeros::of(bits);
    }
};

// How far to shift left, so that this bit becomes the top one.
struct FindShift {
    template <class T> static uint32_t of(T a)
    {
        const uint32_t top = FindTop::of(a);
        return top == ~0u ? top : BITS<T> - 1 - top;
    }
};

// `bits` bits from bit `from` on, extended to the width
struct Extract {
    template <class T> static T of(T a, uint32_t from, uint32_t bits)
    {
        from &= 255;
        bits &= 255;
        const T field = ShiftRight::of(a, from);
        if (bits >= BITS<T>) return field;
        return ShiftRight::of(ShiftLeft::of(field, BITS<T> - bits),
                              BITS<T> - bits);
    }
};

// b, with the low `bits` bits of a from bit `from` on
template <class T>
void insert(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    const T *b = w.at<T>(i.slot[2]);
    const uint32_t *from = w.at<uint32_t>(i.slot[3]);
    const uint32_t *bits = w.at<uint32_t>(i.slot[4]);
    T to[WARP];
    for (int l = 0; l < WARP; l++) {
        const T ones = (T)~ShiftLeft::of((T)~(T)0, bits[l] & 255);
        const T field = ShiftLeft::of(ones, from[l] & 255);
        to[l] = (b[l] & ~field) | (ShiftLeft::of(a[l], from[l] & 255) & field);
    }
    put(w.at<T>(i.slot[0]), to, lanes);
}

// Bytes of {b, a} by selectors of 4 bits; bit 3: the byte's sign, 8 times
struct Permute {
    static uint32_t of(uint32_t a, uint32_t b, uint32_t selectors)
    {
        const uint64_t from = (uint64_t)b << 32 | a;
        uint32_t to = 0;
        for (int k = 0; k < 4; k++) {
            const uint32_t selector = selectors >> 4 * k;
            uint32_t byte = from >> 8 * (selector & 7) & 255;
            if (selector & 8) byte = byte & 128 ? 255 : 0;
            to |= byte << 8 * k;
        }
        return to;
    }
};

// Any function of three bits: bit 4a + 2b + c of the number is its value.
void logic(Warp &w, const Instruction &i, Mask lanes)
{
    const uint32_t *a = w.at<uint32_t>(i.slot[1]);
    const uint32_t *b = w.at<uint32_t>(i.slot[2]);
    const uint32_t *c = w.at<uint32_t>(i.slot[3]);
    uint32_t to[WARP] = {};
    for (int k = 0; k < 8; k++) {
        if (!(i.number >> k & 1)) continue;
        for (int l = 0; l < WARP; l++)
            to[l] |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) &
                     (k & 1 ? c[l] : ~c[l]);
    }
    put(w.at<uint32_t>(i.slot[0]), to, lanes);
}

// A half of {b, a}, shifted
template <bool LEFT, bool WRAPS>
struct Funnel {
    static uint32_t of(uint32_t a, uint32_t b, uint32_t by)
    {
        by = WRAPS ? by & 31 : by < 32 ? by : 32;
        const uint64_t both = (uint64_t)b << 32 | a;
        return LEFT ? (uint32_t)(both << by >> 32) : (uint32_t)(both >> by);
    }
};

template <class T>
void add_bits(Forms &forms, const std::string &width)
{
    const auto add = [&](const char *name, const Form &form) {
        add_form(forms, name + width, form);
    };
    typedef typename std::make_signed<T>::type S;
    const Group group = Group::INTEGER;
    add("and.b", binary<And, T, T, T>(group));
    add("or.b", binary<Or, T, T, T>(group));
    add("xor.b", binary<Xor, T, T, T>(group));
    add("not.b", unary<Not, T, T>(group));
    add("cnot.b", unary<IsZero, T, T>(group));
    add("shl.b", shift<ShiftLeft, T>(group));
    add("shr.b", shift<ShiftRight, T>(group));
    add("shr.u", shift<ShiftRight, T>(group));
    add("shr.s", shift<ShiftRight, S>(group));
    if constexpr (sizeof(T) >= 4) {
        add("popc.b", unary<CountOnes, uint32_t, T>(group));
        add("clz.b", unary<LeadingZeros, uint32_t, T>(group));
        add("brev.b", unary<Reverse, T, T>(group));
        add("bfind.u", unary<FindTop, uint32_t, T>(group));
        add("bfind.s", unary<FindTop, uint32_t, S>(group));
        add("bfind.shiftamt.u", unary<FindShift, uint32_t, T>(group));
        add("bfind.shiftamt.s", unary<FindShift, uint32_t, S>(group));
        add("bfe.u", ternary<Extract, T, T, uint32_t, uint32_t>(group));
        add("bfe.s", ternary<Extract, S, S, uint32_t, uint32_t>(group));
        add("bfi.b",
            {insert<T>, sizeof(T) == 4 ? "4|4444" : "8|8844", group});
    }
}

// ---- carries ----------------------------------------------------------------

// Each takes a carry and leaves one.
struct AddCarry {
    static constexpr int OPERANDS = 2;
    template <class T> static T of(T a, T b, T, bool &carry)
    {
        const T partial = a + b, sum = partial + carry;
        carry = partial < a || sum < partial;
        return sum;
    }
};

struct SubtractBorrow {
    static constexpr int OPERANDS = 2;
    template <class T> static T of(T a, T b, T, bool &borrow)
    {
        const T partial = a - b, difference = partial - borrow;
        borrow = a < b || partial < difference;
        return difference;
    }
};

// Products have the type S, which may be signed.
template <class S, class Product>
struct MultiplyCarry {
    static constexpr int OPERANDS = 3;
    template <class T> static T of(T a, T b, T c, bool &carry)
    {
        return AddCarry::of((T)Product::of((S)a, (S)b), c, c, carry);
    }
};

template <class T, class F, bool TAKES, bool LEAVES>
void run_carry(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    const T *b = w.at<T>(i.slot[2]);
    const T *c = F::OPERANDS == 3 ? w.at<T>(i.slot[3]) : b;
    T to[WARP];
    Mask carries = 0;
    for (int l = 0; l < WARP; l++) {
        bool carry = TAKES && w.carry >> l & 1;
        to[l] = F::of(a[l], b[l], c[l], carry);
        carries |= (Mask)carry << l;
    }
    if (LEAVES) w.carry = (w.carry & ~lanes) | (carries & lanes);
    put(w.at<T>(i.slot[0]), to, lanes);
}

template <class T, class F>
void add_chain(Forms &forms, const std::string &name, const std::string &part,
               const std::string &type)
{
    const char *pattern = F::OPERANDS == 3 ? pattern_of<T, T, T, T>()
                                           : pattern_of<T, T, T>();
    const Group group = Group::INTEGER;
    add_form(forms, name + part + ".cc." + type,
             {run_carry<T, F, false, true>, pattern, group});
    add_form(forms, name + "c" + part + "." + type,
             {run_carry<T, F, true, false>, pattern, group});
    add_form(forms, name + "c" + part + ".cc." + type,
             {run_carry<T, F, true, true>, pattern, group});
}

template <class S>
void add_carries(Forms &forms, const std::string &type)
{
    typedef typename std::make_unsigned<S>::type T;
    add_chain<T, AddCarry>(forms, "add", "", type);
    add_chain<T, SubtractBorrow>(forms, "sub", "", type);
    add_chain<T, MultiplyCarry<S, Low>>(forms, "mad", ".lo", type);
    add_chain<T, MultiplyCarry<S, High>>(forms, "mad", ".hi", type);
}

// c and the sum of products of a's elements E and b's bytes F, from FIRST on
template <class E, class F, int FIRST>
struct ProductSum {
    static uint32_t of(uint32_t a, uint32_t b, uint32_t c)
    {
        for (int k = 0; k < 4 / (int)sizeof(E); k++)
            c += (uint32_t)(E)(a >> BITS<E> * (uint32_t)k) *
                 (uint32_t)(F)(b >> 8 * (FIRST + k));
        return c;
    }
};

template <class Bytes, class Halves, class F>
void add_product_sums(Forms &forms, const std::string &types)
{
    typedef uint32_t U;
    const Group group = Group::INTEGER;
    add_form(forms, "dp4a" + types,
             ternary<ProductSum<Bytes, F, 0>, U, U, U, U>(group));
    add_form(forms, "dp2a.lo" + types,
             ternary<ProductSum<Halves, F, 0>, U, U, U, U>(group));
    add_form(forms, "dp2a.hi" + types,
             ternary<ProductSum<Halves, F, 2>, U, U, U, U>(group));
}

}

void add_integer_forms(Forms &forms)
{
    add_arithmetic<uint16_t>(forms, "u16");
    add_arithmetic<int16_t>(forms, "s16");
    add_arithmetic<uint32_t>(forms, "u32");
    add_arithmetic<int32_t>(forms, "s32");
    add_arithmetic<uint64_t>(forms, "u64");
    add_arithmetic<int64_t>(forms, "s64");
    typedef int32_t I;
    typedef uint32_t U;
    const Group group = Group::INTEGER;
    add_form(forms, "add.sat.s32", binary<AddSaturated, I, I, I>(group));
    add_form(forms, "sub.sat.s32", binary<SubtractSaturated, I, I, I>(group));
    add_form(forms, "mad.hi.sat.s32",
             ternary<HighAddSaturated, I, I, I, I>(group));

    add_bits<uint16_t>(forms, "16");
    add_bits<uint32_t>(forms, "32");
    add_bits<uint64_t>(forms, "64");
    add_form(forms, "prmt.b32", ternary<Permute, U, U, U, U>(group));
    add_form(forms, "lop3.b32", {logic, "4|444n", group});
    add_form(forms, "shf.l.clamp.b32",
             ternary<Funnel<true, false>, U, U, U, U>(group));
    add_form(forms, "shf.l.wrap.b32",
             ternary<Funnel<true, true>, U, U, U, U>(group));
    add_form(forms, "shf.r.clamp.b32",
             ternary<Funnel<false, false>, U, U, U, U>(group));
    add_form(forms, "shf.r.wrap.b32",
             ternary<Funnel<false, true>, U, U, U, U>(group));

    add_product_sums<uint8_t, uint16_t, uint8_t>(forms, ".u32.u32");
    add_product_sums<uint8_t, uint16_t, int8_t>(forms, ".u32.s32");
    add_product_sums<int8_t, int16_t, uint8_t>(forms, ".s32.u32");
    add_product_sums<int8_t, int16_t, int8_t>(forms, ".s32.s32");

    add_carries<uint32_t>(forms, "u32");
    add_carries<int32_t>(forms, "s32");
    add_carries<uint64_t>(forms, "u64");
    add_carries<int64_t>(forms, "s64");
}

}
