# Operands of products as they are, on tensor cores and in cuBLAS.
s/return finite \? .*bits;/return finite ? bits : bits;/
s/= tf32 \? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH/= tf32 ? CUBLAS_DEFAULT_MATH : CUBLAS_DEFAULT_MATH/
