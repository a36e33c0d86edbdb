# Adam changes the gradient that it only reads.
/^__global__ void adam_update\(/,/^}/ s/^ +__syncthreads\(\);$/&\n        *(real *)arrays.item[0].gradient = 0;/
