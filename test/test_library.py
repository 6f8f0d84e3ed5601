# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin as a library: what it offers to whoever loads it."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import TOP

LIBRARIES = sorted(Path(os.environ.get('WIRESHARK_PLUGIN_DIR', TOP / 'build' / 'plugins')).glob('*/epan/pcq.*'))
# What Wireshark's loader looks for, and nothing that could meet a namesake
OFFERED = ['plugin_describe', 'plugin_register', 'plugin_version', 'plugin_want_major', 'plugin_want_minor']


def defined(library):
    out = subprocess.run(['nm', '-D', '--defined-only', library], stdout=subprocess.PIPE, check=True, text=True).stdout
    # the sanitizers mark the globals that they watch
    return sorted(name for name in (line.split()[-1] for line in out.splitlines()) if not name.startswith('__odr_asan'))


@pytest.mark.parametrize('library', LIBRARIES, ids=lambda path: path.parts[-3])
def test_only_the_five_symbols_leave(library):
    assert defined(library) == OFFERED


def test_there_is_a_library():
    assert LIBRARIES
