# The Debian package: cpack -G DEB, in a build folder.
#
# It has the installed files.  dpkg-shlibdeps finds its dependencies: the C
# library, and the libraries of images that cnnc-pack-images was linked with.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cnnc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "cnnc maintainers <maintainers@cnnc.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_VERBATIM_VARIABLES TRUE)

# Files without a component, and those of Debian's own places.
set(CPACK_INSTALL_CMAKE_PROJECTS ${CMAKE_BINARY_DIR} cnnc Unspecified /
    ${CMAKE_BINARY_DIR} cnnc debian /)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cnnc
    COMPONENT debian EXCLUDE_FROM_ALL)
# Debian's pkg-config looks in a folder of the architecture.
install_pc(lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig COMPONENT debian EXCLUDE_FROM_ALL)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
set(CPACK_CNNC_RELEASED ${released})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Revision 1 would be an upload to Debian, which closes a bug.
set(CPACK_DEBIAN_PACKAGE_RELEASE 0upstream1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nvidia-cuda-toolkit, cmake, pkg-config")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler of convolutional networks to CUDA C")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"cnnc compiles a convolutional network and its training into one standalone
CUDA C file.  The file has a training step, inference and a C99 interface.
All of it runs in one static arena, whose size is known to the byte before
anything runs.  A memory budget is an option of the compiler.
.
The package also has a runtime that runs these files on a CPU, a program that
packs folders of images for training, and files for CMake, pkg-config, shells
and editors.")
