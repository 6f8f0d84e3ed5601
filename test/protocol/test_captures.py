# SPDX-License-Identifier: GPL-2.0-or-later
"""The committed plain captures are what the generator writes, and stay small."""

import pytest

from conftest import TOP
from gen.damage import DAMAGE
from gen.scenarios import SCENARIOS

PLAIN = TOP / 'test' / 'pcaps' / 'plain'
ALL = {**SCENARIOS, **DAMAGE}


@pytest.mark.parametrize('name', ALL)
def test_regenerating_gives_the_same_bytes(name):
    assert ALL[name]().capture.file() == (PLAIN / (name + '.pcap')).read_bytes(), 'run python3 -m gen in test/'


def test_nothing_else_lies_there():
    assert {p.stem for p in PLAIN.glob('*.pcap')} == set(ALL)


def test_they_are_small():
    sizes = {p.name: p.stat().st_size for p in PLAIN.glob('*.pcap')}
    assert max(sizes.values()) < 100000 and sum(sizes.values()) < 1500000, sizes


@pytest.mark.parametrize('name', SCENARIOS)
def test_the_network_below_is_right(tshark, name):
    """Checksums and sequence numbers of our own frames, so that a fault is never the generator's; and no layer is malformed."""
    rows = tshark.fields(PLAIN / (name + '.pcap'), ['frame.number'], '-o', 'ip.check_checksum:TRUE', '-o',
                         'tcp.check_checksum:TRUE', '-Y',
                         'ip.checksum.status == 0 || tcp.checksum.status == 0 || tcp.analysis.flags || _ws.malformed || _ws.short || '
                         '_ws.expert.message contains "Long frame"')
    assert rows == []
