// The state file of a run: a header, then the net's whole state as export gives
// it.  The header tells where the run is; its checksum covers both.  With the
// same options a resumed run goes on bit for bit, in the middle of an epoch too.
#pragma once
#include "options.cuh"

// RunPosition: where a run is.
struct RunPosition {
    uint64_t epoch, samples;        // epochs that are over; samples of the next one
    uint64_t seed, set_samples;     // a run with another seed or set has another order
    uint64_t skipped;               // steps without an update before this epoch
    uint64_t best_epoch;            // of the least validation loss, from 1; 0: there is none yet
    double best_loss;
};

// RunHeader: what the file begins with; little-endian, as all hosts here.
struct RunHeader {
    char magic[8];
    uint64_t version, checksum, state_bytes;
    RunPosition position;
};

static const char run_magic[9] = "cnnc-run";

// RunState: a file's bytes, taken once: header and state.
struct RunState {
    unsigned char *bytes;
    size_t size;
};

static inline RunState take_run_state(const Net *net)
{
    size_t size = sizeof(RunHeader) + net->state_bytes;
    return {(unsigned char *)take_memory(size), size};
}

// 64 bits that depend on every byte, but for those of the checksum itself.
static inline uint64_t run_checksum(const unsigned char *bytes, size_t size)
{
    uint64_t sum = size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        if (i != offsetof(RunHeader, checksum)) sum = splitmix64(sum ^ word);
    }
    return sum;
}

// Writes the run as it is now; waits for the device.
static inline bool save_run(const Net *net, const char *path, const RunPosition *position,
                            const RunState *state)
{
    RunHeader header = {{}, 1, 0, net->state_bytes, *position};
    BesideFile file;
    memcpy(header.magic, run_magic, 8);
    unsigned char *to = state->bytes + sizeof header;
    if (!call_ok(net, net->export_state(to, net->state_bytes)) || !open_beside(path, &file))
        return false;
    memcpy(state->bytes, &header, sizeof header);
    header.checksum = run_checksum(state->bytes, state->size);
    memcpy(state->bytes, &header, sizeof header);
    return close_beside(&file, fwrite(state->bytes, 1, state->size, file.out) == state->size);
}

// Reads a file and checks that it is whole, and of a net with a state as large.
static inline bool read_run(const Net *net, const char *path, FileBytes *file, RunHeader *header)
{
    if (!map_file(path, file)) return false;
    if (file->size < sizeof *header || memcmp(file->bytes, run_magic, 8))
        return complain("%s: wanted a state that --save-state wrote", path);
    memcpy(header, file->bytes, sizeof *header);
    if (header->version != 1)
        return complain("%s: wanted version 1 of a state, found %llu", path,
                        (unsigned long long)header->version);
    if (file->size - sizeof *header != header->state_bytes)
        return complain("%s: wanted a state of %llu bytes, and it has %zu", path,
                        (unsigned long long)header->state_bytes, file->size - sizeof *header);
    if (run_checksum(file->bytes, file->size) != header->checksum)
        return complain("%s: its checksum is wrong: the file is damaged", path);
    return header->state_bytes == net->state_bytes ||
           complain("%s: has a state of %llu bytes, and that of %s has %zu: it is another net's",
                    path, (unsigned long long)header->state_bytes, net->name, net->state_bytes);
}
