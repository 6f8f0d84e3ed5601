# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin as a library: what it offers to whoever loads it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import TOP, TSHARK

LIBRARIES = sorted(Path(os.environ.get('WIRESHARK_PLUGIN_DIR', TOP / 'build' / 'plugins')).glob('*/epan/pcq.*'))
# What Wireshark's loader looks for, and nothing that could meet a namesake
OFFERED = ['plugin_describe', 'plugin_register', 'plugin_version', 'plugin_want_major', 'plugin_want_minor']


def defined(library):
    out = subprocess.run(['nm', '-D', '--defined-only', library], stdout=subprocess.PIPE, check=True, text=True).stdout
    # the sanitizers mark the globals that they watch
    return sorted(name for name in (line.split()[-1] for line in out.splitlines()) if not name.startswith('__odr_asan'))


def test_only_the_five_symbols_leave():
    assert LIBRARIES and [library for library in LIBRARIES if defined(library) != OFFERED] == []


def man_page():
    done = subprocess.run([sys.executable, TOP / 'packaging' / 'man.py', '2026-01-02'], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout


def test_every_statistic_is_in_the_man_page(tshark):
    """packaging/wireshark-pcq.7.in has what -z offers, and nothing that it does not."""
    done = subprocess.run([TSHARK, '-z', 'help'], env=tshark.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    offered = set(re.findall(r'^ +((?:pcq|hkpd),\w+)', done.stdout, re.M))
    offered.discard('pcq,page')     # a window's, that the man page has with the report
    assert offered and offered == set(re.findall(r'^\.BR \\-z " ((?:pcq|hkpd),\w+)', man_page(), re.M))


def test_every_preference_is_in_the_man_page():
    """From docs/reference.md, which a test compares with what tshark says."""
    table = (TOP / 'docs' / 'reference.md').read_text().split('## Preferences')[1]
    names = re.findall(r'^\| `((?:pcq|hkpd)\.\w+)`', table, re.M)
    assert names and re.findall(r'^\.B ((?:pcq|hkpd)\.\w+)', man_page(), re.M) == names
