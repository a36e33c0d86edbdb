// usage: fuzz_data [--seed S] [--first K] [--count N]
//
// Random files for the trainer's readers: IDX, NPY, CIFAR's records, safetensors,
// saved states, changed at random from sound ones.  A reader refuses with a message, or it found
// bytes inside the file: each of them is read. A file is a block of the heap here, so that
// AddressSanitizer, with which this program is built, knows where it ends.
//
// Exits 1, or as the sanitizer does, where a reader does anything else.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

static void *heap_map(size_t size, int file);
static int heap_unmap(void *at);
#define mmap(at, size, protection, flags, file, offset) heap_map(size, file)
#define munmap(at, size) heap_unmap(at)

#include <cuda_runtime.h>

#include "../../runtime/trainer/main.cuh"

extern "C" {
#include "fuzz.h"
}

static void *heap_map(size_t size, int file)
{
    void *block = malloc(size);
    if (block && read(file, block, size) == (ssize_t)size) return block;
    exit(3);
}

static int heap_unmap(void *at)
{
    free(at);
    return 0;
}

static const NetTensor inputs[] = {
    {"image", "u8", 4, {2, 8, 8, 1}, 0, 128, 0, 1, -1}, {"label", "i32", 1, {2}, 0, 8, 20, 0, 255}};

// ---- sound files -----------------------------------------------------------------------

static Corpus corpus;

static void add(const void *bytes, size_t size)
{
    static Text texts[16];
    Text *text = &texts[corpus.count++];
    text_append(text, (const char *)bytes, size);
    corpus.texts = texts;
}

static void add_npy(const char *header, size_t data)
{
    static char file[8192];
    size_t length = 118;
    memset(file, 7, sizeof file);
    memcpy(file, "\x93NUMPY\1\0", 8);
    file[8] = (char)length, file[9] = 0;
    memset(file + 10, ' ', length);
    memcpy(file + 10, header, strlen(header));
    file[9 + length] = '\n';
    add(file, 10 + length + data);
}

static void add_safetensors(const char *header, size_t data)
{
    static char file[8192];
    uint64_t length = strlen(header);
    memcpy(file, &length, 8);
    memcpy(file + 8, header, length);
    memset(file + 8 + length, 5, data);
    add(file, 8 + length + data);
}

static int export_fives(void *to, size_t bytes)
{
    memset(to, 5, bytes);
    return 0;
}

static const NetSection sections[] = {{"header", 0, 256}, {"parameters", 256, 256}};

// A state as the trainer writes it, into the folder that this runs in.
static void add_state(const Net *net)
{
    static const char text[] = "the program's batch\t2\n--crop\t4\n";
    const RunSettings settings = {text, strlen(text)};
    RunState state = take_run_state(net, &settings);
    RunPosition position = {};
    FileBytes file;
    if (!save_run(net, "input", &position, &state) || !map_file("input", &file)) exit(3);
    add(file.bytes, file.size);
    release_memory();
}

static void add_files(const Net *net)
{
    static unsigned char records[2 * (CIFAR_PIXELS + 2)] = {3};
    static char idx[16 + 2 * 64] = "\0\0\x08\3\0\0\0\2\0\0\0\x08\0\0\0\x08";
    add(idx, sizeof idx);
    add("\0\0\x08\1\0\0\0\3\1\2", 11);
    add_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 8, 8, 1), }", 512);
    add_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (64,), }", 64);
    add(records, 2 * (CIFAR_PIXELS + 1));
    add(records, sizeof records);
    add_safetensors("{\"__metadata__\": {\"a\\u00e9\": \"b\"}, \"fc.weight\": {\"dtype\": \"F32\", "
                    "\"shape\": [10, 64], \"data_offsets\": [0, 2560]}, \"fc.bias\": {\"dtype\": "
                    "\"F64\", \"shape\": [10], \"data_offsets\": [2560, 2640]}}", 2640);
    add_safetensors("{}", 0);
    add_state(net);
    static const char *words[] = {"0", "F16", "\"", "'descr'", "18446744073709551615", "shape"};
    corpus.words = words;
    corpus.word_count = sizeof words / sizeof *words;
}

// ---- one input -------------------------------------------------------------------------

// Numbers that stand in a file as bytes.
static void change_words(Text *text, Random *r)
{
    static const uint64_t numbers[] = {0, 1, 255, UINT32_MAX, INT64_MAX, UINT64_MAX, 1u << 31};
    for (size_t i = random_below(r, 4); i > 0 && text->length > 8; i--) {
        uint64_t number = numbers[random_below(r, 7)];
        size_t near = random_below(r, 2) ? 64 : text->length;
        size_t at = random_below(r, near < text->length - 8 ? near : text->length - 8);
        memcpy(text->bytes + at, &number, random_below(r, 2) ? 8 : 4);
    }
}

static unsigned looked_at;

static void look(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) looked_at += bytes[i];
}

static void look_at_array(const NetTensor *want, const char *path)
{
    DataArray a = {};
    if (!read_array(path, want, &a)) return;
    size_t sample = safe_types[a.type].bytes;
    for (int i = 1; i < SAFE_RANK; i++) sample *= (size_t)a.dims[i];
    for (long long n = 0; sample && n < a.dims[0]; n++)
        look(a.data + (size_t)n * a.stride, sample);
}

static void look_at_tensors(const char *path)
{
    SafeFile file;
    if (!read_safetensors(path, &file)) return;
    for (int i = 0; i < file.count; i++) look(file.tensors[i].data, file.tensors[i].bytes);
}

// False where a reader gave neither a result nor a complaint.
static bool run_input(const Net *net, const char *path)
{
    FileBytes bytes;
    RunPosition position;
    RunSettings settings;
    look_at_array(&inputs[0], path);
    look_at_array(&inputs[1], path);
    look_at_tensors(path);
    long before = ftell(stderr);
    bool read = read_run(net, path, &bytes, &position, &settings);
    if (read) look(bytes.bytes, bytes.size);
    if (read) settings_agree(path, &settings, &settings);
    release_memory();
    return read || ftell(stderr) > before;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, first = 0, count = 20000;
    char folder[] = "/tmp/fuzz.XXXXXX";
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t number = strtoull(argv[i + 1], nullptr, 10);
        if (!strcmp(argv[i], "--seed")) seed = number;
        if (!strcmp(argv[i], "--first")) first = number;
        if (!strcmp(argv[i], "--count")) count = number;
    }
    Net net = {};
    net.name = "n";
    net.state_bytes = 512;
    net.sections = sections;
    net.section_count = 2;
    net.export_state = export_fives;
    if (!mkdtemp(folder) || chdir(folder) || !freopen("complaints", "w", stderr)) return 3;
    add_files(&net);
    Text text = {};
    uint64_t done = first;
    bool good = true;
    for (; good && done < first + count; done++) {
        Random r = random_of(seed, done);
        mutate(&corpus, &r, &text);
        change_words(&text, &r);
        rewind(stderr);
        good = text_write(&text, "input") && run_input(&net, "input");
    }
    printf("%llu files of seed %llu, %s (%u)\n", (unsigned long long)(done - first),
           (unsigned long long)seed, good ? "all read or refused" : "the last one answered wrongly",
           looked_at);
    fflush(stdout);
    free(text.bytes);
    remove("input");
    remove("complaints");
    return chdir("/") || rmdir(folder) || !good;
}
