// An update that is not to come.
#pragma once
#include "accumulated.cuh"
#include "interface.cuh"

// What was added to the training step is dropped.  Waits.
static int net_forget(net_context *c)
{
    const Accumulated nothing = {};
    return net_put(c, sizeof(StateHeader), &nothing, sizeof nothing);
}
