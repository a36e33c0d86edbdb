# The block of the highest number takes itself for the one that comes last.
s/last = \(\(atomicAdd.*/last = count \&\& blockIdx.x == all - one;/
