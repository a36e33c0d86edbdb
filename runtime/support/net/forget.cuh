// An update that is not to come.
#pragma once
#include "accumulated.cuh"
#include "interface.cuh"

// What was added to the training step is dropped.  Waits.
static int net_forget(net_context *c)
{
    TRY(net_stage(c, sizeof(StateHeader), sizeof(Accumulated), 0, 0));
    return net_wait(c);
}
