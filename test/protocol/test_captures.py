# SPDX-License-Identifier: GPL-2.0-or-later
"""The committed plain captures are what the generator writes, and its expectations are no worse than none."""

import struct

import pytest

from conftest import TOP
from gen import buffers
from gen.damage import DAMAGE
from gen.scenarios import SCENARIOS

PLAIN = TOP / 'test' / 'pcaps' / 'plain'
ALL = {**SCENARIOS, **DAMAGE}


@pytest.mark.parametrize('name', ALL)
def test_regenerating_gives_the_same_bytes(name):
    assert ALL[name]().capture.file() == (PLAIN / (name + '.pcap')).read_bytes(), 'run python3 -m gen in test/'


@pytest.mark.parametrize('name', SCENARIOS)
def test_the_network_below_is_right(tshark, name):
    """Checksums and sequence numbers of our own frames, so that a fault is never the generator's; and no layer is malformed."""
    rows = tshark.fields(PLAIN / (name + '.pcap'), ['frame.number'], '-o', 'ip.check_checksum:TRUE', '-o',
                         'tcp.check_checksum:TRUE', '-Y',
                         'ip.checksum.status == 0 || tcp.checksum.status == 0 || tcp.analysis.flags || _ws.malformed || _ws.short || '
                         '_ws.expert.message contains "Long frame"')
    assert rows == []


@pytest.mark.parametrize('name', SCENARIOS)
def test_no_byte_is_forgotten(name):
    """What no field covers is a count of the array, padding, or filled up: never more than 32 bytes in a row."""
    frames = SCENARIOS[name]().frames
    assert frames
    for messages in frames.values():
        for m in messages:
            covered = bytearray(len(m.stub))
            for f in m.fields:
                if f.value is not None:
                    covered[f.offset:f.offset + f.length] = b'\1' * f.length
            assert bytes(33) not in bytes(covered), (name, m.kind, m.opnum)


def test_the_public_dump_of_a_real_answer():
    """Bytes at the places where a real machine had them (Windows 11, Processor Information)."""
    message = next(m for ms in SCENARIOS['real-dump']().frames.values() for m in ms if m.opnum == 6 and m.kind == 'response')
    data = message.stub[20:132]
    at = struct.unpack_from
    assert at('<2IQQQ', data) == (112, 2, 0x000001255CE1A66F, 0x01DD50387D0FA400, 10000000)
    assert at('<8H', data, 32) == (2026, 9, 2, 29, 17, 32, 23, 755)
    assert at('<4I2IQ', data, 48) == (0, 1, 32, 0, 8, 16, 0x000002F653E84CD6)
    assert at('<4I2IIxxxx', data, 80) == (0, 1, 32, 0, 4, 16, 0x56196EC4)
    assert buffers.system_time(134351767437550592) == (2026, 9, 2, 29, 17, 32, 23, 755)
    assert buffers.system_time(133716612800215149)[:7] == (2024, 9, 2, 24, 14, 21, 20)
