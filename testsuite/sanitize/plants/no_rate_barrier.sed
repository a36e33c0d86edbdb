# Without the barrier between one thread's work for all and their use of it.
s/^    __syncthreads\(\);$//
