# Writes the header with the commit that is built, if that has changed since: run at every build.
#
#     cmake -DSOURCE=<repository> -DHEADER=<file> -P commit.cmake
execute_process(COMMAND git -C "${SOURCE}" rev-parse --show-toplevel
  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
set(commit "")
file(REAL_PATH "${SOURCE}" source)
# Sources unpacked within some other repository are of no commit of that one.
if(NOT failed AND top STREQUAL source)
  execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty=.modified --exclude=* --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "#define SALTUS_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" old)
endif()
if(NOT text STREQUAL old)
  file(WRITE "${HEADER}" "${text}")
endif()
