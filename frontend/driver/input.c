// Opens inputs: a path that ends in .ir is a graph, any other a program.
#include <string.h>
#include "../../ir/plan/plan.h"
#include "fake_quantize.h"
#include "../read_file.h"

static bool is_graph_text(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".ir") == 0;
}

bool input_open(Input *in, Arena *arena, Diag *diag, const char *path)
{
    *in = (Input){ .arena = arena, .diag = diag, .path = path };
    if (is_graph_text(path)) {
        size_t length;
        const char *text = read_named_text(diag, arena, path,
                                           &length);
        if (text != NULL)
            in->source = diag_add_source(diag, path, text, length);
        return text != NULL;
    }
    const char *why;
    in->ast = parse_file(arena, diag, path, &why);
    if (in->ast == NULL)
        command_message(diag, MESSAGE_ERROR, "can't read '%s': %s", path, why);
    return in->ast != NULL && !in->ast->unreadable;
}

Input input_apart(const Input *in, Arena *arena)
{
    Input apart = *in;
    apart.arena = arena;
    if (in->ast == NULL) return apart;
    Ast *ast = NEW(arena, Ast);
    *ast = *in->ast;
    ast->arena = arena;
    ast->diag = in->diag;
    apart.ast = ast;
    return apart;
}

// Returns the position of the net's name, or of the graph's line net.
static Pos net_pos(const Input *in, const Graph *g)
{
    return in->ast != NULL ? in->ast->net->pos : g->places->net;
}

// A plan that was read is verified like one that was made.
static bool is_sound_text(const Input *in, Graph *g)
{
    if (!is_sound(g)) return false;
    if (!(g->facts & IS_PLACED)) return true;
    const char *wrong = verify_program(g->arena, g, plan_of(g));
    if (wrong != NULL)
        error(in->diag, net_pos(in, g), "the plan of this graph is not sound: "
              "%s", wrong);
    return wrong == NULL;
}

Graph *input_graph(const Input *in, const FrontendOptions *options)
{
    Graph *g;
    if (in->diag->error_count > 0) return NULL;
    g = in->ast != NULL ? resolve(in->ast, options)
                        : graph_read(in->arena, in->diag, in->source);
    if (g == NULL || in->diag->error_count > 0) return NULL;
    if (in->ast == NULL && !is_sound_text(in, g)) return NULL;
    if (in->ast != NULL && !quantize_training(in, options, g)) return NULL;
    g->gpu = options->gpu;
    if (fits_together(g)) return g;
    error(in->diag, net_pos(in, g), "the tensors of this net take more than 4 "
          "PiB together, which is too large to be addressed");
    return NULL;
}
