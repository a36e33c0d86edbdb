// An input that training does not read, since only an output does: train and
// evaluate are declared and defined alike, and infer finds its inputs.
#include <math.h>

#include "nets.h"
#include "unread.h"

int main(void)
{
    float shown[2][6], x[2][4], logits[2][3], view[2][6];
    int32_t label[2] = { 0, 2 };
    unread_context c;
    unread_figures figures;
    cublasHandle_t cublas;
    void *arena = new_arena(UNREAD_ARENA_BYTES);

    for (int i = 0; i < 12; i++) shown[i / 6][i % 6] = (float)i;
    for (int i = 0; i < 8; i++) x[i / 4][i % 4] = (float)(i % 3);
    memset(&c, 0, sizeof c);
    EXPECT_OK(cublasCreate(&cublas));
    EXPECT_OK(unread_init(&c, arena, UNREAD_ARENA_BYTES, NULL, cublas, 1));
    EXPECT_OK(unread_train(&c, shown[0], sizeof shown, x[0], sizeof x, label,
                           sizeof label));
    EXPECT_OK(unread_evaluate(&c, shown[0], sizeof shown, x[0], sizeof x, label,
                              sizeof label));
    EXPECT_OK(unread_infer(&c, shown[0], sizeof shown, x[0], sizeof x,
                           logits[0], sizeof logits, view[0], sizeof view));
    EXPECT_OK(unread_metrics(&c, &figures, 0));
    EXPECT(figures.step == 1 && figures.samples == 4);
    EXPECT(isfinite(figures.loss) && isfinite(logits[1][2]));
    for (int i = 0; i < 12; i++) EXPECT(view[i / 6][i % 6] == 2 * (float)i);
    EXPECT_OK(cublasDestroy(cublas));
    EXPECT_OK(cudaFree(arena));
    return 0;
}
