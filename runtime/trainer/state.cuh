// The state file of a run: a head and a table of sections, then the adjacent sections.  These are
// the run's position, the net's exported state, and the settings.  Head and sections have
// checksums.  A resumed run gives the same bits, also in the middle of an epoch.
#pragma once
#include "settings.cuh"

// RunPosition: the progress of a run.
struct RunPosition {
    uint64_t epoch, samples;        // completed epochs; samples of the next one
    uint64_t seed, set_samples;     // both decide the order of samples
    uint64_t skipped;               // steps without an update before this epoch
    BestFigure best, progress;      // of the run; the last that --patience counts as a change
    BestFigure plateau;             // of --reduce-on-plateau
    uint64_t waited;                // epochs without a better one since then or a reduction
    double rate;                    // before a schedule's factor, if --reduce-on-plateau is given
};

// RunHead: the beginning of the file, little-endian like all hosts here.
struct RunHead {
    char magic[8];
    uint64_t version;
    uint64_t checksum;              // of head and table, except this word
    uint64_t file_bytes, state_hash, section_count;
};

// RunSection: a row of the table after the head.  The offset is from the file's beginning.
struct RunSection {
    char name[16];
    uint64_t offset, bytes, checksum;
};

static const uint64_t run_version = 4;

// RunState: the bytes of a file: head, table, sections.  The last `settings` bytes are the
// settings.
struct RunState {
    unsigned char *bytes;
    size_t size, settings;
};

// Returns the number of sections: the position, those of the net's state, the settings.
static inline int run_section_count(const Net *net)
{
    return net->section_count + 2;
}

// Returns the bytes of head and table, which has a row per section.
static inline size_t run_head_bytes(const Net *net)
{
    return sizeof(RunHead) + (size_t)run_section_count(net) * sizeof(RunSection);
}

// Returns the bytes of a file without the settings, which come last.
static inline size_t run_file_bytes(const Net *net)
{
    return run_head_bytes(net) + sizeof(RunPosition) + net->state_bytes;
}

// Allocates the bytes of a file and stores the settings in them.
static inline RunState take_run_state(const Net *net, const RunSettings *settings)
{
    const size_t begin = run_file_bytes(net);
    unsigned char *bytes = (unsigned char *)take_memory(begin + settings->bytes);
    memcpy(bytes + begin, settings->text, settings->bytes);
    return {bytes, begin + settings->bytes, settings->bytes};
}

// Returns the row of section i: 0 is the position, the last one the settings, the others the state.
static inline RunSection run_section(const Net *net, int i, size_t settings)
{
    const size_t state = run_head_bytes(net) + sizeof(RunPosition);
    if (i == 0) return {"position", run_head_bytes(net), sizeof(RunPosition), 0};
    if (i > net->section_count) return {"settings", run_file_bytes(net), settings, 0};
    const NetSection *from = &net->sections[i - 1];
    RunSection section = {{}, state + from->offset, from->bytes, 0};
    snprintf(section.name, sizeof section.name, "%s", from->name);
    return section;
}

static inline uint64_t section_checksum(const unsigned char *file, const RunSection *section)
{
    return run_checksum(file + section->offset, section->bytes, SIZE_MAX);
}

// Copies the current run to `state`; waits for the device.
static inline bool export_run(const Net *net, const RunPosition *position, const RunState *state)
{
    unsigned char *to = state->bytes + run_head_bytes(net);
    memcpy(to, position, sizeof *position);
    return call_ok(net, net->export_state(to + sizeof *position, net->state_bytes));
}

// Writes an exported run.
static inline bool write_run(const Net *net, const char *path, const RunState *state)
{
    RunHead head = {{}, run_version, 0, state->size, net->state_hash,
                    (uint64_t)run_section_count(net)};
    const size_t begin = run_head_bytes(net);
    BesideFile file;
    memcpy(head.magic, run_magic, 8);
    if (!open_beside(path, &file)) return false;
    for (int i = 0; i < run_section_count(net); i++) {
        RunSection section = run_section(net, i, state->settings);
        section.checksum = section_checksum(state->bytes, &section);
        memcpy(state->bytes + sizeof head + (size_t)i * sizeof section, &section, sizeof section);
    }
    memcpy(state->bytes, &head, sizeof head);
    head.checksum = run_checksum(state->bytes, begin, offsetof(RunHead, checksum));
    memcpy(state->bytes, &head, sizeof head);
    return close_beside(&file, fwrite(state->bytes, 1, state->size, file.out) == state->size);
}

// Writes the current run; waits for the device.
static inline bool save_run(const Net *net, const char *path, const RunPosition *position,
                            const RunState *state)
{
    return export_run(net, position, state) && write_run(net, path, state);
}

// ---- reading: a file is verified completely before any of it is used

static inline bool checksum_matches(const char *path, const char *what, uint64_t begin,
                                    uint64_t end, uint64_t wanted, uint64_t found)
{
    return wanted == found ||
           complain("%s: %s, bytes %llu to %llu: wanted checksum %016llx, found %016llx: the file "
                    "is damaged", path, what, (unsigned long long)begin, (unsigned long long)end,
                    (unsigned long long)wanted, (unsigned long long)found);
}

// True if the file begins with a head, has the length that it says, and head and table are intact.
static inline bool read_run_head(const char *path, const FileBytes *file, RunHead *head)
{
    uint64_t length = 0;
    if (file->size > 8) memcpy(&length, file->bytes, 8);
    if (file->size > 8 && length <= file->size - 8 && file->bytes[8] == '{')
        return complain("%s: is weights, not a state of --save-state: --load %s begins a run with "
                        "them", path, path);
    if (file->size < sizeof *head || memcmp(file->bytes, run_magic, 8))
        return complain("%s: wanted a state that --save-state wrote: %zu bytes that begin with %s",
                        path, sizeof *head, run_magic);
    memcpy(head, file->bytes, sizeof *head);
    if (head->version != run_version)
        return complain("%s: wanted version %llu of a state, found %llu: another version of cnnc "
                        "wrote it", path, (unsigned long long)run_version,
                        (unsigned long long)head->version);
    if (head->file_bytes != file->size)
        return complain("%s: wanted a state of %llu bytes, as its head says, and it has %zu", path,
                        (unsigned long long)head->file_bytes, file->size);
    const uint64_t room = (file->size - sizeof *head) / sizeof(RunSection);
    if (head->section_count > room)
        return complain("%s: its head says %llu sections, and there is room for %llu", path,
                        (unsigned long long)head->section_count, (unsigned long long)room);
    const size_t begin = sizeof *head + (size_t)head->section_count * sizeof(RunSection);
    return checksum_matches(path, "head", 0, begin, head->checksum,
                            run_checksum(file->bytes, begin, offsetof(RunHead, checksum)));
}

// True if the file is intact and a state of this net.  Then sets the run's position, and its
// settings, which point into the file.
static inline bool check_run(const Net *net, const char *path, const FileBytes *file,
                             RunPosition *position, RunSettings *settings)
{
    RunHead head = {};
    if (!read_run_head(path, file, &head)) return false;
    if (head.state_hash != net->state_hash)
        return complain("%s: wanted a state of %s, whose STATE_HASH is %016llx, found %016llx: "
                        "other names, shapes, types or another optimizer", path, net->name,
                        (unsigned long long)net->state_hash, (unsigned long long)head.state_hash);
    if (head.section_count != (uint64_t)run_section_count(net) || file->size < run_file_bytes(net))
        return complain("%s: wanted %d sections in %zu bytes and more, found %llu in %zu", path,
                        run_section_count(net), run_file_bytes(net),
                        (unsigned long long)head.section_count, file->size);
    *settings = {(const char *)file->bytes + run_file_bytes(net), file->size - run_file_bytes(net)};
    for (int i = 0; i < run_section_count(net); i++) {
        RunSection want = run_section(net, i, settings->bytes), have;
        memcpy(&have, file->bytes + sizeof head + (size_t)i * sizeof have, sizeof have);
        if (memcmp(&have, &want, offsetof(RunSection, checksum)))
            return complain("%s: section %d: wanted %s, %llu bytes at %llu, found %.15s, %llu at "
                            "%llu", path, i, want.name, (unsigned long long)want.bytes,
                            (unsigned long long)want.offset, have.name,
                            (unsigned long long)have.bytes, (unsigned long long)have.offset);
        if (!checksum_matches(path, want.name, want.offset, want.offset + want.bytes, have.checksum,
                              section_checksum(file->bytes, &want)))
            return false;
    }
    memcpy(position, file->bytes + run_head_bytes(net), sizeof *position);
    return true;
}

static inline bool read_run(const Net *net, const char *path, FileBytes *file,
                            RunPosition *position, RunSettings *settings)
{
    return map_file(path, file) && check_run(net, path, file, position, settings);
}

// Returns the net's state in a file that was read.
static inline const unsigned char *state_of_run(const Net *net, const FileBytes *file)
{
    return file->bytes + run_head_bytes(net) + sizeof(RunPosition);
}
