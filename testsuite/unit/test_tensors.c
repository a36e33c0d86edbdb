// The compiler's reader of safetensors: types of elements, and faulty files.
#define _POSIX_C_SOURCE 200809L     // mkstemp, fdopen
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../ir/base/tensors.h"

// Writes a file of this header and these bytes of data, and reads it.
static const char *read_of(Arena *arena, const char *header, const void *data,
                           size_t bytes, TensorFile *file)
{
    char path[] = "/tmp/cnnc-tensors-XXXXXX";
    int64_t length = (int64_t)strlen(header);
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *out = fdopen(descriptor, "wb");
    assert_non_null(out);
    fwrite(&length, 8, 1, out);
    fputs(header, out);
    fwrite(data, 1, bytes, out);
    fclose(out);
    const char *fault = tensors_read(arena, path, file);
    unlink(path);
    return fault;
}

static void elements_of_each_type_are_numbers(void **state)
{
    // 1.5, -2 and infinity of 16 bits; the least of F16; an F32; an I32; a U8; an I8.
    static const unsigned char data[] = {
        0x00, 0x3e, 0x00, 0xc0, 0x00, 0x7c, 0x01, 0x00,
        0xc0, 0x3f, 0x00, 0xc0, 0x80, 0x7f,
        0x00, 0x00, 0x20, 0x41, 0xfe, 0xff, 0xff, 0xff, 7, 0x81,
    };
    static const char header[] =
        "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"h\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,8]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[8,14]},"
        "\"f\":{\"shape\":[],\"dtype\":\"F32\",\"data_offsets\":[14,18]},"
        "\"i\":{\"dtype\":\"I32\",\"data_offsets\":[18,22],\"shape\":[1]},"
        "\"u\":{\"dtype\":\"U8\",\"shape\":[1,1],\"data_offsets\":[22,23]},"
        "\"s\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[23,24]} }";
    Arena *arena = arena_new();
    TensorFile file;
    (void)state;
    assert_null(read_of(arena, header, data, sizeof data, &file));
    assert_int_equal(file.count, 6);
    const Tensor *h = tensors_find(&file, "h"), *b = tensors_find(&file, "b");
    assert_int_equal(h->rank, 2);
    assert_int_equal(h->dim[1], 2);
    assert_true(h->data[0] == 1.5 && h->data[1] == -2 && isinf(h->data[2]) &&
                h->data[3] == ldexp(1, -24));
    assert_true(b->data[0] == 1.5 && b->data[1] == -2 && isinf(b->data[2]));
    assert_true(tensors_find(&file, "f")->data[0] == 10);
    assert_true(tensors_find(&file, "i")->data[0] == -2);
    assert_true(tensors_find(&file, "u")->data[0] == 7);
    assert_true(tensors_find(&file, "s")->data[0] == -127);
    assert_null(tensors_find(&file, "x"));
    arena_free(arena);
}

static void faulty_files_are_refused(void **state)
{
    static const struct { const char *header, *fault; } files[] = {
        { "", "wanted a safetensors file" },
        { "[]", "header, byte 0: wanted '{'" },
        { "{\"a\"}", "header, byte 4: wanted ':'" },
        { "{\"a\":{\"dtype\":\"F8\"}}", "byte 18: wanted F64, F32, F16" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
          "wanted a shape of a that fills its bytes" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}",
          "wanted a shape of a that fills its bytes" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[8,0]}}",
          "wanted a shape of a that fills its bytes" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],"
          "\"data_offsets\":[0,0]}}",
          "wanted a shape of a that fills its bytes" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],"
          "\"data_offsets\":[0,4]}}", "wanted an integer or ]" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[x],\"data_offsets\":[0,4]}}",
          "wanted an integer or ]" },
        { "{\"a\":{\"dtype\":\"F32\"}}",
          "wanted a shape of a that fills its bytes" },
        { "{\"a\\n\":{}}", "header, byte 3: wanted '\"'" },
        { "{\"a\":{", "wanted '\"'" },
        { "{\"__metadata__\":{\"a\":1}}", "wanted '\"'" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        Arena *arena = arena_new();
        TensorFile file;
        const char *fault = read_of(arena, files[i].header, "01234567", 8,
                                    &file);
        if (fault == NULL || strstr(fault, files[i].fault) == NULL)
            fail_msg("%s: said %s", files[i].header, fault ? fault : "nothing");
        arena_free(arena);
    }
}

static void files_that_are_none_say_why(void **state)
{
    Arena *arena = arena_new();
    TensorFile file;
    (void)state;
    assert_string_equal(tensors_read(arena, "/nowhere/w", &file),
                        "No such file or directory");
    assert_string_equal(tensors_read(arena, "/tmp", &file), "Is a directory");
    assert_string_equal(tensors_read(arena, "/dev/null", &file),
                        "wanted a safetensors file");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_of_each_type_are_numbers),
        cmocka_unit_test(faulty_files_are_refused),
        cmocka_unit_test(files_that_are_none_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
