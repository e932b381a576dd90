# cmake --install: the program with its manual pages and completions, the libraries, the headers by module, and a
# package so that find_package(perfc) gives perfc::learning (every predictor) and the modules below it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY PERFC_LIBRARIES)
get_property(modules GLOBAL PROPERTY PERFC_MODULES)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/perfc)

install(TARGETS ${libraries} EXPORT perfcTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TARGET perfc_cli)
  install(TARGETS perfc_cli perfc_serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
if(TARGET perfc_mpi)
  install(TARGETS perfc_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development OPTIONAL)  # if built
endif()
list(REMOVE_ITEM modules cli)
foreach(module ${modules})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/perfc
          COMPONENT development FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

install(EXPORT perfcTargets NAMESPACE perfc:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/perfcConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/perfcConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/perfcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perfcConfig.cmake ${PROJECT_BINARY_DIR}/perfcConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)
if(TARGET perfc_cli)
  include(cmake/PerfcPackage.cmake)
endif()
