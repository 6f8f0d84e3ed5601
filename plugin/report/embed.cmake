# SPDX-License-Identifier: GPL-2.0-or-later
#
# cmake -DPAGES=… -DLIBRARY=… -DLICENCE=… -DOUT=… -P embed.cmake: the report's page as a C array, with the chart library and its licence in it.
# Without LIBRARY the array is empty, and the statistic says so.

set(bytes "")
if(LIBRARY)
    file(READ "${PAGES}/page.html" page)
    file(READ "${PAGES}/page.css" style)
    file(READ "${LIBRARY}" library)
    file(READ "${LICENCE}" licence)
    set(script "")
    foreach(part base counters chart page)
        file(READ "${PAGES}/${part}.js" text)
        string(APPEND script "${text}")
    endforeach()
    # A map of the library's source is no file beside the page.
    string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" library "${library}")
    string(REPLACE "&" "&amp;" licence "${licence}")
    string(REPLACE "<" "&lt;" licence "${licence}")
    foreach(name STYLE LICENCE LIBRARY SCRIPT)
        string(TOLOWER ${name} variable)
        string(REPLACE "@${name}@" "${${variable}}" page "${page}")
    endforeach()
    file(WRITE "${OUT}.html" "${page}")
    file(READ "${OUT}.html" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
endif()
file(WRITE "${OUT}" "/* Made by report/embed.cmake. SPDX-License-Identifier: GPL-2.0-or-later */\n
extern const unsigned char report_page_bytes[];\nconst unsigned char report_page_bytes[] = {\n${bytes}0};\n")
