# perfc_extension(FOLDER DEPS module…): perfc._perfc, the compiled part of the Python package, of the sources in
# FOLDER/extension; built where PERFC_PYTHON is on.
#
# CPython's stable ABI: one file serves every Python from 3.9 on. Of the libraries that it links no symbol is seen from
# outside, so that it can stand beside other extensions of any libraries.
function(perfc_extension FOLDER)
  if(NOT PERFC_PYTHON)
    return()
  endif()
  cmake_parse_arguments(M "" "" "DEPS" ${ARGN})
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/extension/*.cpp)
  add_library(perfc_python MODULE ${sources})
  target_include_directories(perfc_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
  target_compile_definitions(perfc_python PRIVATE PERFC_VERSION="${PROJECT_VERSION}")
  foreach(dep ${M_DEPS})
    target_link_libraries(perfc_python PRIVATE perfc_${dep})
  endforeach()
  target_link_options(perfc_python PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed)
  set_target_properties(perfc_python PROPERTIES OUTPUT_NAME _perfc PREFIX "" SUFFIX .abi3.so
    CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  install(TARGETS perfc_python LIBRARY DESTINATION perfc COMPONENT python EXCLUDE_FROM_ALL)
endfunction()
