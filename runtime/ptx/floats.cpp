// Floats of 32 and 64 bits.
#include "operations.h"
#include "rounding.h"

namespace ptx {

namespace {

// ---- arithmetic in every rounding -------------------------------------------

// of: rounded to nearest.  exact: the nearest double and the sign of its error;
// operands are floats, so that no double overflows or is subnormal.  A quotient
// or root needs no error.  If it is inexact, no double of 25 bits or fewer is
// the nearest one.  If a sum of 0 cancels, rounding down makes it -0.
struct Add {
    static constexpr int OPERANDS = 2;
    template <class T> static T of(T a, T b) { return a + b; }
    static Exact exact(double a, double b, double) { return exact_sum(a, b); }
    static bool cancels(double a, double b, double)
    {
        return std::signbit(a) || std::signbit(b);
    }
};

struct Subtract {
    static constexpr int OPERANDS = 2;
    template <class T> static T of(T a, T b) { return a - b; }
    static Exact exact(double a, double b, double) { return exact_sum(a, -b); }
    static bool cancels(double a, double b, double)
    {
        return std::signbit(a) || !std::signbit(b);
    }
};

struct Multiply {
    static constexpr int OPERANDS = 2;
    template <class T> static T of(T a, T b) { return a * b; }
    static Exact exact(double a, double b, double) { return {a * b, 0}; }
    static bool cancels(double, double, double) { return false; }
};

struct MultiplyAdd {
    static constexpr int OPERANDS = 3;
    template <class T> static T of(T a, T b, T c) { return std::fma(a, b, c); }
    static Exact exact(double a, double b, double c)
    {
        return exact_sum(a * b, c);
    }
    static bool cancels(double a, double b, double c)
    {
        return std::signbit(a * b) || std::signbit(c);
    }
};

struct Divide {
    static constexpr int OPERANDS = 2;
    template <class T> static T of(T a, T b) { return a / b; }
    static Exact exact(double a, double b, double) { return {a / b, 0}; }
    static bool cancels(double, double, double) { return false; }
};

struct Reciprocal {
    static constexpr int OPERANDS = 1;
    template <class T> static T of(T a) { return 1 / a; }
    static Exact exact(double a, double, double) { return {1 / a, 0}; }
    static bool cancels(double, double, double) { return false; }
};

struct SquareRoot {
    static constexpr int OPERANDS = 1;
    template <class T> static T of(T a) { return std::sqrt(a); }
    static Exact exact(double a, double, double) { return {std::sqrt(a), 0}; }
    static bool cancels(double, double, double) { return false; }
};

// Bits of Instruction.number
constexpr int64_t FLUSHES = 1, SATURATES = 2;

// The general way.
template <class F, Rounding R>
void run_rounded(Warp &w, const Instruction &i, Mask lanes)
{
    const bool flushes = i.number & FLUSHES;
    float of[3][WARP] = {}, to[WARP];
    for (int k = 0; k < F::OPERANDS; k++) {
        const float *from = w.at<float>(i.slot[1 + k]);
        for (int l = 0; l < WARP; l++)
            of[k][l] = flushes ? flush(from[l]) : from[l];
    }
    for (int l = 0; l < WARP; l++) {
        double x = round_to_odd(F::exact(of[0][l], of[1][l], of[2][l]));
        if (R == Rounding::DOWN)
            x = x == 0 && F::cancels(of[0][l], of[1][l], of[2][l]) ? -0.0 : x;
        to[l] = rounded<R>(x);
    }
    if (flushes)
        for (int l = 0; l < WARP; l++) to[l] = flush(to[l]);
    if (i.number & SATURATES)
        for (int l = 0; l < WARP; l++) to[l] = saturate(to[l]);
    put(w.at<float>(i.slot[0]), to, lanes);
}

// The way for vectors
template <class F, class T>
Form nearest(Group group)
{
    if constexpr (F::OPERANDS == 1)
        return unary<F, T, T>(group);
    else if constexpr (F::OPERANDS == 2)
        return binary<F, T, T, T>(group);
    else
        return ternary<F, T, T, T, T>(group);
}

// Processors with a fused instruction are usual, but a portable build calls a
// function for each lane.
#if defined __x86_64__ && !defined __FMA__
#define CNNC_PTX_FUSED 1
template <class T>
__attribute__((target("avx2,fma")))
void run_fused(Warp &w, const Instruction &i, Mask lanes)
{
    const T *a = w.at<T>(i.slot[1]);
    const T *b = w.at<T>(i.slot[2]);
    const T *c = w.at<T>(i.slot[3]);
    T to[WARP];
    for (int l = 0; l < WARP; l++) to[l] = std::fma(a[l], b[l], c[l]);
    put(w.at<T>(i.slot[0]), to, lanes);
}
#endif

void use_fused(Forms &forms)
{
#ifdef CNNC_PTX_FUSED
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return;
    for (const char *name : {"fma.rn", "mad.rn"}) {
        forms.at(name + std::string(".f32")).run = run_fused<float>;
        forms.at(name + std::string(".f64")).run = run_fused<double>;
    }
#else
    (void)forms;
#endif
}

template <class F, Rounding R>
void add_rounding(Forms &forms, const std::string &name, bool saturates,
                  Group group)
{
    for (int64_t variant = 0; variant < (saturates ? 4 : 2); variant++) {
        Form form = nearest<F, float>(group);
        if (variant || R != Rounding::NEAREST) form.run = run_rounded<F, R>;
        form.number = variant;
        add_form(forms,
                 name + (variant & FLUSHES ? ".ftz" : "") +
                     (variant & SATURATES ? ".sat" : "") + ".f32",
                 form);
    }
}

// `plain`: the name without a rounding, which is then to nearest, is valid too.
template <class F>
void add_roundings(Forms &forms, const std::string &name, bool plain,
                   bool saturates, Group group)
{
    constexpr Rounding RN = Rounding::NEAREST;
    if (plain) {
        add_rounding<F, RN>(forms, name, saturates, group);
        add_form(forms, name + ".f64", nearest<F, double>(Group::DOUBLE));
    }
    add_rounding<F, RN>(forms, name + ".rn", saturates, group);
    add_rounding<F, Rounding::ZERO>(forms, name + ".rz", saturates, group);
    add_rounding<F, Rounding::DOWN>(forms, name + ".rm", saturates, group);
    add_rounding<F, Rounding::UP>(forms, name + ".rp", saturates, group);
    add_form(forms, name + ".rn.f64", nearest<F, double>(Group::DOUBLE));
}

// ---- signs, minimum and maximum ---------------------------------------------

template <class T> struct Layout;
template <> struct Layout<float> {
    typedef uint32_t Bits;
    static constexpr Bits SIGN = 1u << 31, NOT_A_NUMBER = NAN_BITS;
};
template <> struct Layout<double> {
    typedef uint64_t Bits;
    static constexpr Bits SIGN = 1ull << 63, NOT_A_NUMBER = NAN_BITS_64;
};

// By bits: a NaN keeps its payload.
template <class T, bool FLUSHES>
struct Negate {
    static T of(T a)
    {
        typedef typename Layout<T>::Bits Bits;
        if (FLUSHES) a = flush(a);
        return bits_as<T>((Bits)(bits_as<Bits>(a) ^ Layout<T>::SIGN));
    }
};

template <class T, bool FLUSHES>
struct Absolute {
    static T of(T a)
    {
        typedef typename Layout<T>::Bits Bits;
        if (FLUSHES) a = flush(a);
        return bits_as<T>((Bits)(bits_as<Bits>(a) & ~Layout<T>::SIGN));
    }
};

// The sign of a and the rest of b
template <class T>
struct CopySign {
    static T of(T a, T b)
    {
        typedef typename Layout<T>::Bits Bits;
        const Bits sign = Layout<T>::SIGN;
        return bits_as<T>((Bits)((bits_as<Bits>(a) & sign) |
                                 (bits_as<Bits>(b) & ~sign)));
    }
};

// -0 is less than 0.  A number wins against NaN, unless NAN_WINS.
template <class T, bool GREATEST, bool NAN_WINS, bool FLUSHES>
struct Extreme {
    static T of(T a, T b)
    {
        if (FLUSHES) {
            a = flush(a);
            b = flush(b);
        }
        const T none = bits_as<T>(Layout<T>::NOT_A_NUMBER);
        const T first = std::signbit(a) != GREATEST ? a : b;    // if equal
        T to = (GREATEST ? b < a : a < b) ? a : a == b ? first : b;
        to = is_nan(b) ? a : to;
        if (NAN_WINS) return is_nan(a) || is_nan(b) ? none : to;
        return is_nan(a) && is_nan(b) ? none : to;
    }
};

template <class T, bool FLUSHES>
void add_signs(Forms &forms, const std::string &type, Group group)
{
    add_form(forms, "neg" + type, unary<Negate<T, FLUSHES>, T, T>(group));
    add_form(forms, "abs" + type, unary<Absolute<T, FLUSHES>, T, T>(group));
    add_form(forms, "min" + type,
             binary<Extreme<T, false, false, FLUSHES>, T, T, T>(group));
    add_form(forms, "max" + type,
             binary<Extreme<T, true, false, FLUSHES>, T, T, T>(group));
}

template <bool FLUSHES>
void add_strict(Forms &forms, const std::string &type)
{
    typedef float T;
    add_form(forms, "min" + type,
             binary<Extreme<T, false, true, FLUSHES>, T, T, T>(Group::FLOAT));
    add_form(forms, "max" + type,
             binary<Extreme<T, true, true, FLUSHES>, T, T, T>(Group::FLOAT));
}

// ---- approximations ---------------------------------------------------------

// A GPU's results differ by some units in the last place; these are rounded
// to nearest, of a function in double.
struct Power {
    static double of(double a) { return std::exp2(a); }
};
struct Logarithm {
    static double of(double a) { return std::log2(a); }
};
struct Sine {
    static double of(double a) { return std::sin(a); }
};
struct Cosine {
    static double of(double a) { return std::cos(a); }
};
struct Tangent {
    static double of(double a) { return std::tanh(a); }
};
struct ReciprocalRoot {
    static double of(double a) { return 1 / std::sqrt(a); }
};

template <class F, bool FLUSHES>
struct Approximate {
    static float of(float a)
    {
        if (!FLUSHES) return (float)F::of(a);
        return flush((float)F::of(flush(a)));
    }
};

// a times the reciprocal of b, which is lost if it is subnormal
template <bool FLUSHES>
struct DivideFast {
    static float of(float a, float b)
    {
        if (FLUSHES) {
            a = flush(a);
            b = flush(b);
        }
        const float large = 0x1p126f;
        const bool lost = std::fabs(b) > large;
        const float to = lost ? a * std::copysign(0.0f, b) : a / b;
        return FLUSHES ? flush(to) : to;
    }
};

// .full.ftz
struct DivideFlushed {
    static float of(float a, float b) { return flush(flush(a) / flush(b)); }
};

// The lower halves of the operand and of the result are 0.
template <class F>
struct UpperHalf {
    static double of(double a)
    {
        const uint64_t upper = 0xffffffff00000000;
        if (a != a) return bits_as<double>(NAN_BITS_64 & upper);
        const double cut = bits_as<double>(bits_as<uint64_t>(a) & upper);
        const double to = flush(F::of(flush(cut)));
        if (to != to) return bits_as<double>(NAN_BITS_64 & upper);
        return bits_as<double>(bits_as<uint64_t>(to) & upper);
    }
};

template <class F>
void add_approximate(Forms &forms, const std::string &name)
{
    const Group group = Group::SPECIAL;
    add_form(forms, name + ".approx.f32",
             unary<Approximate<F, false>, float, float>(group));
    add_form(forms, name + ".approx.ftz.f32",
             unary<Approximate<F, true>, float, float>(group));
}

}

void add_float_forms(Forms &forms)
{
    typedef float T;
    typedef double D;
    const Group basic = Group::FLOAT, special = Group::SPECIAL;
    add_roundings<Add>(forms, "add", true, true, basic);
    add_roundings<Subtract>(forms, "sub", true, true, basic);
    add_roundings<Multiply>(forms, "mul", true, true, basic);
    add_roundings<MultiplyAdd>(forms, "fma", false, true, basic);
    add_roundings<MultiplyAdd>(forms, "mad", false, true, basic);
    use_fused(forms);
    add_roundings<Divide>(forms, "div", false, false, special);
    add_roundings<Reciprocal>(forms, "rcp", false, false, special);
    add_roundings<SquareRoot>(forms, "sqrt", false, false, special);

    add_signs<T, false>(forms, ".f32", basic);
    add_signs<T, true>(forms, ".ftz.f32", basic);
    add_signs<D, false>(forms, ".f64", Group::DOUBLE);
    add_strict<false>(forms, ".NaN.f32");
    add_strict<true>(forms, ".ftz.NaN.f32");
    add_form(forms, "copysign.f32", binary<CopySign<T>, T, T, T>(basic));
    add_form(forms, "copysign.f64",
             binary<CopySign<D>, D, D, D>(Group::DOUBLE));

    add_approximate<Power>(forms, "ex2");
    add_approximate<Logarithm>(forms, "lg2");
    add_approximate<Sine>(forms, "sin");
    add_approximate<Cosine>(forms, "cos");
    add_approximate<ReciprocalRoot>(forms, "rsqrt");
    add_approximate<Reciprocal>(forms, "rcp");
    add_approximate<SquareRoot>(forms, "sqrt");
    add_form(forms, "tanh.approx.f32",
             unary<Approximate<Tangent, false>, T, T>(special));
    add_form(forms, "div.approx.f32",
             binary<DivideFast<false>, T, T, T>(special));
    add_form(forms, "div.approx.ftz.f32",
             binary<DivideFast<true>, T, T, T>(special));
    add_form(forms, "div.full.f32", binary<Divide, T, T, T>(special));
    add_form(forms, "div.full.ftz.f32",
             binary<DivideFlushed, T, T, T>(special));
    add_form(forms, "rcp.approx.ftz.f64",
             unary<UpperHalf<Reciprocal>, D, D>(special));
    add_form(forms, "rsqrt.approx.ftz.f64",
             unary<UpperHalf<ReciprocalRoot>, D, D>(special));
    add_form(forms, "rsqrt.approx.f64",
             unary<ReciprocalRoot, D, D>(special));
}

}
