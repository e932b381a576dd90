# What the modules link, for WebAssembly: headers of Debian's packages out of PERFC_WEB_INCLUDE, which web/build fills,
# and libraries of Debian's source packages in PERFC_WEB_SOURCES. Targets have the names that find_package gives them.
enable_language(C)
set(sources ${PERFC_WEB_SOURCES})
function(perfc_web_headers NAME)
  add_library(${NAME} INTERFACE IMPORTED)
  target_include_directories(${NAME} SYSTEM INTERFACE ${PERFC_WEB_INCLUDE} ${ARGN})
endfunction()
perfc_web_headers(Boost::headers)
perfc_web_headers(Eigen3::Eigen ${PERFC_WEB_INCLUDE}/eigen3)
perfc_web_headers(nlohmann_json::nlohmann_json)
perfc_web_headers(tsl::robin_map)
perfc_web_headers(fmt::fmt)
set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)

function(perfc_web_library NAME TARGET INCLUDE)
  add_library(${TARGET} STATIC ${ARGN})
  add_library(${NAME} ALIAS ${TARGET})
  target_include_directories(${TARGET} SYSTEM PUBLIC ${INCLUDE})
  target_compile_options(${TARGET} PRIVATE -w)
endfunction()
perfc_web_library(tinyxml2::tinyxml2 web_tinyxml2 ${sources}/tinyxml2 ${sources}/tinyxml2/tinyxml2.cpp)
perfc_web_library(simdjson::simdjson web_simdjson ${sources}/simdjson/singleheader
                  ${sources}/simdjson/singleheader/simdjson.cpp)
set(inflate adler32 crc32 inffast inflate inftrees zutil)
list(TRANSFORM inflate REPLACE "(.+)" "${sources}/zlib/\\1.c")
perfc_web_library(ZLIB::ZLIB web_zlib ${sources}/zlib ${inflate})

include(web/libcxx.cmake)
# Writing ONNX, profiles, comparisons and the command line are the programs' own.
set(PERFC_OMITTED_MODULES backends counters compare sweep cli)
# What talks to the operating system (web/system has it for WASI), what trains, and what reads profiles.
set(PERFC_OMITTED_SOURCES ir/support/mapping.cpp ir/support/input_file.cpp ir/support/output_file.cpp
    frontends/common/wire.cpp pipeline/profile.cpp pipeline/counter_weights.cpp learning/predictors.cpp)
list(TRANSFORM PERFC_OMITTED_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
