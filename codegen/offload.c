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
    static const ChunkEdit context[] = {
        {"    struct cublasContext *cublas;",
         "    struct cublasContext *cublas;\n"
         "    net_host host;                      // as init or attach got it"},
        {0, 0}};
    for (int i = 0; i < OWN_TYPES; i++) print_chunk(e, own_types[i]);
    print_chunk_edited(e, "net_context", context);
}

void skip_host_types(Emitter *e)
{
    for (int i = 0; i < OWN_TYPES; i++) skip_chunk(e, own_types[i]);
}

const char *host_parameter(const Emitter *e)
{
    return e->host.events == 0 ? "" : arena_print(e->arena, ", const %s_host *host", e->net);
}

// Prints the usual functions with one more parameter. They check it, store it in the context, and
// wait for its copies.
void emit_host_init(Emitter *e)
{
    static const ChunkEdit bind[] = {
        {"struct cublasContext *cublas)", "struct cublasContext *cublas, const net_host *host)"},
        {"    TRY(net_find(",
         "    TRY(net_check_host(c, host, stream));\n"
         "    TRY(net_find("},
        {"stream, cublas, 0,", "stream, cublas, *host, 0,"},
        {"    return NET_OK;", "    return net_join_copies(c);"},
        {0, 0}};
    static const ChunkEdit init[] = {
        {"struct cublasContext *cublas, uint64_t",
         "struct cublasContext *cublas, const net_host *host, uint64_t"},
        {"stream, cublas));", "stream, cublas, host));"},
        {0, 0}};
    static const ChunkEdit attach[] = {
        {"struct cublasContext *cublas)", "struct cublasContext *cublas, const net_host *host)"},
        {"stream, cublas));", "stream, cublas, host));"},
        {0, 0}};
    print_chunk(e, "net_check_host");
    print_chunk(e, "net_join_copies");
    print_chunk_edited(e, "net_bind", bind);
    print_chunk_edited(e, "net_init", init);
    print_chunk_edited(e, "net_attach", attach);
}
