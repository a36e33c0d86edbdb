// The model of a GEMM's time: work on load, waves of blocks, rates.
#define _POSIX_C_SOURCE 200809L     // open_memstream in graphs.h
#include "verdicts.h"
#include "../../ir/gpu/gemm_time.h"

// A product of 16-bit operands in tiles of 128x128, of `tiles` tiles and 32
// steps.  Its operands pass no cache, so its instructions take the time.
static Gemm gemm_of(int64_t tiles)
{
    return (Gemm){
        .size = { 128 * tiles, 128, 32 * 32, 1, 8, PRODUCT_F16,
                  PRODUCT_FORWARD },
        .tile = { 128, 128, 64, 32, 3, PRODUCT_F16 },
        .splits = 1,
    };
}

static Gpu fast_memory(void)
{
    Gpu gpu = gpus[0];
    gpu.memory *= 1000;
    return gpu;
}

// Blocks that fill half of the multiprocessors take as long as a whole wave.
// One block more than a wave takes as long as two.
static void waves_are_whole(void **state)
{
    (void)state;
    Gpu gpu = fast_memory();
    int64_t all = gpu.multiprocessors;
    Gemm half = gemm_of(all / 2), full = gemm_of(all), more = gemm_of(all + 1);
    Gemm two = gemm_of(2 * all);
    assert_int_equal(gemm_time(&gpu, &half), gemm_time(&gpu, &full));
    assert_int_equal(gemm_time(&gpu, &more), gemm_time(&gpu, &two));
    assert_true(gemm_time(&gpu, &more) > gemm_time(&gpu, &full));
}

// Twice as many columns in tiles load each row's operand twice.
static void work_counts_for_each_tile_of_columns(void **state)
{
    (void)state;
    Gpu gpu = fast_memory();
    Gemm stored = gemm_of(2 * gpu.multiprocessors), loaded = stored;
    loaded.rows.work = 40;      // the longest of a step's times
    int64_t once = gemm_time(&gpu, &loaded) - gemm_time(&gpu, &stored);
    stored.size.columns = loaded.size.columns = 256;
    int64_t twice = gemm_time(&gpu, &loaded) - gemm_time(&gpu, &stored);
    assert_true(once > 0);
    assert_in_range(twice, 2 * once - 2, 2 * once + 2);
}

// A window of nine taps loads its operand nine times.
static void work_counts_for_each_tap(void **state)
{
    (void)state;
    Gpu gpu = fast_memory();
    Gemm one = gemm_of(gpu.multiprocessors);
    one.rows.work = 8;
    Gemm nine = one;
    nine.size.depth *= 9;
    int64_t single = gemm_time(&gpu, &one);
    assert_true(gemm_time(&gpu, &nine) > 8 * single);
}

// Operands of 32 bits take twice the bandwidth of the cache.
static void bytes_of_operands_count(void **state)
{
    (void)state;
    Gpu gpu = fast_memory();
    gpu.elementwise /= 1000;
    Gemm half = gemm_of(gpu.multiprocessors), whole = half;
    half.rows.bytes = half.columns.bytes = 2;
    whole.rows.bytes = whole.columns.bytes = 4;
    int64_t of_half = gemm_time(&gpu, &half);
    assert_true(gemm_time(&gpu, &whole) > of_half * 3 / 2);
}

// mma.sync reaches 62.9 % of the rate of wgmma on sm_90.
static void rate_of_mma_is_limited(void **state)
{
    (void)state;
    Gpu gpu = fast_memory();
    gpu.clock *= 1000;          // neither issue nor shared memory limits it
    gpu.product = 1000000;
    Gemm m = gemm_of(gpu.multiprocessors);
    int64_t hopper = gemm_time(&gpu, &m);
    gpu.sm = 80;
    int64_t ampere = gemm_time(&gpu, &m);
    assert_in_range(1000 * ampere / hopper, 620, 640);
}

// Without a clock, only operations count.
static void flops_have_no_clock(void **state)
{
    (void)state;
    Gemm m = gemm_of(1000);
    assert_string_equal(gpus[GPU_COUNT - 1].name, "flops");
    assert_int_equal(gemm_time(&gpus[GPU_COUNT - 1], &m), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(waves_are_whole),
        TEST(work_counts_for_each_tile_of_columns),
        TEST(work_counts_for_each_tap),
        TEST(bytes_of_operands_count),
        TEST(rate_of_mma_is_limited),
        TEST(flops_have_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
