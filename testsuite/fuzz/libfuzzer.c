// The compiler for libFuzzer, which steers by the code that an input reaches:
// clang -fsanitize=fuzzer.  GRAPHS: inputs are texts of graphs.
#define _DEFAULT_SOURCE

#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "fuzz.h"

#ifdef GRAPHS
#define IS_GRAPH true
#else
#define IS_GRAPH false
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static char folder[] = "/tmp/fuzz.XXXXXX";

static void remove_folder(void)
{
    static const char *const files[] = { "input.cnn", "input.ir", "output",
                                         "messages" };
    char path[64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    rmdir(folder);
}

// Messages of cnnc go to a file, so that they can be judged; messages of
// libFuzzer and the sanitizers go to the old standard error.
static int begin(void)
{
    char path[64];
    if (mkdtemp(folder) == NULL) exit(3);
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/messages", folder);
    int outside = dup(2);
    __sanitizer_set_report_fd((void *)(intptr_t)outside);
    if (freopen(path, "w+", stderr) == NULL) exit(3);
    return outside;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static int outside, messages;
    uint64_t right = 0;
    Text text = { (char *)(uintptr_t)data, length, length };
    // The input draws the options, so that equal inputs do equal work.
    Random r = random_of(length, length > 0 ? data[length / 2] : 0);
    RunTarget target = { .folder = folder, .graph = IS_GRAPH,
                         .most_kib = INT64_MAX };

    if (outside == 0) {
        outside = begin();
        messages = dup(2);
    }
    dup2(messages, 2);
    const char *wrong = run_target(&target, &r, &text, &right);
    dup2(outside, 2);
    if (wrong == NULL) return 0;
    fprintf(stderr, "fuzz: %s\n", wrong);
    abort();
}
