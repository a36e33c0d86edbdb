// Event files, which TensorBoard reads: records of a length, its checksum, an Event, its checksum.
// Formats: tensorflow/core/lib/io/record_writer.h, core/util/event.proto, core/framework/
// summary.proto of TensorFlow.
#pragma once
#include "predict.cuh"

// EventFile: one that is being written.
struct EventFile {
    FILE *out;
    char *path;
    unsigned char *event;       // room for an Event with the longest tag
};

// Returns the masked checksum of a record's bytes: CRC-32C, as record_writer.h stores it.
static inline uint32_t masked_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static inline void write_event(EventFile *file, size_t size)
{
    const uint64_t length = size;
    unsigned char head[8];
    memcpy(head, &length, 8);
    const uint32_t checks[] = {masked_checksum(head, 8), masked_checksum(file->event, size)};
    fwrite(head, 1, 8, file->out);
    fwrite(&checks[0], 1, 4, file->out);
    fwrite(file->event, 1, size, file->out);
    fwrite(&checks[1], 1, 4, file->out);
}

// Writes a number as a varint.  Returns the end.
static inline unsigned char *put_varint(unsigned char *to, uint64_t value)
{
    for (; value > 127; value >>= 7) *to++ = (unsigned char)(value | 128);
    *to++ = (unsigned char)value;
    return to;
}

// Begins an Event: wall_time, field 1, and step, field 2.  Returns the end.
static inline unsigned char *begin_event(EventFile *file, uint64_t step)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const double wall_time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    file->event[0] = 1 << 3 | 1;
    memcpy(file->event + 1, &wall_time, 8);
    file->event[9] = 2 << 3;
    return put_varint(file->event + 10, step);
}

// Appends a scalar.  The tag is prefix and name.
static inline void write_scalar(EventFile *file, const char *prefix, const char *name,
                                uint64_t step, double value)
{
    const float number = (float)value;
    const size_t first = strlen(prefix), length = first + strlen(name);
    unsigned char lengths[40], *end = put_varint(lengths, length);
    const size_t inner = 1 + (size_t)(end - lengths) + length + 5;     // a Summary.Value
    unsigned char *at = begin_event(file, step);
    const size_t outer = 1 + (size_t)(put_varint(lengths, inner) - lengths) + inner;
    *at++ = 5 << 3 | 2;                                                // summary
    at = put_varint(at, outer);
    *at++ = 1 << 3 | 2;                                                // its value
    at = put_varint(at, inner);
    *at++ = 1 << 3 | 2;                                                // tag
    at = put_varint(at, length);
    for (size_t i = 0; i < length; i++)
        *at++ = (unsigned char)(i < first ? prefix[i] : name[i - first]);
    *at++ = 2 << 3 | 5;                                                // simple_value
    memcpy(at, &number, 4);
    write_event(file, (size_t)(at + 4 - file->event));
}

// Appends the loss, each of several losses, and the metrics.
static inline void write_means(EventFile *file, const char *prefix, const Net *net,
                               const NetFigures *f, uint64_t step)
{
    write_scalar(file, prefix, "loss", step, mean_loss(net, f));
    for (int i = 0; net->loss_count > 1 && i < net->loss_count; i++)
        write_scalar(file, prefix, net->losses[i].name, step, mean_of(f->losses[i]));
    for (int i = 0; i < net->metric_count; i++)
        write_scalar(file, prefix, net->metrics[i].name, step, mean_of(f->metrics[i]));
}

// Writes the appended bytes to the file's disk, or only to the file.
static inline bool flush_events(const EventFile *file, bool to_disk)
{
    FILE *const out = file->out;
    const bool good = !fflush(out) && !ferror(out) &&
                      (!to_disk || !fdatasync(fileno(out)) || errno == EINVAL);
    return good || complain("%s: can't be written: %s", file->path, strerror(errno));
}

// Creates an event file in FOLDER/PART, with a name of its own.  The run has taken `steps` steps:
// TensorBoard drops later ones of earlier files, which a killed run may have left.
static inline bool open_events(const Net *net, const char *folder, const char *part,
                               uint64_t steps, EventFile *file)
{
    static const char version[] = "brain.Event:2";
    char host[256] = "";
    size_t longest = 16;
    const size_t room = strlen(folder) + strlen(part) + sizeof host + 80;
    for (int i = 0; i < net->loss_count; i++)
        if (strlen(net->losses[i].name) > longest) longest = strlen(net->losses[i].name);
    for (int i = 0; i < net->metric_count; i++)
        if (strlen(net->metrics[i].name) > longest) longest = strlen(net->metrics[i].name);
    file->event = (unsigned char *)take_memory(longest + 128);
    file->path = (char *)take_memory(room);
    snprintf(file->path, room, "%s/%s", folder, part);
    if (!make_folder(file->path)) return false;
    gethostname(host, sizeof host - 1);
    int out = -1;
    for (int number = 0; out < 0 && (number == 0 || errno == EEXIST); number++) {
        snprintf(file->path, room, "%s/%s/events.out.tfevents.%lld.%s.%ld.%d", folder, part,
                 (long long)time(NULL), *host ? host : "host", (long)getpid(), number);
        out = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (out >= 0) file->out = fdopen(out, "wb");
    if (!file->out) return complain("%s: can't be written: %s", file->path, strerror(errno));
    unsigned char *at = begin_event(file, 0);
    *at++ = 3 << 3 | 2;                                                // file_version
    *at++ = sizeof version - 1;
    memcpy(at, version, sizeof version - 1);
    write_event(file, (size_t)(at + sizeof version - 1 - file->event));
    if (steps) {
        static const unsigned char start[] = {7 << 3 | 2, 2, 1 << 3, 1};    // session_log: START
        at = begin_event(file, steps + 1);
        memcpy(at, start, sizeof start);
        write_event(file, (size_t)(at + sizeof start - file->event));
    }
    return flush_events(file, true) && (sync_folder(file->path) ||
           complain("%s: its folder can't be synced: %s", file->path, strerror(errno)));
}
