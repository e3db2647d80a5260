# SPDX-License-Identifier: Apache-2.0
# `cpack` in a build folder makes a package for the Debian release that it runs on:
# bcc-gotools_VERSION_ARCHITECTURE.deb. Tools stand in sbin, and their pages and completions beside
# them, with the names that Debian gives to bcc's (gofunccount-bpfcc); in bcc's own place,
# share/bcc/tools, are links to them, the recipes and the examples.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_VENDOR bcc-gotools)
# who makes it, as Debian's own programs take it from the environment
set(CPACK_PACKAGE_CONTACT "bcc-gotools <root@localhost>")
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "bcc-gotools <$ENV{DEBEMAIL}>")
endif()
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};bcc-gotools;tools;/"
                                 "${CMAKE_BINARY_DIR};bcc-gotools;debian;/")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libbpfcc) # loaded, not linked: shlibdeps does not see it
set(CPACK_DEBIAN_PACKAGE_SUGGESTS bpfcc-tools)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trace running Go programs by eBPF, without a restart")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Tools for bcc that count and time calls of Go functions, print them with
 typed arguments, results and stacks, and show what waits for a processor.
 They use uprobes and eBPF: programs are neither rebuilt nor restarted,
 stripped programs are fine, and kernel headers are not needed.")

# compiled programs are the tools' own to write; nobody else knows of them
file(WRITE ${CMAKE_BINARY_DIR}/postrm "#!/bin/sh
set -e
[ \"$1\" != purge ] || rm -rf /var/cache/bcc-gotools/programs
rmdir --ignore-fail-on-non-empty /var/cache/bcc-gotools 2>/dev/null || true
")
file(CHMOD ${CMAKE_BINARY_DIR}/postrm PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
     GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/postrm)

configure_file(tools/package_install.cmake.in package_install.cmake @ONLY)
install(SCRIPT ${CMAKE_BINARY_DIR}/package_install.cmake COMPONENT debian EXCLUDE_FROM_ALL)
include(CPack)
