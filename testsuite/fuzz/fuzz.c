// usage: fuzz [--graph] [--seed S] [--first K] [--count N] [--mib M]
//             [--seconds T] [--keep DIR] [--until-found] SEED...
//
// Gives the compiler inputs K to K + N - 1, made from the files SEED. Names
// each that it answers wrongly, and why; the input itself is kept in DIR, or
// here.  With --graph the inputs are texts of graphs: it changes those of the
// programs SEED after some passes. Exits 1 if something was found; with
// --until-found it ends then.
//
// The inputs are run in a child, which is replaced when one of them ends it.
// An input may take T seconds of the processor's time and M MiB.
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fuzz.h"

typedef struct Run {
    uint64_t    seed, first, count;
    int         seconds;
    RunTarget   target;
    Corpus      corpus;
    const char *keep;
    bool        until_found;
    // Shared with the child: the input that it is at, and how many so far
    // were right, so that there was an output.
    uint64_t   *now, *right;
    char        folder[64];
} Run;

enum { MOST_FINDINGS = 20 };

// Also the files of an input that ended its process.
static void empty_folder(const Run *run)
{
    DIR *files = opendir(run->folder);
    const struct dirent *file;
    char path[512];

    while (files != NULL && (file = readdir(files)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", run->folder, file->d_name);
        if (file->d_name[0] != '.') remove(path);
    }
    if (files != NULL) closedir(files);
}

// ---- the child --------------------------------------------------------------

static void make_input(const Run *run, uint64_t number, Random *r, Text *text)
{
    *r = random_of(run->seed, number);
    mutate(&run->corpus, r, text);
}

// Ends with 1 and a line in the messages where an input is answered wrongly.
static _Noreturn void run_inputs(const Run *run, uint64_t end)
{
    Text text = { .bytes = NULL };
    const char *wrong = NULL;

    while (wrong == NULL && *run->now < end) {
        Random r;
        struct itimerval limit = { .it_value.tv_sec = run->seconds };
        make_input(run, *run->now, &r, &text);
        setitimer(ITIMER_PROF, &limit, NULL);
        wrong = run_target(&run->target, &r, &text, run->right);
        if (wrong == NULL) ++*run->now;
    }
    if (wrong != NULL) fprintf(stderr, "fuzz: %s\n", wrong);
    exit(wrong != NULL);
}

static int messages_path(const Run *run, char *path, size_t size)
{
    return snprintf(path, size, "%s/messages", run->folder);
}

// Returns how the child ended.
static int run_child(const Run *run, uint64_t end)
{
    char messages[128];
    int status = 0;

    empty_folder(run);
    messages_path(run, messages, sizeof messages);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (freopen(messages, "w+", stderr) == NULL) _exit(3);
        if (freopen("/dev/null", "w", stdout) == NULL) _exit(3);
        run_inputs(run, end);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fuzz: fork");
        exit(3);
    }
    return status;
}

// ---- findings ---------------------------------------------------------------

static void report(const Run *run, int status)
{
    Text text = { .bytes = NULL }, said = { .bytes = NULL };
    char path[1024], messages[128];
    Random r;

    make_input(run, *run->now, &r, &text);
    messages_path(run, messages, sizeof messages);
    text_read(&said, messages);
    snprintf(path, sizeof path, "%s/finding-%llu-%llu.%s", run->keep,
             (unsigned long long)run->seed, (unsigned long long)*run->now,
             run->target.graph ? "ir" : "cnn");
    text_write(&text, path);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        printf("%s: more than %d seconds of processor time\n", path,
               run->seconds);
    else if (WIFSIGNALED(status))
        printf("%s: %s\n", path, strsignal(WTERMSIG(status)));
    else
        printf("%s: exit %d\n", path, WEXITSTATUS(status));
    size_t length = said.length < 4000 ? said.length : 4000;
    if (length > 0) fwrite(said.bytes, 1, length, stdout);
    fflush(stdout);
    free(text.bytes);
    free(said.bytes);
}

static int search(const Run *run)
{
    uint64_t end = run->first + run->count;
    int findings = 0;

    *run->now = run->first;
    while (*run->now < end && findings < MOST_FINDINGS) {
        int status = run_child(run, end);
        if (status == 0) break;
        report(run, status);
        findings++;
        ++*run->now;
        if (run->until_found) break;
    }
    printf("%llu inputs from %zu texts, %llu of them compiled, %d answered "
           "wrongly\n", (unsigned long long)(*run->now - run->first),
           run->corpus.count, (unsigned long long)*run->right, findings);
    return findings;
}

// ---- seeds ------------------------------------------------------------------

// Texts of the graphs that a program comes to, up to a size.  A seed that is
// not right, as many of the tests of messages are, has none.
static void add_graphs(Run *run, char *seed)
{
    static char *const stages[] = { "frontend", "fuse_activation_grad",
                                    "assign_offsets" };
    char path[128];

    snprintf(path, sizeof path, "%s/output", run->folder);
    fflush(stderr);
    int said = dup(2), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 2);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        char *argv[] = { "cnnc", seed, "-o", path, "--stop-after", stages[i] };
        Text text = { .bytes = NULL };
        if (cnnc_main(6, argv) != 0 || !text_read(&text, path)) break;
        if (text.length <= 40000) corpus_add(&run->corpus, path);
        free(text.bytes);
    }
    dup2(said, 2);
    close(said);
    close(nowhere);
}

static void add_seed(Run *run, char *seed)
{
    size_t length = strlen(seed);
    bool is_graph = length > 3 && strcmp(seed + length - 3, ".ir") == 0;

    if (is_graph == run->target.graph) corpus_add(&run->corpus, seed);
    else if (run->target.graph) add_graphs(run, seed);
}

// ---- all of it --------------------------------------------------------------

static void set_option(Run *run, const char *name, const char *value)
{
    if (strcmp(name, "--keep") == 0) {
        run->keep = value;
        return;
    }
    unsigned long long number = strtoull(value, NULL, 10);
    if (strcmp(name, "--seed") == 0) run->seed = number;
    else if (strcmp(name, "--first") == 0) run->first = number;
    else if (strcmp(name, "--count") == 0) run->count = number;
    else if (strcmp(name, "--seconds") == 0) run->seconds = (int)number;
    else if (strcmp(name, "--mib") == 0)
        run->target.most_kib = (int64_t)number << 10;
    else {
        fprintf(stderr, "fuzz: there is no option %s\n", name);
        exit(2);
    }
}

// Options, then seeds.
static void read_arguments(Run *run, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--graph") == 0) {
            run->target.graph = true;
        } else if (strcmp(argv[i], "--until-found") == 0) {
            run->until_found = true;
        } else if (argv[i][0] == '-' && i + 1 < argc) {
            set_option(run, argv[i], argv[i + 1]);
            i++;
        } else {
            add_seed(run, argv[i]);
        }
    }
}

int main(int argc, char **argv)
{
    Run run = { .seed = 1, .count = 1000, .seconds = 20, .keep = ".",
                .target.most_kib = 1 << 20, .folder = "/tmp/fuzz.XXXXXX" };

    if (mkdtemp(run.folder) == NULL) {
        perror("fuzz: /tmp");
        return 3;
    }
    run.target.folder = run.folder;
    run.now = mmap(NULL, 2 * sizeof *run.now, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    run.right = run.now + 1;
    corpus_words(&run.corpus);
    read_arguments(&run, argc, argv);
    if (run.now == MAP_FAILED || run.corpus.count == 0) {
        fputs("fuzz: no seeds\n", stderr);
        return 2;
    }
    int findings = search(&run);
    empty_folder(&run);
    rmdir(run.folder);
    return findings != 0;
}
