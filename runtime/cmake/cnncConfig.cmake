# find_package(cnnc CONFIG REQUIRED): the compiler as cnnc::cnnc, CUDA on a CPU as
# cnnc::host, and cnnc_generate, which adds nets to a target.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/cnncTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/cnncGenerate.cmake)
