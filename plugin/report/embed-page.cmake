# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sets REPORT_PAGE to the source that has the report's page in it. PCQ_UPLOT is the folder of the npm package uplot, which draws its charts: npm
# pack uplot, and unpack it. Without it the plugin is built without the report.

set(PCQ_UPLOT "$ENV{PCQ_UPLOT}" CACHE PATH "Folder of the npm package uplot")
set(REPORT_PAGE "${CMAKE_CURRENT_BINARY_DIR}/report-page.c")
if(EXISTS "${PCQ_UPLOT}/dist/uPlot.iife.min.js")
    set(chart_library "${PCQ_UPLOT}")
else()
    set(chart_library "")
    message(STATUS "no uplot in \"${PCQ_UPLOT}\": building without -z pcq,report")
endif()
add_custom_command(
    OUTPUT "${REPORT_PAGE}"
    COMMAND ${CMAKE_COMMAND} "-DPAGES=${CMAKE_CURRENT_LIST_DIR}" "-DUPLOT=${chart_library}" "-DOUT=${REPORT_PAGE}" -P
        "${CMAKE_CURRENT_LIST_DIR}/embed.cmake"
    DEPENDS "${CMAKE_CURRENT_LIST_DIR}/page.html" "${CMAKE_CURRENT_LIST_DIR}/page.css" "${CMAKE_CURRENT_LIST_DIR}/page.js"
        "${CMAKE_CURRENT_LIST_DIR}/embed.cmake"
    VERBATIM)
