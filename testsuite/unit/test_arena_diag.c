// The arena, and diagnostics to the letter.
#define _POSIX_C_SOURCE 200809L     // open_memstream
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../ir/base/diag.h"

// ---- the arena --------------------------------------------------------------

static void allocations_are_zeroed_and_apart(void **state)
{
    Arena *arena = *state;
    unsigned char *blocks[200];

    for (int i = 0; i < 200; i++) {
        size_t size = (size_t)i * 1001;
        blocks[i] = arena_alloc(arena, size, 1);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++) assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], i, size);
    }
    for (int i = 0; i < 200; i++)
        for (size_t k = 0; k < (size_t)i * 1001; k++)
            assert_int_equal(blocks[i][k], i);
}

static void growing_keeps_and_zeroes(void **state)
{
    int32_t *array = NULL, capacity = 0;

    for (int32_t i = 0; i < 1000; i++) {
        array = arena_grow(*state, array, &capacity, i + 1, sizeof *array);
        assert_true(capacity > i);
        assert_int_equal(array[i], 0);
        array[i] = i;
    }
    for (int32_t i = 0; i < 1000; i++) assert_int_equal(array[i], i);
    assert_true(capacity < 2048);
}

static void texts_are_copied(void **state)
{
    char *copy = arena_copy(*state, "conv1.weight", 5);
    assert_string_equal(copy, "conv1");
    assert_string_equal(arena_print(*state, "%s_%d", copy, 2), "conv1_2");
}

// ---- diagnostics ------------------------------------------------------------

static const char source_text[] =
    "net digits {\n"
    "    x = image -> conf(16, 3)\n"
    "\ty\t= relu(x)\n"
    "    # h\xc3\xa9h\xc3\xa9: oops\n"
    "last";

// The message for a file of the text above, from a Diag over it.
typedef struct Said {
    Arena *arena;
    Diag   diag;
    char  *text;
    size_t length;
} Said;

static Said *begin(Arena *arena)
{
    Said *said = NEW(arena, Said);
    said->arena = arena;
    said->diag.arena = arena;
    said->diag.stream = open_memstream(&said->text, &said->length);
    diag_add_source(&said->diag, "digits.cnn", source_text,
                    sizeof source_text - 1);
    return said;
}

static void expect_said(Said *said, const char *wanted)
{
    fclose(said->diag.stream);
    assert_string_equal(said->text, wanted);
    free(said->text);
}

static void error_has_place_line_and_caret(void **state)
{
    Said *said = begin(*state);
    Pos pos = { .line = 2, .column = 18, .length = 4 };
    error(&said->diag, pos, "there is no operator \"%s\"", "conf");
    fixit(&said->diag, pos, "conv");
    note(&said->diag, (Pos){ .line = 1, .column = 1, .length = 3 }, "in here");
    assert_int_equal(said->diag.error_count, 1);
    expect_said(said,
        "digits.cnn:2:18: error: there is no operator \"conf\"\n"
        "    2 |     x = image -> conf(16, 3)\n"
        "      |                  ^~~~\n"
        "      |                  conv\n"
        "digits.cnn:1:1: note: in here\n"
        "    1 | net digits {\n"
        "      | ^~~\n");
}

static void tabs_reach_multiples_of_eight(void **state)
{
    Said *said = begin(*state);
    error(&said->diag, (Pos){ .line = 3, .column = 6, .length = 4 }, "no");
    expect_said(said,
        "digits.cnn:3:6: error: no\n"
        "    3 |         y       = relu(x)\n"
        "      |                   ^~~~\n");
}

static void columns_are_characters(void **state)
{
    Said *said = begin(*state);
    error(&said->diag, (Pos){ .line = 4, .column = 13, .length = 4 }, "no");
    expect_said(said,
        "digits.cnn:4:13: error: no\n"
        "    4 |     # h\xc3\xa9h\xc3\xa9: oops\n"
        "      |             ^~~~\n");
}

static void caret_stays_at_the_end_of_a_line(void **state)
{
    Said *said = begin(*state);
    error(&said->diag, (Pos){ .line = 5, .column = 5, .length = 9 }, "end");
    error(&said->diag, (Pos){ .line = 5, .column = 3, .length = 9 }, "long");
    error(&said->diag, (Pos){ .line = 0 }, "nowhere");
    expect_said(said,
        "digits.cnn:5:5: error: end\n"
        "    5 | last\n"
        "      |     ^\n"
        "digits.cnn:5:3: error: long\n"
        "    5 | last\n"
        "      |   ^~\n"
        "digits.cnn: error: nowhere\n");
}

static void colors_only_where_wanted(void **state)
{
    Said *said = begin(*state);
    said->diag.color = true;
    error(&said->diag, (Pos){ .line = 5, .column = 1, .length = 4 }, "no");
    expect_said(said,
        "\33[1mdigits.cnn:5:1: \33[31merror: \33[m\33[1mno\33[m\n"
        "    5 | last\n"
        "      | \33[1;32m^~~~\33[m\n");
}

static void twenty_errors_are_enough(void **state)
{
    Said *said = begin(*state);
    for (int i = 0; i < 30; i++) {
        error(&said->diag, (Pos){ .line = 0 }, "%d", i);
        note(&said->diag, (Pos){ .line = 0 }, "why");
    }
    fclose(said->diag.stream);
    assert_int_equal(said->diag.error_count, 30);
    assert_non_null(strstr(said->text, "error: 19\n"));
    assert_null(strstr(said->text, "error: 20\n"));
    assert_string_equal(strstr(said->text, "cnnc: more"),
                        "cnnc: more than 20 errors; the rest are not shown\n");
    free(said->text);
}

static void lines_end_before_newlines(void **state)
{
    Diag diag = { .arena = *state };
    int32_t file = diag_add_source(&diag, "a", "one\r\n\nthree\n", 12);
    int32_t length;

    assert_int_equal(diag.sources[file].line_count, 4);
    source_line(&diag.sources[file], 1, &length);
    assert_int_equal(length, 3);
    source_line(&diag.sources[file], 2, &length);
    assert_int_equal(length, 0);
    const char *third = source_line(&diag.sources[file], 3, &length);
    assert_memory_equal(third, "three", (size_t)length);
    source_line(&diag.sources[file], 5, &length);
    assert_int_equal(length, 0);
}

static void nearest_of_names(void **state)
{
    static const char *const names[] = { "conv", "maxpool", "relu", "dense" };
    (void)state;
    assert_string_equal(nearest_name("conf", names, 4), "conv");
    assert_string_equal(nearest_name("maxpol", names, 4), "maxpool");
    assert_string_equal(nearest_name("rleu", names, 4), "relu");    // a swap
    assert_string_equal(nearest_name("dense", names, 4), "dense");
    assert_null(nearest_name("softmax", names, 4));
    assert_null(nearest_name("ad", names, 4));
    assert_null(nearest_name("", names, 4));
}

// ---- all of them ------------------------------------------------------------

static int make_arena(void **state)
{
    *state = arena_new();
    return 0;
}

static int free_arena(void **state)
{
    arena_free(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_arena, free_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(allocations_are_zeroed_and_apart),
        TEST(growing_keeps_and_zeroes),
        TEST(texts_are_copied),
        TEST(error_has_place_line_and_caret),
        TEST(tabs_reach_multiples_of_eight),
        TEST(columns_are_characters),
        TEST(caret_stays_at_the_end_of_a_line),
        TEST(colors_only_where_wanted),
        TEST(twenty_errors_are_enough),
        TEST(lines_end_before_newlines),
        TEST(nearest_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
