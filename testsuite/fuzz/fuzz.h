// Random inputs for the compiler, made from those that there are.
//
// Input number k of a seed is the same on every machine, and depends on no
// input before it. The options --first K --count 1 reproduce a finding.
#ifndef CNNC_FUZZ_H
#define CNNC_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text {
    char  *bytes;               // not ended by a 0
    size_t length, capacity;
} Text;

// ---- random.c ---------------------------------------------------------------

typedef struct Random {
    uint64_t state;
} Random;

Random random_of(uint64_t seed, uint64_t number);
uint64_t random_bits(Random *r);
// From 0 to limit - 1; 0 if limit is 0.
size_t random_below(Random *r, size_t limit);

// ---- corpus.c: texts to start from ------------------------------------------

typedef struct Corpus {
    Text  *texts;
    size_t count;
    const char **words;         // names that the compiler knows
    size_t word_count;
} Corpus;

void text_append(Text *text, const char *bytes, size_t length);
// False, said on standard error, where path can't be read.
bool text_read(Text *text, const char *path);
bool text_write(const Text *text, const char *path);
// Adds the file at path; ends the program where it can't be read.
void corpus_add(Corpus *corpus, const char *path);
// Fills corpus->words with the names of operators, arguments and attributes.
void corpus_words(Corpus *corpus);

// ---- mutate.c ---------------------------------------------------------------

// One of the corpus's texts with from one to six things changed: bytes, words,
// numbers, lines.  result is emptied first.
void mutate(const Corpus *corpus, Random *r, Text *result);

// ---- target.c ---------------------------------------------------------------

typedef struct RunTarget {
    const char *folder;         // files lie here, and nothing else may
    bool        graph;          // inputs are texts of graphs, not programs
    int64_t     most_kib;       // that the process may come to take
} RunTarget;

// Runs the compiler on text in this process, with options drawn from r, and
// judges the result.  NULL, or the fault of that run; *right counts the
// texts that were compiled.  A fault of the compiler's own, an endless loop or
// a sanitizer's report end the process.
const char *run_target(const RunTarget *target, Random *r, const Text *text,
                       uint64_t *right);

// The compiler's main: frontend/driver/main.c.
int cnnc_main(int argc, char **argv);

#endif
