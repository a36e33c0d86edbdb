// Shared by the tests of graphs: an arena for each test, graphs from text and
// back, and two of them.  Includes the headers that cmocka needs before it.
#ifndef CNNC_TEST_GRAPHS_H
#define CNNC_TEST_GRAPHS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../ir/op/op.h"

static Arena *arena;
static Diag diag;

static inline int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    diag = (Diag){ .arena = arena, .stream = stdout };
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static inline Graph *read_text(const char *text)
{
    return graph_read(arena, &diag,
                      diag_add_source(&diag, "test.ir", text, strlen(text)));
}

static inline char *print_text(const Graph *g)
{
    char *text, *copy;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    graph_print(g, stream);
    fclose(stream);
    copy = arena_copy(arena, text, length);
    free(text);
    return copy;
}

static inline ValueId value_called(const Graph *g, const char *name)
{
    for (ValueId v = 0; v < g->value_count; v++)
        if (strcmp(g->values[v].name, name) == 0) return v;
    fail_msg("no value is called %s", name);
    return NONE;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

// ---- graphs -----------------------------------------------------------------

static const char chain_text[] =
    "net chain mode=infer batch=2 real=f32\n"
    "image f32[2, 3] input\n"
    "forward a: a f32[2, 3] = relu(image)\n"
    "forward b: b f32[2, 3] = relu(a)\n"
    "forward c: c f32[2, 3] output = add(b, b)\n";

// A training step with something of everything that is written.
static const char step_text[] =
    "net step mode=train batch=2 real=f32 epochs=5 dropouts=1 keep_gradients\n"
    "optimizer sgd momentum=0.9 @20:17+3\n"
    "facts has_gradients is_scheduled is_grouped has_lifetimes is_shared is_placed\n"
    "memory arena=8192 state=1024 live=3072\n"
    "\n"
    "%0 header u8[256] state live=0..6 offset=0\n"
    "%1 image f32[2, 8, 8, 1] input live=0..5 offset=1024 @2:11+5\n"
    "%2 label i32[2] input classes=10 live=0..0 offset=2048 @3:11+5\n"
    "%3 conv.weight f32[4, 3, 3, 1] param uniform=0.816496580927726 decayed"
        " live=0..6 offset=256 @4:14+4\n"
    "%4 conv.momentum f32[4, 3, 3, 1] state of=%3 live=0..6 offset=512 @4:14+4\n"
    "\n"
    "[0] forward conv: %5 conv f32[2, 6, 6, 4] live=0..3 offset=2048 ="
        " conv(image, conv.weight, -) stride_h=1 stride_w=1 dilation_h=1"
        " dilation_w=1 groups=1 splits=1 @4:14+4\n"
    "[1] forward relu: %6 relu f32[2, 6, 6, 4] live=1..4 over=%5 offset=2048"
        " = relu(conv) @4:26+4\n"
    "[2] forward flat: %7 flat f32[2, 144] live=2..3 view=%6 offset=2048"
        " = flatten(relu) @4:34+7\n"
    "[3] forward scale: %8 scale f32[2, 144] output live=3..6 offset=4096"
        " @7:1+6 = scale(flat) factor=0.30000000000000004 @6:3+5\n"
    "[4] backward relu.grad: %9 d.conv f32[2, 6, 6, 4] gradient of=%5"
        " live=4..5 over=%6 offset=2048 = relu.grad(relu, relu) @4:26+4\n"
    "[5] backward conv.wgrad: %10 d.conv.weight f32[4, 3, 3, 1] gradient"
        " of=%3 live=5..6 offset=1280, - = conv.wgrad(d.conv, image)"
        " stride_h=1 stride_w=1 dilation_h=1 dilation_w=1 groups=1 splits=1"
        " @4:14+4\n"
    "[6] update conv.weight: sgd(conv.weight, d.conv.weight, conv.momentum,"
        " header) @20:17+3\n";

#endif
