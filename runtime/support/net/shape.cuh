// Shapes: the constants of a layer, as the emitted file defines them.
#pragma once

// UsualShape: the constants that most layers have; a layer's shape names those that differ.  Maps
// and filters of a dense layer are of one pixel.
struct UsualShape {
    static constexpr long long H = 1, W = 1, P = 1, Q = 1, R = 1, S = 1;
    static constexpr long long STRIDE_H = 1, STRIDE_W = 1, DILATION_H = 1, DILATION_W = 1;
    static constexpr long long PAD_TOP = 0, PAD_LEFT = 0;
    static constexpr long long GROUPS = 1;
};
