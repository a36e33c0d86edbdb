# Without the barrier between multiplying the tiles and using their bytes.
s/^ *__syncthreads\(\); +\/\/ the tiles have been read.*$//
