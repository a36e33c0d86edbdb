# A barrier that some threads never reach.
s/^    __syncthreads\(\);$/    if (threadIdx.x < 64) __syncthreads();/
