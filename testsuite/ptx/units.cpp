// Every form of runtime/ptx that neither touches memory nor branches, against a scalar reading of
// the manual, which takes an opcode apart at run time.  Integers are computed in 128 bits and
// rounded floats by the processor, so that no code is shared.  Each form runs on edge values and
// random ones, for all lanes and for some, and onto its own operands.  A form that this file does
// not know is a failure, and so is a missing one that nvcc emits.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "forms.h"

using namespace ptx;

namespace {

typedef std::vector<std::string> Words;
typedef uint64_t Bits;
__extension__ typedef __int128 Integer;
__extension__ typedef unsigned __int128 Natural;

std::mt19937_64 generator(1);

uint32_t below(uint32_t n) { return (uint32_t)(generator() % n); }
bool one_in(uint32_t n) { return below(n) == 0; }

// ---- what an opcode means ----------------------------------------------------------------------

// The operands of a warp: registers as bits, predicates as 0 and 1.
struct Values {
    Bits in[8][WARP], out[8][WARP];
    bool carry[WARP];
    int64_t number = 0;
    Mask lanes = 0;
    bool faults = false;
};

// How a result may differ: not at all; in the bits of a float's NaN; by a unit of an f32 too.
enum Match { EXACT, SOME_NAN, NEAR };

struct Meaning {
    std::string pattern;
    Words takes;                            // a kind for each operand
    std::function<void(Values &)> run;
    Match match = EXACT;
    int float_bytes = 4;
    bool together = false;
};

struct Opcode {
    std::string name;
    Words words;
    int variant = 1;

    explicit Opcode(const std::string &key)
    {
        const size_t mark = key.find('#');
        name = key.substr(0, mark);
        if (mark != std::string::npos) variant = atoi(key.c_str() + mark + 1);
        for (size_t at = 0, dot; at <= name.size(); at = dot + 1) {
            dot = std::min(name.find('.', at), name.size());
            words.push_back(name.substr(at, dot - at));
        }
    }
    bool has(const char *word) const
    {
        for (const std::string &each : words)
            if (each == word) return true;
        return false;
    }
    const std::string &base() const { return words[0]; }
    const std::string &type() const { return words.back(); }
    const std::string &from_end(int n) const { return words[words.size() - 1 - n]; }
    bool is(const char *list) const             // the base is in a list of words
    {
        return (" " + std::string(list) + " ").find(" " + base() + " ") != std::string::npos;
    }
};

int bits_of_type(const std::string &type)
{
    return type == "bf16" ? 16 : atoi(type.c_str() + 1);
}
bool is_signed(const std::string &type) { return type[0] == 's'; }
bool is_float(const std::string &type) { return type[0] == 'f' || type == "bf16"; }
char letter(const std::string &type) { return (char)('0' + bits_of_type(type) / 8); }

Bits cut(Integer value, int bits)
{
    return bits == 64 ? (Bits)value : (Bits)value & ((1ull << bits) - 1);
}

Integer integer(Bits bits, const std::string &type)
{
    const int width = bits_of_type(type);
    const Integer value = (Integer)cut((Integer)bits, width);
    return is_signed(type) && value >> (width - 1) & 1 ? value - ((Integer)1 << width) : value;
}

Integer least(const std::string &type)
{
    return is_signed(type) ? -((Integer)1 << (bits_of_type(type) - 1)) : 0;
}
Integer greatest(const std::string &type)
{
    return ((Integer)1 << (bits_of_type(type) - is_signed(type))) - 1;
}
Integer clamp(Integer value, const std::string &type)
{
    return value < least(type) ? least(type) : value > greatest(type) ? greatest(type) : value;
}

// ---- floats as bits ----------------------------------------------------------------------------

float single(Bits bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}
double full(Bits bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
Bits bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
Bits bits_of(double value)
{
    Bits bits;
    memcpy(&bits, &value, 8);
    return bits;
}

// A float of 16 bits, `fraction` of which are its fraction
double small_value(unsigned bits, int fraction)
{
    const int exponents = 15 - fraction, top = (1 << exponents) - 1;
    const int exponent = (int)(bits >> fraction) & top;
    const int digits = (int)(bits & ((1u << fraction) - 1));
    const int bias = top / 2;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == top) return digits ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(digits, 1 - bias - fraction);
    return sign * std::ldexp(digits + (1 << fraction), exponent - bias - fraction);
}

double value_of(Bits bits, const std::string &type)
{
    return type == "f16" ? small_value((unsigned)bits, 10)
         : type == "bf16" ? small_value((unsigned)bits, 7)
         : type == "f32" ? (double)single(bits) : full(bits);
}

float flushed(float value)
{
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

// Sets the processor's rounding, in which nothing else runs.
struct InMode {
    explicit InMode(char mode)
    {
        fesetround(mode == 'z' ? FE_TOWARDZERO : mode == 'm' ? FE_DOWNWARD
                   : mode == 'p' ? FE_UPWARD : FE_TONEAREST);
    }
    ~InMode() { fesetround(FE_TONEAREST); }
};

template <class T>
T rounded(long double value, char mode)
{
    const InMode in(mode);
    volatile long double from = value;
    volatile T to = (T)from;
    return to;
}

double whole(double value, char mode)
{
    const InMode in(mode);
    volatile double from = value;
    volatile double to = std::rint(from);
    return to;
}

// Nearest of all floats of 16 bits; `x` is exact.
Bits small_bits(long double x, int fraction, char mode)
{
    const Bits sign = std::signbit(x) ? 0x8000 : 0;
    const long double magnitude = std::fabs(x);
    const unsigned inf = ((1u << (15 - fraction)) - 1) << fraction;
    if (std::isnan(x)) return 0x7fff;
    if (std::isinf(x)) return sign | inf;
    unsigned low = 0, high = inf;           // low <= magnitude < high
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (small_value(middle, fraction) <= magnitude ? low : high) = middle;
    }
    const long double under = small_value(low, fraction);
    if (under == magnitude) return sign | low;
    // Past the greatest, the next one is where it would be without a limit.
    const long double step =
        high == inf ? under - small_value(low - 1, fraction) : small_value(high, fraction) - under;
    const long double rest = magnitude - under;
    if (mode == 'z' || mode == (sign ? 'p' : 'm')) return sign | low;
    if (mode == (sign ? 'm' : 'p')) return sign | high;
    if (rest == step / 2) return sign | (low & 1 ? high : low);
    return sign | (rest < step / 2 ? low : high);
}

char mode_of(const Opcode &o, const char *suffix = "")
{
    for (char mode : {'n', 'z', 'm', 'p'})
        if (o.has((std::string("r") + mode + suffix).c_str())) return mode;
    return 0;
}

// ---- meanings ----------------------------------------------------------------------------------

// The operands and the result of one lane
typedef std::function<Bits(const Bits *)> Scalar;

Meaning lanewise(const std::string &pattern, const Words &takes, const Scalar &scalar,
                 Match match = EXACT, int float_bytes = 4)
{
    const size_t count = takes.size();
    Meaning meaning;
    meaning.pattern = pattern;
    meaning.takes = takes;
    meaning.match = match;
    meaning.float_bytes = float_bytes;
    meaning.run = [=](Values &v) {
        for (int l = 0; l < WARP; l++) {
            Bits in[8];
            for (size_t k = 0; k < count; k++) in[k] = v.in[k][l];
            v.out[0][l] = scalar(in);
        }
    };
    return meaning;
}

std::string pattern(char to, const Words &takes)
{
    std::string text = {to, '|'};
    for (const std::string &kind : takes) text += kind == "shift" ? '4' : letter(kind);
    return text;
}

Meaning arithmetic(const Opcode &o)
{
    const std::string type = o.type(), wide = type[0] + std::to_string(2 * bits_of_type(type));
    const int bits = bits_of_type(type);
    const bool is_wide = o.has("wide"), is_high = o.has("hi"), saturates = o.has("sat");
    const bool is_three = o.is("mad sad"), is_one = o.is("neg abs");
    Words takes(is_one ? 1 : is_three ? 3 : 2, type);
    if (is_wide && is_three) takes[2] = wide;
    const std::string base = o.base(), to = is_wide ? wide : type;
    return lanewise(pattern(letter(to), takes), takes, [=](const Bits *in) {
        const Integer a = integer(in[0], type), b = integer(in[1], type);
        Integer r = 0;
        if (base == "add") r = a + b;
        if (base == "sub") r = a - b;
        if (base == "div") r = b == 0 ? -1 : a / b;
        if (base == "rem") r = b == 0 ? a : a % b;
        if (base == "min") r = a < b ? a : b;
        if (base == "max") r = b < a ? a : b;
        if (base == "neg") r = -a;
        if (base == "abs") r = a < 0 ? -a : a;
        if (base == "mul" || base == "mad") {
            if (is_signed(type))
                r = is_high ? a * b >> bits : a * b;
            else            // in two halves, so that nothing overflows
                r = is_high ? (a * (b >> bits / 2) + ((a * (Integer)cut(b, bits / 2)) >>
                                                      bits / 2)) >> bits / 2
                            : (Integer)((Natural)a * (Natural)b);
        }
        if (base == "mad") r = (Integer)((Natural)r + (Natural)integer(in[2], to));
        if (base == "sad") r = (a < b ? b - a : a - b) + integer(in[2], type);
        return cut(saturates ? clamp(r, type) : r, bits_of_type(to));
    });
}

Meaning logic(const Opcode &o)
{
    const std::string type = o.type(), base = o.base();
    const int bits = bits_of_type(type);
    const Words takes(o.is("not cnot") ? 1 : 2, type);
    return lanewise(pattern(letter(type), takes), takes, [=](const Bits *in) {
        Bits r = 0;
        for (int k = 0; k < bits; k++) {
            const int a = in[0] >> k & 1, b = in[1] >> k & 1;
            const int bit = base == "and" ? a + b == 2 : base == "or" ? a + b > 0
                          : base == "xor" ? a + b == 1 : base == "not" ? !a : 0;
            r |= (Bits)bit << k;
        }
        return base == "cnot" ? (Bits)(in[0] == 0) : r;
    });
}

Meaning shift(const Opcode &o)
{
    const std::string type = o.type(), base = o.base();
    const Words takes = {type, "shift"};
    return lanewise(pattern(letter(type), takes), takes, [=](const Bits *in) {
        Integer a = integer(in[0], type);
        for (Bits k = 0; k < in[1] && k < 70; k++)
            a = base == "shl" ? (Integer)cut(a * 2, bits_of_type(type))
              : a < 0 ? (a - 1) / 2 : a / 2;
        return cut(a, bits_of_type(type));
    });
}

Meaning count(const Opcode &o)
{
    const std::string type = o.type(), base = o.base();
    const int bits = bits_of_type(type);
    const bool shifts = o.has("shiftamt");
    return lanewise(pattern(base == "brev" ? letter(type) : '4', {type}), {type},
                    [=](const Bits *in) {
        std::string text;                   // the top bit first
        for (int k = bits; k--;) text += (char)('0' + (in[0] >> k & 1));
        if (base == "popc") return (Bits)std::count(text.begin(), text.end(), '1');
        if (base == "brev") {
            Bits r = 0;
            for (int k = 0; k < bits; k++) r |= (Bits)(text[k] == '1') << k;
            return r;
        }
        const char sign = is_signed(type) ? text[0] : '0';
        const size_t at = text.find(sign == '1' ? '0' : '1');
        if (base == "clz") return (Bits)std::min(at, (size_t)bits);
        if (at == std::string::npos) return (Bits)0xffffffff;
        return (Bits)(shifts ? at : bits - 1 - at);
    });
}

// The manual's own definitions
Meaning field(const Opcode &o)
{
    const std::string type = o.type();
    const int top = bits_of_type(type) - 1;
    if (o.base() == "bfe") {
        const Words takes = {type, "shift", "shift"};
        return lanewise(pattern(letter(type), takes), takes, [=](const Bits *in) {
            const int from = in[1] & 255, length = in[2] & 255;
            const int at = std::min(from + length - 1, top);
            const Bits sign = !is_signed(type) || length == 0 ? 0 : in[0] >> at & 1;
            Bits r = 0;
            for (int k = 0; k <= top; k++)
                r |= (k < length && from + k <= top ? in[0] >> (from + k) & 1 : sign) << k;
            return r;
        });
    }
    const Words takes = {type, type, "shift", "shift"};
    return lanewise(pattern(letter(type), takes), takes, [=](const Bits *in) {
        const int from = in[2] & 255, length = in[3] & 255;
        Bits r = in[1];
        for (int k = 0; k < length && from + k <= top; k++) {
            r &= ~(1ull << (from + k));
            r |= (in[0] >> k & 1) << (from + k);
        }
        return r;
    });
}

Meaning permutation(const Opcode &o)
{
    if (o.base() == "prmt")
        return lanewise("4|444", {"u32", "u32", "u32"}, [](const Bits *in) {
            unsigned char from[8];
            for (int k = 0; k < 8; k++) from[k] = (unsigned char)(in[k / 4] >> 8 * (k % 4));
            Bits r = 0;
            for (int k = 0; k < 4; k++) {
                const int select = in[2] >> 4 * k & 15;
                const int byte = from[select % 8];
                r |= (Bits)(select < 8 ? byte : byte >= 128 ? 255 : 0) << 8 * k;
            }
            return r;
        });
    if (o.base() == "lop3") {
        Meaning meaning;
        meaning.pattern = "4|444n";
        meaning.takes = {"u32", "u32", "u32", "table"};
        meaning.run = [](Values &v) {
            for (int l = 0; l < WARP; l++) {
                v.out[0][l] = 0;
                for (int k = 0; k < 32; k++) {
                    const int row = (int)(4 * (v.in[0][l] >> k & 1) + 2 * (v.in[1][l] >> k & 1) +
                                          (v.in[2][l] >> k & 1));
                    v.out[0][l] |= (Bits)(v.number >> row & 1) << k;
                }
            }
        };
        return meaning;
    }
    const bool left = o.has("l"), wraps = o.has("wrap");
    return lanewise("4|444", {"u32", "u32", "shift"}, [=](const Bits *in) {
        const int by = (int)(wraps ? in[2] % 32 : std::min(in[2], (Bits)32));
        const Integer both = (Integer)in[1] * 4294967296 + (Integer)in[0];
        const Integer scale = (Integer)1 << by;
        return cut(left ? both * scale / 4294967296 : both / scale, 32);
    });
}

// dp4a and dp2a: an element's value is its digits less 2^width if its sign is set.
Meaning product_sum(const Opcode &o)
{
    const size_t first = o.name.find("32") - 1, second = o.name.rfind("32") - 1;
    const bool a_signed = o.name[first] == 's', b_signed = o.name[second] == 's';
    const bool is_four = o.base() == "dp4a";
    const int count = is_four ? 4 : 2, from = o.has("hi") ? 2 : 0, width = 32 / count;
    return lanewise("4|444", {"u32", "u32", "u32"}, [=](const Bits *in) {
        auto element = [](Bits word, int at, int bits, bool is_signed) {
            const Integer digits = (Integer)(word >> at * bits) % ((Integer)1 << bits);
            return is_signed && digits >> (bits - 1) ? digits - ((Integer)1 << bits) : digits;
        };
        Integer sum = (Integer)in[2];
        for (int k = 0; k < count; k++)
            sum += element(in[0], k, width, a_signed) * element(in[1], from + k, 8, b_signed);
        return cut(sum, 32);
    });
}

// add.cc, addc, addc.cc, and so on
Meaning chain(const Opcode &o)
{
    const std::string type = o.type(), base = o.base().substr(0, 3);
    const std::string unsigned_type = "u" + type.substr(1);
    const int bits = bits_of_type(type);
    const bool takes_carry = o.base().size() == 4, leaves = o.has("cc"), high = o.has("hi");
    Meaning meaning;
    meaning.takes = Words(base == "mad" ? 3 : 2, type);
    meaning.pattern = pattern(letter(type), meaning.takes);
    meaning.run = [=](Values &v) {
        for (int l = 0; l < WARP; l++) {
            Integer a = (Integer)v.in[0][l], b = (Integer)v.in[1][l];
            const Integer carry = takes_carry && v.carry[l];
            if (base == "mad") {
                Values product = v;
                arithmetic(Opcode(std::string("mul.") + (high ? "hi." : "lo.") + type))
                    .run(product);
                a = (Integer)product.out[0][l];
                b = (Integer)v.in[2][l];
            }
            const Integer r = base == "sub" ? a - b - carry : a + b + carry;
            v.out[0][l] = cut(r, bits);
            if (leaves) v.carry[l] = r < 0 || r > greatest(unsigned_type);
        }
    };
    return meaning;
}

Meaning move(const Opcode &o)
{
    const std::string type = o.type();
    const int bytes = bits_of_type(type) / 8;
    if (o.variant == 1)
        return lanewise(pattern(letter(type), {type}), {type},
                        [](const Bits *in) { return in[0]; });
    // Pairs of packing and unpacking: halves first, then quarters
    const int parts = o.variant < 4 ? 2 : 4, part_bytes = bytes / parts;
    const std::string part = "u" + std::to_string(8 * part_bytes);
    const std::string list = "[" + std::string(parts, letter(part)) + "]";
    Meaning meaning;
    const bool packs = o.variant % 2 == 0;
    meaning.pattern = packs ? letter(type) + ("|" + list) : list + "|" + letter(type);
    meaning.takes = packs ? Words(parts, part) : Words(1, type);
    meaning.run = [=](Values &v) {
        for (int l = 0; l < WARP; l++) {
            unsigned char all[8] = {};
            if (!packs) memcpy(all, &v.in[0][l], 8);
            for (int k = 0; k < parts; k++) {
                if (packs) memcpy(all + k * part_bytes, &v.in[k][l], part_bytes);
                v.out[k][l] = 0;
                if (!packs) memcpy(&v.out[k][l], all + k * part_bytes, part_bytes);
            }
            if (packs) memcpy(&v.out[0][l], all, 8);
        }
    };
    return meaning;
}

// ---- floats ------------------------------------------------------------------------------------

template <class T>
T computed(const std::string &base, char mode, T x, T y, T z)
{
    const InMode in(mode);
    volatile T a = x, b = y, c = z, r = 0;
    if (base == "add") r = a + b;
    if (base == "sub") r = a - b;
    if (base == "mul") r = a * b;
    if (base == "div") r = a / b;
    if (base == "rcp") r = 1 / a;
    if (base == "sqrt") r = std::sqrt(a);
    if (base == "fma" || base == "mad") r = std::fma(a, b, c);
    return r;
}

Meaning float_arithmetic(const Opcode &o)
{
    const std::string type = o.type(), base = o.base();
    const char mode = mode_of(o);
    const bool flushes = o.has("ftz"), saturates = o.has("sat");
    const Words takes(o.is("rcp sqrt") ? 1 : o.is("fma mad") ? 3 : 2, type);
    return lanewise(pattern(letter(type), takes), takes, [=](const Bits *in) {
        if (type == "f64")
            return bits_of(computed(base, mode, full(in[0]), full(in[1]), full(in[2])));
        float x[3];
        for (int k = 0; k < 3; k++) x[k] = flushes ? flushed(single(in[k])) : single(in[k]);
        float r = computed(base, mode, x[0], x[1], x[2]);
        if (flushes) r = flushed(r);
        if (saturates) r = std::isnan(r) || r <= 0 ? 0.0f : r > 1 ? 1.0f : r;
        return bits_of(r);
    }, SOME_NAN, bits_of_type(type) / 8);
}

Meaning sign(const Opcode &o)
{
    const std::string type = o.type(), base = o.base();
    const Bits top = 1ull << (bits_of_type(type) - 1);
    const bool flushes = o.has("ftz");
    const Words takes(base == "copysign" ? 2 : 1, type);
    return lanewise(pattern(letter(type), takes), takes, [=](const Bits *in) {
        if (base == "copysign") return (in[0] & top) | (in[1] & (top - 1));
        Bits a = in[0];
        if (flushes && (a & 0x7f800000) == 0) a &= top;
        return base == "neg" ? a ^ top : a & (top - 1);
    });
}

Meaning extreme(const Opcode &o)
{
    const std::string type = o.type();
    const bool flushes = o.has("ftz"), strict = o.has("NaN"), greatest = o.base() == "max";
    const Bits nan = type == "f32" ? 0x7fffffff : 0x7fffffffffffffff;
    return lanewise(pattern(letter(type), {type, type}), {type, type}, [=](const Bits *in) {
        Bits bits[2] = {in[0], in[1]};
        if (flushes)
            for (Bits &each : bits) each = bits_of(flushed(single(each)));
        const double a = value_of(bits[0], type), b = value_of(bits[1], type);
        if (std::isnan(a) || std::isnan(b)) {
            if (strict || (std::isnan(a) && std::isnan(b))) return nan;
            return bits[std::isnan(a)];
        }
        const bool first_less = a < b || (a == b && std::signbit(a));
        return bits[first_less == greatest];
    });
}

Meaning approximate(const Opcode &o)
{
    const std::string base = o.base();
    const bool flushes = o.has("ftz"), fast = o.has("approx");
    const Words takes(base == "div" ? 2 : 1, "f32");
    return lanewise(pattern('4', takes), takes, [=](const Bits *in) {
        const float a = flushes ? flushed(single(in[0])) : single(in[0]);
        const float b = flushes ? flushed(single(in[1])) : single(in[1]);
        const long double x = a;
        long double r = 0;
        if (base == "ex2") r = std::pow(2.0L, x);
        if (base == "lg2") r = std::log(x) / std::log(2.0L);
        if (base == "sin") r = std::sin(x);
        if (base == "cos") r = std::cos(x);
        if (base == "tanh") r = std::tanh(x);
        if (base == "rsqrt") r = x < 0 ? NAN : x == 0 ? 1 / x : std::sqrt(1 / x);
        if (base == "sqrt") r = std::sqrt(x);
        if (base == "rcp") r = 1 / x;
        if (base == "div") {
            r = x / b;
            if (fast && !std::isinf(b) && std::fabs(b) > 0x1p126f)
                r = std::isinf(a) ? NAN : r * 0;
        }
        const float near = (float)r;
        return bits_of(flushes ? flushed(near) : near);
    }, NEAR);
}

Meaning upper_half(const Opcode &o)
{
    const std::string base = o.base();
    return lanewise("8|8", {"f64"}, [=](const Bits *in) {
        const Bits upper = 0xffffffff00000000;
        double a = full(in[0]);
        if (std::isnan(a)) return (Bits)0x7fffffff00000000;
        a = full(in[0] & upper);
        if (std::fpclassify(a) == FP_SUBNORMAL) a = std::copysign(0, a);
        double r = base == "rcp" ? 1 / a : 1 / std::sqrt(a);
        if (std::isnan(r)) return (Bits)0x7fffffff00000000;
        if (std::fpclassify(r) == FP_SUBNORMAL) r = std::copysign(0, r);
        return bits_of(r) & upper;
    });
}

// ---- conversions -------------------------------------------------------------------------------

struct Target {
    std::string type;
    char mode;
    bool flushes, saturates;
};

// From an exact value
Bits float_bits(long double x, const Target &to)
{
    if (to.saturates) x = std::isnan(x) || x <= 0 ? 0 : x >= 1 ? 1 : x;
    if (to.type == "f16") return small_bits(x, 10, to.mode);
    if (to.type == "bf16") return small_bits(x, 7, to.mode);
    if (to.type == "f64") return bits_of(rounded<double>(x, to.mode));
    const float r = rounded<float>(x, to.mode);
    return bits_of(to.flushes ? flushed(r) : r);
}

Bits integer_bits(double x, bool from_double, const std::string &type)
{
    const int bits = bits_of_type(type);
    if (std::isnan(x)) return from_double || bits == 64 ? 1ull << (bits - 1) : 0;
    const Integer big = (Integer)1 << 100;
    const Integer value = x > 1e30 ? big : x < -1e30 ? -big : (Integer)x;
    return cut(clamp(value, type), bits);
}

Meaning conversion(const Opcode &o)
{
    const std::string from = o.from_end(0), to = o.from_end(1);
    const bool flushes = o.has("ftz"), saturates = o.has("sat");
    const char whole_mode = mode_of(o, "i"), mode = mode_of(o);
    // Registers: narrow integers have those of 16 bits, and another form those of 32 bits.
    const bool two_to = bits_of_type(to) == 8;
    const bool two_from = !is_float(from) && bits_of_type(from) <= 16;
    const int place = o.variant - 1;
    const bool wide_to = two_to && (two_from ? place / 2 : place);
    const bool wide_from = two_from && place % 2;
    const int to_bits = wide_to ? 32 : std::max(bits_of_type(to), 16);
    const std::string from_register =
        wide_from ? "u32" : bits_of_type(from) == 8 ? "u16" : from;
    const std::string shape = {(char)('0' + to_bits / 8), '|', letter(from_register)};
    const Match match = is_float(to) && to != "f16" && to != "bf16" ? SOME_NAN : EXACT;
    return lanewise(shape, {wide_from || from != from_register ? from_register : from},
                    [=](const Bits *in) {
        Bits r = 0;
        const Target target = {to, mode, flushes, saturates};
        if (!is_float(from)) {
            const Integer a = integer(in[0], from);
            if (is_float(to)) return float_bits((long double)a, target);
            r = cut(saturates ? clamp(a, to) : a, bits_of_type(to));
        } else {
            double a = value_of(in[0], from);
            if (flushes && from == "f32") a = flushed((float)a);
            if (whole_mode) a = whole(a, whole_mode);
            if (is_float(to)) return float_bits(a, target);
            r = integer_bits(a, from == "f64", to);
        }
        return cut(integer(r, to), to_bits);        // extended
    }, match, bits_of_type(to) / 8);
}

Meaning packed_conversion(const Opcode &o)
{
    const int fraction = o.has("f16x2") ? 10 : 7;
    const char mode = mode_of(o);
    return lanewise("4|44", {"f32", "f32"}, [=](const Bits *in) {
        return small_bits(single(in[0]), fraction, mode) << 16 |
               small_bits(single(in[1]), fraction, mode);
    });
}

Meaning tf32_conversion()
{
    return lanewise("4|4", {"f32"}, [](const Bits *in) {
        const float a = single(in[0]);
        if (!std::isfinite(a)) return in[0];
        const Bits low = in[0] % 8192;
        return in[0] - low + (low >= 4096 ? 8192 : 0);
    });
}

// ---- predicates --------------------------------------------------------------------------------

// A comparison holds for these: less, equal, greater, unordered.
const char *relations(const std::string &name)
{
    static const std::map<std::string, const char *> all = {
        {"eq", "E"}, {"ne", "LG"}, {"lt", "L"}, {"le", "LE"}, {"gt", "G"}, {"ge", "GE"},
        {"lo", "L"}, {"ls", "LE"}, {"hi", "G"}, {"hs", "GE"}, {"equ", "EU"}, {"neu", "LGU"},
        {"ltu", "LU"}, {"leu", "LEU"}, {"gtu", "GU"}, {"geu", "GEU"}, {"num", "LEG"},
        {"nan", "U"},
    };
    return all.at(name);
}

bool combination(const std::string &how, bool a, bool b)
{
    return how == "and" ? a && b : how == "or" ? a || b : how == "xor" ? a != b : a;
}

std::string combiner(const Opcode &o)
{
    return o.has("and") ? "and" : o.has("or") ? "or" : o.has("xor") ? "xor" : "";
}

Meaning comparison(const Opcode &o)
{
    const std::string type = o.type(), how = combiner(o), holds = relations(o.words[1]);
    const bool flushes = o.has("ftz");
    Meaning meaning;
    meaning.takes = {type, type};
    if (how != "") meaning.takes.push_back("pred");
    meaning.pattern = std::string("pp?|") + letter(type) + letter(type) + (how == "" ? "" : "p");
    meaning.run = [=](Values &v) {
        for (int l = 0; l < WARP; l++) {
            char relation;
            if (is_float(type)) {
                double a = value_of(v.in[0][l], type), b = value_of(v.in[1][l], type);
                if (flushes) {
                    a = flushed((float)a);
                    b = flushed((float)b);
                }
                relation = std::isunordered(a, b) ? 'U' : std::isless(a, b) ? 'L'
                         : std::isgreater(a, b) ? 'G' : 'E';
            } else {
                const Integer d = integer(v.in[0][l], type) - integer(v.in[1][l], type);
                relation = d < 0 ? 'L' : d > 0 ? 'G' : 'E';
            }
            const bool is = holds.find(relation) != std::string::npos;
            v.out[0][l] = combination(how, is, v.in[2][l]);
            v.out[1][l] = combination(how, !is, v.in[2][l]);
        }
    };
    return meaning;
}

Meaning property(const Opcode &o)
{
    const std::string type = o.type(), name = o.words[1];
    return lanewise(std::string("p|") + letter(type), {type}, [=](const Bits *in) {
        const int fraction = type == "f32" ? 23 : 52, top = type == "f32" ? 255 : 2047;
        const int exponent = (int)(in[0] >> fraction) & top;
        const bool digits = (in[0] & ((1ull << fraction) - 1)) != 0;
        return (Bits)(name == "finite" ? exponent < top
                    : name == "infinite" ? exponent == top && !digits
                    : name == "number" ? exponent < top || !digits
                    : name == "notanumber" ? exponent == top && digits
                    : name == "normal" ? exponent > 0 && exponent < top
                    : exponent == 0 && digits);
    });
}

Meaning selection(const Opcode &o)
{
    const std::string type = o.type();
    const std::string shape = std::string() + letter(type) + "|" + letter(type) + letter(type);
    return lanewise(shape + "p", {type, type, "pred"},
                    [](const Bits *in) { return in[in[2] ? 0 : 1]; });
}

Meaning of_predicates(const Opcode &o)
{
    const std::string base = o.base();
    if (base == "mov" && o.variant == 2) {
        Meaning meaning;
        meaning.pattern = "p|n";
        meaning.takes = {"truth"};
        meaning.run = [](Values &v) {
            for (int l = 0; l < WARP; l++) v.out[0][l] = v.number != 0;
        };
        return meaning;
    }
    if (o.is("mov not"))
        return lanewise("p|p", {"pred"},
                        [=](const Bits *in) { return base == "not" ? !in[0] : in[0]; });
    return lanewise("p|pp", {"pred", "pred"},
                    [=](const Bits *in) { return (Bits)combination(base, in[0], in[1]); });
}

// ---- between lanes -----------------------------------------------------------------------------

// The manual's own definition
Meaning shuffle(const Opcode &o)
{
    const std::string way = o.words[2];
    Meaning meaning;
    meaning.pattern = "4p?|4444";
    meaning.takes = {"u32", "lane", "clamp", "u32"};
    meaning.run = [=](Values &v) {
        for (int lane = 0; lane < WARP; lane++) {
            if (!(v.lanes >> lane & 1)) continue;
            const int by = (int)(v.in[1][lane] & 31), end = (int)(v.in[2][lane] & 31);
            const int segments = (int)(v.in[2][lane] >> 8 & 31);
            const int most = (lane & segments) | (end & ~segments);
            const int least = lane & segments;
            int j = 0;
            bool inside = false;
            if (way == "up") {
                j = lane - by;
                inside = j >= most;
            } else if (way == "down") {
                j = lane + by;
                inside = j <= most;
            } else if (way == "bfly") {
                j = lane ^ by;
                inside = j <= most;
            } else {
                j = least | (by & ~segments);
                inside = j <= most;
            }
            if (!inside) j = lane;
            if (!(v.lanes >> j & 1)) v.faults = true;
            v.out[0][lane] = v.in[0][j];
            v.out[1][lane] = inside;
        }
    };
    return meaning;
}

std::vector<int> members(const Values &v)
{
    std::vector<int> lanes;
    for (int l = 0; l < WARP; l++)
        if (v.lanes >> l & 1) lanes.push_back(l);
    return lanes;
}

Meaning vote(const Opcode &o)
{
    const std::string way = o.words[2];
    Meaning meaning;
    meaning.pattern = way == "ballot" ? "4|p4" : "p|p4";
    meaning.takes = {"pred", "u32"};
    meaning.run = [=](Values &v) {
        size_t count = 0;
        Bits ballot = 0;
        for (int l : members(v)) {
            count += v.in[0][l];
            ballot += v.in[0][l] << l;
        }
        const bool all = count == members(v).size();
        for (int l = 0; l < WARP; l++)
            v.out[0][l] = way == "ballot" ? ballot : way == "any" ? count > 0
                        : way == "all" ? all : all || count == 0;
    };
    return meaning;
}

Meaning match(const Opcode &o)
{
    const bool all = o.words[1] == "all";
    const char width = letter(o.type());
    Meaning meaning;
    meaning.pattern = std::string(all ? "4p?|" : "4|") + width + "4";
    meaning.takes = {width == '4' ? "few32" : "few64", "u32"};
    meaning.run = [=](Values &v) {
        for (int l : members(v)) {
            Bits same = 0;
            for (int k : members(v))
                if (v.in[0][k] == v.in[0][l]) same |= 1ull << k;
            v.out[0][l] = all && same != v.lanes ? 0 : same;
            v.out[1][l] = same == v.lanes;
        }
    };
    return meaning;
}

Meaning reduction(const Opcode &o)
{
    const std::string way = o.words[2], type = o.type();
    Meaning meaning;
    meaning.pattern = "4|44";
    meaning.takes = {type, "u32"};
    meaning.run = [=](Values &v) {
        Integer r = integer(v.in[0][members(v)[0]], type);
        bool first = true;
        for (int l : members(v)) {
            const Integer a = integer(v.in[0][l], type);
            if (first)
                first = false;
            else
                r = way == "add" ? r + a : way == "min" ? (a < r ? a : r)
                  : way == "max" ? (a > r ? a : r) : way == "and" ? r & a
                  : way == "or" ? r | a : r ^ a;
        }
        for (int l = 0; l < WARP; l++) v.out[0][l] = cut(r, 32);
    };
    return meaning;
}

Meaning waiting(const Opcode &o)
{
    Meaning meaning;
    meaning.pattern = o.base() == "activemask" ? "4|" : "|4";
    if (o.base() == "bar") meaning.takes = {"u32"};
    meaning.run = [](Values &v) {
        for (int l = 0; l < WARP; l++) v.out[0][l] = v.lanes;
    };
    return meaning;
}

// False: this file does not know it.
bool find_meaning(const Opcode &o, Meaning &to)
{
    const std::string &type = o.type();
    const bool of_float = type == "f32" || type == "f64";
    const auto found = [&](const Meaning &meaning) {
        to = meaning;
        to.together = o.has("sync");
        return true;
    };
    if (type == "pred" && !o.is("vote")) return found(of_predicates(o));
    if (o.base() == "cvt" && o.has("tf32")) return found(tf32_conversion());
    if (o.base() == "cvt" && (o.has("f16x2") || o.has("bf16x2")))
        return found(packed_conversion(o));
    if (o.base() == "cvt") return found(conversion(o));
    if (o.base() == "mov") return found(move(o));
    if (o.base() == "setp") return found(comparison(o));
    if (o.base() == "selp") return found(selection(o));
    if (o.base() == "testp") return found(property(o));
    if (o.is("neg abs copysign") && of_float) return found(sign(o));
    if (o.is("min max") && of_float) return found(extreme(o));
    if (o.is("rcp rsqrt") && type == "f64" && o.has("ftz")) return found(upper_half(o));
    if (o.name == "rsqrt.approx.f64")
        return found(lanewise("8|8", {"f64"}, [](const Bits *in) {
            return bits_of(1 / std::sqrt(full(in[0])));
        }, SOME_NAN, 8));
    if (of_float && (o.has("approx") || o.has("full"))) return found(approximate(o));
    if (o.is("add sub mul div rcp sqrt fma mad") && of_float) return found(float_arithmetic(o));
    if (o.is("addc subc madc") || (o.is("add sub mad") && o.has("cc"))) return found(chain(o));
    if (o.is("add sub mul mad div rem min max neg abs sad")) return found(arithmetic(o));
    if (o.is("and or xor not cnot")) return found(logic(o));
    if (o.is("shl shr")) return found(shift(o));
    if (o.is("popc clz brev bfind")) return found(count(o));
    if (o.is("bfe bfi")) return found(field(o));
    if (o.is("prmt lop3 shf")) return found(permutation(o));
    if (o.is("dp4a dp2a")) return found(product_sum(o));
    if (o.is("shfl")) return found(shuffle(o));
    if (o.is("vote")) return found(vote(o));
    if (o.is("match")) return found(match(o));
    if (o.is("redux")) return found(reduction(o));
    if (o.is("bar activemask")) return found(waiting(o));
    return false;
}

// ---- values to run on --------------------------------------------------------------------------

std::vector<Bits> integer_edges(int bits)
{
    std::vector<Bits> edges;
    for (Bits each : {0ull, 1ull, 2ull, 3ull, 7ull, 10ull, 0x5555555555555555ull})
        for (Bits value : {each, ~each, 0 - each}) edges.push_back(value);
    for (int width : {8, 16, 32, 64})
        for (Bits near : {-2ll, -1ll, 0ll, 1ll})
            for (Bits value : {1ull << (width - 1), width == 64 ? 0 : 1ull << width})
                if (width <= bits) edges.push_back(value + near);
    for (Bits &each : edges) each = cut((Integer)each, bits);
    const std::set<Bits> different(edges.begin(), edges.end());
    return std::vector<Bits>(different.begin(), different.end());
}

// The value and the next floats of the type
void add_edge(std::vector<Bits> &edges, double value, const std::string &type)
{
    const Target nearest = {type, 'n', false, false};
    const int width = bits_of_type(type);
    const Bits bits = float_bits(value, nearest);
    for (Bits near : {bits, bits + 1, bits - 1})
        for (Bits sign : {0ull, 1ull << (width - 1)})
            edges.push_back(cut((Integer)(near ^ sign), width));
}

std::vector<Bits> float_edges(const std::string &type)
{
    std::vector<Bits> edges;
    const int fraction = type == "f16" ? 10 : type == "bf16" ? 7 : type == "f32" ? 23 : 52;
    const int width = bits_of_type(type);
    const Bits inf = ((1ull << (width - 1 - fraction)) - 1) << fraction;
    for (double value : {0.0, 0.5, 1.0, 1.5, 2.5, 3.5, 100.0})
        add_edge(edges, value, type);
    // Ends of the integers and of the narrower floats, and halves of their last units
    for (double value : {127.5, 128.0, 255.5, 32767.5, 65504.0, 65520.0, 65535.5, 8388607.5,
                         2147483647.5, 4294967295.5, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 0x1p-14,
                         0x1p-24, 0x1p-25, 0x1.8p-24, 0x1p-126, 0x1p-133, 0x1p-134, 0x1p-149,
                         0x1p-150, 0x1p126, 0x1p127, 0x1.fffffep127, 0x1.ffffffp127,
                         1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-24})
        if (width >= 32 || (value < 70000 && value > 1e-9)) add_edge(edges, value, type);
    const Bits mid = 1ull << (fraction - 1), top = 1ull << (width - 1);
    for (Bits each : {inf, inf - 1, inf + 1, inf | mid, inf | (mid + 5), inf | (mid - 1),
                      Bits(1), mid, 2 * mid - 1, 2 * mid, 2 * mid + 1, inf | (2 * mid - 1)}) {
        edges.push_back(each);
        edges.push_back(each | top);
    }
    const std::set<Bits> different(edges.begin(), edges.end());
    return std::vector<Bits>(different.begin(), different.end());
}

const std::vector<Bits> &edges_of(const std::string &kind)
{
    static std::map<std::string, std::vector<Bits>> all;
    std::vector<Bits> &edges = all[kind];
    if (!edges.empty()) return edges;
    if (kind == "shift")
        edges = {0, 1, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 264, 1u << 31, ~0u};
    else if (kind == "pred")
        edges = {0, 1};
    else if (kind == "lane")
        edges = {0, 1, 2, 4, 8, 15, 16, 31, 33};
    else if (kind == "clamp")
        edges = {0x1f, 0, 0x181f, 0x1c1f, 0x1e1f, 0x1800, 0x1e00, 0x100f, 0x1fff};
    else if (kind == "few32")
        edges = {5, 6, 0x80000005};
    else if (kind == "few64")
        edges = {5, 6, 5 + (1ull << 32)};
    else if (is_float(kind))
        edges = float_edges(kind);
    else
        edges = integer_edges(bits_of_type(kind));
    return edges;
}

Bits random_of(const std::string &kind)
{
    const std::vector<Bits> &edges = edges_of(kind);
    if (kind == "shift") return one_in(4) ? edges[below((uint32_t)edges.size())] : below(70);
    if (kind.size() > 3 || one_in(3)) return edges[below((uint32_t)edges.size())];
    const int width = bits_of_type(kind);
    Bits bits = cut((Integer)generator(), width);
    if (!is_float(kind)) return one_in(2) ? bits : bits >> below((uint32_t)width);
    if (kind == "f32" && one_in(2)) {
        // Exponents near 0, and short fractions, halfway between narrower floats
        bits = (bits & 0x807fffff) | (Bits)(100 + below(60)) << 23;
        if (one_in(2)) bits &= ~0ull << (11 + below(6));
        if (one_in(4)) bits += below(2) ? 1 : -1;
    }
    if (kind == "f64" && one_in(2)) {
        bits = (bits & ~(0x7ffull << 52)) | (Bits)(1023 - 160 + below(320)) << 52;
        if (one_in(2)) bits &= ~0ull << (27 + below(20));
        if (one_in(4)) bits += below(2) ? 1 : -1;
    }
    return cut((Integer)bits, width);
}

// Floats that nearly cancel the number before them
void relate(Values &v, const Words &takes, int lane)
{
    const size_t count = takes.size();
    if (count < 2 || (takes[0] != "f32" && takes[0] != "f64") || takes[count - 1] != takes[0])
        return;
    if (!one_in(3)) return;
    const bool is_single = takes[0] == "f32";
    Bits near = v.in[0][lane];
    if (count == 3)
        near = is_single ? bits_of(single(v.in[0][lane]) * single(v.in[1][lane]))
                         : bits_of(full(v.in[0][lane]) * full(v.in[1][lane]));
    near += below(5) - 2ull;
    if (one_in(2)) near ^= is_single ? 1ull << 31 : 1ull << 63;
    v.in[count - 1][lane] = cut((Integer)near, is_single ? 32 : 64);
}

// ---- running forms -----------------------------------------------------------------------------

constexpr int SLOTS = 12, SLOT_BYTES = 8 * WARP;

struct Operands {
    std::vector<int> bytes;         // 0: a predicate, -1: a number
    std::vector<bool> optional;
    int results = 0;

    explicit Operands(const std::string &pattern)
    {
        for (char c : pattern) {
            if (c == '|') results = (int)bytes.size();
            if (c == '?') optional.back() = true;
            if (c == '[' || c == ']' || c == '|' || c == '?') continue;
            bytes.push_back(c == 'p' ? 0 : c == 'n' ? -1 : c - '0');
            optional.push_back(false);
        }
    }
};

int failures = 0;

void fail(const std::string &name, const std::string &what)
{
    static std::map<std::string, int> of_form;
    if (of_form[name]++ < 2 && ++failures <= 40)
        fprintf(stderr, "%s: %s\n", name.c_str(), what.c_str());
}

bool agree(Bits got, Bits want, const Meaning &meaning)
{
    if (got == want) return true;
    if (meaning.match == EXACT) return false;
    const bool is_single = meaning.float_bytes == 4;
    const double a = is_single ? single(got) : full(got);
    const double b = is_single ? single(want) : full(want);
    if (std::isnan(a) && std::isnan(b)) return true;
    const int64_t apart = (int64_t)got - (int64_t)want;
    return meaning.match == NEAR && a != 0 && b != 0 && apart >= -1 && apart <= 1;
}

class Machine {
    alignas(64) unsigned char frame[SLOTS * SLOT_BYTES], wanted[SLOTS * SLOT_BYTES];
    alignas(64) unsigned char constants[SLOTS * SLOT_BYTES];
    Mask predicate[SLOTS], wanted_predicate[SLOTS];

    static std::string hex(Bits bits)
    {
        char text[20];
        snprintf(text, sizeof text, "%llx", (unsigned long long)bits);
        return text;
    }

    void write(const Operands &operands, Instruction &i, int at, const Bits (&values)[WARP],
               Values &v)
    {
        const int bytes = operands.bytes[at];
        if (bytes < 0) {
            i.number = v.number;
            return;
        }
        if (bytes == 0) {
            Mask mask = 0;
            for (int l = 0; l < WARP; l++) mask |= (Mask)(values[l] & 1) << l;
            if (one_in(3)) {
                i.negated |= (uint8_t)(1 << at);
                mask = ~mask;
            }
            predicate[i.slot[at]] = mask;
            return;
        }
        const bool constant = i.slot[at] >= SLOT_BYTES * (SLOTS / 2) && one_in(2);
        unsigned char *to = (constant ? constants : frame) + i.slot[at];
        for (int l = 0; l < WARP; l++) memcpy(to + l * bytes, &values[l], bytes);
        if (constant) i.slot[at] |= 1;
    }

public:
    // Runs it once; `v` has the operands.  `onto`: the first result's place is that of an operand,
    // whatever its width.
    void run(const std::string &name, const Form &form, const Meaning &meaning, Values &v,
             bool onto)
    {
        const Operands operands(form.pattern);
        const int count = (int)operands.bytes.size(), results = operands.results;
        for (size_t at = 0; at < sizeof frame; at += 8) {
            const Bits random = generator();
            memcpy(frame + at, &random, 8);
        }
        for (Mask &mask : predicate) mask = (Mask)generator();
        Instruction i;
        i.number = form.number;
        i.results = (uint8_t)results;
        i.name = name.c_str();
        for (int k = 0; k < count; k++)
            i.slot[k] = operands.bytes[k] == 0 ? k : (SLOTS - 1 - k) * SLOT_BYTES;
        std::vector<int> same;
        for (int k = results; k < count; k++)
            if (results && operands.bytes[k] >= 0 && !operands.bytes[k] == !operands.bytes[0])
                same.push_back(k);
        if (onto && same.empty()) return;
        for (int k = results; k < count; k++) write(operands, i, k, v.in[k - results], v);
        if (onto) {
            i.slot[0] = i.slot[same[below((uint32_t)same.size())]];
            if (i.slot[0] & 1) i.slot[0] = 0;
        }
        for (int k = 0; k < results; k++) {
            const bool may_lack = operands.optional[k] || (count > 2 && results == count - 1);
            if (may_lack && !onto && one_in(3)) i.slot[k] = NO_SLOT;
        }

        Warp w = {};
        w.frame = frame;
        w.constants = constants;
        w.predicate = predicate;
        for (int l = 0; l < WARP; l++) w.carry |= (Mask)v.carry[l] << l;
        const Mask old_carry = w.carry;
        meaning.run(v);
        memcpy(wanted, frame, sizeof frame);
        memcpy(wanted_predicate, predicate, sizeof predicate);
        try {
            form.run(w, i, v.lanes);
            if (v.faults) fail(name, "an absent lane was read without a fault");
        } catch (const Fault &f) {
            if (!v.faults) fail(name, "a fault: " + f.what);
            return;
        }
        if (v.faults) return;

        std::string what;
        for (int k = 0; k < results; k++) {
            if (i.slot[k] == NO_SLOT) continue;
            const int bytes = operands.bytes[k];
            for (int l = 0; l < WARP; l++) {
                if (!(v.lanes >> l & 1)) continue;
                Bits got = 0;
                if (bytes == 0) {
                    got = predicate[i.slot[k]] >> l & 1;
                    wanted_predicate[i.slot[k]] &= ~(1u << l);
                    wanted_predicate[i.slot[k]] |= (Mask)got << l;
                } else {
                    memcpy(&got, frame + i.slot[k] + l * bytes, bytes);
                    memcpy(wanted + i.slot[k] + l * bytes, &got, bytes);
                }
                const Bits want = bytes == 0 ? v.out[k][l] & 1 : v.out[k][l];
                if (agree(got, want, meaning) || !what.empty()) continue;
                what = "result " + std::to_string(k) + " is " + hex(got) + ", not " + hex(want) +
                       ", of";
                for (size_t j = 0; j < meaning.takes.size(); j++) what += " " + hex(v.in[j][l]);
                if (onto) what += ", onto an operand";
            }
        }
        if (!what.empty()) fail(name, what);
        if (memcmp(frame, wanted, sizeof frame) ||
            memcmp(predicate, wanted_predicate, sizeof predicate))
            fail(name, "another lane or register changed");
        Mask carry = 0;
        for (int l = 0; l < WARP; l++) carry |= (Mask)v.carry[l] << l;
        if (w.carry != ((carry & v.lanes) | (old_carry & ~v.lanes))) fail(name, "the carry");
    }
};

Machine machine;

Mask some_lanes(int round)
{
    const Mask random = (Mask)generator();
    return round % 3 == 0 ? ALL_LANES : round % 7 == 1 ? 1u << below(32) : random ? random : 1;
}

void run_values(const std::string &name, const Form &form, const Meaning &meaning, Values &v,
                int round)
{
    for (size_t k = 0; k < meaning.takes.size(); k++) {
        if (meaning.takes[k] == "table") v.number = (int64_t)(below(256));
        if (meaning.takes[k] == "truth") v.number = (int64_t)below(3) - 1;
    }
    for (int l = 0; l < WARP; l++) v.carry[l] = one_in(2);
    v.lanes = some_lanes(round);
    v.faults = false;
    machine.run(name, form, meaning, v, false);
    v.faults = false;
    machine.run(name, form, meaning, v, true);
}

bool has_edges(const std::string &kind) { return kind != "table" && kind != "truth"; }

void test_form(const std::string &name, const Form &form, int rounds)
{
    const Opcode opcode(name);
    Meaning meaning;
    if (!find_meaning(opcode, meaning)) {
        fail(name, "no test knows this form");
        return;
    }
    if (form.pattern != meaning.pattern)
        fail(name, std::string("the pattern is ") + form.pattern + ", not " + meaning.pattern);
    if ((form.flow == Flow::TOGETHER) != meaning.together)
        fail(name, "the flow is not that of its lanes");
    if (form.pattern != meaning.pattern) return;
    const Words &takes = meaning.takes;
    Values v = {};

    // Pairs of edges of the first two operands, evenly chosen if there are many
    size_t first = 1, second = 1;
    if (takes.size() > 0 && has_edges(takes[0])) first = edges_of(takes[0]).size();
    if (takes.size() > 1 && has_edges(takes[1])) second = edges_of(takes[1]).size();
    const size_t pairs = first * second;
    size_t stride = pairs / 2500 + 1;
    while (std::gcd(stride, first) > 1) stride++;
    int lane = 0, round = 0;
    for (size_t pair = 0; pair < pairs + 32 * stride && takes.size() > 0; pair += stride) {
        for (size_t k = 0; k < takes.size(); k++)
            if (has_edges(takes[k])) v.in[k][lane] = random_of(takes[k]);
        if (first > 1) v.in[0][lane] = edges_of(takes[0])[pair % first];
        if (second > 1) v.in[1][lane] = edges_of(takes[1])[pair / first % second];
        if (++lane < WARP) continue;
        lane = 0;
        run_values(name, form, meaning, v, round++);
    }
    for (round = 0; round < rounds; round++) {
        for (lane = 0; lane < WARP; lane++) {
            for (size_t k = 0; k < takes.size(); k++)
                if (has_edges(takes[k])) v.in[k][lane] = random_of(takes[k]);
            relate(v, takes, lane);
        }
        // Lanes that agree, for match, vote and redux
        if (meaning.together && one_in(3))
            for (lane = 1; lane < WARP; lane++)
                for (size_t k = 0; k < takes.size(); k++)
                    if (!one_in(40)) v.in[k][lane] = v.in[k][0];
        // One that is the same in all lanes, as a number is, or in all but one
        if (takes.size() > 0 && one_in(3)) {
            const size_t k = takes.size() - 1 - below((uint32_t)std::min(takes.size(), (size_t)2));
            for (lane = 1; lane < WARP; lane++) v.in[k][lane] = v.in[k][0];
            if (has_edges(takes[k]) && one_in(2)) v.in[k][below(WARP)] = random_of(takes[k]);
        }
        run_values(name, form, meaning, v, round);
    }
}

// All floats of 16 bits, and the floats at and around the middle between two
void test_halves(const Forms &forms, const std::string &type, int fraction)
{
    const std::string narrow = "cvt.rn." + type + ".f32", widen = "cvt.f32." + type;
    Meaning narrows, widens;
    find_meaning(Opcode(narrow), narrows);
    find_meaning(Opcode(widen), widens);
    Values v = {};
    for (unsigned bits = 0; bits < 65536; bits += WARP) {
        for (unsigned l = 0; l < WARP; l++) v.in[0][l] = bits + l;
        run_values(widen, forms.at(widen), widens, v, 0);
        for (int step = -1; step <= 1; step++) {
            for (unsigned l = 0; l < WARP; l++) {
                const double a = small_value(bits + l, fraction);
                const double b = small_value(bits + l + 1, fraction);
                v.in[0][l] = bits_of((float)((a + b) / 2)) + (Bits)step;
                v.in[0][l] = cut((Integer)v.in[0][l], 32);
            }
            run_values(narrow, forms.at(narrow), narrows, v, 0);
        }
    }
}

// The opcodes of nvcc's PTX of emitted files
const char *const NEEDED =
    "abs.f32 abs.f64 add.cc.u32 add.rn.f32 add.rn.f64 add.s16 add.s32 add.s64 add.u64 "
    "addc.cc.u32 addc.u32 and.b16 and.b32 and.b64 and.pred bar.warp.sync bfi.b32 bfi.b64 clz.b64 "
    "cvt.f32.f16 cvt.f64.f32 cvt.rn.bf16.f32 cvt.rn.f16.f32 cvt.rn.f32.f64 cvt.rn.f32.s32 "
    "cvt.rn.f32.s64 cvt.rn.f32.u16 cvt.rn.f32.u32 cvt.rn.f64.s32 cvt.rn.f64.s64 cvt.rn.f64.u32 "
    "cvt.rn.f64.u64 cvt.rna.tf32.f32 cvt.rni.s32.f64 cvt.rzi.f64.f64 cvt.rzi.s32.f32 cvt.s64.s32 "
    "cvt.sat.f32.f32 cvt.u16.u32 cvt.u16.u64 cvt.u32.u16 cvt.u32.u64 cvt.u64.u16 cvt.u64.u32 "
    "div.rn.f32 div.rn.f64 div.s32 div.s64 div.u32 div.u64 dp2a.lo.u32.u32 ex2.approx.ftz.f32 "
    "fma.rm.f32 fma.rn.f32 fma.rn.f64 mad.lo.cc.u32 mad.lo.s32 madc.hi.cc.u32 madc.hi.u32 "
    "madc.lo.cc.u32 max.f32 max.s32 max.s64 max.u64 min.f32 min.s64 min.u64 mov.b32 mov.b64 "
    "mov.f32 mov.f64 mov.pred mov.u16 mov.u32 mov.u64 mul.hi.s32 mul.hi.s64 mul.hi.u32 mul.hi.u64 "
    "mul.lo.s16 mul.lo.s32 mul.lo.s64 mul.lo.u32 mul.rn.f32 mul.rn.f64 mul.wide.s32 mul.wide.u16 "
    "mul.wide.u32 neg.f32 neg.f64 neg.s32 neg.s64 not.b32 not.b64 not.pred or.b16 or.b32 or.b64 "
    "or.pred rcp.approx.ftz.f64 rcp.rn.f32 rcp.rn.f64 selp.b16 selp.b32 selp.b64 selp.f32 "
    "selp.f64 selp.s32 selp.u16 selp.u32 selp.u64 setp.eq.b16 setp.eq.b32 setp.eq.f32 setp.eq.f64 "
    "setp.eq.s16 setp.eq.s32 setp.eq.s64 setp.ge.f32 setp.ge.s32 setp.ge.s64 setp.ge.u32 "
    "setp.ge.u64 setp.geu.f32 setp.geu.f64 setp.gt.f32 setp.gt.f64 setp.gt.s32 setp.gt.s64 "
    "setp.gt.u16 setp.gt.u32 setp.gt.u64 setp.gtu.f32 setp.gtu.f64 setp.le.f32 setp.le.s32 "
    "setp.le.s64 setp.le.u64 setp.leu.f32 setp.leu.f64 setp.lt.f32 setp.lt.f64 setp.lt.s32 "
    "setp.lt.s64 setp.lt.u32 setp.lt.u64 setp.ltu.f32 setp.ltu.f64 setp.nan.f32 setp.ne.s16 "
    "setp.ne.s32 setp.ne.s64 setp.neu.f32 setp.neu.f64 shfl.sync.bfly.b32 shfl.sync.idx.b32 "
    "shl.b16 shl.b32 shl.b64 shr.s32 shr.s64 shr.u16 shr.u32 shr.u64 sqrt.rn.f32 sqrt.rn.f64 "
    "sub.cc.u32 sub.rn.f32 sub.rn.f64 sub.s16 sub.s32 sub.s64 subc.cc.u32 subc.u32 "
    "vote.sync.any.pred xor.b32 xor.b64 mov.b32#2 mov.b32#3 mov.b64#2 mov.b64#3 mov.pred#2";

}

int main()
{
    Forms forms;
    add_integer_forms(forms);
    add_float_forms(forms);
    add_conversion_forms(forms);
    add_predicate_forms(forms);
    add_warp_forms(forms);
    std::string list = NEEDED;
    for (char *name = strtok(&list[0], " "); name; name = strtok(nullptr, " "))
        if (!forms.count(name)) fail(name, "there is no such form");
    for (const auto &form : forms) {
        const bool is_fused = form.first.compare(0, 4, "fma.") == 0;
        test_form(form.first, form.second, is_fused ? 200 : 12);
    }
    test_halves(forms, "f16", 10);
    test_halves(forms, "bf16", 7);
    printf("%zu forms, %d failures\n", forms.size(), failures);
    return failures != 0;
}
