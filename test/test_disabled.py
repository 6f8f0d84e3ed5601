# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocols that are switched off, alone and together: what is left is what Wireshark shows without the plugin."""

import itertools
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import TOP, TSHARK
from together import packets, write

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
def fields(tshark, tmp_path_factory):
    """fields(capture, off, plugin) -> what each frame shows; labels apart, in which an interface can have a name. The
    captures' first frames are read as one."""
    seen, path = {}, tmp_path_factory.mktemp('disabled') / 'all.pcap'
    shares = dict(zip(NEEDS, write(path, [first_frames(PCAPS / capture, 62) for capture in NEEDS])))

    def read(off, plugin):
        env = tshark.env if plugin else dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test'))
        args = [x for name in sorted(off) for x in ('--disable-protocol', name)]
        done = subprocess.run([TSHARK, '-r', path, '-T', 'pdml', *args], env=env, stdout=subprocess.PIPE, check=True)
        return [[(e.get('name'), e.get('value'), e.get('pos'), e.get('size')) for e in packet.iter()]
                for packet in ElementTree.fromstring(done.stdout).iter('packet')]

    def get(capture, off, plugin=True):
        key, share = (frozenset(off), plugin), shares[capture]
        if key not in seen:
            seen[key] = read(*key)
        return seen[key][share.first - 1:share.last]
    return get


def first_frames(path, count):
    data = path.read_bytes()
    return data[:24] + b''.join(head + frame for head, frame in packets(data)[:count])


def is_ours(name):
    return re.match(r'(pcq|hkpd)\b', name or '')


@pytest.mark.parametrize('capture', NEEDS)
@pytest.mark.parametrize('off', SUBSETS, ids=lambda off: '-'.join(sorted(off)))
def test_what_is_left(fields, capture, off):
    shown = fields(capture, off)
    assert len(shown) > 40
    if NEEDS[capture] & off:
        assert shown == fields(capture, off & {'winreg', 'dcerpc'}, plugin=False)
    else:
        assert shown == fields(capture, set())
        assert any(is_ours(name) for frame in shown for name, *_ in frame)
