# Without the barrier between the product of the tiles and the map that takes their place.
s/^ *__syncthreads\(\); +\/\/ the tiles have been read$//
