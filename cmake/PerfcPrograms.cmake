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
perfc_program(perfc_cli perfc cli cli/allocator.cpp cli/ranks.cpp)
if(NOT PERFC_SANITIZE)  # sanitizers bring their own allocator
  find_package(mimalloc REQUIRED)
  target_compile_definitions(perfc_cli PRIVATE PERFC_MIMALLOC)
  target_link_libraries(perfc_cli PRIVATE mimalloc)
endif()
# Under mpirun `perfc train` becomes perfc-mpi.
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)
if(MPI_CXX_FOUND)
  perfc_program(perfc_mpi perfc-mpi cli cli/ranks_mpi.cpp)
  target_link_libraries(perfc_mpi PRIVATE MPI::MPI_CXX)
else()
  message(STATUS "no MPI: training runs in one process")
endif()
