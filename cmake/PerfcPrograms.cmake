# What is linked on the machine it is built for: the programs, and the messages of ONNX that they write.
# Messages of ONNX, as libonnx-dev describes them, for protobuf's lite runtime: the library of that package registers
# descriptors at every start of the program, which takes as long as a small model does.
set(onnx_messages ${PROJECT_BINARY_DIR}/generated/onnx.pb)
add_custom_command(OUTPUT ${onnx_messages}.cc ${onnx_messages}.h DEPENDS ${ONNX_PROTO_DIR}/onnx.proto
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
  COMMAND protobuf::protoc -I${ONNX_PROTO_DIR} --cpp_out=lite:${PROJECT_BINARY_DIR}/generated onnx.proto VERBATIM)
set_source_files_properties(${onnx_messages}.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -w)
target_sources(perfc_backends PRIVATE ${onnx_messages}.cc)
target_include_directories(perfc_backends SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/generated)
perfc_program(perfc_cli perfc cli cli/allocator.cpp cli/ranks.cpp cli/serve/start.cpp)
# `perfc serve` becomes perfc-serve, for cpp-httplib brings OpenSSL and Brotli: loading them takes as long as perfc
# itself does.
perfc_program(perfc_serve perfc-serve cli cli/allocator.cpp cli/ranks.cpp cli/serve/connection.cpp cli/serve/http.cpp
  cli/serve/no_files.cpp)
target_include_directories(perfc_serve SYSTEM PRIVATE ${HTTPLIB_DIR})
# As the library was compiled (cpp-httplib.pc): its classes have other members without.
target_compile_definitions(perfc_serve PRIVATE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT
  CPPHTTPLIB_BROTLI_SUPPORT)
target_link_libraries(perfc_serve PRIVATE ${HTTPLIB})
add_dependencies(perfc_cli perfc_serve)
if(NOT PERFC_SANITIZE)  # sanitizers bring their own allocator
  find_package(mimalloc REQUIRED)
  foreach(program perfc_cli perfc_serve)
    target_compile_definitions(${program} PRIVATE PERFC_MIMALLOC)
    target_link_libraries(${program} PRIVATE mimalloc)
  endforeach()
endif()
# Under mpirun `perfc train` and `perfc sweep` become perfc-mpi.
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  perfc_program(perfc_mpi perfc-mpi cli cli/ranks_mpi.cpp cli/serve/start.cpp)
  target_link_libraries(perfc_mpi PRIVATE MPI::MPI_CXX)
else()
  message(STATUS "no MPI: training and sweeps run in one process")
endif()
