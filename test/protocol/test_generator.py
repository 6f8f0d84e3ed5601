# SPDX-License-Identifier: GPL-2.0-or-later
"""The generator itself: expectations that are wrong would be worse than none."""

import struct

import pytest

from gen import buffers
from gen.scenarios import SCENARIOS


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
