// Moves and conversions.
#include <limits>
#include <type_traits>

#include "operations.h"
#include "rounding.h"

namespace ptx {

namespace {

// ---- moves ------------------------------------------------------------------

struct Same {
    template <class T> static T of(T a) { return a; }
};

// The parts of a register, from the least on
template <class Whole, class Part>
void run_pack(Warp &w, const Instruction &i, Mask lanes)
{
    constexpr int COUNT = sizeof(Whole) / sizeof(Part);
    Whole to[WARP] = {};
    for (int k = 0; k < COUNT; k++) {
        const Part *a = w.at<Part>(i.slot[1 + k]);
        for (int l = 0; l < WARP; l++)
            to[l] |= (Whole)((Whole)a[l] << 8 * sizeof(Part) * k);
    }
    put(w.at<Whole>(i.slot[0]), to, lanes);
}

// A part that the text drops has NO_SLOT.
template <class Whole, class Part>
void run_unpack(Warp &w, const Instruction &i, Mask lanes)
{
    constexpr int COUNT = sizeof(Whole) / sizeof(Part);
    Whole a[WARP];
    memcpy(a, w.at<Whole>(i.slot[COUNT]), sizeof a);
    for (int k = 0; k < COUNT; k++) {
        if (i.slot[k] == NO_SLOT) continue;
        Part to[WARP];
        for (int l = 0; l < WARP; l++)
            to[l] = (Part)(a[l] >> 8 * sizeof(Part) * k);
        put(w.at<Part>(i.slot[k]), to, lanes);
    }
}

template <class Whole, class Part>
void add_packs(Forms &forms, const char *pack, const char *unpack)
{
    const std::string name =
        "mov.b" + std::to_string(8 * sizeof(Whole));
    add_form(forms, name, {run_pack<Whole, Part>, pack, Group::MOVE});
    add_form(forms, name, {run_unpack<Whole, Part>, unpack, Group::MOVE});
}

void add_moves(Forms &forms)
{
    for (const char *type : {"b16", "u16", "s16"})
        add_form(forms, std::string("mov.") + type,
                 unary<Same, uint16_t, uint16_t>(Group::MOVE));
    for (const char *type : {"b32", "u32", "s32", "f32"})
        add_form(forms, std::string("mov.") + type,
                 unary<Same, uint32_t, uint32_t>(Group::MOVE));
    for (const char *type : {"b64", "u64", "s64", "f64"})
        add_form(forms, std::string("mov.") + type,
                 unary<Same, uint64_t, uint64_t>(Group::MOVE));
    add_packs<uint16_t, uint8_t>(forms, "2|[11]", "[11]|2");
    add_packs<uint32_t, uint16_t>(forms, "4|[22]", "[22]|4");
    add_packs<uint32_t, uint8_t>(forms, "4|[1111]", "[1111]|4");
    add_packs<uint64_t, uint32_t>(forms, "8|[44]", "[44]|8");
    add_packs<uint64_t, uint16_t>(forms, "8|[2222]", "[2222]|8");
}

// ---- every conversion -------------------------------------------------------

enum Type : uint8_t {
    U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64, TYPES,
};

constexpr const char *NAMES[TYPES] = {
    "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64",
    "f16", "bf16", "f32", "f64",
};
constexpr uint8_t BYTES[TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
constexpr uint8_t FRACTION[TYPES] = {0, 0, 0, 0, 0, 0, 0, 0, 10, 7, 23, 52};

constexpr bool is_float(Type type) { return type >= F16; }

// How Instruction.number says which conversion it is.  A register may be wider
// than its type.
struct Conversion {
    Type to, from;
    uint8_t to_bytes, from_bytes;       // of the registers
    Rounding rounding;
    bool whole, flushes, saturates;
};
static_assert(sizeof(Conversion) == sizeof(int64_t), "");

// A register's values, read as narrower ones
template <class T>
void read(Warp &w, int32_t slot, int bytes, T (&to)[WARP])
{
    const unsigned char *from = w.at<unsigned char>(slot);
    for (int l = 0; l < WARP; l++)
        memcpy(&to[l], from + l * bytes, sizeof(T));
}

// Values, extended to a register's width
template <class T>
void write(Warp &w, int32_t slot, int bytes, const T (&values)[WARP],
           Mask lanes)
{
    typedef typename std::conditional<std::is_signed<T>::value, int64_t,
                                      uint64_t>::type Wide;
    unsigned char *to = w.at<unsigned char>(slot);
    for (int l = 0; l < WARP; l++) {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c)
        const Wide wide = (Wide)values[l];
        if (lanes >> l & 1) memcpy(to + l * bytes, &wide, bytes);
    }
}

// Integers, saturated
template <class D, class S>
D clamped(S a)
{
    typedef std::numeric_limits<D> Limits;
    if (std::is_signed<S>::value && a < 0)
        return (int64_t)a < (int64_t)Limits::min() ? Limits::min() : (D)a;
    return (uint64_t)a > (uint64_t)Limits::max() ? Limits::max() : (D)a;
}

template <class D, class S>
void run_between_integers(Warp &w, const Instruction &i, Mask lanes)
{
    const Conversion c = bits_as<Conversion>(i.number);
    S from[WARP];
    D to[WARP];
    read(w, i.slot[1], c.from_bytes, from);
    for (int l = 0; l < WARP; l++)
        to[l] = c.saturates ? clamped<D>(from[l]) : (D)from[l];
    write(w, i.slot[0], c.to_bytes, to, lanes);
}

template <class S>
Exact exact_of(S a)
{
    if (sizeof(S) < 8) return {(double)a, 0};
    const S upper = (S)(a >> (sizeof(S) < 8 ? 0 : 32));
    return exact_sum((double)upper * 4294967296.0, (double)(uint32_t)a);
}

template <class S>
void read_integers(Warp &w, int32_t slot, int bytes, Exact (&to)[WARP])
{
    S from[WARP];
    read(w, slot, bytes, from);
    for (int l = 0; l < WARP; l++) to[l] = exact_of(from[l]);
}

void read_any(Warp &w, const Conversion &c, int32_t slot, Exact (&to)[WARP])
{
    const int bytes = c.from_bytes;
    const uint16_t *half = w.at<uint16_t>(slot);
    const float *single = w.at<float>(slot);
    const double *full = w.at<double>(slot);
    switch (c.from) {
    case U8: return read_integers<uint8_t>(w, slot, bytes, to);
    case S8: return read_integers<int8_t>(w, slot, bytes, to);
    case U16: return read_integers<uint16_t>(w, slot, bytes, to);
    case S16: return read_integers<int16_t>(w, slot, bytes, to);
    case U32: return read_integers<uint32_t>(w, slot, bytes, to);
    case S32: return read_integers<int32_t>(w, slot, bytes, to);
    case U64: return read_integers<uint64_t>(w, slot, bytes, to);
    case S64: return read_integers<int64_t>(w, slot, bytes, to);
    case F16:
        for (int l = 0; l < WARP; l++) to[l] = {float_of_half(half[l]), 0};
        return;
    case BF16:
        for (int l = 0; l < WARP; l++) to[l] = {float_of_brain(half[l]), 0};
        return;
    case F32:
        for (int l = 0; l < WARP; l++)
            to[l] = {c.flushes ? flush(single[l]) : single[l], 0};
        return;
    default:
        for (int l = 0; l < WARP; l++) to[l] = {full[l], 0};
    }
}

// Always saturates.  NaN becomes 0, or of 64 bits the top bit.
template <class D>
void write_integers(Warp &w, const Conversion &c, int32_t slot,
                    const Exact (&from)[WARP], Mask lanes)
{
    typedef std::numeric_limits<D> Limits;
    constexpr D TOP = (D)(1ull << (8 * sizeof(D) - 1));
    const D none = c.from == F64 || sizeof(D) == 8 ? TOP : 0;
    D to[WARP];
    for (int l = 0; l < WARP; l++) {
        const double x = from[l].value;
        to[l] = x != x ? none
              : x <= (double)Limits::min() ? Limits::min()
              : x >= (double)Limits::max() ? Limits::max() : (D)x;
    }
    write(w, slot, c.to_bytes, to, lanes);
}

template <Rounding R>
void write_singles(Warp &w, const Conversion &c, int32_t slot,
                   const Exact (&from)[WARP], Mask lanes)
{
    float to[WARP];
    for (int l = 0; l < WARP; l++) {
        to[l] = rounded<R>(round_to_odd(from[l]));
        if (c.flushes) to[l] = flush(to[l]);
    }
    put(w.at<float>(slot), to, lanes);
}

template <Rounding R>
void write_doubles(Warp &w, int32_t slot, const Exact (&from)[WARP],
                   Mask lanes)
{
    double to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = rounded_double<R>(from[l]);
    put(w.at<double>(slot), to, lanes);
}

template <class Format>
void write_halves(Warp &w, const Conversion &c, int32_t slot,
                  const Exact (&from)[WARP], Mask lanes)
{
    uint16_t to[WARP];
    for (int l = 0; l < WARP; l++)
        to[l] = narrowed<Format>(round_to_odd(from[l]), c.rounding);
    put(w.at<uint16_t>(slot), to, lanes);
}

template <Rounding R>
void write_floats(Warp &w, const Conversion &c, int32_t slot,
                  const Exact (&from)[WARP], Mask lanes)
{
    switch (c.to) {
    case F16: return write_halves<Half>(w, c, slot, from, lanes);
    case BF16: return write_halves<Brain>(w, c, slot, from, lanes);
    case F32: return write_singles<R>(w, c, slot, from, lanes);
    default: return write_doubles<R>(w, slot, from, lanes);
    }
}

template <Rounding R>
void write_any(Warp &w, const Conversion &c, int32_t slot,
               Exact (&x)[WARP], Mask lanes)
{
    if (c.whole)
        for (int l = 0; l < WARP; l++) x[l].value = whole<R>(x[l].value);
    if (c.saturates && is_float(c.to))
        for (int l = 0; l < WARP; l++)
            if (!(x[l].value > 0 && x[l].value < 1))
                x[l] = {saturate(x[l].value), 0};
    switch (c.to) {
    case U8: return write_integers<uint8_t>(w, c, slot, x, lanes);
    case S8: return write_integers<int8_t>(w, c, slot, x, lanes);
    case U16: return write_integers<uint16_t>(w, c, slot, x, lanes);
    case S16: return write_integers<int16_t>(w, c, slot, x, lanes);
    case U32: return write_integers<uint32_t>(w, c, slot, x, lanes);
    case S32: return write_integers<int32_t>(w, c, slot, x, lanes);
    case U64: return write_integers<uint64_t>(w, c, slot, x, lanes);
    case S64: return write_integers<int64_t>(w, c, slot, x, lanes);
    default: return write_floats<R>(w, c, slot, x, lanes);
    }
}

// From or to a float
void run_general(Warp &w, const Instruction &i, Mask lanes)
{
    const Conversion c = bits_as<Conversion>(i.number);
    const int32_t to = i.slot[0];
    Exact x[WARP];
    read_any(w, c, i.slot[1], x);
    switch (c.rounding) {
    case Rounding::NEAREST:
        return write_any<Rounding::NEAREST>(w, c, to, x, lanes);
    case Rounding::ZERO:
        return write_any<Rounding::ZERO>(w, c, to, x, lanes);
    case Rounding::DOWN:
        return write_any<Rounding::DOWN>(w, c, to, x, lanes);
    case Rounding::UP:
        return write_any<Rounding::UP>(w, c, to, x, lanes);
    }
}

template <class D>
Run between_integers(Type from)
{
    switch (from) {
    case U8: return run_between_integers<D, uint8_t>;
    case S8: return run_between_integers<D, int8_t>;
    case U16: return run_between_integers<D, uint16_t>;
    case S16: return run_between_integers<D, int16_t>;
    case U32: return run_between_integers<D, uint32_t>;
    case S32: return run_between_integers<D, int32_t>;
    case U64: return run_between_integers<D, uint64_t>;
    default: return run_between_integers<D, int64_t>;
    }
}

Run run_of(Type to, Type from)
{
    if (is_float(to) || is_float(from)) return run_general;
    switch (to) {
    case U8: return between_integers<uint8_t>(from);
    case S8: return between_integers<int8_t>(from);
    case U16: return between_integers<uint16_t>(from);
    case S16: return between_integers<int16_t>(from);
    case U32: return between_integers<uint32_t>(from);
    case S32: return between_integers<int32_t>(from);
    case U64: return between_integers<uint64_t>(from);
    default: return between_integers<int64_t>(from);
    }
}

template <class D>
const char *pattern_from(int bytes)
{
    return bytes == 2 ? pattern_of<D, uint16_t>()
         : bytes == 4 ? pattern_of<D, uint32_t>() : pattern_of<D, uint64_t>();
}

const char *pattern_of_widths(int to, int from)
{
    return to == 2 ? pattern_from<uint16_t>(from)
         : to == 4 ? pattern_from<uint32_t>(from)
                   : pattern_from<uint64_t>(from);
}

// In each width of registers: 2 bytes or more, and 4 for narrow integers too.
void add_widths(Forms &forms, const std::string &name, Conversion c)
{
    const bool wide_to = BYTES[c.to] == 1;
    const bool wide_from = BYTES[c.from] <= 2 && !is_float(c.from);
    for (int to = 0; to <= (int)wide_to; to++)
        for (int from = 0; from <= (int)wide_from; from++) {
            const uint8_t least_to = BYTES[c.to] < 2 ? 2 : BYTES[c.to];
            const uint8_t least_from = BYTES[c.from] < 2 ? 2 : BYTES[c.from];
            c.to_bytes = to ? 4 : least_to;
            c.from_bytes = from ? 4 : least_from;
            Form form = {run_of(c.to, c.from),
                         pattern_of_widths(c.to_bytes, c.from_bytes),
                         Group::CONVERT};
            form.number = bits_as<int64_t>(c);
            add_form(forms, name, form);
        }
}

// With .ftz, if one side is f32, and .sat
void add_modifiers(Forms &forms, const std::string &rounding, Conversion c)
{
    const bool flushes = (is_float(c.to) || is_float(c.from)) &&
                         (c.to == F32 || c.from == F32);
    for (int flush = 0; flush <= (int)flushes; flush++)
        for (int saturate = 0; saturate < 2; saturate++) {
            c.flushes = flush;
            c.saturates = saturate;
            add_widths(forms,
                       "cvt" + rounding + (flush ? ".ftz" : "") +
                           (saturate ? ".sat" : "") + "." + NAMES[c.to] + "." +
                           NAMES[c.from],
                       c);
        }
}

void add_conversion(Forms &forms, Type to, Type from)
{
    Conversion c = {to, from, 0, 0, Rounding::NEAREST, false, false, false};
    const bool to_whole = is_float(from) && (!is_float(to) || to == from);
    const bool narrows =
        is_float(to) && to != from &&
        (!is_float(from) || FRACTION[to] < FRACTION[from] ||
         (to == F16 && from == BF16));
    for (int k = 0; k < 4; k++) {
        c.rounding = ROUNDINGS[k];
        c.whole = to_whole;
        if (to_whole) add_modifiers(forms, WHOLE_NAMES[k], c);
        c.whole = false;
        if (narrows) add_modifiers(forms, ROUNDING_NAMES[k], c);
    }
    c.rounding = Rounding::NEAREST;
    if (!narrows && (!to_whole || to == from)) add_modifiers(forms, "", c);
}

// ---- frequent ones, for vectors ---------------------------------------------

template <class D>
struct Cast {
    template <class S> static D of(S a) { return (D)a; }
};

struct ToHalf {
    static uint16_t of(float a) { return half_of(a); }
};
struct ToBrain {
    static uint16_t of(float a) { return brain_of(a); }
};
struct FromHalf {
    static float of(uint16_t a) { return float_of_half(a); }
};
struct FromBrain {
    static float of(uint16_t a) { return float_of_brain(a); }
};
struct ToTf32 {
    static uint32_t of(float a) { return tf32_of(a); }
};
struct Saturate {
    static float of(float a) { return saturate(a); }
};

template <class D, class S>
void replace_cast(Forms &forms, const std::string &opcode)
{
    forms.at(opcode).run = run_unary<D, S, Cast<D>>;
}

template <class F>
void replace_casts(Forms &forms, const std::string &type)
{
    const std::string name = "cvt.rn." + type;
    replace_cast<F, uint16_t>(forms, name + ".u16");
    replace_cast<F, int16_t>(forms, name + ".s16");
    replace_cast<F, uint32_t>(forms, name + ".u32");
    replace_cast<F, int32_t>(forms, name + ".s32");
    replace_cast<F, uint64_t>(forms, name + ".u64");
    replace_cast<F, int64_t>(forms, name + ".s64");
}

void replace_frequent(Forms &forms)
{
    replace_casts<float>(forms, "f32");
    replace_casts<double>(forms, "f64");
    replace_cast<double, float>(forms, "cvt.f64.f32");
    replace_cast<float, double>(forms, "cvt.rn.f32.f64");
    replace_cast<uint32_t, uint64_t>(forms, "cvt.u32.u64");
    replace_cast<uint64_t, uint32_t>(forms, "cvt.u64.u32");
    replace_cast<int64_t, int32_t>(forms, "cvt.s64.s32");
    replace_cast<uint32_t, uint16_t>(forms, "cvt.u32.u16");
    replace_cast<uint16_t, uint32_t>(forms, "cvt.u16.u32");
    forms.at("cvt.rn.f16.f32").run = run_unary<uint16_t, float, ToHalf>;
    forms.at("cvt.rn.bf16.f32").run = run_unary<uint16_t, float, ToBrain>;
    forms.at("cvt.f32.f16").run = run_unary<float, uint16_t, FromHalf>;
    forms.at("cvt.f32.bf16").run = run_unary<float, uint16_t, FromBrain>;
    forms.at("cvt.sat.f32.f32").run = run_unary<float, float, Saturate>;
}

// ---- two floats of 16 bits in a register ------------------------------------

template <class Format, Rounding R>
struct Pair {
    static uint32_t of(float upper, float lower)
    {
        return (uint32_t)narrowed<Format>(upper, R) << 16 |
               narrowed<Format>(lower, R);
    }
};

template <class Format>
void add_pairs(Forms &forms, const std::string &type)
{
    add_form(forms, "cvt.rn." + type,
             binary<Pair<Format, Rounding::NEAREST>, uint32_t, float, float>(
                 Group::CONVERT));
    add_form(forms, "cvt.rz." + type,
             binary<Pair<Format, Rounding::ZERO>, uint32_t, float, float>(
                 Group::CONVERT));
}

}

void add_conversion_forms(Forms &forms)
{
    add_moves(forms);
    for (int to = 0; to < TYPES; to++)
        for (int from = 0; from < TYPES; from++)
            add_conversion(forms, (Type)to, (Type)from);
    replace_frequent(forms);
    add_pairs<Half>(forms, "f16x2.f32");
    add_pairs<Brain>(forms, "bf16x2.f32");
    add_form(forms, "cvt.rna.tf32.f32",
             unary<ToTf32, uint32_t, float>(Group::CONVERT));
}

}
