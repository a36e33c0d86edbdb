// ldmatrix and mma: instructions of a whole warp on small matrices.
//
// Fragments are those of the PTX manual, section "Warp-level matrix
// instructions".  Lane l has group g = l / 4 and place t = l % 4.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "block.h"
#include "forms.h"
#include "memory.h"
#include "rounding.h"

namespace ptx {

namespace {

// ---- ldmatrix --------------------------------------------------------------

const int MATRIX = 8;               // rows and columns, elements of 16 bits

// Lanes 8m to 8m + 7 hold the addresses of the rows of matrix m.  Lane l gets
// elements 2t and 2t + 1 of row g, or, transposed, of column g.
template <bool transposed>
void load_matrices(Warp &w, const Instruction &i, Mask)
{
    uint64_t at[WARP];
    unsigned char *row[WARP];
    addresses_of(w, i, i.count, i.number, at);
    Mask lanes = i.count == 4 ? ALL_LANES : (1u << MATRIX * i.count) - 1;
    find_bytes(w, i, Space::SHARED, at, MATRIX * 2, lanes, row);
    note_access(w, i, Space::SHARED, at, MATRIX * 2, lanes,
                Access::LOAD);
    uint32_t words[4][WARP];
    for (int m = 0; m < i.count; m++)
        for (int l = 0; l < WARP; l++)
            for (int k = 0; k < 2; k++) {
                int r = l / 4, c = l % 4 * 2 + k;
                if (transposed) std::swap(r, c);
                memcpy((char *)&words[m][l] + 2 * k,
                       row[MATRIX * m + r] + 2 * c, 2);
            }
    for (int m = 0; m < i.count; m++)
        memcpy(w.at<uint32_t>(i.slot[m]), words[m], sizeof words[m]);
}

// ---- mma.m16n8 -------------------------------------------------------------

const int ROWS = 16, COLUMNS = 8;

struct Tf32 {
    typedef float Sum;
    static constexpr int DEPTH = 8, PACKED = 1;     // elements in a word
    static float value(uint32_t word, int)
    {
        return bits_as<float>(word & ~0x1fffu);     // the rest is not read
    }
};

struct Bf16 {
    typedef float Sum;
    static constexpr int DEPTH = 16, PACKED = 2;
    static float value(uint32_t word, int k)
    {
        return float_of_brain((uint16_t)(word >> 16 * k));
    }
};

struct F16 {
    typedef float Sum;
    static constexpr int DEPTH = 16, PACKED = 2;
    static float value(uint32_t word, int k)
    {
        return float_of_half((uint16_t)(word >> 16 * k));
    }
};

// Integers of type T.  Sums wrap around, as unsigned integers do.
template <class T>
struct Bytes {
    typedef uint32_t Sum;
    static constexpr int DEPTH = 32, PACKED = 4;
    static uint32_t value(uint32_t word, int k)
    {
        return (uint32_t)(int32_t)(T)(word >> 8 * k);
    }
};

// A model of a tensor core's sum.  The products are exact.  They and the sum so
// far are cut to 24 bits below the largest, added exactly, and cut to a float.
// See Fasi et al., "Numerical behavior of NVIDIA tensor cores" (2021).
float truncated_sum(float sum, const float *products, int count)
{
    int largest = -1000;
    auto look = [&](float f) {
        if (f != 0) largest = std::max(largest, std::ilogb(f));
    };
    look(sum);
    double all = sum;
    for (int k = 0; k < count; k++) {
        look(products[k]);
        all += products[k];
    }
    if (largest == -1000 || !std::isfinite(all)) return (float)all;
    double unit = std::ldexp(1.0, largest - 24);
    double units = std::trunc(sum / unit);
    for (int k = 0; k < count; k++) units += std::trunc(products[k] / unit);
    double value = units * unit;
    float cut = (float)value;
    if (std::fabs((double)cut) > std::fabs(value))
        cut = std::nextafter(cut, 0.0f);
    return cut;
}

// d = a b + c: slots of d, a, b, c have 4, 4, 2 and 4 words a lane.
template <class E, class Right = E>
void multiply(Warp &w, const Instruction &i, Mask)
{
    typedef typename E::Sum Sum;
    const int depth = E::DEPTH, half = depth / 2, each = E::PACKED;
    Sum a[ROWS][depth], b[depth][COLUMNS], c[ROWS][COLUMNS];
    for (int n = 0; n < 4; n++) {
        const uint32_t *word = w.at<uint32_t>(i.slot[4 + n]);
        for (int l = 0; l < WARP; l++)
            for (int k = 0; k < each; k++)
                a[l / 4 + 8 * (n % 2)][l % 4 * each + k + half * (n / 2)] =
                    E::value(word[l], k);
    }
    for (int n = 0; n < 2; n++) {
        const uint32_t *word = w.at<uint32_t>(i.slot[8 + n]);
        for (int l = 0; l < WARP; l++)
            for (int k = 0; k < each; k++)
                b[l % 4 * each + k + half * n][l / 4] =
                    Right::value(word[l], k);
    }
    for (int n = 0; n < 4; n++) {
        const Sum *word = w.at<Sum>(i.slot[10 + n]);
        for (int l = 0; l < WARP; l++)
            c[l / 4 + 8 * (n / 2)][l % 4 * 2 + n % 2] = word[l];
    }
    if (each == 4 || !w.block->launch->options.truncate) {
        for (int r = 0; r < ROWS; r++)
            for (int k = 0; k < depth; k++)
                for (int n = 0; n < COLUMNS; n++) c[r][n] += a[r][k] * b[k][n];
    } else {
        const int together = 16 / (each == 1 ? 4 : 2);
        for (int r = 0; r < ROWS; r++)
            for (int n = 0; n < COLUMNS; n++)
                for (int k = 0; k < depth; k += together) {
                    float products[8];
                    for (int t = 0; t < together; t++)
                        products[t] = (float)(a[r][k + t] * b[k + t][n]);
                    c[r][n] = (Sum)truncated_sum((float)c[r][n], products,
                                                 together);
                }
    }
    for (int n = 0; n < 4; n++) {
        Sum *word = w.at<Sum>(i.slot[n]);
        for (int l = 0; l < WARP; l++)
            word[l] = c[l / 4 + 8 * (n / 2)][l % 4 * 2 + n % 2];
    }
}

}

void add_matrix_forms(Forms &forms)
{
    static const struct { const char *name, *pattern; uint8_t count; } sizes[] =
        {{"x1", "[4]|a", 1}, {"x2", "[44]|a", 2}, {"x4", "[4444]|a", 4}};
    for (const auto &s : sizes) {
        std::string name = std::string("ldmatrix.sync.aligned.m8n8.") + s.name;
        forms[name + ".shared.b16"] = {
            load_matrices<false>, s.pattern, Group::LOAD_MATRIX,
            Flow::TOGETHER, 2, s.count};
        forms[name + ".trans.shared.b16"] = {
            load_matrices<true>, s.pattern, Group::LOAD_MATRIX,
            Flow::TOGETHER, 2, s.count};
    }
    const char *words = "[4444]|[4444][44][4444]";
    const std::string mma = "mma.sync.aligned.";
    forms[mma + "m16n8k8.row.col.f32.tf32.tf32.f32"] = {
        multiply<Tf32>, words, Group::MATRIX, Flow::TOGETHER};
    forms[mma + "m16n8k16.row.col.f32.f16.f16.f32"] = {
        multiply<F16>, words, Group::MATRIX, Flow::TOGETHER};
    forms[mma + "m16n8k16.row.col.f32.bf16.bf16.f32"] = {
        multiply<Bf16>, words, Group::MATRIX, Flow::TOGETHER};
    forms[mma + "m16n8k32.row.col.s32.u8.s8.s32"] = {
        multiply<Bytes<uint8_t>, Bytes<int8_t>>, words, Group::MATRIX,
        Flow::TOGETHER};
    forms[mma + "m16n8k32.row.col.s32.s8.s8.s32"] = {
        multiply<Bytes<int8_t>>, words, Group::MATRIX, Flow::TOGETHER};
}

}
