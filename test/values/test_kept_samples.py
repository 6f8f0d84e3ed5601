# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples are kept whole, up to a limit, with the tables of the newest two."""

import struct

import pytest

from conftest import TOP
from gen.hostile import BULK_COUNT, Pcq, block, identifier, instance, instances, string_table, utf16, values
from learned import cooked, one, read_file
from test_calls import most_memory

FIRST_SAMPLE, SAMPLE_DROPPED = 1, 17
SAMPLE_LIMIT = 1 << 20


def query(asked):
    p = Pcq(repeat=True)
    p.registration(9, utf16('Set'))
    p.counters(range(1), kind=BULK_COUNT)
    p.registration(10, string_table([(0, 0)], utf16('c0')))
    p.open()
    p.change(asked)
    return p


def number(n, row):
    """Of sample n, a second after the one before: a rate of its own for each instance."""
    return n * n * (100 * row + 1)


def rows(n, order):
    return block(4, instances([instance('i%d' % r, r) + struct.pack('<2IQ', 8, 16, number(n, r)) for r in order]))


@pytest.mark.parametrize('orders', [[(0, 1, 2)] * 5, [(0, 1, 2), (2, 0, 1), (2, 0, 1), (0, 1, 2), (0, 2, 1)]])
def test_each_is_compared_with_the_one_before(tshark, tmp_path, orders, two_pass):
    p = query([identifier(0)])
    frames = [p.data(rows(n, order)) for n, order in enumerate(orders)]
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    for n, (frame, order) in enumerate(zip(frames, orders)):
        assert [(one(v, 'pcq.path'), cooked(v)) for v in got[frame].values] == [
            ('\\\\SRV\\Set(i%d)\\c0' % r, (float(number(n, r) - number(n - 1, r)), None) if n else (None, FIRST_SAMPLE)) for r in order], n


def test_the_oldest_are_discarded_beyond_the_limit(tshark, tmp_path):
    """A table takes less than half of its bytes here, and two are kept."""
    count = 16
    p = query([identifier(0)])
    names = [instance('instance %04d' % i + 'x' * 40, i) for i in range(1000)]
    size = 48 + 24 + sum(16 + len(x) for x in names)
    for n in range(count):
        p.data(block(4, instances([x + values(1, n * i) for i, x in enumerate(names)])))
    shown = tshark.fields(p.capture.write(tmp_path / 'a.pcap'), ['pcq.cooked.none'], '-2', '-o', 'pcq.sample_limit:1', '-Y', 'pcq.counter_data')
    reasons = [row[0].split(',')[0] for row in shown]
    kept = reasons.count('')            # of a sample whose one before is kept, too
    assert reasons == [str(FIRST_SAMPLE)] + [str(SAMPLE_DROPPED)] * (count - 1 - kept) + [''] * kept
    assert SAMPLE_LIMIT // size - 1 <= kept + 1 <= SAMPLE_LIMIT // size < count


def test_they_take_little_more_than_their_bytes(tshark, tmp_path):
    """64 MB of blocks of one value, for each of which the tables have more than its own size."""
    count, size = 128, 1 << 19
    p = query([identifier(0, None)])
    data = [block(1, struct.pack('<2I8s', 8, 16, b'%')) for _ in range(size // 32)]
    for _ in range(count):
        p.data(*data)
    path = p.capture.write(tmp_path / 'a.pcap')
    kept = most_memory(tshark.env, '-r', path)
    bare = most_memory(dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test')), '-r', path)
    assert kept - bare < count * size * 1.4, (kept - bare) >> 20
