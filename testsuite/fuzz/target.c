// The compiler as a function from a text to a verdict.  It ends with 0, or
// with 1 and an error that says where; 3 is for a file that a program
// includes and nobody has.  It writes the file of -o if it ends with 0, and
// nothing otherwise. stderr must be a file, which receives the messages.
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "fuzz.h"

static char messages[1 << 16], wrong[1 << 12];

static const char *fault(const char *what)
{
    snprintf(wrong, sizeof wrong, "%s", what);
    return wrong;
}

// ---- the messages ----------------------------------------------------------

static void forget_messages(void)
{
    fflush(stderr);
    if (ftruncate(2, 0) == 0) lseek(2, 0, SEEK_SET);
}

static void read_messages(void)
{
    fflush(stderr);
    ssize_t got = pread(2, messages, sizeof messages - 1, 0);
    messages[got > 0 ? got : 0] = '\0';
}

// True if a line begins as "input.cnn:3:14: error: " does.
static bool has_place(const char *input)
{
    const char *name = strrchr(input, '/') + 1;
    for (const char *at = messages; (at = strstr(at, name)) != NULL; at++) {
        unsigned line, column;
        int end = 0;
        sscanf(at + strlen(name), ":%u:%u: error: %n", &line, &column, &end);
        if (end > 0 && line > 0 && column > 0) return true;
    }
    return false;
}

// ---- the remaining files
// -----------------------------------------------------------

// The name of a file that is not one of the two known, or NULL.
static const char *leftover(const char *folder)
{
    static char name[256];
    DIR *files = opendir(folder);
    const struct dirent *file;

    name[0] = '\0';
    if (files == NULL) return "the folder itself";
    while ((file = readdir(files)) != NULL)
        if (file->d_name[0] != '.' && strncmp(file->d_name, "input.", 6) != 0 &&
            strcmp(file->d_name, "messages") != 0 &&
            strcmp(file->d_name, "output") != 0)
            snprintf(name, sizeof name, "%s", file->d_name);
    closedir(files);
    return name[0] != '\0' ? name : NULL;
}

static int64_t kib_taken(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static const char *judge(const RunTarget *t, int status, const char *input,
                         const char *output)
{
    bool wrote = access(output, F_OK) == 0;
    const char *left = leftover(t->folder);

    read_messages();
    if (left != NULL) {
        snprintf(wrong, sizeof wrong, "a file is left over: %s", left);
        return wrong;
    }
    if (kib_taken() > t->most_kib) return fault("too much memory is taken");
    if (status == 0 && !wrote) return fault("status 0, but no output");
    if (status != 0 && wrote) return fault("an output in spite of an error");
    if (status == 0 && strstr(messages, "error:") != NULL)
        return fault("status 0, but an error was reported");
    if (status == 0) return NULL;
    if (status == 3 && strstr(messages, "can't read") != NULL) return NULL;
    if (status == 4 && strstr(messages, "error: ") != NULL) return NULL;
    if (status != 1) return fault("the exit status is neither 0 nor 1");
    if (has_place(input) || strstr(messages, "cnnc: error: --") != NULL)
        return NULL;
    return fault("status 1 without a place");
}

// ---- the call ---------------------------------------------------------------

enum { MOST_ARGS = 16 };

// Options that lead to every part of the compiler; a graph as text goes without
// the last, which are of a program.
static int draw_options(const RunTarget *t, Random *r, char **argv)
{
    enum { OF_PROGRAM = 6 };
    static char *const variants[][4] = {
        { NULL }, { "--main", NULL }, { "-O0", NULL }, { "--summary", NULL },
        { "--mode", "infer", NULL }, { "--compare", NULL },
        { "--emit=plan", "--report=/dev/null", NULL },
        { "--mode", "eval", "--emit=plan", NULL }, { "--emit=plan", NULL },
        { "--emit=ir", NULL }, { "--emit=plan-csv", NULL },
        { "--emit=names", NULL },
        { "-fkeep-gradients", NULL }, { "--budget=40KiB", NULL },
        { "--budget=200KiB", "--offload", "--emit=plan", NULL },
        { "--checkpoint=every 3", NULL }, { "--split=1", NULL }, { "-O1", NULL },
        { "--precision", "f64", NULL }, { "--emit=plan-csv", "--batch=1", NULL },
        { "--precision=f16", NULL }, { "--precision=bf16", "--tune", NULL },
        { "--microbatch=2", NULL }, { "--microbatch=1", "--ghost", NULL },
    };
    size_t count_of_variants = sizeof variants / sizeof *variants;
    size_t pick = random_below(r, t->graph ? count_of_variants - OF_PROGRAM
                                           : count_of_variants);
    int count = 0;
    while (variants[pick][count] != NULL) {
        argv[count] = variants[pick][count];
        count++;
    }
    return count;
}

const char *run_target(const RunTarget *t, Random *r, const Text *text,
                       uint64_t *right)
{
    char input[1024], output[1024];
    char *argv[MOST_ARGS] = { "cnnc", input, "-o", output };

    snprintf(input, sizeof input, "%s/input.%s", t->folder,
             t->graph ? "ir" : "cnn");
    snprintf(output, sizeof output, "%s/output", t->folder);
    remove(output);
    forget_messages();
    if (!text_write(text, input)) return fault("the input can't be written");
    int status = cnnc_main(4 + draw_options(t, r, argv + 4), argv);
    *right += status == 0;
    return judge(t, status, input, output);
}
