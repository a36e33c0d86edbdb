// Resolves the tree to the forward graph of one mode.  The order is: constants,
// the train section, the body of the net statement by statement, and the end
// that the mode needs (finish.c).
//
// All modes find the same errors, so the first resolved mode reports them all.
#include <inttypes.h>
#include <string.h>
#include "../ir/dtype.h"
#include "resolve.h"

enum { MAX_REPEAT = 1000000 };

// ---- variables --------------------------------------------------------------

void set_variable(Resolver *r, const char *name, Pos pos, Datum datum)
{
    Table *table = r->scope != NULL ? &r->scope->variables : &r->constants;
    Variable *variable = table_find(table, name);

    // An assigned input stays listed for the check of unused inputs.
    if (variable == NULL || variable->is_input) {
        variable = NEW(r->arena, Variable);
        table_set(table, r->arena, name, variable);
    }
    *variable = (Variable){ .name = name, .pos = pos, .datum = datum };
}

static Datum define_datum(Resolver *r, const char *text)
{
    Datum datum;
    if (datum_of_text(text, &datum)) return datum;
    error(r->diag, (Pos){ .file = NONE }, "-D: '%s' is no number, dimensions, "
          "true or false", text);
    return no_datum();
}

// Returns the value that -D gives a constant, or NULL.
static const char *defined(const FrontendOptions *options, const char *name)
{
    size_t length = strlen(name);
    for (int i = options->define_count - 1; i >= 0; i--)
        if (strncmp(options->defines[i], name, length) == 0 &&
            options->defines[i][length] == '=')
            return options->defines[i] + length + 1;
    return NULL;
}

// Every -D must name a constant.  All constants are known at this point.
static void check_defines(Resolver *r)
{
    for (int i = 0; i < r->options->define_count; i++) {
        const char *define = r->options->defines[i];
        const char *name = arena_copy(r->arena, define, strcspn(define, "="));
        if (table_find(&r->constants, name) != NULL) continue;
        const char *near = nearest_name(name, table_keys(&r->constants,
                                        r->arena), r->constants.count);
        error(r->diag, (Pos){ .file = NONE }, near != NULL
              ? "-D: there is no constant '%s'; did you mean '%s'?"
              : "-D: there is no constant '%s'", name,
              near != NULL ? near : "");
    }
}

// Evaluates constants in order, so that one may name earlier ones.
static void read_constants(Resolver *r)
{
    for (const Stmt *s = r->ast->constants.first; s != NULL; s = s->next) {
        const char *text = defined(r->options, s->name);
        Datum datum = text != NULL ? define_datum(r, text)
                                   : evaluate(r, s->value);
        set_variable(r, s->name, s->pos, datum);
        if (r->options->flat != NULL)
            flat_add_constant(r->options->flat, s->name,
                              text_of_datum(r->arena, datum));
    }
    check_defines(r);
}

// ---- inputs and outputs -----------------------------------------------------

// Returns a dimension of an input, or 0 after an error.
static int64_t input_dim(Resolver *r, const Expr *expr)
{
    Datum datum = evaluate_as(r, expr, INT, "a dimension is");
    if (datum.kind == POISON) return 0;
    if (datum.i >= 1 && datum.i <= INT32_MAX) return datum.i;
    error(r->diag, expr->pos, "a dimension is from 1 to %d, not %" PRId64,
          INT32_MAX, datum.i);
    return 0;
}

// Returns [batch, dims...], of rank 0 after an error.
static Shape input_shape(Resolver *r, const Stmt *stmt)
{
    Shape shape = shape_of(1, r->g->batch);

    for (const Arg *dim = stmt->dims; dim != NULL; dim = dim->next) {
        if (shape.rank == MAX_RANK) {
            error(r->diag, dim->pos, "an input has at most %d dimensions",
                  MAX_RANK - 1);
            return shape_of(0);
        }
        int64_t size = input_dim(r, dim->value);
        if (size == 0) return shape_of(0);
        shape.dim[shape.rank++] = size;
    }
    return shape;
}

static ValueId input_value(Resolver *r, const Stmt *stmt, DType dtype,
                           Shape shape)
{
    ValueId id =
        graph_value(r->g, stmt->name, INPUT, dtype, shape, stmt->pos);
    r->g->values[id].persistent = r->options->caller_inputs;
    return id;
}

// Makes a label.  class[10] is a number from 0 to 9 for each sample.
// With class[32, 32, 10] each pixel has one, in the shape of the scores.
static ValueId labels(Resolver *r, const Stmt *stmt, Shape shape)
{
    int64_t classes = shape.dim[--shape.rank];
    ValueId id = input_value(r, stmt, I32, shape);
    r->g->values[id].classes = classes;
    return id;
}

const char *const input_types[INPUT_TYPES] = { "f32", "u8", "i32", "class" };

// Makes an input; f32 means the precision's real type.
static ValueId new_input(Resolver *r, const Stmt *stmt)
{
    const DType dtypes[] = { r->g->real, U8, I32 };
    Shape shape = input_shape(r, stmt);

    for (int i = 0; i < 3; i++) {
        if (strcmp(stmt->type, input_types[i]) != 0) continue;
        warn_of_layout(r, stmt, shape);
        return shape.rank == 0 ? NONE
            : input_value(r, stmt, dtypes[i], shape);
    }
    if (strcmp(stmt->type, "class") == 0)
        return shape.rank == 0 ? NONE : labels(r, stmt, shape);
    const char *near = foreign_type(stmt->type);
    if (near == NULL) near = nearest_name(stmt->type, input_types, INPUT_TYPES);
    error(r->diag, stmt->type_pos, "there is no type '%s'; inputs are f32, u8, "
          "i32 or class", stmt->type);
    if (near != NULL) fixit(r->diag, stmt->type_pos, near);
    return NONE;
}

// Runs an input statement.  An input may hide a constant, and nothing else.
static void run_input(Resolver *r, const Stmt *stmt)
{
    Variable *other = find_variable(r, stmt->name);

    if (other != NULL && table_find(&r->constants, stmt->name) == NULL) {
        error(r->diag, stmt->name_pos, "there is a '%s' already", stmt->name);
        note(r->diag, other->pos, "it is here");
        return;
    }
    Variable *input = NEW(r->arena, Variable);
    *input = (Variable){ .name = stmt->name, .pos = stmt->name_pos,
                         .datum = tensor_datum(new_input(r, stmt)),
                         .is_input = true };
    table_set(&r->scope->variables, r->arena, stmt->name, input);
    r->inputs = arena_grow(r->arena, r->inputs, &r->input_capacity,
                           (int64_t)r->input_count + 1,
                           // An array of pointers.
                           // NOLINTNEXTLINE(bugprone-sizeof-expression)
                           sizeof *r->inputs);
    r->inputs[r->input_count++] = input;
}

bool is_view_of_input(const Graph *g, ValueId v)
{
    while (g->values[v].def != NONE) {
        const Node *n = &g->nodes[g->values[v].def];
        if (!(n->op->flags & VIEW)) return false;
        v = n->operands[0];
    }
    return true;
}

// Marks an output.  A variable that is assigned more than once still names its
// output.
static void run_output(Resolver *r, const Stmt *stmt)
{
    Expr name = { .kind = EXPR_NAME, .pos = stmt->pos, .text = stmt->name };
    Datum datum = evaluate_as(r, &name, TENSOR, "an output is");
    Graph *g = r->g;

    if (datum.kind == POISON) return;
    if (find_variable(r, stmt->name)->is_input) {
        error(r->diag, stmt->pos, "'%s' is an input; an output is computed",
              stmt->name);
        return;
    }
    // An output has bytes of its own, even where nothing computes it.
    if (is_view_of_input(g, datum.value)) {
        Operand view = { datum, stmt->pos };
        r->layer_call = NULL;
        datum = copy_value(r, &name, &view);
        if (datum.kind == POISON) return;
        name_result(r, datum.value, view.datum.value, stmt->name);
    }
    for (int32_t i = 0; i < r->output_count; i++)
        if (r->outputs[i] == datum.value) {
            error(r->diag, stmt->pos, "'%s' is an output already", stmt->name);
            return;
        }
    if (table_find(&r->scope->block->assigned,
                   g->values[datum.value].name) == NULL)
        name_result(r, datum.value, datum.value, stmt->name);
    r->outputs = arena_grow(r->arena, r->outputs, &r->output_capacity,
                            (int64_t)r->output_count + 1, sizeof *r->outputs);
    r->outputs[r->output_count++] = datum.value;
}

// ---- loss and metrics -------------------------------------------------------

static Datum figure(Resolver *r, const Stmt *stmt, unsigned flag,
                    const char *what)
{
    const Op *op = find_flagged(r, stmt->value, flag, what);
    return op != NULL ? call_operator(r, stmt->value, op, NULL, 0) : no_datum();
}

// Runs a loss statement; several losses are added up.
static void run_loss(Resolver *r, const Stmt *stmt)
{
    Datum datum = figure(r, stmt, LOSS, "loss");

    if (r->loss_count == MAX_LOSSES) {
        error(r->diag, stmt->pos, "a net has at most %d losses", MAX_LOSSES);
        return;
    }
    if (datum.kind == TENSOR) warn_of_logits(r, datum.value);
    if (r->loss_count == 0) r->loss_pos = stmt->pos;
    r->losses[r->loss_count++] = datum.kind == TENSOR ? datum.value : NONE;
}

// Runs a metric statement.  A loss may be a metric, and is then not trained.
static void run_metric(Resolver *r, const Stmt *stmt)
{
    Datum datum = figure(r, stmt, METRIC | LOSS, "metric");

    if (r->metric_count == MAX_METRICS) {
        error(r->diag, stmt->pos, "a net has at most %d metrics", MAX_METRICS);
        return;
    }
    r->metrics[r->metric_count++] = datum.kind == TENSOR ? datum.value : NONE;
}

// ---- statements -------------------------------------------------------------

// A variable assigned once names the layer and the expression's last value.
static void run_assign(Resolver *r, const Stmt *stmt)
{
    ValueId first = r->g->value_count;
    bool kept = names_for_good(r, stmt->name);

    if (kept) {
        r->layer = stmt->name;
        r->layer_call = call_to_name(r, stmt->value);
    }
    Datum datum = evaluate(r, stmt->value);
    r->layer = NULL;
    if (kept && datum.kind == TENSOR)
        name_result(r, datum.value, first, stmt->name);
    set_variable(r, stmt->name, stmt->name_pos, datum);
}

// Sets all variables that body assigns to poison: the condition of an if is
// poison, so neither branch runs.
static void poison_assigned(Resolver *r, const Body *body)
{
    for (const Stmt *stmt = body->first; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == STMT_ASSIGN)
            set_variable(r, stmt->name, stmt->name_pos, no_datum());
        if (stmt->kind == STMT_RETURN) r->scope->returned = true;
        poison_assigned(r, &stmt->body);
        poison_assigned(r, &stmt->other);
    }
}

static void run_if(Resolver *r, const Stmt *stmt)
{
    Datum condition = evaluate_as(r, stmt->value, BOOL, "a condition is");
    if (condition.kind != POISON) {
        run_body(r, condition.i ? &stmt->body : &stmt->other);
        return;
    }
    poison_assigned(r, &stmt->body);
    poison_assigned(r, &stmt->other);
}

// Stops at the first iteration with errors: later ones would repeat them.
static void run_repeat(Resolver *r, const Stmt *stmt)
{
    Datum count = evaluate_as(r, stmt->value, INT, "how often to repeat is");
    int errors = r->diag->error_count;

    if (count.kind == INT && (count.i < 0 || count.i > MAX_REPEAT)) {
        error(r->diag, stmt->value->pos, "how often to repeat is from 0 to %d, "
              "not %" PRId64, MAX_REPEAT, count.i);
        count = no_datum();
    }
    if (count.kind == POISON) {
        poison_assigned(r, &stmt->body);
        return;
    }
    r->scope->repeats++;
    for (int64_t i = 0; i < count.i && count_steps(r, stmt->pos, 1); i++) {
        if (stmt->name != NULL)
            set_variable(r, stmt->name, stmt->name_pos, int_datum(i));
        run_body(r, &stmt->body);
        if (r->scope->returned || r->diag->error_count > errors) break;
    }
    r->scope->repeats--;
}

// Returns from a block; statements after it are not run.
static void run_return(Resolver *r, const Stmt *stmt)
{
    Datum datum = evaluate(r, stmt->value);
    r->scope->result = datum;
    r->scope->returned = true;
}

// Runs one statement.  Checks that net statements are in the net only, and
// return in blocks only.
static void run_stmt(Resolver *r, const Stmt *stmt)
{
    static void (*const run[])(Resolver *, const Stmt *) = {
        [STMT_ASSIGN] = run_assign, [STMT_INPUT] = run_input,
        [STMT_OUTPUT] = run_output, [STMT_LOSS] = run_loss,
        [STMT_METRIC] = run_metric, [STMT_RETURN] = run_return,
        [STMT_CHECKPOINT] = run_mark, [STMT_FLOAT32] = run_mark,
        [STMT_IF] = run_if,         [STMT_REPEAT] = run_repeat,
    };
    bool of_net = stmt->kind >= STMT_INPUT && stmt->kind <= STMT_METRIC;
    bool in_net = r->scope->block == r->ast->net;

    if (of_net && !in_net)
        error(r->diag, stmt->pos, "inputs, outputs, loss and metrics belong "
              "in the net, not in a block");
    else if (stmt->kind == STMT_RETURN && in_net)
        error(r->diag, stmt->pos, "a net returns nothing; it has outputs");
    else
        run[stmt->kind](r, stmt);
}

void run_body(Resolver *r, const Body *body)
{
    for (const Stmt *stmt = body->first; stmt != NULL; stmt = stmt->next) {
        if (r->scope->returned || !count_steps(r, stmt->pos, 1)) return;
        run_stmt(r, stmt);
    }
}

// ---- the whole program ------------------------------------------------------

static void run_net(Resolver *r)
{
    const Block *net = r->ast->net;
    Scope scope = { .prefix = "", .weights = "", .block = net };

    r->scope = &scope;
    run_body(r, &net->body);
    finish_net(r);
    r->scope = NULL;
}

// Asks for slices in training only: inference has a lower peak anyway.
static void split_between(Graph *g, const FrontendOptions *options)
{
    if (g->mode != TRAIN || options->microbatch >= g->batch) return;
    g->decisions.split_samples = options->microbatch;
    g->decisions.split_pixels = 1;
}

Graph *resolve(const Ast *ast, const FrontendOptions *options)
{
    FrontendOptions whole = *options;
    Resolver r = { .arena = ast->arena, .diag = ast->diag, .ast = ast,
                   .options = options, .part = "all" };

    if (ast->diag->error_count > 0) return NULL;
    if (ast->net == NULL) {
        error(ast->diag, (Pos){ .line = 1, .column = 1, .length = 1 },
              "there is no net here");
        return NULL;
    }
    if (options->microbatch > 0 && !options->ghost &&
        net_needs_whole_batch(ast, options)) {
        whole.microbatch = 0;
        r.options = &whole;
    }
    r.g = graph_new(ast->arena, ast->diag, ast->net->name, options->mode, 1,
                    options->real);
    if (is_half(options->map) || options->map == I8) r.g->map = options->map;
    r.g->calibrates = options->calibrates;
    // No step trains the weights of a file that only infers.
    if (options->mode == INFER && !options->calibrates) r.g->weight = r.g->map;
    r.g->tf32 = options->tf32;
    r.g->training.keep_gradients = options->keep_gradients;
    read_constants(&r);
    read_globs(&r);
    read_train(&r);
    run_net(&r);
    if (r.options == &whole) split_between(r.g, options);
    return ast->diag->error_count > 0 ? NULL : r.g;
}
