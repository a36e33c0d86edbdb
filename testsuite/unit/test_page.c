// Text on its way into a page: effects that it can't have there.
#define _POSIX_C_SOURCE 200809L     // open_memstream
#include "../../codegen/page/html.h"
#include "../../ir/base/format.h"
#include "graphs.h"

static void check(const char *text, const char *escaped)
{
    assert_string_equal(html_escaped(arena, text, strlen(text)), escaped);
}

static void test_markup_is_text(void **state)
{
    (void)state;
    check("", "");
    check("conv_1.weight", "conv_1.weight");
    check("<script>&amp;\"'", "&lt;script&gt;&amp;amp;&quot;&#39;");
    check("\tx\n", "    x\n");
}

static void test_utf8_stays(void **state)
{
    (void)state;
    check("\x7f\x01", "&#xFFFD;&#xFFFD;");
    check("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
          "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    check("\xee\x80\x80\xed\x9f\xbf", "\xee\x80\x80\xed\x9f\xbf");
}

// Cut off, an overlong form, a surrogate, past the last: each byte is
// replaced.
static void test_what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    check("\xff", "&#xFFFD;");
    check("\xc3", "&#xFFFD;");
    check("\xe2\x82<", "&#xFFFD;&#xFFFD;&lt;");
    check("\xc0\xbc", "&#xFFFD;&#xFFFD;");
    check("\xe0\x80\xbc", "&#xFFFD;&#xFFFD;&#xFFFD;");
    check("\xed\xa0\x80", "&#xFFFD;&#xFFFD;&#xFFFD;");
    check("\xf4\x90\x80\x80", "&#xFFFD;&#xFFFD;&#xFFFD;&#xFFFD;");
}

static void test_direction_is_not_turned(void **state)
{
    (void)state;
    check("a\xe2\x80\xae" "b\xe2\x81\xa6", "a&#xFFFD;b&#xFFFD;");
    check("\xc2\x85", "&#xFFFD;");
}

// Whatever the bytes, nothing comes out that means something, and no more than
// there is is read.
static void test_any_bytes(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char *text = NEW_ARRAY(arena, 8, char);
        size_t length = (size_t)(round % 8);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)((random = random * 1664525 + 1013904223) >> 24);
        const char *escaped = html_escaped(arena, text, length);
        assert_null(strpbrk(escaped, "<>\"'"));
        for (const char *c = escaped; (c = strchr(c, '&')) != NULL; c++)
            assert_non_null(strchr(c, ';'));
    }
}

static void test_figures(void **state)
{
    (void)state;
    assert_string_equal(grouped_text(arena, 0), "0");
    assert_string_equal(grouped_text(arena, 1000), "1 000");
    assert_string_equal(grouped_text(arena, -1234567), "-1 234 567");
    assert_string_equal(bytes_text(arena, 1023), "1023 B");
    assert_string_equal(bytes_text(arena, 1 << 20), "1.00 MiB");
    assert_string_equal(enough_text(arena, 1023), "1023 B");
    assert_string_equal(enough_text(arena, 1 << 20), "1.00 MiB");
    assert_string_equal(enough_text(arena, (1 << 20) + 1), "1.01 MiB");
    assert_string_equal(enough_text(arena, (2 << 20) - 1), "2.00 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_markup_is_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_utf8_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_utf8_is_replaced,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_direction_is_not_turned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_any_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_figures, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
