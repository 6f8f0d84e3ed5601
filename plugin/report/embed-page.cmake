# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sets REPORT_PAGE to the source that holds the report's page. The chart library in it is dygraphs 2.2, of Debian's package libjs-dygraphs; on
# other systems PCQ_DYGRAPHS, a variable of CMake or of the environment, names its dygraph.min.js. Its licence lies beside it or one folder above.
# Without both the plugin is built without the report.

if(DEFINED ENV{PCQ_DYGRAPHS})
    set(PCQ_DYGRAPHS "$ENV{PCQ_DYGRAPHS}" CACHE FILEPATH "Chart library of the report")
endif()
find_file(PCQ_DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
    DOC "Chart library of the report")
get_filename_component(library_folder "${PCQ_DYGRAPHS}" DIRECTORY)
find_file(PCQ_DYGRAPHS_LICENCE NAMES LICENSE.txt copyright PATHS "${library_folder}" "${library_folder}/.." /usr/share/doc/libjs-dygraphs
    NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "Licence of the chart library")
set(REPORT_PAGE "${CMAKE_CURRENT_BINARY_DIR}/report-page.c")
set(chart_library "")
if(EXISTS "${PCQ_DYGRAPHS}" AND EXISTS "${PCQ_DYGRAPHS_LICENCE}")
    set(chart_library "${PCQ_DYGRAPHS}")
else()
    message(WARNING "Without the package libjs-dygraphs (dygraph.min.js and its licence): building without the report, -z pcq,report.")
endif()
set(page_files page.html page.css base.js counters.js chart.js page.js embed.cmake)
list(TRANSFORM page_files PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
add_custom_command(
    OUTPUT "${REPORT_PAGE}"
    COMMAND ${CMAKE_COMMAND} "-DPAGES=${CMAKE_CURRENT_LIST_DIR}" "-DLIBRARY=${chart_library}" "-DLICENCE=${PCQ_DYGRAPHS_LICENCE}"
        "-DOUT=${REPORT_PAGE}" -P "${CMAKE_CURRENT_LIST_DIR}/embed.cmake"
    DEPENDS ${page_files} ${chart_library}
    VERBATIM)
