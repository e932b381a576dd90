# perfc_embed(TARGET FILE NAMESPACE::VARIABLE HEADER): FILE's text as a
# std::string_view constant. String literals are cut into pieces that every
# compiler takes.
function(perfc_embed TARGET FILE VARIABLE HEADER)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FILE})
  file(READ ${FILE} text)
  string(LENGTH "${text}" length)
  set(body "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND body "R\"~~~(${piece})~~~\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  get_filename_component(stem ${FILE} NAME_WE)
  set(source ${PROJECT_BINARY_DIR}/embedded/${stem}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
       "#include \"${HEADER}\"\n\nnamespace perfc {\nconst std::string_view ${VARIABLE} =\n${body};\n}\n")
  target_sources(${TARGET} PRIVATE ${source})
endfunction()
