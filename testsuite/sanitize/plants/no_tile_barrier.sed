# Without the barrier between filling a tile and multiplying.
s/^            __syncthreads\(\);$//
