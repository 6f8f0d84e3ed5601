# SPDX-License-Identifier: GPL-2.0-or-later
#
# cmake -DPAGES=… -DUPLOT=… -DOUT=… -P embed.cmake: the report's page as a C array, with the chart library of the npm package uplot in it. UPLOT is
# that package's folder; without it the array is empty, and the statistic says so.

function(take variable file)
    file(READ "${file}" text)
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(bytes "")
if(UPLOT)
    take(page "${PAGES}/page.html")
    take(style "${PAGES}/page.css")
    take(script "${PAGES}/page.js")
    take(library "${UPLOT}/dist/uPlot.iife.min.js")
    take(library_style "${UPLOT}/dist/uPlot.min.css")
    take(licence "${UPLOT}/LICENSE")
    string(REPLACE "@STYLE@" "${library_style}\n${style}" page "${page}")
    string(REPLACE "@LICENCE@" "uPlot, https://github.com/leeoniya/uPlot\n\n${licence}" page "${page}")
    string(REPLACE "@LIBRARY@" "${library}" page "${page}")
    string(REPLACE "@SCRIPT@" "${script}" page "${page}")
    file(WRITE "${OUT}.html" "${page}")
    file(READ "${OUT}.html" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
endif()
file(WRITE "${OUT}" "/* Made by report/embed.cmake. SPDX-License-Identifier: GPL-2.0-or-later */\n
extern const unsigned char report_page_bytes[];\nconst unsigned char report_page_bytes[] = {\n${bytes}0};\n")
