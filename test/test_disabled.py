# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocols that are switched off, alone and together: what is left is what Wireshark shows without the plugin."""

import itertools
import re

import pytest

from conftest import TOP
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
        done = tshark.start('-r', path, '-T', 'pdml', *args, env=env)
        assert done.returncode == 0
        return re.sub(' (show|showname|unmaskedvalue)="[^"]*"', '', done.stdout.decode()).split('<packet>')[1:]

    def get(capture, off, plugin=True):
        key, share = (frozenset(off), plugin), shares[capture]
        if key not in seen:
            seen[key] = read(*key)
        return seen[key][share.first - 1:share.last]
    return get


def first_frames(path, count):
    data = path.read_bytes()
    return data[:24] + b''.join(head + frame for head, frame in packets(data)[:count])


OURS = re.compile(r'name="(pcq|hkpd)\b')


@pytest.mark.parametrize('capture', NEEDS)
@pytest.mark.parametrize('off', SUBSETS, ids=lambda off: '-'.join(sorted(off)))
def test_what_is_left(fields, capture, off):
    shown = fields(capture, off)
    is_needed = NEEDS[capture] & off
    expected = fields(capture, off & {'winreg', 'dcerpc'}, plugin=False) if is_needed else fields(capture, set())
    assert len(shown) == len(expected) > 40
    assert [n for n, (frame, other) in enumerate(zip(shown, expected), 1) if frame != other] == []
    assert is_needed or any(OURS.search(frame) for frame in shown)
