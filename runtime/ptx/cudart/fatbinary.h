// The device code in a program that nvcc has compiled.
#ifndef CNNC_PTX_FATBINARY_H
#define CNNC_PTX_FATBINARY_H

#include <string>

namespace ptx {

// Returns the PTX that __cudaRegisterFatBinary's argument leads to; of several
// the one for the latest GPU.  Throws std::runtime_error with advice if there
// is none, or if it is compressed.
std::string ptx_of_fatbinary(const void *wrapper);

}

#endif
