# perfc_module(NAME [DEPS module…] [LIBS target…] [PROGRAM_SOURCES file…])
#
# A module is a folder: every .cpp below it is compiled into perfc_NAME, which
# may include the headers of its DEPS and nothing else of ours.
# tests/layering_test.py holds the includes against these lines.
# PROGRAM_SOURCES, below the folder, are left to perfc_program: the others become perfc_NAME_sources, which
# programs share and which is not installed.
#
# A build that has no use for a module says so in PERFC_OMITTED_MODULES, and has sources of its own in place of
# PERFC_OMITTED_SOURCES: web/dependencies.cmake does.
#
# Sources are compiled several at a time (UNITY_BUILD): most of a file's time goes into headers that
# its neighbours need too. So names in anonymous namespaces are unique within a module.
function(perfc_module NAME)
  cmake_parse_arguments(M "" "" "DEPS;LIBS;PROGRAM_SOURCES" ${ARGN})
  if(NAME IN_LIST PERFC_OMITTED_MODULES)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${NAME}/*.cpp)
  list(REMOVE_ITEM sources ${PERFC_OMITTED_SOURCES})
  if(NOT sources)
    message(STATUS "module ${NAME} has no sources yet")
    return()
  endif()
  set(target perfc_${NAME})
  if(M_PROGRAM_SOURCES)
    list(TRANSFORM M_PROGRAM_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/${NAME}/)
    list(REMOVE_ITEM sources ${M_PROGRAM_SOURCES})
    set(target perfc_${NAME}_sources)
    add_library(${target} STATIC ${sources})
    target_compile_definitions(${target} PRIVATE PERFC_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${target} PUBLIC ${M_LIBS})
  else()
    add_library(perfc_${NAME} STATIC ${sources})
    add_library(perfc::${NAME} ALIAS perfc_${NAME})
    target_include_directories(perfc_${NAME} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/perfc>)
    target_link_libraries(perfc_${NAME} PUBLIC ${M_LIBS})
    set_target_properties(perfc_${NAME} PROPERTIES EXPORT_NAME ${NAME} POSITION_INDEPENDENT_CODE ON)
    set_property(GLOBAL APPEND PROPERTY PERFC_LIBRARIES perfc_${NAME})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  foreach(dep ${M_DEPS})
    if(TARGET perfc_${dep})
      target_link_libraries(${target} PUBLIC perfc_${dep})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PERFC_MODULES ${NAME})
endfunction()

# perfc_program(TARGET PROGRAM MODULE source…): PROGRAM, of the MODULE's sources and those that are its own.
function(perfc_program TARGET PROGRAM MODULE)
  add_executable(${TARGET} ${ARGN})
  set_target_properties(${TARGET} PROPERTIES OUTPUT_NAME ${PROGRAM} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(${TARGET} PRIVATE perfc_${MODULE}_sources)
endfunction()
