# SPDX-License-Identifier: GPL-2.0-or-later
"""Big answers: whole and fast, and the tree's budget where a packet holds more than a tree may."""

import struct
import subprocess
import time

import pytest

import cost
from conftest import TSHARK
from gen.hkpd_stubs import answer, query
from gen.hostile import (BULK_COUNT, HANDLE, RAWCOUNT, Hkpd, Pcq, block, counter_block, definition, ids, in_a_row, instances, numbered, perf_object,
                         row)


@pytest.mark.parametrize('instances, counters, shown', [(2000, 50, 100000), (8000, 60, None)],
                         ids=['1 MB', 'more than a tree holds'])
def test_big_answers(tshark, tmp_path, instances, counters, shown):
    """Counter k of instance i counts 1,000 k and i more in each second."""
    h, names = Hkpd(), numbered(instances)
    for n in (1, 2):
        number = h.sample(perf_object(230, in_a_row(counters), [row(x, counter_block(counters, n * (i + 1), 1000 * n)) for i, x in enumerate(names)]))
    start = time.monotonic()
    out, _ = tshark.run('-r', h.capture.write(tmp_path / 'a.pcap'), '-Y', 'frame.number == %d' % number, '-T', 'fields', '-E', 'aggregator=,',
                        '-e', 'pcq.value', '-e', 'pcq.cooked', '-e', 'winreg.werror', '-e', 'pcq.expert.not_shown')
    assert time.monotonic() - start < 60
    values, cooked, status, hidden = out.rstrip('\n').split('\t')
    values, cooked = values.split(','), [float(x) for x in cooked.split(',')]
    assert int(status, 0) == 0
    assert len(values) == len(cooked) and bool(hidden) == (shown is None)
    assert shown is None and 120000 < len(values) < instances * counters or len(values) == shown
    for at in (0, 1, counters, len(values) - 1):
        i, k = divmod(at, counters)
        assert int(values[at]) == 2 * (i + 1 + 1000 * k) and cooked[at] == i + 1 + 1000 * k


@pytest.mark.parametrize('line, field, tell, said', [
    (Hkpd, 'hkpd.title.index', lambda h: h.titles([(str(2 * i), 'x') for i in range(1, 10001)]), '%d titles are not shown'),
    (Hkpd, 'hkpd.counter.index', lambda h: h.sample(perf_object(230, in_a_row(10000), [])), '0 of 0 values, and other structures, are not shown'),
    (Pcq, 'pcq.counter.id', lambda p: p.data(block(6, ids(30000) + instances([]))), '0 of 0 values, and other structures, are not shown')])
def test_more_than_a_tree_holds(tshark, tmp_path, line, field, tell, said):
    """Without values, too."""
    tell(c := line())
    (shown, told), = tshark.fields(c.capture.write(tmp_path / 'a.pcap'), [field, '_ws.expert.message'], '-Y', field, '-o', 'gui.max_tree_items:20000')
    shown = len(shown.split(','))
    assert 900 < shown and (said % (10000 - shown) if '%' in said else said) in told


def test_chosen_title_indexes(tshark, tmp_path):
    """Indexes that all are multiples of the prime which a table of so many entries is taken modulo cost no more than others."""
    def used(factor):
        h = Hkpd()
        for n in (1, 2):
            h.sample(*(perf_object(factor * k, in_a_row(1), None, counter_block(1, n)) for k in range(1, 60001)))
        return cost.of_tshark(tshark, h.capture.write(tmp_path / 'a.pcap'))
    usual, chosen = used(2), used(65521)
    assert usual.status == chosen.status == 0 and chosen.seconds < 1.5 * usual.seconds + 0.3, (usual, chosen)


def test_info_says_where_wireshark_stopped_in_a_size_probe(tshark, tmp_path):
    """More bytes of data than a tree may have items: the stock dissector ends there, and what Wireshark says of it is not held back."""
    h, room = Hkpd(), 20000
    number = h.call(17, bytes(query(HANDLE, '2', room=room)), bytes(answer(bytes(room), status=234, size=40000, room=room)))
    env = {name: value for name, value in tshark.env.items() if not name.startswith('WIRESHARK_ABORT')}
    out = subprocess.run([TSHARK, '-r', h.capture.write(tmp_path / 'a.pcap'), '-o', 'gui.max_tree_items:5000', '-V', '-Y', 'frame.number == %d' % number,
                          '-T', 'fields', '-e', '_ws.col.Info'], env=env, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert 'size probe: needs 40000 bytes' in out and 'Dissector bug' in out


def test_an_id_counts_whole(tshark, tmp_path):
    """Two processes of one name, whose ids of 8 bytes are those of two others in their low halves: none has a result."""
    h, places = Hkpd(), [definition(6, BULK_COUNT, 8, 8), definition(784, RAWCOUNT | 0x100, 8, 16)]
    h.titles([('230', 'Process'), ('784', 'ID Process'), ('6', 'Things')])
    for high, step in ((0, 1), (5 << 32, 2)):
        number = h.sample(perf_object(230, places, [row('svc', struct.pack('<2I2Q', 24, 0, x * step, i | high)) for i, x in ((1, 10), (2, 1000))]))
    out = tshark.fields(h.capture.write(tmp_path / 'a.pcap'), ['pcq.cooked', 'pcq.cooked.none'], '-Y', 'frame.number == %d && pcq.path contains "Things"' % number)
    assert out == [['%d,%d' % (1 | 5 << 32, 2 | 5 << 32), '24,24']]     # the ids themselves
