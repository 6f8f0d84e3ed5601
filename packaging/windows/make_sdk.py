#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_sdk.py ROOT OUT: what building a plugin for Wireshark on Windows needs, from Debian's -dev packages alone.

ROOT has Wireshark's unpacked (/ if they are installed); GLib's are installed. OUT gets the headers, a glibconfig.h of 64-bit Windows, import
libraries of everything that Debian's libraries offer, under the official DLLs' names, and a WiresharkConfig.cmake.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

INSTALLED = Path('/usr/lib/x86_64-linux-gnu')
TRIPLET = 'x86_64-w64-mingw32ucrt'
# As Wireshark's installer names them (packaging/nsis, cmake/modules/FindGLIB2.cmake of its source)
LIBRARIES = {'wireshark': 'libwireshark.dll', 'wsutil': 'libwsutil.dll', 'wiretap': 'libwiretap.dll',
             'glib-2.0': 'glib-2.0-0.dll'}

# Linux (LP64) to Windows (LLP64): a definition's name, and what it is there
DEFINITIONS = {
    'G_GINT64_CONSTANT(val)': '(val##LL)', 'G_GUINT64_CONSTANT(val)': '(val##ULL)',
    **{'G_G%s_MODIFIER' % t: '"ll"' for t in ('INT64', 'SIZE', 'SSIZE', 'INTPTR')},
    **{'G_G%s_FORMAT' % t: '"lli"' for t in ('INT64', 'SSIZE', 'INTPTR')},
    **{'G_G%s_FORMAT' % t: '"llu"' for t in ('UINT64', 'SIZE', 'UINTPTR')},
    'GLIB_SIZEOF_LONG': '4',
    'G_MAXSIZE': 'G_MAXUINT64', 'G_MINSSIZE': 'G_MININT64', 'G_MAXSSIZE': 'G_MAXINT64',
    'GPOINTER_TO_INT(p)': '((gint) (gint64) (p))', 'GPOINTER_TO_UINT(p)': '((guint) (guint64) (p))',
    'GINT_TO_POINTER(i)': '((gpointer) (gint64) (i))', 'GUINT_TO_POINTER(u)': '((gpointer) (guint64) (u))',
    **{'G%sLONG_TO_%s(val)' % (u, e): '((g%slong) G%sINT32_TO_%s (val))' % (u.lower(), u, e)
       for u in ('', 'U') for e in ('LE', 'BE')},
    'G_PID_FORMAT': '"p"',
    'G_DIR_SEPARATOR': "'\\\\'", 'G_DIR_SEPARATOR_S': '"\\\\"',
    'G_SEARCHPATH_SEPARATOR': "';'", 'G_SEARCHPATH_SEPARATOR_S': '";"',
    'GLIB_SYSDEF_AF_INET6': '23',
}
RENAMED = {'#define G_OS_UNIX': '#define G_OS_WIN32\n#define G_PLATFORM_WIN32',
           '#define G_THREADS_IMPL_POSIX': '#define G_THREADS_IMPL_WIN32', 'typedef int GPid;': 'typedef void *GPid;',
           **{'typedef %s long g%s;' % (sign, t): 'typedef %s long long g%s;' % (sign, t) for sign, t in (
               ('signed', 'int64'), ('unsigned', 'uint64'), ('signed', 'ssize'), ('unsigned', 'size'),
               ('signed', 'intptr'), ('unsigned', 'uintptr'))}}
# Conditions for the compiler
SIZES = {'gint64': 8, 'guint64': 8, 'gsize': 8, 'gssize': 8, 'gintptr': 8, 'goffset': 8, 'glong': 4, 'gpointer': 8}

CONFIG = '''set(Wireshark_MAJOR_VERSION {MAJOR})
set(Wireshark_MINOR_VERSION {MINOR})
set(Wireshark_PATCH_VERSION {MICRO})
set(Wireshark_VERSION "{MAJOR}.{MINOR}.{MICRO}")
set(PACKAGE_VERSION "${{Wireshark_VERSION}}")
set(Wireshark_PLUGINS_ENABLED 1)
set(Wireshark_INSTALL_PREFIX "${{CMAKE_CURRENT_LIST_DIR}}/install")
set(Wireshark_PLUGIN_LIBDIR "plugins/{MAJOR}.{MINOR}")
add_library(epan INTERFACE IMPORTED)
set_target_properties(epan PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "{includes}"
    INTERFACE_LINK_LIBRARIES "{libraries}")
add_library(wiretap INTERFACE IMPORTED)
'''


def replace_once(text, old, new):
    """A GLib whose header is written in another way has to be looked at, not guessed."""
    assert text.count(old) == 1, 'glibconfig.h has %r %d times' % (old, text.count(old))
    return text.replace(old, new)


def windows_glibconfig(text):
    for name, value in DEFINITIONS.items():
        line, = re.findall(r'^#define %s[ \t]+.*$' % re.escape(name), text, re.M)
        text = replace_once(text, line + '\n', '#define %s %s\n' % (name, value))
    for old, new in RENAMED.items():
        text = replace_once(text, old + '\n', new + '\n')
    return text


def check_sizes(include):
    checks = ''.join('_Static_assert(sizeof(%s) == %d, "%s");\n' % (t, size, t) for t, size in SIZES.items())
    subprocess.run([TRIPLET + '-gcc', '-Werror', '-fsyntax-only', '-I', include, '-I', include / 'glib-2.0', '-xc', '-'],
                   input='#include <glib.h>\n' + checks, text=True, check=True)


def offered(library):
    """(name, is it data) of everything that a library of Linux exports."""
    out = subprocess.run(['nm', '-D', '--defined-only', library], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return sorted({(name.split('@')[0], kind not in 'TWi') for _, kind, name in rows if kind != 'A'})


def import_library(library, dll, folder):
    names = folder / (Path(dll).stem + '.def')
    names.write_text('LIBRARY "%s"\nEXPORTS\n' % dll +
                     ''.join('%s%s\n' % (name, ' DATA' if data else '') for name, data in offered(library)))
    made = folder / (dll + '.a')
    subprocess.run([TRIPLET + '-dlltool', '-d', names, '-l', made], check=True)
    return made


def main(root, out):
    shutil.rmtree(out, ignore_errors=True)
    include, lib, found = out / 'include', out / 'lib', root / str(INSTALLED)[1:]
    lib.mkdir(parents=True)
    shutil.copytree(root / 'usr/include/wireshark', include / 'wireshark')
    shutil.copytree('/usr/include/glib-2.0', include / 'glib-2.0')
    text = windows_glibconfig((INSTALLED / 'glib-2.0/include/glibconfig.h').read_text())
    (include / 'glibconfig.h').write_text(text)
    # glib.h asks for it on Windows; it has nothing that the plugin uses, and Debian does not install it.
    (include / 'glib-2.0/glib/gwin32.h').touch()
    check_sizes(include)
    made = [import_library(sorted((INSTALLED if name == 'glib-2.0' else found).glob('lib%s.so.*' % name))[0], dll, lib)
            for name, dll in LIBRARIES.items()]
    version = dict(re.findall(r'#define WIRESHARK_VERSION_(\w+) +(\d+)', (include / 'wireshark/ws_version.h').read_text()))
    (out / 'WiresharkConfig.cmake').write_text(CONFIG.format(
        includes=';'.join(map(str, (include, include / 'wireshark', include / 'glib-2.0'))),
        libraries=';'.join(map(str, made)), **version))
    print('{MAJOR}.{MINOR}.{MICRO}'.format(**version))


if __name__ == '__main__':
    main(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
