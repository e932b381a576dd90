# C++'s library with exceptions, of the sources that `ziglang` ships: what it builds itself has none on WebAssembly.
# The settings are in PERFC_WEB_TOOLS/c++, for they are seen by every source.
set(lib ${PERFC_WEB_LIB})
file(GLOB libcxx_sources ${lib}/libcxx/src/*.cpp ${lib}/libcxx/src/ryu/*.cpp ${lib}/libcxx/src/filesystem/*.cpp)
list(FILTER libcxx_sources EXCLUDE REGEX "/(strstream|random_shuffle|print|barrier|regex)\\.cpp$")
file(GLOB libcxxabi_sources ${lib}/libcxxabi/src/*.cpp)
list(FILTER libcxxabi_sources EXCLUDE REGEX "/cxa_(noexception|thread_atexit)\\.cpp$")
# The one place where a thrown C++ exception gets its name; newer wasm-ld expects somebody to say it.
file(WRITE ${PROJECT_BINARY_DIR}/exception_tag.c
  "__asm__(\".globl __cpp_exception\\n.tagtype __cpp_exception i32\\n__cpp_exception:\\n\");\n")
add_library(perfc_libcxx STATIC ${libcxx_sources} ${libcxxabi_sources} ${lib}/libunwind/src/Unwind-wasm.c
            ${PROJECT_BINARY_DIR}/exception_tag.c)
target_include_directories(perfc_libcxx PRIVATE ${lib}/libcxx/src ${lib}/libcxx/libc ${lib}/libcxxabi/include
                           ${lib}/libunwind/include)
target_compile_definitions(perfc_libcxx PRIVATE _LIBCPP_BUILDING_LIBRARY LIBCXX_BUILDING_LIBCXXABI
                           _LIBCXXABI_BUILDING_LIBRARY _LIBUNWIND_HIDE_SYMBOLS NDEBUG)
target_compile_options(perfc_libcxx PRIVATE -w)
set_target_properties(perfc_libcxx PROPERTIES CXX_STANDARD 23)
# musl's copy_file_range, which WASI's C library leaves out, is declared and never called: files are only read.
set_property(SOURCE ${lib}/libcxx/src/filesystem/operations.cpp APPEND PROPERTY COMPILE_OPTIONS
             "-include;${PROJECT_SOURCE_DIR}/web/system/copy_file_range.h")
