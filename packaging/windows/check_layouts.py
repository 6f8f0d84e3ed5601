#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_layouts.py VERSION SDK PLUGIN: are all structures laid out alike by MSVC's and by MinGW's rules?

Wireshark for Windows is built by MSVC, the plugin by MinGW: what they share has to have the same offsets in both. Each
source is preprocessed once, then clang lays out every structure in it by both sets of rules.
"""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GCC = 'x86_64-w64-mingw32ucrt-gcc'
RULES = {'MinGW': ['-triple', 'x86_64-w64-windows-gnu', '-mms-bitfields'], 'MSVC': ['-triple', 'x86_64-pc-windows-msvc']}
# Structures that the plugin reads or writes itself: a comparison without them proves nothing
SHARED = ['struct ' + name for name in (
    '_packet_info', '_dcerpc_info', '_dcerpc_call_value', '_dcerpc_sub_dissector', '_dcerpc_uuid_value',
    '_e_prefs', 'hf_register_info', '_header_field_info', 'ei_register_info', '_value_string_ext', '_wmem_strbuf_t',
    '_stat_tap_ui', 'except_stacknode')]
PLACE = re.compile(r'\S+\.[ich]:\d+:\d+')


def preprocess(sdk, plugin, source, out):
    include = sdk / 'include'
    subprocess.run([GCC, '-std=gnu11', '-E', '-P', '-DWS_BUILD_DLL', '-DPCQ_VERSION=""',
                    '-D__debugbreak=no_debugbreak', '-D__fastfail=no_fastfail',
                    *('-I%s' % i for i in (plugin, include, include / 'wireshark', include / 'glib-2.0')),
                    source, '-o', out], check=True)


def layouts(preprocessed, rules):
    """{structure: its layout}; nameless ones are counted, the place where they were written is cut out"""
    out = subprocess.run(['clang', '-cc1', *RULES[rules], '-std=gnu11', '-fms-extensions', '-w', '-fsyntax-only',
                          '-fdump-record-layouts-complete', '-x', 'c', preprocessed],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for block in out.split('*** Dumping AST Record Layout')[1:]:
        rows = [PLACE.sub('@', line) for line in block.splitlines() if '|' in line]
        name = rows[0].split('|', 1)[1].strip()
        nameless = sum(other.startswith(name) for other in found) if '@' in name else 0
        found[name + ' %d' % nameless if nameless else name] = '\n'.join(rows)
    return found


def compare(sdk, plugin, source):
    """[(structure, by MinGW, by MSVC)]"""
    with tempfile.TemporaryDirectory() as folder:
        preprocessed = Path(folder) / 'source.i'
        preprocess(sdk, plugin, source, preprocessed)
        a, b = (layouts(preprocessed, rules) for rules in RULES)
    return [(name, a.get(name), b.get(name)) for name in a.keys() | b.keys()]


def is_long_double(pair):
    """Theirs differ in size: the C library's own max_align_t and its like, which nobody hands over."""
    name, layout, _ = pair
    return name.startswith(('struct (unnamed', 'union __mingw_')) and 'long double' in layout


def main(version, sdk, plugin):
    with ThreadPoolExecutor() as pool:
        compared = {pair for found in pool.map(lambda source: compare(sdk, plugin, source), sorted(plugin.glob('**/*.c')))
                    for pair in found}
    names = {name for name, _, _ in compared}
    differing = [pair for pair in sorted(compared) if pair[1] != pair[2] and not is_long_double(pair)]
    for pair in differing:
        print('differs: %s\n%s\n%s' % pair)
    missing = sorted(set(SHARED) - names)
    print(*('not seen: %s' % name for name in missing), sep='\n', end='\n' if missing else '')
    print('Wireshark %s: %d structures compared, %d differ' % (version, len(names), len(differing)))
    return bool(differing or missing)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
