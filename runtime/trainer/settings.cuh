// The settings of a run: the data and options that decide its bits, as text, a
// line `name, tab, value` each.  The state contains them, and --resume needs
// the same settings.  They exclude --seed, which the state holds, options that
// end the run (--epochs, --patience), names of output files, --workers, and the
// test set.
#pragma once
#include "classes.cuh"
#include "monitor.cuh"

// RunSettings: the text; it need not end with 0.
struct RunSettings {
    const char *text;
    size_t bytes;
};

// ---- fingerprints of data

// Returns 64 bits that depend on every byte, except the word at `except`.  Inputs that differ in
// one word have different checksums.
static inline uint64_t run_checksum(const unsigned char *bytes, size_t size, size_t except)
{
    uint64_t sum = size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        if (i != except) sum = splitmix64(sum ^ word);
    }
    return sum;
}

// Returns 64 bits that identify a column, however its samples are divided into files.  A column is
// hashed completely if it has at most 4 MiB, or one label per sample.  Otherwise 256 evenly spaced
// samples are hashed, at most 4 KiB of each.  The position of these bytes depends on the sample's
// number.
static inline uint64_t column_fingerprint(const DataColumn *c)
{
    const long long all = 4 << 20, samples = 256, block = 4 << 10;
    const long long elements = sample_elements(&c->parts->array);
    const long long each = elements * (long long)safe_types[c->parts->array.type].bytes;
    const bool whole = elements == 1 || each <= all / c->count;
    long long looks = whole ? c->count : samples;
    uint64_t sum = (uint64_t)c->count;
    for (long long i = 0; i < looks; i++) {
        long long sample = whole ? i : i * (c->count - 1) / (samples - 1);
        const DataPart *part = find_part(c, sample);
        const DataArray *a = &part->array;
        long long bytes = sample_elements(a) * (long long)safe_types[a->type].bytes;
        const long long at = sample - part->first;
        const JpegRow *jpeg = a->jpegs ? &a->jpegs->rows[at] : NULL;
        if (jpeg) bytes = (long long)jpeg->bytes;
        long long first = 0, size = bytes;
        if (!whole && bytes > block) {
            size = block;
            first = (long long)(splitmix64((uint64_t)i) % (uint64_t)(bytes - block + 1));
        }
        const unsigned char *from = a->data + (jpeg ? jpeg->offset : (size_t)at * a->stride);
        sum ^= run_checksum(from + first, (size_t)size, SIZE_MAX);
        sum = splitmix64(sum + (uint64_t)(2 * a->type + a->planes));
    }
    return sum;
}

// ---- the text of this command

// Writes the shortest decimal that is read back as the same number.
static inline void write_number(FILE *out, double value)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, out);
}

// Writes numbers that are joined by commas, or just one if all are equal.
static inline void write_numbers(FILE *out, const char *text)
{
    char *end;
    double first = strtod(text, &end);
    bool same = true;
    for (const char *at = end; *at; at = end) same &= strtod(at + 1, &end) == first;
    write_number(out, first);
    strtod(text, &end);
    for (const char *at = end; *at && !same; at = end) {
        fputc(',', out);
        write_number(out, strtod(at + 1, &end));
    }
}

static inline void write_data_settings(FILE *out, const char *word, const DataSet *set)
{
    for (int i = 0; i < set->column_count; i++) {
        const DataColumn *c = &set->columns[i];
        if (!c->parts) continue;
        fprintf(out, "the %s set's %s\t%lld samples with fingerprint %016llx\n", word,
                c->input->name, c->count, (unsigned long long)column_fingerprint(c));
    }
}

// Writes the figure that decides, unless it is the validation loss, and the reductions of the rate.
static inline void write_decisions(FILE *out, const Trainer *t, const Monitor *m)
{
    const bool usual = m->validation && m->loss < 0 && m->metric < 0 && !m->rises;
    if (!usual && is_monitored(t))
        fprintf(out, "--monitor\t%s %s\n", best_word(m), m->text);
    if (!t->option[OPTION_REDUCE]) return;
    fprintf(out, "--reduce-on-plateau\t");
    write_number(out, t->reduce.factor);
    fprintf(out, ",%lld,", t->reduce.patience);
    write_number(out, t->reduce.least);
    fputc('\n', out);
}

// Returns the settings of this command.  val: the validation set; it has no files if there is none.
static inline RunSettings settings_of(const Trainer *t, const DataSet *set, const DataSet *val,
                                      const Monitor *m)
{
    static const int numbers[] = {OPTION_VAL_SPLIT, OPTION_MEAN, OPTION_STD, OPTION_CROP,
                                  OPTION_RESIZED_CROP, OPTION_RANDAUGMENT, OPTION_JITTER,
                                  OPTION_ROTATE, OPTION_ERASE, OPTION_MIXUP, OPTION_CUTMIX,
                                  OPTION_LR};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) exit(complain("out of memory: %s", strerror(errno)) + 1);
    fprintf(out, "the program's batch\t%d\n", t->net->batch);
    fprintf(out, "the program's training\t%s\n", t->net->training);
    write_data_settings(out, "training", set);
    write_data_settings(out, "validation", val);
    if (t->option[OPTION_FLIP]) fprintf(out, "%s\t\n", trainer_options[OPTION_FLIP].name);
    for (int option : numbers) {
        if (!t->option[option] || (option == OPTION_CROP && !t->augmentation.crop)) continue;
        fprintf(out, "%s\t", trainer_options[option].name);
        write_numbers(out, t->option[option]);
        fputc('\n', out);
    }
    write_decisions(out, t, m);
    fclose(out);
    RunSettings settings = {(const char *)memcpy(take_memory(bytes), text, bytes), bytes};
    free(text);
    return settings;
}

// ---- comparison

// SettingLine: one setting.  At the end, name is NULL.
struct SettingLine {
    const char *name, *value;
    int name_length, value_length;
};

// Reads the line at *at and moves *at after it.
static inline SettingLine take_setting(const RunSettings *s, size_t *at)
{
    const char *from = s->text + *at;
    size_t length = 0, tab = 0;
    while (*at + length < s->bytes && from[length] != '\n') length++;
    while (tab < length && from[tab] != '\t') tab++;
    *at += length + (*at + length < s->bytes);
    if (!length) return {};
    return {from, from + tab + (tab < length), (int)tab, (int)(length - tab - (tab < length))};
}

// Returns the setting of the same name, or one without a name.
static inline SettingLine find_setting(const RunSettings *s, const SettingLine *line)
{
    size_t at = 0;
    SettingLine found = take_setting(s, &at);
    while (found.name && (found.name_length != line->name_length ||
                          memcmp(found.name, line->name, (size_t)line->name_length)))
        found = take_setting(s, &at);
    return found;
}

// Complains of a setting that differs.  One without a name is missing.
static inline bool complain_of_setting(const char *path, const SettingLine &run,
                                       const SettingLine &here)
{
    const SettingLine &named = run.name ? run : here;
    const char *between = !named.value_length ? "" : *named.name == '-' ? " " : ": ";
    if (!here.name)
        return complain("%s: the run had %.*s%s%.*s, and this command has none", path,
                        run.name_length, run.name, between, run.value_length, run.value);
    if (!run.name)
        return complain("%s: the run had no %.*s, and this command has %.*s%s%.*s", path,
                        here.name_length, here.name, here.name_length, here.name, between,
                        here.value_length, here.value);
    return complain("%s: the run had %.*s%s%.*s, and this command has %.*s", path, run.name_length,
                    run.name, between, run.value_length, run.value, here.value_length, here.value);
}

// True if a run and this command have the same settings; otherwise complains of each difference.
static inline bool settings_agree(const char *path, const RunSettings *run, const RunSettings *here)
{
    bool agree = true;
    for (size_t at = 0; at < run->bytes;) {
        SettingLine line = take_setting(run, &at), other = find_setting(here, &line);
        bool same = other.name && other.value_length == line.value_length &&
                    !memcmp(other.value, line.value, (size_t)line.value_length);
        if (line.name && !same)
            agree = complain_of_setting(path, line, other);
    }
    for (size_t at = 0; at < here->bytes;) {
        SettingLine added = take_setting(here, &at), known = find_setting(run, &added);
        if (added.name && !known.name) agree = complain_of_setting(path, known, added);
    }
    return agree || complain("%s: --resume goes on with the data and options of the run alone; "
                             "--load begins another run", path);
}
