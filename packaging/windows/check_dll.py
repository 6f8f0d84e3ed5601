#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_dll.py [--accept] LIST VERSION=DLL…: what the DLLs offer, and what they take from which DLL.

LIST has a line for each symbol that they may take, with the versions of Wireshark that it is for if it is not for all,
so that nobody needs more of Wireshark unseen. --accept writes it anew.
"""

import re
import subprocess
import sys
from pathlib import Path

OBJDUMP = 'x86_64-w64-mingw32ucrt-objdump'
OFFERED = ['plugin_describe', 'plugin_register', 'plugin_version', 'plugin_want_major', 'plugin_want_minor']
# The C runtime and the system: which functions they are depends on the compiler's mood
RUNTIME = re.compile(r'(api-ms-win-crt-[a-z]+-l1-1-0|KERNEL32)\.dll$')
# Functions of GLib whose structures GLib's own compiler (MSVC) lays out in another way than MinGW: struct stat, struct utimbuf
NEVER = {'g_stat', 'g_lstat', 'g_utime'}
HEAD = '''# What pcq.dll takes from other DLLs: of Wireshark and GLib each symbol, of the system the DLL alone.
# A version behind it: it is taken in the build for that Wireshark only.
# "script/dev/windows --accept" writes this; a change of it is a change of what the plugin depends on.
'''


def dump(dll):
    return subprocess.run([OBJDUMP, '-p', dll], stdout=subprocess.PIPE, text=True, check=True).stdout


def exports(text):
    table = text.split('[Ordinal/Name Pointer] Table -- ')[1].split('\n\n')[0]
    return sorted(line.split()[-1] for line in table.splitlines() if '+base[' in line)


def imports(text):
    """{(DLL, symbol)}"""
    out = set()
    for part in text.split('DLL Name: ')[1:]:
        dll, *lines = part.split('\n\n')[0].splitlines()
        assert 'Member-Name' in lines[0], lines[:2]
        symbols = [line.split()[-1] for line in lines[1:]]
        out |= {(dll.strip(), '*')} if RUNTIME.match(dll.strip()) else {(dll.strip(), s) for s in symbols}
    return out


def lines(taken):
    """{version: {(DLL, symbol)}} -> the list's lines"""
    return sorted(' '.join([*entry, *(v for v in taken if not all(entry in s for s in taken.values()) and entry in taken[v])])
                  for entry in set.union(*taken.values()))


def main(listed, *dlls):
    dumps = {version: dump(path) for version, path in (d.split('=', 1) for d in dlls)}
    wrong = ['%s offers %s' % (v, ' '.join(exports(t))) for v, t in dumps.items() if exports(t) != OFFERED]
    wrong += ['%s takes %s, which no other compiler may call' % (v, symbol)
              for v, t in dumps.items() for _, symbol in sorted(imports(t)) if symbol in NEVER]
    now = lines({v: imports(t) for v, t in sorted(dumps.items())})
    if '--accept' in sys.argv:
        listed.write_text(HEAD + '\n'.join(now) + '\n')
    before = [line for line in listed.read_text().splitlines() if line and not line.startswith('#')]
    wrong += ['not in %s: %s' % (listed.name, line) for line in now if line not in before]
    wrong += ['no longer taken: %s' % line for line in before if line not in now]
    print('\n'.join(wrong) or 'each DLL offers the five symbols of a plugin; %d symbols are taken, all listed' % len(now))
    return bool(wrong)


if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if a != '--accept']
    sys.exit(main(Path(arguments[0]), *arguments[1:]))
