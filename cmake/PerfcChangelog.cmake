# Run at install time: the changelogs that a Debian package has, its own and perfc's, in DOCDIR.
# The date is SOURCE_DATE_EPOCH's where it is set.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${DOCDIR}/changelog.Debian
     "perfc (${VERSION}) unstable; urgency=medium\n\n  * What is new is in changelog.gz.\n\n"
     " -- ${MAINTAINER}  ${now}\n")
configure_file(${CHANGELOG} ${DOCDIR}/changelog COPYONLY)
execute_process(COMMAND gzip -9nf ${DOCDIR}/changelog.Debian ${DOCDIR}/changelog COMMAND_ERROR_IS_FATAL ANY)
