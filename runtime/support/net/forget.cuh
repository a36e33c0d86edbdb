// Discards accumulated gradients.
#pragma once
#include "accumulated.cuh"
#include "interface.cuh"

// Discards the batches of a training step that has no update yet.  Waits for the stream.
static int net_forget(net_context *c)
{
    const Accumulated nothing = {};
    return net_put(c, sizeof(StateHeader), &nothing, sizeof nothing);
}
