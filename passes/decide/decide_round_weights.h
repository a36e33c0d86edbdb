// Decides whether products read copies of weights in 16 bits.
#ifndef CNNC_DECIDE_ROUND_WEIGHTS_H
#define CNNC_DECIDE_ROUND_WEIGHTS_H

#include "../pass.h"

// The decision of round_weights, after differentiate.  With --prefer balanced
// it sets g->decisions.least_peak: the peak in bytes without copies of weights
// and with all values on load.
PassDecision decide_round_weights(Graph *g, const PassOptions *o);

#endif
