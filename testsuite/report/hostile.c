// A page on standard output in which net, file, values and steps have one name,
// which no program could give them.
//
//     hostile NAME NET.cnn
#include "../../codegen/page/page.h"
#include "../../frontend/driver/run_pipeline.h"

int main(int argc, char **argv)
{
    Arena *arena = arena_new();
    Diag diag = { .arena = arena, .stream = stderr };
    PassOptions passes_on;
    PassRow rows[] = { { NULL, 2, 1 }, { "simplify", 1, 1 } };

    FrontendOptions frontend = { .mode = TRAIN };
    Input in;
    if (argc != 3) return 2;
    pass_options_default(&passes_on, 2);
    if (!input_open(&in, arena, &diag, argv[2])) return 3;
    Graph *g = input_graph(&in, &frontend);
    if (g == NULL || run_pipeline(g, &passes_on) == NULL) return 1;
    g->name = argv[1];
    for (ValueId v = 0; v < g->value_count; v++) g->values[v].name = argv[1];
    for (NodeId n = 0; n < g->node_count; n++) g->nodes[n].name = argv[1];
    diag.sources[0].name = argv[1];
    const PageInput page = {
        .arena = arena, .file = argv[1], .command_line = argv[1],
        .g = { [TRAIN] = g }, .plan = { [TRAIN] = plan_of(g) }, .rows = rows,
        .row_count = 2, .quoted = true,
    };
    print_page(&page, stdout);
    arena_free(arena);
    return 0;
}
