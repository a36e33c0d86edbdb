// The fragments of warp-wide products as the PTX manual draws them ("Matrix Fragments for
// mma.m16n8k8" and "for mma.m16n8k16", and ldmatrix's). Each string has, for each row of a matrix,
// the lane and register of its elements, column by column. The entry `5c` is the third element of
// lane 5's fragment, in the order in which the manual counts a0, a1, a2, ...; of 16 bits the first
// of two is the lower half of a register.
#ifndef CNNC_TENSOR_LAYOUTS_H
#define CNNC_TENSOR_LAYOUTS_H

// A of m16n8k8 with tf32: 16 x 8.
static const char a_of_tf32[] =
    "0a 1a 2a 3a 0c 1c 2c 3c\n"
    "4a 5a 6a 7a 4c 5c 6c 7c\n"
    "8a 9a 10a 11a 8c 9c 10c 11c\n"
    "12a 13a 14a 15a 12c 13c 14c 15c\n"
    "16a 17a 18a 19a 16c 17c 18c 19c\n"
    "20a 21a 22a 23a 20c 21c 22c 23c\n"
    "24a 25a 26a 27a 24c 25c 26c 27c\n"
    "28a 29a 30a 31a 28c 29c 30c 31c\n"
    "0b 1b 2b 3b 0d 1d 2d 3d\n"
    "4b 5b 6b 7b 4d 5d 6d 7d\n"
    "8b 9b 10b 11b 8d 9d 10d 11d\n"
    "12b 13b 14b 15b 12d 13d 14d 15d\n"
    "16b 17b 18b 19b 16d 17d 18d 19d\n"
    "20b 21b 22b 23b 20d 21d 22d 23d\n"
    "24b 25b 26b 27b 24d 25d 26d 27d\n"
    "28b 29b 30b 31b 28d 29d 30d 31d\n";

// B of m16n8k8 with tf32: 8 x 8.
static const char b_of_tf32[] =
    "0a 4a 8a 12a 16a 20a 24a 28a\n"
    "1a 5a 9a 13a 17a 21a 25a 29a\n"
    "2a 6a 10a 14a 18a 22a 26a 30a\n"
    "3a 7a 11a 15a 19a 23a 27a 31a\n"
    "0b 4b 8b 12b 16b 20b 24b 28b\n"
    "1b 5b 9b 13b 17b 21b 25b 29b\n"
    "2b 6b 10b 14b 18b 22b 26b 30b\n"
    "3b 7b 11b 15b 19b 23b 27b 31b\n";

// A of m16n8k16 with f16 or bf16: 16 x 16.
static const char a_of_16[] =
    "0a 0b 1a 1b 2a 2b 3a 3b 0e 0f 1e 1f 2e 2f 3e 3f\n"
    "4a 4b 5a 5b 6a 6b 7a 7b 4e 4f 5e 5f 6e 6f 7e 7f\n"
    "8a 8b 9a 9b 10a 10b 11a 11b 8e 8f 9e 9f 10e 10f 11e 11f\n"
    "12a 12b 13a 13b 14a 14b 15a 15b 12e 12f 13e 13f 14e 14f 15e 15f\n"
    "16a 16b 17a 17b 18a 18b 19a 19b 16e 16f 17e 17f 18e 18f 19e 19f\n"
    "20a 20b 21a 21b 22a 22b 23a 23b 20e 20f 21e 21f 22e 22f 23e 23f\n"
    "24a 24b 25a 25b 26a 26b 27a 27b 24e 24f 25e 25f 26e 26f 27e 27f\n"
    "28a 28b 29a 29b 30a 30b 31a 31b 28e 28f 29e 29f 30e 30f 31e 31f\n"
    "0c 0d 1c 1d 2c 2d 3c 3d 0g 0h 1g 1h 2g 2h 3g 3h\n"
    "4c 4d 5c 5d 6c 6d 7c 7d 4g 4h 5g 5h 6g 6h 7g 7h\n"
    "8c 8d 9c 9d 10c 10d 11c 11d 8g 8h 9g 9h 10g 10h 11g 11h\n"
    "12c 12d 13c 13d 14c 14d 15c 15d 12g 12h 13g 13h 14g 14h 15g 15h\n"
    "16c 16d 17c 17d 18c 18d 19c 19d 16g 16h 17g 17h 18g 18h 19g 19h\n"
    "20c 20d 21c 21d 22c 22d 23c 23d 20g 20h 21g 21h 22g 22h 23g 23h\n"
    "24c 24d 25c 25d 26c 26d 27c 27d 24g 24h 25g 25h 26g 26h 27g 27h\n"
    "28c 28d 29c 29d 30c 30d 31c 31d 28g 28h 29g 29h 30g 30h 31g 31h\n";

// B of m16n8k16 with f16 or bf16: 16 x 8.
static const char b_of_16[] =
    "0a 4a 8a 12a 16a 20a 24a 28a\n"
    "0b 4b 8b 12b 16b 20b 24b 28b\n"
    "1a 5a 9a 13a 17a 21a 25a 29a\n"
    "1b 5b 9b 13b 17b 21b 25b 29b\n"
    "2a 6a 10a 14a 18a 22a 26a 30a\n"
    "2b 6b 10b 14b 18b 22b 26b 30b\n"
    "3a 7a 11a 15a 19a 23a 27a 31a\n"
    "3b 7b 11b 15b 19b 23b 27b 31b\n"
    "0c 4c 8c 12c 16c 20c 24c 28c\n"
    "0d 4d 8d 12d 16d 20d 24d 28d\n"
    "1c 5c 9c 13c 17c 21c 25c 29c\n"
    "1d 5d 9d 13d 17d 21d 25d 29d\n"
    "2c 6c 10c 14c 18c 22c 26c 30c\n"
    "2d 6d 10d 14d 18d 22d 26d 30d\n"
    "3c 7c 11c 15c 19c 23c 27c 31c\n"
    "3d 7d 11d 15d 19d 23d 27d 31d\n";

// C and D of both, of f32: 16 x 8.
static const char sums_of_both[] =
    "0a 0b 1a 1b 2a 2b 3a 3b\n"
    "4a 4b 5a 5b 6a 6b 7a 7b\n"
    "8a 8b 9a 9b 10a 10b 11a 11b\n"
    "12a 12b 13a 13b 14a 14b 15a 15b\n"
    "16a 16b 17a 17b 18a 18b 19a 19b\n"
    "20a 20b 21a 21b 22a 22b 23a 23b\n"
    "24a 24b 25a 25b 26a 26b 27a 27b\n"
    "28a 28b 29a 29b 30a 30b 31a 31b\n"
    "0c 0d 1c 1d 2c 2d 3c 3d\n"
    "4c 4d 5c 5d 6c 6d 7c 7d\n"
    "8c 8d 9c 9d 10c 10d 11c 11d\n"
    "12c 12d 13c 13d 14c 14d 15c 15d\n"
    "16c 16d 17c 17d 18c 18d 19c 19d\n"
    "20c 20d 21c 21d 22c 22d 23c 23d\n"
    "24c 24d 25c 25d 26c 26d 27c 27d\n"
    "28c 28d 29c 29d 30c 30d 31c 31d\n";

// The result of ldmatrix for one matrix of 8 x 8 elements of 16 bits,
static const char of_matrix[] =
    "0a 0b 1a 1b 2a 2b 3a 3b\n"
    "4a 4b 5a 5b 6a 6b 7a 7b\n"
    "8a 8b 9a 9b 10a 10b 11a 11b\n"
    "12a 12b 13a 13b 14a 14b 15a 15b\n"
    "16a 16b 17a 17b 18a 18b 19a 19b\n"
    "20a 20b 21a 21b 22a 22b 23a 23b\n"
    "24a 24b 25a 25b 26a 26b 27a 27b\n"
    "28a 28b 29a 29b 30a 30b 31a 31b\n";

// and with .trans.
static const char of_turned_matrix[] =
    "0a 4a 8a 12a 16a 20a 24a 28a\n"
    "0b 4b 8b 12b 16b 20b 24b 28b\n"
    "1a 5a 9a 13a 17a 21a 25a 29a\n"
    "1b 5b 9b 13b 17b 21b 25b 29b\n"
    "2a 6a 10a 14a 18a 22a 26a 30a\n"
    "2b 6b 10b 14b 18b 22b 26b 30b\n"
    "3a 7a 11a 15a 19a 23a 27a 31a\n"
    "3b 7b 11b 15b 19b 23b 27b 31b\n";

#endif
