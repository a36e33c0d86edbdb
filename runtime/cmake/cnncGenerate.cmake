# cnnc_generate(TARGET t NETS a.cnn b.cnn [PREFIX p] [OPTIONS --batch 8 ...] [HOST])
#
# Compiles each net into <name>.cu and <name>.h, named after its file, in the build
# tree, and adds them to target t.  Target t and the targets that link to it may then
# #include "<name>.h".  If the project has the language CUDA, nvcc compiles them and t
# links to cuBLAS.  Otherwise, or with HOST, they are C++ and run on the CPU, through
# cnnc::host.
#
# They are rebuilt if a net, a file that it includes or cnnc changes.  OPTIONS are
# those of cnnc, for all of NETS; other options need another call.  With PREFIX the
# files are p.cu and p.h, and symbols begin with p_, so that one target can have one
# net several times.  Call it in the directory that created t.

function(cnnc_generate)
    cmake_parse_arguments(PARSE_ARGV 0 arg "HOST" "TARGET;PREFIX" "NETS;OPTIONS")
    _cnnc_check_call()
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(host ${arg_HOST})
    if(NOT "CUDA" IN_LIST languages)
        set(host TRUE)
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/cnnc/${arg_TARGET})
    file(MAKE_DIRECTORY ${folder})
    foreach(net IN LISTS arg_NETS)
        _cnnc_add_net(${net})
    endforeach()
    set_property(TARGET ${arg_TARGET} APPEND PROPERTY _cnnc_emitted ${emitted})
    target_include_directories(${arg_TARGET} PUBLIC
        $<BUILD_INTERFACE:${folder}>)
    if(host)
        _cnnc_for_host()
    else()
        _cnnc_for_cuda()
    endif()
endfunction()

# The macros below are parts of cnnc_generate and share its variables.

macro(_cnnc_check_call)
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "cnnc_generate does not know "
            "'${arg_UNPARSED_ARGUMENTS}'; it takes TARGET, NETS, PREFIX, OPTIONS, HOST")
    endif()
    if(NOT arg_TARGET OR NOT arg_NETS)
        message(FATAL_ERROR "cnnc_generate needs TARGET and NETS, as in "
            "cnnc_generate(TARGET app NETS net.cnn)")
    endif()
    if(NOT TARGET ${arg_TARGET})
        message(FATAL_ERROR "cnnc_generate: there is no target "
            "'${arg_TARGET}'; add_executable or add_library must come first")
    endif()
    list(LENGTH arg_NETS net_count)
    if(arg_PREFIX AND net_count GREATER 1)
        message(FATAL_ERROR "cnnc_generate: PREFIX ${arg_PREFIX} is for one net, "
            "and NETS has ${net_count}")
    endif()
    get_target_property(made_in ${arg_TARGET} SOURCE_DIR)
    if(NOT made_in STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        message(FATAL_ERROR "cnnc_generate: target '${arg_TARGET}' was made in "
            "${made_in}; call it there")
    endif()
endmacro()

# Each target has its own folder, so that two targets can have one net with
# different options.
macro(_cnnc_add_net net)
    get_filename_component(path ${net} ABSOLUTE)
    get_filename_component(name ${net} NAME_WLE)
    set(prefix)
    if(arg_PREFIX)
        set(name ${arg_PREFIX})
        set(prefix --prefix ${arg_PREFIX})
    endif()
    set(output ${folder}/${name})
    if(NOT EXISTS ${path})
        message(FATAL_ERROR "cnnc_generate: there is no file ${path}")
    endif()
    get_target_property(before ${arg_TARGET} _cnnc_emitted)
    if("${output}.cu" IN_LIST emitted OR "${output}.cu" IN_LIST before)
        message(FATAL_ERROR "cnnc_generate: two nets of target "
            "'${arg_TARGET}' are called ${name}; PREFIX gives one another name")
    endif()
    add_custom_command(OUTPUT ${output}.cu ${output}.h
        COMMAND cnnc::cnnc ${arg_OPTIONS} ${prefix} ${path} -o ${output}.cu
            --header ${output}.h -MD -MF ${output}.d
        MAIN_DEPENDENCY ${path} DEPENDS cnnc::cnnc DEPFILE ${output}.d
        COMMENT "Compiling the net ${name}" VERBATIM)
    target_sources(${arg_TARGET} PRIVATE ${output}.cu ${output}.h)
    list(APPEND emitted ${output}.cu)
endmacro()

# Compilers do not take a file .cu for C++ by themselves.
macro(_cnnc_for_host)
    if(NOT "CXX" IN_LIST languages)
        message(FATAL_ERROR "cnnc_generate: emitted files are C++ here; add "
            "CXX to the languages of project()")
    endif()
    set_source_files_properties(${emitted} PROPERTIES LANGUAGE CXX
        COMPILE_OPTIONS "-xc++")
    set_target_properties(${arg_TARGET} PROPERTIES LINKER_LANGUAGE CXX)
    target_compile_features(${arg_TARGET} PRIVATE cxx_std_17)
    target_link_libraries(${arg_TARGET} PUBLIC cnnc::host)
endmacro()

# Sets -fmad=false, as the build line of emitted files does.  Without it nvcc fuses
# products and sums at will, and the last bits depend on passes and budgets.
macro(_cnnc_for_cuda)
    find_package(CUDAToolkit REQUIRED)
    set_source_files_properties(${emitted} PROPERTIES LANGUAGE CUDA
        COMPILE_OPTIONS "-fmad=false")
    target_compile_features(${arg_TARGET} PRIVATE cuda_std_17)
    target_link_libraries(${arg_TARGET} PUBLIC CUDA::toolkit CUDA::cublas)
endmacro()
