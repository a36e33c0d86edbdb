// The context, and the calls init and attach.  They have one more parameter if the file copies maps
// to host memory, and one more if its launches read the caller's inputs.

#include <string.h>

#include "work.h"

static bool has_host(const Emitter *e)
{
    return e->host.events > 0;
}

// Returns the parameters of init and attach that are before and after the seed.
static const char *host_parameter(const Emitter *e)
{
    return has_host(e) ? ", const net_host *host" : "";
}

static const char *inputs_parameter(const Emitter *e)
{
    return reads_callers_inputs(e) ? ", const net_inputs *in" : "";
}

// Returns text with the net's name in the place of `net`.
static const char *of_net(const Emitter *e, const char *text)
{
    const char *at = strstr(text, "net_");
    if (!at) return text;
    return arena_print(e->arena, "%.*s%s%s", (int)(at - text), text, e->net, at + 3);
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
    const char *net = e->net, *host = of_net(e, host_parameter(e));
    const char *in = of_net(e, inputs_parameter(e));
    write_line(w, "// Takes an arena of at least ARENA_BYTES, aligned to ARENA_ALIGN, on the device, and fills");
    write_line(w, "// its state with fresh weights drawn from seed; attach takes one that holds a state already.");
    write_line(w, "// cublas may be NULL where USES_CUBLAS is 0; its stream, workspace and modes are set at each use.");
    if (*host) write_line(w, "// What host is, its type says; it is copied.");
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
         arena_print(e->arena, "struct cublasContext *cublas%s)", host_parameter(e))},
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
    const char *host = host_parameter(e), *in = inputs_parameter(e);
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
