# Run by cpack in the tree of the package: adds the changelog, and compresses it
# and manual pages as Debian's policy demands.
set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
execute_process(COMMAND date --utc -R -d ${CPACK_CNNC_RELEASED} OUTPUT_VARIABLE date
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${tree}/doc/cnnc/changelog.Debian
"cnnc (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB pages ${tree}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${tree}/doc/cnnc/changelog.Debian ${pages}
    COMMAND_ERROR_IS_FATAL ANY)
