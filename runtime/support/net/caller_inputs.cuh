// Inputs in the caller's memory (--inputs caller): checks of a call's pointers.
#pragma once
#include "interface.cuh"

// net_batch: refuses null, and samples that are not 1 to BATCH.  The launches that follow read *in.
static int net_batch(net_context *c, const char *call, const net_inputs *in, size_t samples)
{
    if (!in || samples < 1 || samples > NET_BATCH)
        return net_refuse(c, NET_BAD_ARGUMENT, call,
                          in ? "samples are not 1 to BATCH" : "the inputs are null", NET_BATCH,
                          samples);
    c->inputs = *in;
    return NET_OK;
}

// net_given: refuses an input unless it is aligned, and its first and last byte belong to CUDA.
// text: the words of the refusal.
static int net_given(net_context *c, const char *call, const char *text, const void *input,
                     size_t bytes, size_t align)
{
    const uintptr_t at = (uintptr_t)input;
    if (!input || at % align)
        return net_refuse(c, NET_BAD_ARGUMENT, call, text, align, at % align);
    if (!net_find(c, NET_BAD_ARGUMENT, input, bytes)) return NET_OK;
    c->error.call = call;
    if (c->error.status == NET_BAD_ARGUMENT) c->error.text = text;
    return c->error.status;
}
