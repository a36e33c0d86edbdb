// The trainer's files, order and commands, on files made here in a folder that
// is removed afterwards.  A refusal must have the right message: the error stream goes to a file,
// and each case names words that must be in it. Returns 0 if all went well; else prints each
// failure with its line.

#include "augment_test.h"
#include "check.h"
#include "data_test.h"
#include "detection_test.h"
#include "reader_test.h"
#include "run_test.h"

// ---- safetensors ------------------------------------------------------------

static void test_round_trip()
{
    double d[] = {1.0 / 3, -0.0, 1e300};
    float f[] = {0.5f, -2.25f};
    unsigned char u[] = {0, 255, 7};
    SafeTensor tensors[4] = {
        {"d", SAFE_F64, 1, {3}, 0, sizeof d, (unsigned char *)d},
        {"u", SAFE_U8, 2, {3, 1}, 0, sizeof u, u},
        {"f.weight", SAFE_F32, 3, {1, 2, 1}, 0, sizeof f, (unsigned char *)f},
        {"scalar", SAFE_F64, 0, {}, 0, 8, (unsigned char *)d}};
    SafeFile file;
    CHECK(write_safetensors("w.safetensors", tensors, 4));
    CHECK(nothing_is_left());
    CHECK(read_safetensors("w.safetensors", &file) && file.count == 4);
    for (int i = 0; i < file.count; i++) {
        const SafeTensor *t = find_safe_tensor(&file, tensors[i].name);
        CHECK(t && t->type == tensors[i].type && t->rank == tensors[i].rank);
        CHECK(t && t->bytes == tensors[i].bytes &&
              !memcmp(t->data, tensors[i].data, t->bytes) &&
              !memcmp(t->shape, tensors[i].shape, sizeof t->shape));
    }
    CHECK(!write_safetensors("nowhere/w", tensors, 4));
    CHECK(complained("nowhere/w: can't be written: its folder is missing"));
    CHECK(!mkfifo("pipe", 0600) && !write_safetensors("pipe", tensors, 4));
    CHECK(complained("pipe: can't be written: wanted a regular file"));
    CHECK(write_safetensors("w.safetensors", tensors, 0));
    CHECK(read_safetensors("w.safetensors", &file) && file.count == 0);
}

// A file of this header and the given bytes of data.
static void write_header(const char *header, size_t bytes)
{
    char file[1024] = {};
    uint64_t length = strlen(header);
    memcpy(file, &length, 8);
    memcpy(file + 8, header, length);
    write_file("bad.safetensors", file, 8 + length + bytes);
}

static void test_malformed_headers()
{
    static const struct {
        const char *header, *words;
        size_t bytes;
    } rows[] = {
        {"", "byte 0: wanted {", 0},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}",
         "wanted }", 2},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}x",
         "wanted its end", 2},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
         "tensor b lies at bytes 1 to 3 of 3; wanted it to begin at 2", 3},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
         "tensor a lies at bytes 1 to 3 of 3; wanted it to begin at 0", 3},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}",
         "tensor a lies at bytes 0 to 9 of 3", 3},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
         "1 bytes follow the last tensor", 3},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
         "two tensors are named a", 2},
        {"{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]}}",
         "tensor a: wanted F16 to F64, BF16, I8 to I64, U8 to U64 or BOOL, found F8_E4M3", 1},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,3]}}",
         "do not fill its 3 bytes", 3},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],"
         "\"data_offsets\":[0,0]}}",
         "do not fill its 0 bytes", 0},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}",
         "wanted a number of 0 and more", 1},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],"
         "\"data_offsets\":[0,1]}}",
         "wanted a number below 2^63", 1},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],"
         "\"data_offsets\":[0,1]}}",
         "wanted fewer numbers", 1},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}",
         "wanted data_offsets [begin, end]", 1},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}",
         "wanted dtype, shape and data_offsets", 1},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "found dtype", 1},
        {"{\"a\\x\":{}}", "byte 4: wanted one of \" \\ / b f n r t, or uXXXX, after \\", 0},
        {"{\"a\\u12g4\":{}}", "or uXXXX, after \\", 0},
        {"{\"a\\", "or uXXXX, after \\", 0},
        {"{\"a\\u123", "or uXXXX, after \\", 0},
        {"{\"a\n\":{}}", "wanted a plain character", 0},
    };
    SafeFile file;
    for (const auto &row : rows) {
        write_header(row.header, row.bytes);
        CHECK(!read_safetensors("bad.safetensors", &file));
        CHECK(complained(row.words));
    }
    write_header(
        "{\"__metadata__\":{\"format\":\"pt\"} , \"a\" : {\"shape\":[1, 2],"
        "\"data_offsets\":[0,2],\"dtype\":\"U8\"} }  ",
        2);
    CHECK(read_safetensors("bad.safetensors", &file) && file.count == 1);
}

// Every escape of JSON, in names, values and keys; metadata of any length.
static void test_escapes()
{
    static const char pair[] = "\\ud83d\\ude00", alone[] = "\\udc00\\u00e9\\u0000";
    static char header[9000];
    SafeFile file;
    int length = snprintf(header, sizeof header,
                          "{\"__metadata__\":{\"k\\n\\\"\":\"%*s\\u20ac\"},\r\n\"fc\\u002Ew\\/x\":"
                          "{\"dt\\u0079pe\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                          "\"\\\"\\\\\\b\\f\\n\\r\\t%s%s\":{\"dtype\":\"U8\",\"shape\":[1],"
                          "\"data_offsets\":[1,2]}}", 8000, "", pair, alone);
    static char bytes[9100];
    uint64_t size = (uint64_t)length;
    memcpy(bytes, &size, 8);
    memcpy(bytes + 8, header, size);
    write_file("escapes.safetensors", bytes, 8 + size + 2);
    CHECK(read_safetensors("escapes.safetensors", &file) && file.count == 2);
    CHECK(find_safe_tensor(&file, "fc.w/x") != NULL);
    CHECK(find_safe_tensor(&file, "\"\\\b\f\n\r\t\xf0\x9f\x98\x80\xed\xb0\x80\xc3\xa9\xc0\x80"));
}

static void test_malformed_files()
{
    SafeFile file;
    const uint64_t lengths[] = {~0ull, 1ull << 63, 9, 0};
    write_file("bad.safetensors", lengths, 7);
    CHECK(!read_safetensors("bad.safetensors", &file));
    CHECK(complained("is not in 7 bytes"));
    for (int i = 0; i < 3; i++) {
        write_file("bad.safetensors", &lengths[i], 16);
        CHECK(!read_safetensors("bad.safetensors", &file));
        CHECK(complained("is not in 16 bytes"));
    }
    CHECK(!read_safetensors(".", &file));
    CHECK(complained(".: "));
    CHECK(!read_safetensors("nothing", &file));
    CHECK(complained("nothing: can't be opened: No such file or directory"));
    CHECK(!read_safetensors("nowhere/nothing", &file));
    CHECK(complained("nowhere/nothing: can't be opened: its folder is missing"));
    CHECK(!read_safetensors("./nothing", &file));
    CHECK(complained("./nothing: can't be opened: No such file or directory"));
}

static void test_conversions()
{
    double d[] = {1, 2.5, 300, NAN};
    int64_t wide = (1ll << 53) + 1;
    float f[4];
    int32_t i[4];
    uint8_t u[4];
    SafeTensor t = {"t", SAFE_F64, 1, {1}, 0, 8, (unsigned char *)d};
    CHECK(convert_tensor("f", &t, SAFE_F32, f) && f[0] == 1);
    CHECK(convert_tensor("f", &t, SAFE_I32, i) && i[0] == 1);
    CHECK(convert_tensor("f", &t, SAFE_U8, u) && u[0] == 1);
    t.bytes = 16;
    CHECK(convert_tensor("f", &t, SAFE_F32, f) && f[1] == 2.5f);
    CHECK(!convert_tensor("f", &t, SAFE_I32, i));
    CHECK(complained("f: tensor t is F64: its element 1, 2.5, is no i32"));
    t.data += 16;
    CHECK(!convert_tensor("f", &t, SAFE_U8, u) && complained("300, is no u8"));
    CHECK(convert_tensor("f", &t, SAFE_F32, f) && isnan(f[1]));
    CHECK(!convert_tensor("f", &t, SAFE_I32, i) && complained("is no i32"));
    t = {"t", SAFE_I64, 1, {1}, 0, 8, (unsigned char *)&wide};
    CHECK(!convert_tensor("f", &t, SAFE_F64, d) && complained("is no f64"));
}

// ---- the program ------------------------------------------------------------

static void test_commands()
{
    write_set("train", 150, 8, CLASSES);
    write_set("test", 70, 8, CLASSES);
    CHECK(run("train --data . --epochs 5 --save a.safetensors") == 0);
    CHECK(run("train --data . --epochs 5 --save b.safetensors") == 0);
    CHECK(same_files("a.safetensors", "b.safetensors"));
    CHECK(run("eval --data . --load a.safetensors") == 0);
    CHECK(run("eval --data . --load a.safetensors", false) == 0);
    CHECK(run("info") == 0 && run("info --tensors") == 0 && run("--help") == 0);
    release_memory();
}

static void test_step()
{
    static unsigned char images[2 * PIXELS];
    int64_t labels[2] = {3, 9};
    SafeTensor batch[2] = {
        {"label", SAFE_I64, 1, {2}, 0, sizeof labels, (unsigned char *)labels},
        {"image", SAFE_U8, 4, {2, 8, 8, 1}, 0, sizeof images, images}};
    for (int i = 0; i < 2 * PIXELS; i++) images[i] = (unsigned char)i;
    const char *line = "step --load a.safetensors --batch batch.safetensors "
                       "--steps 3 --save out.safetensors";
    CHECK(write_safetensors("batch.safetensors", batch, 2) && run(line) == 0);
    SafeFile file;
    CHECK(read_safetensors("out.safetensors", &file) && file.count == 4);
    const SafeTensor *figures = find_safe_tensor(&file, "figures");
    CHECK(figures && figures->shape[0] == 3 && figures->shape[1] == 2);
    CHECK(figures && read_element(figures->type, figures->data, 4) <
                         read_element(figures->type, figures->data, 0));
    CHECK(find_safe_tensor(&file, "d.fc.weight") != NULL);

    labels[1] = 10;
    CHECK(write_safetensors("batch.safetensors", batch, 2) && run(line) == 1);
    CHECK(complained("label 1 is 10, and the net has classes 0 to 9"));
    CHECK(write_safetensors("batch.safetensors", batch, 1) && run(line) == 1);
    CHECK(complained("has no tensor image"));
    batch[0].shape[0] = 1, batch[0].bytes = 8;
    CHECK(write_safetensors("batch.safetensors", batch, 2) && run(line) == 1);
    CHECK(complained("label has 1 samples"));
    batch[1].shape[2] = 4, batch[1].shape[1] = 16;
    CHECK(write_safetensors("batch.safetensors", batch, 2) && run(line) == 1);
    CHECK(complained("wanted 64x8x8x1 or fewer samples, found 2x16x4x1"));
}

static void test_refusals()
{
    CHECK(run("") == 2 && complained("wanted a command"));
    CHECK(run("fly") == 2 && complained("wanted a command, not fly"));
    CHECK(run("train", false) == 2 && complained("not train"));
    CHECK(run("train --steps 3") == 2 &&
          complained("train has no option --steps"));
    CHECK(run("train --epochs") == 2 && complained("--epochs needs N"));
    CHECK(run("train --epochs 1x") == 2 &&
          complained("--epochs 1x: wanted a whole"));
    CHECK(run("train --lr fast") == 2 &&
          complained("--lr fast: wanted a number"));
    CHECK(run("train --lr 1e-60") == 2 &&
          complained("--lr 1e-60: wanted 0, or a number that float does not round to 0"));
    CHECK(run("eval --data .") == 2 && complained("eval needs --load FILE"));
    CHECK(run("train --data nowhere") == 1 &&
          complained("--data nowhere: this folder can't be read: No such file"));
    CHECK(run("train --data a.safetensors") == 1 &&
          complained("--data a.safetensors: wanted a folder"));
    CHECK(!mkdir("empty", 0700) && run("train --data empty") == 1 &&
          complained("--data empty: wanted train-images-idx3-ubyte there, or "
                     "train/images.npy or train/image.npy, or another"));
    write_file("empty/train-images-idx3-ubyte.gz", "", 0);
    CHECK(run("train --data empty") == 1 && complained("which is there compressed: gunzip it"));
    write_file("empty/images.npy", "", 0);
    CHECK(run("train --data empty") == 1 &&
          complained("--data empty: is the folder of one set: wanted that above it"));
    CHECK(run("train --train-images train-labels-idx1-ubyte --data .") == 1 &&
          complained("samples are scalar, and input image is 8x8x1"));
    CHECK(run("eval --data . --load batch.safetensors") == 1);
    CHECK(complained("the net has no image"));
    CHECK(run("train --data . --save nowhere/w") == 1 &&
          complained("nowhere/w"));
    write_set("train", 20, 7, CLASSES);
    CHECK(run("train --data .") == 1);
    CHECK(complained("images are 7x8x1 (height, width, channels), and input "
                     "image is 8x8x1"));
    write_set("train", 20, 8, CLASSES + 1);
    CHECK(run("train --data .") == 1);
    CHECK(complained("is 10, and the net has classes 0 to 9"));
    CHECK(run("train --data . --train-labels test-labels-idx1-ubyte") == 1);
    CHECK(complained("wanted 20 labels"));
}

int main()
{
    char folder[] = "/tmp/trainer_test_XXXXXX", command[64];
    report = fdopen(dup(2), "w");
    if (!report || !mkdtemp(folder) || chdir(folder)) return 1;
    if (!freopen("complaints", "w", stderr) || !freopen("output", "w", stdout))
        return 1;
    test_round_trip();
    test_malformed_headers();
    test_escapes();
    test_malformed_files();
    test_conversions();
    test_data();
    test_reader();
    test_augmentation();
    test_detection();
    test_commands();
    test_step();
    test_refusals();
    test_runs();
    release_memory();
    fclose(report);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) || failures ? 1 : 0;
}
