# perfc_module(NAME [DEPS module…] [LIBS target…] [EXECUTABLE program])
#
# A module is a folder: every .cpp below it is compiled into perfc_NAME, which
# may include the headers of its DEPS and nothing else of ours.
# tests/layering_test.py holds the includes against these lines.
#
# Sources are compiled several at a time (UNITY_BUILD): most of a file's time goes into headers that
# its neighbours need too. So names in anonymous namespaces are unique within a module.
function(perfc_module NAME)
  cmake_parse_arguments(M "" "EXECUTABLE" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${NAME}/*.cpp)
  if(NOT sources)
    message(STATUS "module ${NAME} has no sources yet")
    return()
  endif()
  if(M_EXECUTABLE)
    add_executable(perfc_${NAME} ${sources})
    set_target_properties(perfc_${NAME} PROPERTIES OUTPUT_NAME ${M_EXECUTABLE}
                          RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_compile_definitions(perfc_${NAME} PRIVATE PERFC_VERSION="${PROJECT_VERSION}")
    target_link_libraries(perfc_${NAME} PRIVATE ${M_LIBS})
    set(scope PRIVATE)
  else()
    add_library(perfc_${NAME} STATIC ${sources})
    add_library(perfc::${NAME} ALIAS perfc_${NAME})
    target_include_directories(perfc_${NAME} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/perfc>)
    target_link_libraries(perfc_${NAME} PUBLIC ${M_LIBS})
    set_target_properties(perfc_${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    set_target_properties(perfc_${NAME} PROPERTIES EXPORT_NAME ${NAME} POSITION_INDEPENDENT_CODE ON)
    set_property(GLOBAL APPEND PROPERTY PERFC_LIBRARIES perfc_${NAME})
    set(scope PUBLIC)
  endif()
  foreach(dep ${M_DEPS})
    if(TARGET perfc_${dep})
      target_link_libraries(perfc_${NAME} ${scope} perfc_${dep})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PERFC_MODULES ${NAME})
endfunction()
