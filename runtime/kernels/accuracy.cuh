// How often the largest logit is the label's.
#pragma once
#include "../support/elementwise.cuh"
#include "../support/real.cuh"

// accuracy_forward: rows[n] = 1 where logits[n,label[n]] is the first of the row's largest, else 0,
// as where a NaN or no such class is met, and past samples.  A warp a row; logits [batch, classes].
__global__ void accuracy_forward(real *rows, const real *logits, const int *label,
                                 long long samples, long long batch, long long classes)
{
    FOR_EACH(i, 32 * batch) {
        const long long n = i / 32;
        const real *row = logits + n * classes;
        const int want = label[n];
        bool wrong = n >= samples || want < 0 || want >= classes;
        for (long long o = i % 32; o < classes && !wrong; o += 32)
            wrong = !(o < want ? row[o] < row[want] : row[o] <= row[want]);
        rows[n] = !__any_sync(0xffffffffu, wrong);
    }
}
