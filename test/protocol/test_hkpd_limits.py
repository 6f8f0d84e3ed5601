# SPDX-License-Identifier: GPL-2.0-or-later
"""Big answers: whole and fast, and the tree's budget where a packet holds more than a tree may."""

import struct
import time

import pytest

import cost
from gen.hkpd_block import Counter, Object
from gen.hkpd_scene import begin_talk
from gen.model import TYPES

HEADER = 104


def big(instances, counters, number):
    """A block of one object, built without fields: a model of a million values would take longer than its capture."""
    definitions = b''.join(struct.pack('<10I', 40, 6 + 2 * k, 0, 7 + 2 * k, 0, 0, 100, 0x10410500, 8, 8 + 8 * k)
                           for k in range(counters))
    rows = []
    for i in range(instances):
        name = ('instance %d\0' % i).encode('utf-16-le')
        size = 24 + len(name) + -(24 + len(name)) % 8
        rows.append(struct.pack('<4Ii', size, 0, 0, 0xFFFFFFFF, 24) + struct.pack('<I', len(name)) + name.ljust(
            size - 24, b'\0'))
        rows.append(struct.pack('<2I', 8 + 8 * counters, 0))
        rows.append(struct.pack('<%dQ' % counters, *(number * 1000 * (k + 1) + i for k in range(counters))))
    body = definitions + b''.join(rows)
    body = struct.pack('<8I4i2Q', 64 + len(body), 64 + len(definitions), 64, 230, 0, 231, 0, 100, counters, -1,
                       instances, 0, 0, 0) + body
    head = 'PERF'.encode('utf-16-le') + struct.pack('<6Ii', 1, 1, 1, HEADER + len(body), HEADER, 1, -1)
    head += struct.pack('<8H4x3Q2I', 2026, 1, 1, 5, 1, 2, 3, 4, 10 ** 12 + number * 10 ** 7, 10 ** 7,
                        134351767437550592 + number * 10 ** 7, 12, 88) + 'SRV01\0'.encode('utf-16-le')
    return head.ljust(HEADER, b'\0') + body


def many_objects(indexes, number):
    """A value of 4 bytes in each object."""
    row = struct.pack('<10I', 40, 2, 0, 3, 0, 0, 100, 0x00010000, 4, 8) + struct.pack('<4I', 16, 0, number, 0)
    objects = b''.join(struct.pack('<8I4i2Q', 64 + len(row), 104, 64, i, 0, i, 0, 100, 1, -1, -1, 0, 0, 0) + row for i in indexes)
    block = bytearray(big(1, 1, number)[:HEADER] + objects)
    struct.pack_into('<I', block, 20, len(block))
    struct.pack_into('<I', block, 28, len(indexes))
    return bytes(block)


def capture(folder, instances, counters):
    """-> (path, frames of the two answers)"""
    scene, talk = begin_talk(max_frag=60000, titles=False)
    frames = [talk.ask('230', big(instances, counters, n), room=10 ** 8)[1] for n in (1, 2)]
    return scene.write(folder / 'big.pcap'), frames


@pytest.mark.parametrize('instances, counters, shown', [(2000, 50, 100000), (8000, 60, None)],
                         ids=['1 MB', 'more than a tree holds'])
def test_big_answers(tshark, tmp_path, instances, counters, shown):
    path, (_, number) = capture(tmp_path, instances, counters)
    start = time.monotonic()
    out, _ = tshark.run('-r', path, '-Y', 'frame.number == %d' % number, '-T', 'fields', '-E', 'aggregator=,',
                        '-e', 'pcq.value', '-e', 'pcq.cooked', '-e', 'winreg.werror', '-e', 'pcq.expert.not_shown')
    assert time.monotonic() - start < 60
    values, cooked, status, hidden = out.rstrip('\n').split('\t')
    values, cooked = values.split(','), [float(x) for x in cooked.split(',')]
    assert status == '0x00000000' or int(status, 0) == 0
    assert len(values) == len(cooked) and bool(hidden) == (shown is None)
    assert shown is None and 120000 < len(values) < instances * counters or len(values) == shown
    for at in (0, 1, counters, len(values) - 1):
        i, k = divmod(at, counters)
        assert int(values[at]) == 2000 * (k + 1) + i and cooked[at] == 1000 * (k + 1)


def test_chosen_title_indexes(tshark, tmp_path):
    """Indexes that all are multiples of the prime which a table of so many entries is taken modulo cost no more than others."""
    def used(factor):
        scene, talk = begin_talk(max_frag=60000, titles=False)
        for n in (1, 2):
            talk.ask('Global', many_objects([factor * k for k in range(1, 60001)], n), room=10 ** 8)
        return cost.of_tshark(tshark, scene.write(tmp_path / 'a.pcap'))
    usual, chosen = used(2), used(65521)
    assert usual.status == chosen.status == 0 and chosen.seconds < 1.5 * usual.seconds + 0.3, (usual, chosen)
