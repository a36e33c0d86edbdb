// Many nets, each with many settings, as one translation unit:
//
//     emit_batch OUT.cu NET.cnn...
//
// Kernels are not repeated: runtime.h includes the code that section 2 of an
// emitted file copies from the runtime once, precompiled.  A struct of a
// layer's shape is named by its content, so that programs share its
// instantiations.  All else is the emitter's text, in a namespace a program.
//
// Each program is made in a process of its own, for a fault of the compiler
// ends it. Such a program is left out of the batch and said to have FAILED.
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../codegen/codegen.h"
#include "../../codegen/emitter.h"
#include "../../ir/gpu/offload.h"
#include "case.h"

// ---- the emitted text -------------------------------------------------------

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)text[i]))
            hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

// `struct NAME_shape { ... };`, which may have a base: prints the typedef that stands for it here, and
// before all else, to shapes, the struct by its content.  Returns the rest.
static const char *print_shape(const char *line, FILE *out, FILE *shapes)
{
    const char *name = line + strlen("struct "), *body = name + strcspn(name, " ");
    const char *end = strstr(body, "};") + 2;
    size_t length = (size_t)(end - body);
    unsigned long long hash = hash_of(body, length);

    fprintf(shapes, "#ifndef SHAPE_%llx\n#define SHAPE_%llx\n"
            "struct Shape_%llx %.*s\n#endif\n", hash, hash, hash, (int)length,
            body);
    fprintf(out, "typedef Shape_%llx %.*s;\n", hash, (int)strcspn(name, " "),
            name);
    return end + (*end == '\n');
}

static bool is_shape(const char *line)
{
    size_t name = strcspn(line, "{\n");
    const char *end = line + strcspn(line, ":{\n");
    return begins(line, "struct ") && line[name] == '{' && end - line > 14 &&
           memcmp(end - 7, "_shape ", 7) == 0;
}

// The macros that a program defines for itself end with it; those that begin
// with its name, and the host runtime's, stay.
static void print_undefs(const char *text, const char *upper, FILE *out)
{
    const char *before = "";
    for (const char *line = text; *line != '\0';) {
        size_t width = strcspn(line, "\n");
        const char *name = line + strlen("#define ");
        if (begins(line, "#define ") && !begins(before, "#ifndef") &&
            !begins(name, upper))
            fprintf(out, "#undef %.*s\n", (int)strcspn(name, " (\n"), name);
        before = line;
        line += width + (line[width] == '\n');
    }
}

// Without comments of whole lines, includes, and section 2.  The interface
// joins the namespace of the rest, which stays open.
static void print_text(const char *text, FILE *out, FILE *shapes)
{
    bool skip = false;
    for (const char *line = text; *line != '\0';) {
        size_t width = strcspn(line, "\n");
        if (begins(line, "// ---- "))
            skip = begins(line, "// ---- 2 kernels");
        const char *next = line + width + (line[width] == '\n');
        if (is_shape(line) && !skip)
            next = print_shape(line, out, shapes);
        else if (!skip && !begins(line, "//") && !begins(line, "#include") &&
                 !begins(line, "using namespace ") &&
                 !begins(next, "using namespace "))
            fprintf(out, "%.*s\n", (int)width, line);
        line = next;
    }
}

// ---- the table --------------------------------------------------------------

static const char *net_of(Arena *arena, int net, const Case *of)
{
    return arena_print(arena, "n%d_%d", net, of->line);
}

static void print_call(FILE *out, const char *net, const char *name, int inputs,
                       int outputs)
{
    fprintf(out, "static int %s_call_%s(void *c, const void *const *in, "
            "const size_t *in_bytes%s)\n{\n    return %s_program::%s_%s("
            "(%s_context *)c", net, name,
            outputs > 0 ? ", void *const *out, const size_t *out_bytes" : "",
            net, net, name, net);
    for (int i = 0; i < inputs; i++)
        fprintf(out, ", AnyPointer{in[%d]}, in_bytes[%d]", i, i);
    for (int i = 0; i < outputs; i++)
        fprintf(out, ", AnyPointer{out[%d]}, out_bytes[%d]", i, i);
    fputs(");\n}\n", out);
}

static int count_inputs(const Graph *g)
{
    ValueId inputs[MAX_PORTS];
    return graph_inputs(g, inputs, MAX_PORTS);
}

// A program that copies to host memory gets the necessary objects from here.
static void print_init(FILE *out, const char *net, int64_t host_bytes)
{
    fprintf(out, "static int %s_call_init(void *c, void *arena, size_t bytes, "
            "CUstream_st *stream, cublasContext *cublas, uint64_t seed)\n{\n",
            net);
    if (host_bytes > 0)
        fprintf(out, "    static %s_host host;\n"
                "    host.bytes = %" PRId64 ";\n"
                "    if (cudaMallocHost(&host.memory, host.bytes) ||\n"
                "        cudaStreamCreateWithFlags(&host.stream, "
                "cudaStreamNonBlocking)) return 1;\n"
                "    for (auto &event : host.events)\n"
                "        if (cudaEventCreateWithFlags(&event, "
                "cudaEventDisableTiming)) return 1;\n",
                net, host_bytes);
    fprintf(out, "    return %s_program::%s_init((%s_context *)c, arena, bytes, "
            "stream, cublas%s, seed);\n}\n", net, net, net,
            host_bytes > 0 ? ", &host" : "");
}

static void print_functions(FILE *out, const char *net, const EmitInput *emit)
{
    ValueId outputs[MAX_PORTS];

    print_init(out, net, emit->train != NULL ? host_use(emit->train).bytes : 0);
    fprintf(out, "static const %s_error *%s_call_error(const void *c)\n{\n"
            "    return %s_program::%s_last_error((const %s_context *)c);\n}\n",
            net, net, net, net, net);
    fprintf(out, "static const char *%s_call_text(const void *c)\n{\n"
            "    return %s_call_error(c)->text;\n}\n"
            "static int %s_call_step(const void *c)\n{\n"
            "    return %s_call_error(c)->step;\n}\n", net, net, net, net);
    if (emit->train != NULL) {
        print_call(out, net, "train", count_inputs(emit->eval), 0);
        print_call(out, net, "evaluate", count_inputs(emit->eval), 0);
        fprintf(out, "static int %s_call_metrics(void *c, void *f, int reset)\n"
                "{\n    return %s_program::%s_metrics((%s_context *)c, "
                "(%s_figures *)f, reset);\n}\n", net, net, net, net, net);
    }
    int count = graph_outputs(emit->infer, outputs, MAX_PORTS);
    if (count > 0)
        print_call(out, net, "infer", count_inputs(emit->infer), count);
}

// A row of the table; functions that the program has not are 0.
static void print_row(FILE *rows, Arena *arena, const char *net,
                      const Case *of, const EmitInput *emit)
{
    ValueId outputs[MAX_PORTS];
    const char *upper = upper_case(arena, net);
    bool trains = emit->train != NULL;
    const struct { const char *name; bool there; } functions[] = {
        { "init", true }, { "train", trains }, { "evaluate", trains },
        { "infer", graph_outputs(emit->infer, outputs, MAX_PORTS) > 0 },
        { "metrics", trains }, { "text", true }, { "step", true },
    };

    fprintf(rows, "    {\"%s\", %d, %s_ARENA_BYTES, sizeof(%s_context), ",
            of->path, of->line, upper, net);
    fprintf(rows, trains ? "sizeof(%s_figures)" : "0", net);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].there)
            fprintf(rows, ", %s_program::%s_call_%s", net, net,
                    functions[i].name);
        else
            fputs(", 0", rows);
    fputs("},\n", rows);
}

// ---- one program ------------------------------------------------------------

// A file without trainer holds infer alone.
static bool compile(Compiled *c, EmitInput *emit, const char *net)
{
    Plan *plan[MODE_COUNT] = { NULL };
    Graph *g[MODE_COUNT] = { NULL };
    bool trains = c->options.frontend.mode == TRAIN;

    for (int mode = trains ? TRAIN : INFER; mode <= INFER; mode++) {
        g[mode] = case_graph(c, (Mode)mode, &plan[mode]);
        if (g[mode] == NULL) return false;
        g[mode]->name = net;
    }
    *emit = (EmitInput){
        .train = g[TRAIN], .eval = g[EVAL], .infer = g[INFER],
        .train_plan = plan[TRAIN], .eval_plan = plan[EVAL],
        .infer_plan = plan[INFER], .command_line = "cnnc",
    };
    return true;
}

// The plans of a program, each in a file OUT.NET.LINE.MODE.json.
static bool write_plans(Arena *arena, const char *beside, int number,
                        const Case *of, const EmitInput *emit)
{
    const Plan *plans[] = { emit->train_plan, emit->eval_plan,
                            emit->infer_plan };
    for (int i = 0; i < 3; i++) {
        if (plans[i] == NULL) continue;
        FILE *file = fopen(arena_print(arena, "%s.%d.%d.%d.json", beside,
                                       number, of->line, i), "w");
        if (file == NULL) return false;
        plan_print_json(plans[i], file);
        if (fclose(file) != 0) return false;
    }
    return true;
}

// The output of one process: shapes, text and table functions to `out`, the
// table's row to `row`.
static bool emit_case(const Case *of, int number, const char *beside,
                      FILE *out, FILE *rows)
{
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = stderr };
    Compiled c;
    EmitInput emit;
    char *text = NULL, *body = NULL;
    size_t length, body_length;
    const char *net = net_of(arena, number, of);

    if (!case_open(&c, arena, &diag, of, false) || !compile(&c, &emit, net) ||
        !write_plans(arena, beside, number, of, &emit))
        return false;
    FILE *memory = open_memstream(&text, &length);
    emit_cuda(&emit, memory);
    fclose(memory);
    FILE *rest = open_memstream(&body, &body_length);
    print_text(text, rest, out);
    fclose(rest);
    fputs(body, out);
    print_functions(out, net, &emit);
    fputs("}\n", out);
    print_row(rows, arena, net, of, &emit);
    print_undefs(body, upper_case(arena, net), rows);
    return true;
}

// ---- all of them ------------------------------------------------------------

static void append(FILE *from, FILE *to)
{
    char part[4096];
    size_t count;
    rewind(from);
    while ((count = fread(part, 1, sizeof part, from)) > 0)
        fwrite(part, 1, count, to);
}

// Runs emit_case in a child.  Its undefs follow its row, and go with the
// text; a row begins with spaces.
static bool add_program(const Case *of, int number, const char *beside,
                        FILE *out, FILE *rows)
{
    FILE *text = tmpfile(), *tail = tmpfile();
    char line[1024];
    int status;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool good = emit_case(of, number, beside, text, tail);
        fflush(text);
        fflush(tail);
        _exit(good ? 0 : 1);
    }
    waitpid(child, &status, 0);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (good) {
        append(text, out);
        rewind(tail);
        while (fgets(line, sizeof line, tail) != NULL)
            fputs(line, line[0] == ' ' ? rows : out);
    } else {
        printf("FAILED %s %d: cnnc ends with %d\n", of->path, of->line,
               WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    }
    fclose(text);
    fclose(tail);
    return good;
}

int main(int argc, char **argv)
{
    Arena *arena = arena_new();
    FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL, *rows = tmpfile();

    if (out == NULL || rows == NULL) {
        fputs("usage: emit_batch OUT.cu NET.cnn...\n", stderr);
        return 2;
    }
    fputs("#include \"program.h\"\n", out);
    for (int i = 2; i < argc; i++) {
        int count;
        Case *cases = cases_read(arena, argv[i], &count);
        for (int k = 0; k < count; k++)
            add_program(&cases[k], i - 2, argv[1], out, rows);
    }
    fputs("extern \"C\" const EmittedProgram emitted_programs[] = {\n", out);
    append(rows, out);
    fputs("    {}};\n", out);
    fclose(rows);
    bool good = fclose(out) == 0;
    arena_free(arena);
    return good ? 0 : 1;
}
