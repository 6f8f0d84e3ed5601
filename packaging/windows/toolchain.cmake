# SPDX-License-Identifier: GPL-2.0-or-later
# MinGW-w64 for 64-bit Windows with the universal C runtime, the one that Wireshark's own build uses.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32ucrt-gcc)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32ucrt-g++)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32ucrt-windres)
# No library of the compiler's beside the plugin (in the cache, or the first configuration would have other ones than the next), and no
# time of day in it.
set(CMAKE_C_STANDARD_LIBRARIES "" CACHE STRING "none")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-static-libgcc -Wl,--no-insert-timestamp")
# Programs that are to run here (unit tests) run in Wine.
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
# For building more than the plugin: what was cross-built before lies in $PCQ_WINDOWS_PREFIX.
if(DEFINED ENV{PCQ_WINDOWS_PREFIX})
    set(CMAKE_FIND_ROOT_PATH $ENV{PCQ_WINDOWS_PREFIX} /usr/x86_64-w64-mingw32ucrt)
    set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
    set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
    set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
    set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
    set(ENV{PKG_CONFIG_LIBDIR} $ENV{PCQ_WINDOWS_PREFIX}/lib/pkgconfig)
endif()
