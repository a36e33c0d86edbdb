// The context, and the calls init and attach.  They have one more parameter if the file copies maps
// to host memory, and one more if its launches read the caller's inputs.

#include "work.h"

static bool has_host(const Emitter *e)
{
    return e->host.events > 0;
}

// Both return a parameter of init and attach: the one before the seed, and the one after it.  Their
// types begin with net, which is "net" in a chunk.
static const char *host_parameter(const Emitter *e, const char *net)
{
    return has_host(e) ? arena_print(e->arena, ", const %s_host *host", net) : "";
}

static const char *inputs_parameter(const Emitter *e, const char *net)
{
    return reads_callers_inputs(e) ? arena_print(e->arena, ", const %s_inputs *in", net) : "";
}

void print_context(Emitter *e)
{
    const char *host = "\n    net_host host;                      // as init or attach got it";
    const char *inputs = "\n    net_inputs inputs;                  // of the last call";
    const ChunkEdit edits[] = {
        {"*cublas;", arena_print(e->arena, "*cublas;%s", has_host(e) ? host : "")},
        {"error;", arena_print(e->arena, "error;%s", reads_callers_inputs(e) ? inputs : "")},
        {0, 0}};
    print_chunk_edited(e, "net_context", edits);
}

void declare_init(Emitter *e)
{
    Writer *w = &e->w;
    const char *net = e->net, *host = host_parameter(e, net), *in = inputs_parameter(e, net);
    write_line(w, "// Takes an arena of at least ARENA_BYTES, aligned to ARENA_ALIGN, on the device, and fills");
    write_line(w, "// its state with fresh weights drawn from seed; attach takes one that holds a state already.");
    write_line(w, "// cublas may be NULL where USES_CUBLAS is 0; its stream, workspace and modes are set at each use.");
    if (*host) write_line(w, "// The comment of its type describes host, which is copied.");
    if (*in) write_line(w, "// Each launch runs once and reads *in; this changes nothing of the state.");
    write_line(w, "int %s_init(%s_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,", net, net);
    write_line(w, "    struct cublasContext *cublas%s, uint64_t seed%s);", host, in);
    write_line(w, "int %s_attach(%s_context *c, void *arena, size_t arena_bytes, struct CUstream_st *stream,", net, net);
    write_line(w, "    struct cublasContext *cublas%s%s);", host, in);
}

// Prints net_bind.  It takes the host memory, and waits for its copies.
static void print_bind(Emitter *e)
{
    bool host = has_host(e);
    const ChunkEdit bind[] = {
        {"struct cublasContext *cublas)",
         arena_print(e->arena, "struct cublasContext *cublas%s)", host_parameter(e, "net"))},
        {"    TRY(net_find(", host ? "    TRY(net_check_host(c, host, stream));\n"
                                     "    TRY(net_find("
                                   : "    TRY(net_find("},
        {"stream, cublas, 0, {NET_OK, 0, -1, 0, 0, 0, 0, 0}}",
         arena_print(e->arena, "stream, cublas, %s0, {NET_OK, 0, -1, 0, 0, 0, 0, 0}%s}",
                     host ? "*host, " : "", reads_callers_inputs(e) ? ", {}" : "")},
        {"    return NET_OK;", host ? "    return net_join_copies(c);" : "    return NET_OK;"},
        {0, 0}};
    if (host) {
        print_chunk(e, "net_check_host");
        print_chunk(e, "net_join_copies");
    }
    print_chunk_edited(e, "net_bind", bind);
}

void emit_init_calls(Emitter *e)
{
    const char *host = host_parameter(e, "net"), *in = inputs_parameter(e, "net");
    const char *bound =
        arena_print(e->arena, "stream, cublas%s));%s", *host ? ", host" : "",
                    *in ? "\n    TRY(net_give(c, \"init or attach\", in, 1, false));" : "");
    const ChunkEdit init[] = {
        {"struct cublasContext *cublas, uint64_t seed)",
         arena_print(e->arena, "struct cublasContext *cublas%s, uint64_t seed%s)", host, in)},
        {"stream, cublas));", bound},
        {0, 0}};
    const ChunkEdit attach[] = {
        {"struct cublasContext *cublas)",
         arena_print(e->arena, "struct cublasContext *cublas%s%s)", host, in)},
        {"stream, cublas));", bound},
        {0, 0}};
    print_bind(e);
    if (*in) emit_give(e);
    print_chunk_edited(e, "net_init", init);
    print_chunk_edited(e, "net_attach", attach);
}
