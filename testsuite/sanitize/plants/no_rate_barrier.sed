# Without the barrier between one thread's work for all and their use of it.
/^__global__ void adam_update\(/,/^}/ s/^ +__syncthreads\(\);$//
