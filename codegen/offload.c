// Prints the additions to a file whose training step copies maps to host memory. It needs sizes of
// memory and events, types, and an init and attach that take both from the caller.

#include "emitter.h"

void declare_host_sizes(Emitter *e)
{
    Writer *w = &e->w;
    if (e->host.events == 0) return;
    write_line(w, "// Pinned host memory that init wants, and events.");
    write_line(w, "#define %s_HOST_BYTES %lld", e->upper, (long long)e->host.bytes);
    write_line(w, "#define %s_HOST_EVENTS %d", e->upper, (int)e->host.events);
}

static const char *const own_types[] = {"CUevent_st", "net_host"};
enum { OWN_TYPES = sizeof own_types / sizeof *own_types };

void print_host_types(Emitter *e)
{
    for (int i = 0; i < OWN_TYPES; i++) print_chunk(e, own_types[i]);
}

void skip_host_types(Emitter *e)
{
    for (int i = 0; i < OWN_TYPES; i++) skip_chunk(e, own_types[i]);
}

const char *host_parameter(const Emitter *e)
{
    return e->host.events == 0 ? "" : arena_print(e->arena, ", const %s_host *host", e->net);
}
