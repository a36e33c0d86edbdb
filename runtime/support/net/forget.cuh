// Discards accumulated gradients.
#pragma once
#include "accumulated.cuh"
#include "interface.cuh"

// Discards the batches of a training step that has no update yet.  Waits for the stream.
static int net_forget(net_context *c)
{
    TRY(net_stage(c, sizeof(StateHeader), sizeof(Accumulated), 0, 0));
    return net_wait(c);
}
