# perfc.wasm: the modules behind a few functions that the page's worker calls.
add_executable(perfc_web web/entry.cpp web/words.cpp web/system/input_file.cpp web/system/thread_exit.cpp)
target_compile_definitions(perfc_web PRIVATE PERFC_VERSION="${PROJECT_VERSION}")
target_link_libraries(perfc_web PRIVATE perfc_options perfc_html perfc_learning perfc_pipeline perfc_frontends
                      perfc_libcxx)
set_target_properties(perfc_web PROPERTIES OUTPUT_NAME perfc SUFFIX .wasm
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_CXX_LINK_EXECUTABLE
    "${PERFC_WEB_TOOLS}/link -mexec-model=reactor -s -Wl,-z,stack-size=4194304 <OBJECTS> -o <TARGET> <LINK_LIBRARIES>"
)
