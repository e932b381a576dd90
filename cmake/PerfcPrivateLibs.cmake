# (Right below lib/perfc cpack would run ldconfig.) Run at install time: LIBRARIES under their sonames into lib/perfc/private, the licences of the Debian packages that
# they are from beside the package's own.
foreach(library ${LIBRARIES})
  get_filename_component(library "${library}" REALPATH)
  execute_process(COMMAND objdump -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
  if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} has no soname")
  endif()
  file(INSTALL ${library} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/perfc/private RENAME ${CMAKE_MATCH_1}
       PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  execute_process(COMMAND dpkg-query -S ${library} OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE ":.*" "" owner "${owner}")
  file(INSTALL /usr/share/doc/${owner}/copyright DESTINATION ${CMAKE_INSTALL_PREFIX}/share/doc/perfc/third-party RENAME ${owner})
endforeach()
file(INSTALL ${D3_LICENCE} DESTINATION ${CMAKE_INSTALL_PREFIX}/share/doc/perfc/third-party RENAME libjs-d3)
