// Texts in memory and in files, and the compiler's vocabulary, from its tables.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../ir/op/op.h"
#include "fuzz.h"

static void *grown(void *old, size_t bytes)
{
    void *new = realloc(old, bytes);
    if (new != NULL) return new;
    fputs("fuzz: out of memory\n", stderr);
    exit(3);
}

void text_append(Text *text, const char *bytes, size_t length)
{
    if (length == 0) return;
    if (text->capacity - text->length < length) {
        text->capacity = 2 * (text->length + length) + 256;
        text->bytes = grown(text->bytes, text->capacity);
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

static bool failed(const char *path)
{
    fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
    return false;
}

bool text_read(Text *text, const char *path)
{
    char part[4096];
    size_t got;
    FILE *file = fopen(path, "rb");

    if (file == NULL) return failed(path);
    text->length = 0;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_append(text, part, got);
    fclose(file);
    return true;
}

bool text_write(const Text *text, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return failed(path);
    bool written = fwrite(text->bytes, 1, text->length, file) == text->length;
    return (fclose(file) == 0 && written) || failed(path);
}

void corpus_add(Corpus *corpus, const char *path)
{
    Text text = { .bytes = NULL };
    if (!text_read(&text, path)) exit(3);
    corpus->texts = grown(corpus->texts, (corpus->count + 1) * sizeof(Text));
    corpus->texts[corpus->count++] = text;
}

static void add_word(Corpus *corpus, const char *word)
{
    corpus->words = grown(corpus->words,
                          (corpus->word_count + 1) * sizeof *corpus->words);
    corpus->words[corpus->word_count++] = word;
}

void corpus_words(Corpus *corpus)
{
    static const char *const others[] = {
        "net", "block", "train", "input", "output", "loss", "metric", "repeat",
        "checkpoint", "as", "if", "else", "return", "include", "and", "or",
        "not", "true", "false", "same", "valid", "class", "channels", "height",
        "width", "batch", "optimizer", "schedule", "clip_norm", "average",
        "loss_scale", "dynamic",
        "dims",
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_word(corpus, others[i]);
    for (int i = 0; i < OP_COUNT; i++) {
        add_word(corpus, ops[i]->name);
        for (const ArgSpec *arg = ops[i]->args; arg != NULL &&
             arg->name != NULL; arg++)
            add_word(corpus, arg->name);
    }
    for (int i = 0; i < DTYPE_COUNT; i++) add_word(corpus, dtype_names[i]);
    for (int i = 0; i < KIND_COUNT; i++) add_word(corpus, kind_names[i]);
    for (int i = 0; i < PHASE_COUNT; i++) add_word(corpus, phase_names[i]);
    for (int i = 0; i < FACT_COUNT; i++) add_word(corpus, fact_names[i]);
}
