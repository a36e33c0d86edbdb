# Finds the programs and libraries without which no test can be configured.  Sets
# CMOCKA, FILECHECK, LIT and PYTHON3, and lists in missing_packages the Debian
# packages of those that are not found.
set(missing_packages)
function(need variable package)
    if(NOT ${variable})
        list(APPEND missing_packages ${package})
        list(REMOVE_DUPLICATES missing_packages)
        set(missing_packages "${missing_packages}" PARENT_SCOPE)
    endif()
endfunction()

find_library(CMOCKA cmocka)
need(CMOCKA libcmocka-dev)
find_program(FILECHECK NAMES FileCheck FileCheck-14 HINTS /usr/lib/llvm-14/bin)
need(FILECHECK llvm-14-tools)
find_file(LIT lit.py PATHS /usr/lib/llvm-14/build/utils/lit NO_DEFAULT_PATH)
need(LIT llvm-14-tools)
find_program(PYTHON3 python3)
need(PYTHON3 python3)
