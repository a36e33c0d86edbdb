// Data files: formats told by content, refused files and the reasons, and the
// element of a batch for each element of a file.
#pragma once
#include "check.h"

// ---- data -------------------------------------------------------------------

static void test_shuffle()
{
    enum { COUNT = 1000 };
    static long long a[COUNT], b[COUNT];
    bool seen[COUNT] = {};
    shuffle_order(a, COUNT, 7, 3);
    for (long long at : a) seen[at] = true;
    for (bool one : seen) CHECK(one);
    shuffle_order(b, COUNT, 7, 3);
    CHECK(!memcmp(a, b, sizeof a));
    shuffle_order(b, COUNT, 7, 4);
    CHECK(memcmp(a, b, sizeof a) != 0);
    shuffle_order(b, COUNT, 8, 3);
    CHECK(memcmp(a, b, sizeof a) != 0);
    shuffle_order(b, 1, 7, 3);
    CHECK(b[0] == 0);
}

// Where each of three things lies after many epochs: a third in each place.
static void test_shuffle_is_fair()
{
    int at[3][3] = {};
    for (uint64_t epoch = 0; epoch < 3000; epoch++) {
        long long order[3];
        shuffle_order(order, 3, 1, epoch);
        for (int i = 0; i < 3; i++) at[i][order[i]]++;
    }
    for (int i = 0; i < 9; i++) CHECK(abs(at[i / 3][i % 3] - 1000) < 130);
}

static void test_idx()
{
    static const struct {
        const char *bytes, *words;
        size_t size;
    } rows[] = {
        {"", "wanted an IDX file", 0},
        {"\0\0\x0d\1\0\0\0\1x", "wanted an IDX file", 9},
        {"\0\0\x08\5\0\0\0\1x", "wanted an IDX file", 9},
        {"\x1f\x8b\x08\0\0\0\0\0\0", "not a compressed one", 9},
        {"\0\0\x08\3\0\0\0\1", "ends in its dimensions", 8},
        {"\0\0\x08\1\0\0\0\3xy", "want 3 bytes of data, and it has 2", 10},
        {"\0\0\x08\1\0\0\0\1xy", "want 1 bytes of data, and it has 2", 10},
        {"\0\0\x08\3\377\377\377\377\377\377\377\377\377\377\377\377",
         "no product in 64 bits", 16},
    };
    DataArray array = {};
    const NetTensor *input = &linear_inputs[0];
    for (const auto &row : rows) {
        write_file("bad-idx", row.bytes, row.size);
        CHECK(!read_array("bad-idx", input, &array) && complained(row.words));
    }
    write_file("idx", "\0\0\x08\2\0\0\0\2\0\0\0\1xy", 14);
    CHECK(read_array("idx", input, &array) && array.rank == 2 &&
          array.dims[0] == 2 && array.dims[2] == 1 && array.data[1] == 'y');
}

// ---- NPY --------------------------------------------------------------------

// Writes a file of this header and data, padded as NumPy pads it.
static void write_npy(const char *path, const char *header, const void *data,
                      size_t bytes)
{
    static unsigned char file[1 << 17] = "\x93NUMPY\1";
    size_t length = (10 + strlen(header) + 1 + 63) / 64 * 64 - 10;
    file[7] = 0;
    file[8] = (unsigned char)length, file[9] = (unsigned char)(length >> 8);
    memset(file + 10, ' ', length);
    memcpy(file + 10, header, strlen(header));
    file[9 + length] = '\n';
    memcpy(file + 10 + length, data, bytes);
    write_file(path, file, 10 + length + bytes);
}

static void test_malformed_npy()
{
    static const struct {
        const char *header, *words;
    } rows[] = {
        {"{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }",
         "it has '>i4'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
         "<u2 to <u8, <f2 to <f8; it has '<c8'"},
        {"{'descr': '=i2', 'fortran_order': False, 'shape': (4,), }",
         "it has '=i2'"},
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (4, 2), }",
         "is in Fortran's order; wanted C's"},
        {"{'shape': (2, 1, 4), 'fortran_order': True, 'descr': '|u1', }",
         "is in Fortran's order; wanted C's"},
        {"{'descr': \"|u1', 'fortran_order': False, 'shape': (8,), }",
         "it has \"|u1'"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (8LL,), }",
         "wanted , or )"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (9,), }",
         "want 9 bytes of data, and it has 8"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }",
         "want 7 bytes of data, and it has 8"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (), }",
         "wanted an array of samples; it has no dimension"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (x,), }",
         "byte 51: wanted a number of 0 and more"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1 1), }",
         "wanted , or )"},
        {"{'descr': '|u1', 'fortran_order': False, "
         "'shape': (99999999999999999999,), }",
         "wanted a number below 2^63"},
        {"{'descr': '|u1', 'fortran_order': False, "
         "'shape': (4294967296, 4294967296), }",
         "have no product in 64 bits"},
        {"{'descr': '|u1', 'fortran_order': False, "
         "'shape': (1,1,1,1,1,1,1,1,8), }",
         "wanted fewer dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, }",
         "wanted 'descr', 'fortran_order' and 'shape'"},
        {"{'descr': '|u1', 'descr': '|u1', }", "byte 24: wanted 'descr'"},
        {"['descr']", "byte 0: wanted {"},
    };
    DataArray a = {};
    for (const auto &row : rows) {
        write_npy("bad.npy", row.header, "12345678", 8);
        CHECK(!read_array("bad.npy", &linear_inputs[0], &a));
        CHECK(complained(row.words));
    }
    write_file("bad.npy", "\x93NUMPY\4\0\1\0\0\0\0", 13);
    CHECK(!read_array("bad.npy", &linear_inputs[0], &a));
    CHECK(complained("wanted version 1 to 3 of NPY, found 4"));
    write_file("bad.npy", "\x93NUMPY\1\0\xff\0{'descr'", 18);
    CHECK(!read_array("bad.npy", &linear_inputs[0], &a));
    CHECK(complained("ends in its header"));
}

// Each type, as the elements of a real input and of a label.
static void test_npy_types()
{
    const double f8[] = {1, 2, 3};
    const float f4[] = {1, 2, 3};
    const int64_t i8[] = {1, 2, 3};
    const int32_t i4[] = {1, 2, 3};
    const uint8_t u1[] = {1, 2, 3}, b1[] = {1, 7, 0};
    const int16_t i2[] = {1, 2, 3};
    const uint32_t u4[] = {1, 2, 3};
    const uint16_t f2[] = {0x3C00, 0x4000, 0x4200};
    const void *data[] = {f8, f4, i8, i4, u1, b1, u1, i2, i2, u4, i8, f2};
    const NetTensor real = {"x", "f32", 2, {4, 1}, 0, 16, 0, 1, -1};
    const NetTensor label = {"y", "i32", 1, {4}, 0, 16, 4, 1, -1};
    for (int type = 0; type < SAFE_BF16; type++) {
        char header[128];
        snprintf(header, sizeof header,
                 "{'shape': (3,), 'fortran_order': False, 'descr': '%s'}",
                 npy_types[type]);
        write_npy("x.npy", header, data[type], 3 * safe_types[type].bytes);
        DataColumn c = describe_column(&real), l = describe_column(&label);
        float x = 0;
        int y = 0;
        CHECK(read_column("x.npy,x.npy", &c) && c.count == 6);
        fill_sample(&c, NULL, 4, NULL, (unsigned char *)&x);
        bool is_bool = type == SAFE_BOOL;
        CHECK(x == (is_bool ? 1 : 2));
        bool whole = type != SAFE_F64 && type != SAFE_F32 && type != SAFE_F16;
        CHECK(read_column("x.npy", &l) == whole);
        if (whole) fill_sample(&l, NULL, 2, NULL, (unsigned char *)&y);
        CHECK(whole ? y == (is_bool ? 0 : 3) : complained("and input y is classes"));
    }
    const NetTensor byte = {"x", "u8", 2, {4, 1}, 0, 4, 0, 1, -1};
    const NetTensor wide = {"x", "f32", 2, {4, 2}, 0, 32, 0, 1, -1};
    const NetTensor few = {"y", "i32", 1, {4}, 0, 16, 3, 1, -1};
    DataColumn c = describe_column(&byte);
    write_npy("x.npy", "{'descr':'<i4','fortran_order':False,'shape':(3,)}",
              i4, sizeof i4);
    CHECK(!read_column("x.npy", &c));
    CHECK(complained("elements are <i4, and input x is u8: declare it f32"));
    c = describe_column(&wide);
    CHECK(!read_column("x.npy", &c));
    CHECK(complained("x.npy: samples are scalar, and input x is 2"));
    c = describe_column(&few);
    CHECK(!read_column("x.npy", &c));
    CHECK(complained("x.npy: label 2 is 3, and the net has classes 0 to 2"));
    write_npy("x.npy", "{'descr':'<i4','fortran_order':False,'shape':(0,)}",
              i4, 0);
    CHECK(!read_column("x.npy", &c) && complained("x.npy: has no samples"));
}

// Headers that other writers make, and old ones.
static void test_npy_headers()
{
    static const char *const headers[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8L, 1L), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (8L,)}",
        "{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": (8,)}",
        "{\"shape\": (8, 1), 'descr': \"<u1\", 'fortran_order': True}",
        "{'descr': 'u1', 'fortran_order': True, 'shape': (8,), }",
        "{'descr': '>u1', 'fortran_order': True, 'shape': (1, 8, 1), }",
        "{'descr': '=u1', 'fortran_order': True, 'shape': (1, 1, 8), }",
    };
    DataArray a = {};
    for (const char *header : headers) {
        write_npy("good.npy", header, "12345678", 8);
        CHECK(read_array("good.npy", &linear_inputs[0], &a));
        CHECK(a.type == SAFE_U8 && a.data[7] == '8' && a.dims[0] * a.dims[1] * a.dims[2] == 8);
    }
}

// Each number of a file of this type, as the element of an image.
static void check_numbers(const char *type, const void *data, size_t bytes, const float *wanted)
{
    const NetTensor image = {"x", "f32", 4, {4, 1, 1, 4}, 0, 64, 0, 1, -1};
    char header[128];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1, 1, 1, 4)}",
             type);
    write_npy("x.npy", header, data, bytes);
    DataColumn c = describe_column(&image);
    float x[4] = {};
    CHECK(read_column("x.npy", &c));
    fill_sample(&c, NULL, 0, NULL, (unsigned char *)x);
    CHECK(!memcmp(x, wanted, sizeof x));
}

// Numbers at the ends of each type; bytes without a sign are divided by 255, and no others.
static void test_npy_numbers()
{
    const signed char i1[] = {-128, -1, 0, 127};
    const int16_t i2[] = {-32768, -1, 0, 32767};
    const uint16_t u2[] = {0, 1, 32768, 65535}, f2[] = {0x8001, 0x7BFF, 0xFC00, 0x3555};
    const uint32_t u4[] = {0, 1, 1u << 31, 0xFFFFFF00};
    const uint64_t u8[] = {0, 1, 1ull << 63, 1ull << 40};
    const unsigned char b1[] = {0, 1, 2, 255}, u1[] = {0, 51, 102, 255};
    const float of_i1[] = {-128, -1, 0, 127}, of_i2[] = {-32768, -1, 0, 32767};
    const float of_u2[] = {0, 1, 32768, 65535}, of_u4[] = {0, 1, 0x1p31f, 0xFFFFFF00p0f};
    const float of_u8[] = {0, 1, 0x1p63f, 0x1p40f}, of_b1[] = {0, 1, 1, 1};
    const float of_f2[] = {-0x1p-24f, 65504, -INFINITY, 0x1.554p-2f};
    const float of_u1[] = {0, 51 / 255.f, 102 / 255.f, 1};
    check_numbers("|i1", i1, 4, of_i1);
    check_numbers("<i2", i2, 8, of_i2);
    check_numbers("<u2", u2, 8, of_u2);
    check_numbers("<u4", u4, 16, of_u4);
    check_numbers("<u8", u8, 32, of_u8);
    check_numbers("<f2", f2, 8, of_f2);
    check_numbers("|b1", b1, 4, of_b1);
    check_numbers("|u1", u1, 4, of_u1);
    CHECK(half_number(0xBF80, true) == -1 && half_number(1, true) == ldexp(1, -133));
    CHECK(isnan(half_number(0x7FC0, true)) && isnan(half_number(0xFE00, false)));
    const NetTensor byte = {"x", "u8", 2, {4, 1}, 0, 4, 0, 1, -1};
    DataColumn c = describe_column(&byte);
    unsigned char x = 9;
    write_npy("x.npy", "{'descr':'|b1','fortran_order':False,'shape':(4,)}", b1, 4);
    CHECK(read_column("x.npy", &c));
    fill_sample(&c, NULL, 3, NULL, &x);
    CHECK(x == 1);
    write_npy("x.npy", "{'descr':'|i1','fortran_order':False,'shape':(4,)}", i1, 4);
    CHECK(!read_column("x.npy", &c) && complained("elements are |i1, and input x is u8"));
}

// ---- CIFAR ------------------------------------------------------------------

// `count` records; a pixel of channel k at (y, x) is a function of them all.
static void write_cifar(const char *path, int count, bool fine)
{
    static unsigned char file[8 * 3074];
    unsigned char *at = file;
    for (int n = 0; n < count; n++) {
        if (fine) *at++ = (unsigned char)(n + 12);
        *at++ = (unsigned char)(fine ? n + 90 : n);
        for (int i = 0; i < 3072; i++) *at++ = (unsigned char)(i * 7 + n);
    }
    write_file(path, file, (size_t)(at - file));
}

static void test_cifar()
{
    const NetTensor image = {"x", "u8", 4, {4, 32, 32, 3}, 0, 4 * 3072, 0, 1, -1};
    const NetTensor label = {"y", "i32", 1, {4}, 0, 16, 10, 0, -1};
    DataColumn c = describe_column(&image), l = describe_column(&label);
    write_cifar("c10", 3, false);
    write_cifar("c10b", 5, false);
    CHECK(read_column("c10,c10b", &c) && c.count == 8);
    CHECK(read_column("c10,c10b", &l) && l.count == 8);
    for (int n = 0; n < 8; n++) {
        unsigned char x[3072];
        int y = -1, at = n < 3 ? n : n - 3, wrong = 0;
        fill_sample(&c, NULL, n, NULL, x);
        fill_sample(&l, NULL, n, NULL, (unsigned char *)&y);
        for (int i = 0; i < 1024; i++)
            for (int k = 0; k < 3; k++)
                wrong += x[i * 3 + k] !=
                         (unsigned char)((k * 1024 + i) * 7 + at);
        CHECK(wrong == 0 && y == at);
    }
    NetTensor fine = label;
    fine.classes = 100;
    write_cifar("c100", 4, true);
    for (int classes = 20; classes <= 100; classes += 80) {
        int y = -1;
        fine.classes = classes;
        l = describe_column(&fine);
        CHECK(read_column("c100", &l) && l.count == 4);
        fill_sample(&l, NULL, 2, NULL, (unsigned char *)&y);
        CHECK(y == (classes == 20 ? 14 : 92));
    }
    l = describe_column(&label);
    CHECK(!read_column("c100", &l));
    CHECK(complained("label 0 is 90, and the net has classes 0 to 9"));
    write_cifar("c10", 3, false);
    CHECK(!truncate("c10", 9000) && !read_column("c10", &c));
    CHECK(complained("CIFAR's records of 3073 or 3074 bytes"));
    write_cifar("c10", 3, false);
    FILE *file = fopen("c10", "r+b");
    CHECK(file && !fseek(file, 3073, SEEK_SET) && fputc(77, file) == 77 &&
          !fclose(file));
    CHECK(!read_column("c10", &c));
    CHECK(complained("if these are CIFAR-10's records, label 1 is 77, not 0"));
}

// Images of one file whose bytes look like the beginning of another format.
static void test_ambiguous()
{
    const NetTensor image = {"x", "u8", 4, {4, 32, 32, 3}, 0, 4 * 3072, 0, 1, -1};
    unsigned char file[3073] = {0, 0, 8, 3};
    DataColumn c = describe_column(&image);
    write_file("zeros", file, sizeof file);
    CHECK(read_column("zeros", &c) && c.parts[0].array.planes);
    write_file("zip", "PK\3\4....", 8);
    CHECK(!read_column("zip", &c) && complained("not a compressed one"));
}

static void test_data()
{
    test_shuffle();
    test_shuffle_is_fair();
    test_idx();
    test_malformed_npy();
    test_npy_types();
    test_npy_headers();
    test_npy_numbers();
    test_cifar();
    test_ambiguous();
    release_memory();
}
