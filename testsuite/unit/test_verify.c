// The verifier must catch planted faults; and the interpreter.
#define _POSIX_C_SOURCE 200809L     // fork in verdicts.h, and open_memstream
#include "verdicts.h"

// ---- the verifier -----------------------------------------------------------

static void sound_graphs_pass(void **state)
{
    (void)state;
    assert_null(verdict(read_text(chain_text)));
    assert_null(verdict(read_text(step_text)));
}

static void faults_of_structure_are_caught(void **state)
{
    Graph *g;
    (void)state;
    g = read_text(chain_text), g->nodes[1].operands[0] = 99;
    expect_fault(g, "[1] b (line 0): operand 0 is %99");
    g = read_text(chain_text), g->nodes[1].operands[0] = NONE;
    expect_fault(g, "operand x is missing");
    g = read_text(chain_text), g->nodes[1].operand_count = 0;
    expect_fault(g, "0 operands for \"x~\"");
    g = read_text(chain_text), g->nodes[0].operands[0] = value_called(g, "c");
    expect_fault(g, "reads c before it is made");
    g = read_text(chain_text), g->nodes[1].results[0] = value_called(g, "a");
    expect_fault(g, "[1] b (line 0): a is made twice");
    g = read_text(chain_text), g->values[value_called(g, "b")].def = 0;
    expect_fault(g, "makes b, which says it is made by [0]");
    g = read_text(chain_text), g->nodes[0].op = NULL;
    expect_fault(g, "[0] is deleted");
    g = read_text(chain_text), g->nodes[0].kernel = 7;
    expect_fault(g, "relu has no kernel 7");
    g = read_text(chain_text), g->nodes[0].phase = BACKWARD;
    expect_fault(g, "phase forward after backward");
    g = read_text(chain_text), g->values[value_called(g, "a")].name = "b";
    expect_fault(g, "two values or two nodes are called b");
    g = read_text(chain_text), g->values[value_called(g, "b")].shape.dim[1] = 4;
    expect_fault(g, "b should have the shape [2, 3], but has [2, 4]");
    g = read_text(chain_text), g->values[1].kind = ACTIVATION;
    expect_fault(g, "reads image, which nothing makes");
    g = read_text(chain_text), g->values[0].persistent = false;
    expect_fault(g, "header (line 0): it is a state, but not persistent");
    g = read_text(chain_text), g->values[1].rate_factor = 2;
    expect_fault(g, "its rate has the factor 2");
    g = read_text(chain_text), g->values[1].rate_factor = 0;
    expect_fault(g, "its rate has the factor 0");
}

static void faults_of_a_step_are_caught(void **state)
{
    Graph *g;
    (void)state;
    g = read_text(step_text), g->values[10].gradient_of = 1;
    expect_fault(g, "shape and type of image");
    g = read_text(step_text), g->nodes[5].operands[1] = 3;
    Node update = g->nodes[6];
    g->nodes[6] = g->nodes[5], g->nodes[5] = update;
    g->nodes[5].operands[1] = 9, g->values[10].def = 6;
    expect_fault(g, "reads conv.weight after its update");
    g = read_text(step_text), g->values[1].last = 4;
    expect_fault(g, "%1 image (line 2): it lives from [0] to [4], but [5]");
    g = read_text(step_text), g->values[8].last = 4;
    expect_fault(g, "%8 scale");
    g = read_text(step_text), g->nodes[6].operands[0] = 1;
    expect_fault(g, "image is updated, but not persistent");
}

static void faults_of_memory_are_caught(void **state)
{
    Graph *g;
    (void)state;
    g = read_text(step_text), g->values[5].alias_of = 9;
    expect_fault(g, "its aliases form a cycle");
    g = read_text(step_text), g->values[9].alias_of = 7;
    g->nodes[4].operands[0] = 7, g->nodes[4].operands[1] = 7;
    g->nodes[3].operands[0] = 7, g->values[7].last = 4;
    assert_null(verdict(g));    // over a view of it is over it
    g = read_text(step_text), g->nodes[4].operands[1] = 5;
    g->values[5].last = 4;
    expect_fault(g, "[1] relu (line 4): relu overwrites a value that [4] needs");
    g = read_text(step_text), g->values[5].output = true, g->values[5].last = 6;
    expect_fault(g, "relu overwrites a value that must be kept");
    g = read_text(step_text), g->values[8].alias_of = 7;
    expect_fault(g, "scale overwrites a value that [4] needs");
    g = read_text(step_text), g->values[10].alias_of = 9;
    expect_fault(g, "d.conv.weight must not be written over d.conv");
    g = read_text(step_text), g->values[10].alias_of = 8;
    expect_fault(g, "d.conv.weight is over scale, which it does not read");
    g = read_text(step_text), g->values[9].alias_of = 1;
    expect_fault(g, "it is larger than image");
    g = read_text(step_text), g->values[7].alias_of = NONE;
    expect_fault(g, "a view that has bytes of its own");
    g = read_text(step_text), g->values[6].view = true;
    expect_fault(g, "relu is no view, but makes one");
    g = read_text(step_text), g->values[5].offset = 100;
    expect_fault(g, "its offset is 100");
    g = read_text(step_text), g->values[8].offset = 7168;
    expect_fault(g, "it ends outside the arena");
    g = read_text(step_text), g->values[4].offset = 1024;
    expect_fault(g, "it ends outside the state");
    g = read_text(step_text), g->values[6].offset = 1024;
    expect_fault(g, "it is not inside conv");
}

static const char slices_text[] =
    "net n mode=infer batch=2 real=f32\n"
    "facts has_gradients is_scheduled is_grouped has_lifetimes is_shared is_placed\n"
    "memory arena=1280 state=768 live=1280\n"
    "%0 header u8[256] state live=0..4 offset=0\n"
    "%1 image f32[2, 2, 2, 2] input live=0..1 offset=1024\n"
    "%2 v f32[2, 1, 1, 2] param uniform=1 live=0..4 offset=256\n"
    "%4 w f32[3, 1, 1, 2] param uniform=1 live=0..4 offset=512\n"
    "forward a: %3 a f32[2, 2, 2, 2] live=0..2 view=%6 view_rows=8 "
    "view_stride=20 offset=768 = conv(image, v, -) stride_h=1 stride_w=1 "
    "dilation_h=1 dilation_w=1 groups=1 splits=1\n"
    "forward b: %5 b f32[2, 2, 2, 3] live=1..2 view=%6 start=8 view_rows=8 "
    "view_stride=20 offset=776 = conv(image, w, -) stride_h=1 stride_w=1 "
    "dilation_h=1 dilation_w=1 groups=1 splits=1\n"
    "forward c: %6 c f32[2, 2, 2, 5] live=0..4 offset=768 = concat(a, b) "
    "axis=3 in_place\n"
    "forward d: %7 d f32[2, 2, 2, 3] live=3..4 view=%6 start=4 view_rows=8 "
    "view_stride=20 offset=772 = slice(c) axis=3 start=1 size=3 in_place\n"
    "forward e: %8 e f32[2, 2, 2, 3] live=4..4 over=%7 view_rows=8 "
    "view_stride=20 offset=772 = relu(d)\n";

// a, b, c and d are %3, %5, %6 and %7, and e, over d, is %8.
static void faults_of_slices_are_caught(void **state)
{
    Graph *g;
    (void)state;
    assert_null(verdict(read_text(slices_text)));
    g = read_text(slices_text), g->values[3].start = 4;
    expect_fault(g, "%3 a (line 0): it does not alias c as it should");
    g = read_text(slices_text), g->values[5].view_rows = 4;
    expect_fault(g, "it is no slice of c");
    g = read_text(slices_text), g->values[7].view_stride = 24;
    expect_fault(g, "it is no slice of c");
    g = read_text(slices_text), g->values[7].start = 12;
    expect_fault(g, "its rows are not inside those of c");
    g = read_text(slices_text), g->values[3].view = false;
    expect_fault(g, "it does not alias c as it should");
    g = read_text(slices_text), g->values[7].offset = 768;
    expect_fault(g, "it is not inside c");
    g = read_text(slices_text), g->values[5].output = true;
    g->values[5].last = 4;
    expect_fault(g, "a slice, which not all its launches accept");
    g = read_text(slices_text), g->values[8].alias_of = 5;
    g->values[8].offset = 776;
    expect_fault(g, "e must not be written over d");
    g = read_text(slices_text), g->values[6].output = true;
    expect_fault(g, "e overwrites a value that must be kept");
    g = read_text(slices_text), g->values[8].view_rows = g->values[8].view_stride = 0;
    expect_fault(g, "it aliases c, but is no slice");
    g = read_text(slices_text), g->nodes[2].in_place = false;
    expect_fault(g, "it is no view of %6");
    g = read_text(slices_text), g->nodes[2].act = g->nodes[4].op;
    expect_fault(g, "concat can't be in place");
    g = read_text(slices_text), g->nodes[4].in_place = true;
    expect_fault(g, "relu can't be in place");
}

// relu is computed where conv reads it, and conv where the pool does.
static const char inlined_text[] =
    "net n mode=infer batch=2 real=f32\n"
    "image f32[2, 4, 4, 2] input\n"
    "w f32[4, 3, 3, 2] param uniform=1\n"
    "forward a: a f32[2, 4, 4, 2] = relu(image) fused_load\n"
    "forward b: b f32[2, 4, 4, 4] = conv(a, w, -) stride_h=1 stride_w=1 "
    "dilation_h=1 dilation_w=1 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1 "
    "groups=1 splits=1 fused_load\n"
    "forward c: c f32[2, 2, 2, 4] output, - = maxpool(b) kernel_h=2 "
    "kernel_w=2 stride_h=2 stride_w=2 dilation_h=1 dilation_w=1\n";

// Readers of x, which is relu's and computed on load.
#define READS_RELU(reader) \
    "net n mode=infer batch=2 real=f32\n" \
    "image f32[2, 3] input\n" \
    "forward x: x f32[2, 3] = relu(image) fused_load\n" reader

static void what_is_fused_on_load_must_be_loaded(void **state)
{
    Graph *g;
    (void)state;
    assert_null(verdict(read_text(inlined_text)));
    g = read_text(inlined_text), g->nodes[2].fused_load = true;
    expect_fault(g, "maxpool can't be computed on load");
    g = read_text(inlined_text), g->nodes[1].act = g->nodes[0].op;
    expect_fault(g, "[2] c (line 0): b must be stored to be read here");
    expect_fault(read_text(READS_RELU(
        "forward y: y f32[2, 3] output = softmax(x)\n")),
        "[1] y (line 0): x must be stored to be read here");
    expect_fault(read_text(READS_RELU(
        "forward y: y f32[2, 3] output = flatten(x)\n")),
        "[1] y (line 0): x must be stored to be read here");
    expect_fault(read_text(
        "net n mode=infer batch=2 real=f32\n"
        "image f32[2, 4, 4, 2] input\n"
        "w f32[4, 1, 1, 2] param uniform=1\n"
        "forward b: b f32[2, 4, 4, 4] = conv(image, w, -) stride_h=1 "
        "stride_w=1 dilation_h=1 dilation_w=1 groups=1 splits=1 fused_load\n"
        "forward c: c f32[2, 4, 4, 4] output = relu(b)\n"),
        "[1] c (line 0): b must be stored to be read here");
    g = read_text(READS_RELU("forward y: y f32[2, 3] output = add(x, x)\n"));
    assert_null(verdict(g));
    g->nodes[0].phase = UPDATE;
    expect_fault(g, "[0] x (line 0): its result must be stored");
    g = read_text(chain_text), g->nodes[2].fused_load = true;
    expect_fault(g, "[2] c (line 0): its result must be stored");
}

// No operator that can be computed on load makes two things: this relu does.
static void what_is_fused_on_load_makes_one_thing(void **state)
{
    Graph *g = read_text(chain_text);
    Node *n = &g->nodes[0];
    Op two = *n->op;
    Kernel kernels[3] = { two.kernels[0], two.kernels[1] };
    ValueId results[2] = { value_called(g, "a"), value_called(g, "b") };
    (void)state;
    kernels[0].operands = "x~", kernels[0].results = "y z?";
    two.kernels = kernels;
    n->op = &two;
    n->results = results, n->result_count = 2;
    g->nodes[1] = g->nodes[2], g->node_count = 2;
    g->values[results[1]].def = 0;
    g->values[value_called(g, "c")].def = 1;
    assert_null(verdict(g));
    n->fused_load = true;
    expect_fault(
        g, "[0] a (line 0): is computed on load, but makes more than one");
}

// s reads w on load, through r, and must do so before w is updated.
static void loads_come_before_updates(void **state)
{
    Graph *g = read_text(
        "net n mode=train batch=2 real=f32 epochs=1\n"
        "optimizer sgd\n"
        "facts has_gradients is_scheduled\n"
        "%0 header u8[256] state\n"
        "%1 image f32[2, 3] input\n"
        "%2 w f32[2, 3] param uniform=1\n"
        "forward r: %3 r f32[2, 3] = relu(w) fused_load\n"
        "backward d: %4 d f32[2, 3] = relu(image)\n"
        "backward s: %5 s f32[2, 3] output = add(r, d)\n"
        "update u: sgd(w, d, -, header)\n");
    (void)state;
    assert_null(verdict(g));
    Node update = g->nodes[3];
    g->nodes[3] = g->nodes[2], g->nodes[2] = update;
    g->values[5].def = 3;
    expect_fault(g, "[3] s (line 0): reads w after its update");
}

// y reads x on load, through r: a sum element by element, a pool not.
static void nothing_is_written_over_what_is_loaded(void **state)
{
    static const char text[] =
        "net n mode=infer batch=2 real=f32\n"
        "facts has_gradients is_scheduled is_grouped has_lifetimes is_shared\n"
        "%0 header u8[256] state live=0..2\n"
        "%1 image f32[2, 3] input live=0..0\n"
        "forward x: %2 x f32[2, 3] live=0..2 = elu(image)\n"
        "forward r: %3 r f32[2, 3] live=1..1 = relu(x) fused_load\n"
        "forward y: %4 y f32[2, 3] output live=2..2 = add(r, r)\n";
    static const char pooled[] =
        "net n mode=infer batch=2 real=f32\n"
        "facts has_gradients is_scheduled is_grouped has_lifetimes is_shared\n"
        "%0 header u8[256] state live=0..2\n"
        "%1 image f32[2, 3, 3, 2] input live=0..0\n"
        "forward x: %2 x f32[2, 3, 3, 2] live=0..2 = elu(image)\n"
        "forward r: %3 r f32[2, 3, 3, 2] live=1..1 = relu(x) fused_load\n"
        "forward y: %4 y f32[2, 3, 3, 2] output live=2..2, - = maxpool(r) "
        "kernel_h=1 kernel_w=1 stride_h=1 stride_w=1 dilation_h=1 "
        "dilation_w=1\n";
    Graph *g;
    (void)state;
    assert_null(verdict(read_text(text)));
    g = read_text(text), g->values[4].alias_of = 2;
    assert_null(verdict(g));
    g = read_text(pooled), g->values[4].alias_of = 2;
    expect_fault(g, "y must not be written over x, which it reads on load");
    g = read_text(text), g->values[3].alias_of = 2;
    expect_fault(g, "[1] r (line 0): r has no bytes, but aliases some");
    g = read_text(text), g->values[2].last = 1;
    expect_fault(g, "%2 x (line 0): it lives from [0] to [1], but [2] y");
}

// e reads d, which is a slice, on load, through r.
static void nothing_is_written_over_a_slice_that_is_loaded(void **state)
{
    Graph *g = read_text(
        "net n mode=infer batch=2 real=f32\n"
        "facts has_gradients is_scheduled is_grouped has_lifetimes is_shared\n"
        "%0 header u8[256] state live=0..4\n"
        "%1 image f32[2, 3, 3, 2] input live=0..0\n"
        "%2 w f32[4, 1, 1, 2] param uniform=1 live=0..4\n"
        "forward a: %3 a f32[2, 3, 3, 4] live=0..4 = conv(image, w, -) "
        "stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 groups=1 splits=1\n"
        "forward d: %4 d f32[2, 3, 3, 2] live=1..3 view=%3 start=4 view_rows=18 "
        "view_stride=16 = slice(a) axis=3 start=1 size=2 in_place\n"
        "forward r: %5 r f32[2, 3, 3, 2] live=2..2 = relu(d) fused_load\n"
        "forward e: %6 e f32[2, 3, 3, 2] live=3..4 = relu(r)\n"
        "forward f: %7 f f32[2, 3, 3, 2] output live=4..4 = relu(e)\n");
    (void)state;
    assert_null(verdict(g));
    g->values[6].alias_of = 4;
    g->values[6].view_rows = 18, g->values[6].view_stride = 16;
    expect_fault(g, "e must not be written over d, which it reads on load");
}

// d is stopped where y is 0, which is dropout's operand times a number.
static void a_sign_stops_what_drops(void **state)
{
    static const char text[] =
        "net n mode=infer batch=2 real=f32\n"
        "facts has_gradients\n"
        "%0 header u8[256] state\n"
        "%1 dy f32[2, 3] input\n"
        "%2 y f32[2, 3] input\n"
        "forward d: %3 d f32[2, 3] output = dropout.gated(dy, y) rate=0.5 "
        "act=relu\n";
    Graph *g = read_text(text);
    (void)state;
    assert_null(verdict(g));
    g->nodes[0].act = ops[OP_relu6];
    expect_fault(g, "no sign says where its gradient is 0");
    g->nodes[0].act = NULL;
    expect_fault(g, "no sign says where its gradient is 0");
    g = read_text(text), g->values[2].shape.dim[0] = 1;
    expect_fault(g, "y is not the gradient's value");
}

// ---- the interpreter --------------------------------------------------------

static void interpreter_runs_in_order(void **state)
{
    Graph *g = read_text(
        "net run mode=infer batch=1 real=f32\n"
        "image f32[1, 2, 1, 2] input\n"
        "forward a: a f32[1, 2, 1, 2] = relu(image)\n"
        "forward b: b f32[1, 4] = flatten(a)\n"
        "forward c: c f32[1, 4] output = add(b, b)\n");
    Tensors t = tensors_new(g);
    static const double image[4] = { -1, 2, -3, 4 }, wanted[4] = { 0, 4, 0, 8 };
    (void)state;
    memcpy(t.data[value_called(g, "image")], image, sizeof image);
    interpret(g, &t, 1);
    for (int i = 0; i < 4; i++)
        assert_true(t.data[value_called(g, "c")][i] == wanted[i]);
}

// ---- all of them ------------------------------------------------------------

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sound_graphs_pass),
        TEST(faults_of_structure_are_caught),
        TEST(faults_of_a_step_are_caught),
        TEST(faults_of_memory_are_caught),
        TEST(faults_of_slices_are_caught),
        TEST(what_is_fused_on_load_must_be_loaded),
        TEST(what_is_fused_on_load_makes_one_thing),
        TEST(loads_come_before_updates),
        TEST(nothing_is_written_over_what_is_loaded),
        TEST(nothing_is_written_over_a_slice_that_is_loaded),
        TEST(a_sign_stops_what_drops),
        TEST(interpreter_runs_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
