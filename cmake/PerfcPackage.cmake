# cpack -G DEB: one package for Debian 12, Ubuntu 24.04 and what comes after them: docs/install.md.
#
# Libraries whose soname or package differs between these come along in lib/perfc/private; the
# others are dependencies that dpkg-shlibdeps finds. Components: `program` is what `cmake --install` installs as well,
# `package` what only a package has; `development` (headers, archives, the MPI program) is not in it.
set(PERFC_MAINTAINER "perfc maintainers <maintainers@users.noreply.perfc.example>" CACHE STRING "Of the .deb")
set(PERFC_HOMEPAGE "" CACHE STRING "Of the .deb: the sources know of none")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

# Where the program looks for them; without /proc, as in a bare chroot, there is no $ORIGIN.
set_target_properties(perfc_cli perfc_serve PROPERTIES
  INSTALL_RPATH "\$ORIGIN/../lib/perfc/private;/usr/lib/perfc/private")
set(private_libs "${HTTPLIB}")
foreach(library mimalloc yaml-cpp tinyxml2::tinyxml2 fmt::fmt simdjson::simdjson protobuf::libprotobuf-lite)
  if(TARGET ${library})
    list(APPEND private_libs "$<TARGET_FILE:${library}>")
  endif()
endforeach()
install(CODE "set(LIBRARIES \"${private_libs}\")
  set(D3_LICENCE \"${D3_LICENCE}\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/PerfcPrivateLibs.cmake\")" COMPONENT package EXCLUDE_FROM_ALL)
install(CODE "set(PERFC \"$<TARGET_FILE:perfc_cli>\")
  set(MANDIR \"${CMAKE_INSTALL_MANDIR}\")
  set(WORK \"${PROJECT_BINARY_DIR}/pages\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/PerfcPages.cmake\")" COMPONENT program)
install(CODE "set(DOCDIR \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/doc/perfc\")
  set(VERSION \"${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}\")
  set(MAINTAINER \"${PERFC_MAINTAINER}\")
  set(CHANGELOG \"${PROJECT_SOURCE_DIR}/CHANGELOG.md\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/PerfcChangelog.cmake\")" COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright DESTINATION share/doc/perfc COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/lintian-overrides DESTINATION share/lintian/overrides RENAME perfc
        COMPONENT package EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME perfc)
set(CPACK_PACKAGE_CONTACT "${PERFC_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "latency, memory, energy and MIG slice of deep-learning models")
set(CPACK_PACKAGE_DESCRIPTION "Predicts, from a model's file alone, how long a deep-learning model runs on a
device, how much memory and energy it takes, and which MIG slice is right for
it: no GPU, no Python, no weights, in milliseconds. Reads ONNX, PyTorch, JAX,
TensorFlow, Keras, OpenVINO and PaddlePaddle; compares versions of a model,
holds models against budgets in CI, and plans MIG slices for many models.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program package)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${PERFC_HOMEPAGE}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
