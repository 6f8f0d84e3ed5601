# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocols that are switched off, alone and together: what is left is what Wireshark shows without the plugin."""

import itertools
import re

import pytest

from conftest import TOP
from gen.pcap import Capture

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
EACH = 53                   # frames: the shortest has no more


@pytest.fixture(scope='module')
def fields(tshark, tmp_path_factory):
    """fields(capture, off, plugin) -> what each frame shows; labels apart, in which an interface can have a name. The
    captures' first frames are read as one."""
    seen, path = {}, tmp_path_factory.mktemp('disabled') / 'all.pcap'
    whole = Capture()
    for capture in NEEDS:
        whole.frames += Capture.of_file(PCAPS / capture).frames[:EACH]
    whole.write(path)

    def read(off, plugin):
        env = tshark.env if plugin else dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test'))
        args = [x for name in sorted(off) for x in ('--disable-protocol', name)]
        done = tshark.start('-r', path, '-T', 'pdml', *args, env=env)
        assert done.returncode == 0
        return re.sub(' (show|showname|unmaskedvalue)="[^"]*"', '', done.stdout.decode()).split('<packet>')[1:]

    def get(capture, off, plugin=True):
        key, first = (frozenset(off), plugin), EACH * list(NEEDS).index(capture)
        if key not in seen:
            seen[key] = read(*key)
        assert len(seen[key]) == EACH * len(NEEDS)
        return seen[key][first:first + EACH]
    return get


OURS = re.compile(r'name="(pcq|hkpd)\b')


@pytest.mark.parametrize('capture', NEEDS)
@pytest.mark.parametrize('off', SUBSETS, ids=lambda off: '-'.join(sorted(off)))
def test_what_is_left(fields, capture, off):
    shown = fields(capture, off)
    is_needed = NEEDS[capture] & off
    expected = fields(capture, off & {'winreg', 'dcerpc'}, plugin=False) if is_needed else fields(capture, set())
    assert len(shown) == len(expected)
    assert [n for n, (frame, other) in enumerate(zip(shown, expected), 1) if frame != other] == []
    assert is_needed or any(OURS.search(frame) for frame in shown)
