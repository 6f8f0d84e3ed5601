# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocols that are switched off, alone and together: what is left is what Wireshark shows without the plugin."""

import itertools
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import TOP, TSHARK

PCAPS = TOP / 'test' / 'pcaps'
PROTOCOLS = ['pcq', 'hkpd', 'winreg', 'dcerpc']
SUBSETS = [frozenset(off) for count in range(5) for off in itertools.combinations(PROTOCOLS, count)]

# capture: what has to be switched on that the plugin shows anything in its first frames; two have sealed calls
NEEDS = {
    'plain/query-tcp.pcap': {'pcq', 'dcerpc'},
    'hkpd-plain.pcap': {'hkpd', 'winreg', 'dcerpc'},
    'tcp-ntlm.pcap': {'pcq', 'dcerpc'},
    'hkpd-sealed.pcap': {'hkpd', 'winreg', 'dcerpc'},
}


@pytest.fixture(scope='module')
def fields(tshark):
    """fields(capture, off, plugin) -> what each frame shows; labels apart, in which an interface can have a name"""
    seen = {}

    def get(capture, off, plugin=True):
        key = capture, frozenset(off), plugin
        if key not in seen:
            env = tshark.env if plugin else dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test'))
            args = [x for name in sorted(off) for x in ('--disable-protocol', name)]
            done = subprocess.run([TSHARK, '-r', PCAPS / capture, '-c', '62', '-T', 'pdml', *args], env=env, stdout=subprocess.PIPE,
                                  check=True)
            seen[key] = [[(e.get('name'), e.get('value'), e.get('pos'), e.get('size')) for e in packet.iter()]
                         for packet in ElementTree.fromstring(done.stdout).iter('packet')]
        return seen[key]
    return get


def is_ours(name):
    return re.match(r'(pcq|hkpd)\b', name or '')


@pytest.mark.parametrize('capture', NEEDS)
@pytest.mark.parametrize('off', SUBSETS, ids=lambda off: '-'.join(sorted(off)))
def test_what_is_left(fields, capture, off):
    shown = fields(capture, off)
    if NEEDS[capture] & off:
        assert shown == fields(capture, off & {'winreg', 'dcerpc'}, plugin=False)
    else:
        assert shown == fields(capture, set())
        assert any(is_ours(name) for frame in shown for name, *_ in frame)
