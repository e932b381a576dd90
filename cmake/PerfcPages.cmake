# Run at install time, by the program that is installed: manual pages and completions, from the tables behind --help.
# Dates are SOURCE_DATE_EPOCH's where it is set.
#   PERFC: the program. MANDIR: below the prefix. WORK: a folder of the build.
string(TIMESTAMP day "%Y-%m-%d" UTC)
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${PERFC} man --all ${WORK} --date ${day} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB pages ${WORK}/*.1)
find_program(GZIP gzip)
if(GZIP)
  execute_process(COMMAND ${GZIP} -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
  list(TRANSFORM pages APPEND .gz)
endif()
file(INSTALL ${pages} DESTINATION ${CMAKE_INSTALL_PREFIX}/${MANDIR}/man1)

# zsh looks for the files of /usr/share's packages and of everybody else in different folders.
set(zsh zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh zsh/vendor-completions)
endif()
foreach(place bash:bash-completion/completions/perfc zsh:${zsh}/_perfc fish:fish/vendor_completions.d/perfc.fish)
  string(REPLACE ":" ";" place ${place})
  list(GET place 0 shell)
  list(GET place 1 place)
  get_filename_component(folder ${place} DIRECTORY)
  get_filename_component(file ${place} NAME)
  execute_process(COMMAND ${PERFC} completion ${shell} OUTPUT_FILE ${WORK}/${file} COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL ${WORK}/${file} DESTINATION ${CMAKE_INSTALL_PREFIX}/share/${folder})
endforeach()
