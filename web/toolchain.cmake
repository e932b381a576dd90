# CMake's toolchain file for WebAssembly: clang, wasm-ld and a C library of PyPI's `ziglang`, through the two scripts
# that web/build writes into PERFC_WEB_TOOLS.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PERFC_WEB_TOOLS)
set(CMAKE_C_COMPILER ${PERFC_WEB_TOOLS}/cc)
set(CMAKE_CXX_COMPILER ${PERFC_WEB_TOOLS}/c++)
set(CMAKE_AR ${PERFC_WEB_TOOLS}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${PERFC_WEB_TOOLS}/ranlib CACHE FILEPATH "")
