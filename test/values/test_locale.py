# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers have a point wherever the user lives: nothing that the plugin writes depends on the locale."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gen.scripted import Server, Times, ask, counter, learn, run, capture_talk
from test_tables import TABLES
from test_values import single

# Whose decimal point has two bytes
LOCALE = 'ps_AF'


@pytest.fixture(scope='module')
def locales(tmp_path_factory):
    assert shutil.which('localedef') and Path('/usr/share/i18n/locales').is_dir(), 'no locales to make: bootstrap installs them'
    folder = tmp_path_factory.mktemp('locales')
    subprocess.run(['localedef', '-i', LOCALE, '-f', 'UTF-8', folder / (LOCALE + '.UTF-8')], check=True)
    return folder


@pytest.fixture(scope='module')
def capture(tmp_path_factory):
    """Results that are usual, too large and too small for decimals."""
    s = single('Numbers', counter(0, 'PERF_COUNTER_BULK_COUNT', 'usual', [0, 1234567]),
               counter(1, 'PERF_COUNTER_LARGE_DELTA', 'large', [0, 2 ** 64 - 1]),
               counter(2, 'PERF_AVERAGE_BULK', 'small', [0, 3], base=3),
               counter(3, 'PERF_AVERAGE_BASE', None, [0, 2000000000]))
    times = Times([(10 ** 9, 10 ** 17), (10 ** 9 + 10 ** 7 + 1234, 10 ** 17 + 10 ** 7 + 1234)])
    return capture_talk(Server([s], clock=times), lambda c: (learn(c, s), run(c, [ask(s)]))).write(
        tmp_path_factory.mktemp('capture') / 'a.pcap')


WAYS = {'tree': ['-T', 'pdml'], 'json': ['-T', 'json'], 'list': [], 'long': ['-q', '-z', 'pcq,long,-'],
        'csv': ['-q', '-z', 'pcq,csv,-'], 'tables': ['-q', *(x for table in TABLES for x in ('-z', table))]}


@pytest.mark.parametrize('way', WAYS)
def test_points(tshark, locales, capture, way):
    def shown(**env):
        done = tshark.start('-r', capture, *WAYS[way], env=dict(tshark.env, **env))
        assert done.returncode == 0
        return re.sub(r'<pdml .*?>', '', done.stdout.decode())

    expected = shown(LC_ALL='C.UTF-8')
    # the second is the JSON of Wireshark 4.6
    assert '1.8446744073709' in expected or '"18446744073709552000"' in expected or way in ('list', 'csv', 'tables')
    assert shown(LC_ALL=LOCALE + '.UTF-8', LOCPATH=str(locales)) == expected
