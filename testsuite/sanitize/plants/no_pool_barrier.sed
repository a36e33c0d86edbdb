# Without the barrier between multiplying the tiles and using their room.
s/^ *__syncthreads\(\); +\/\/ what lay in the room.*$//
