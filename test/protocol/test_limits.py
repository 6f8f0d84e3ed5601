# SPDX-License-Identifier: GPL-2.0-or-later
"""More than a tree may hold, more than a packet has: bounded time, no lost status, and an expert that counts."""

import re
import struct
import time

import pytest

from gen.hostile import GUID, NONE, ROOM, Pcq, block, identifier, ids, instance, instances, string_table, utf16, values

VALUES = 333334


def counters(n):
    return block(2, ids(n) + values(n))


@pytest.fixture
def read(tshark, tmp_path):
    """read(Pcq, frame, fields) -> {field: [shown values]} of that response, in bounded time"""
    def do(p, frame, names, seconds=40):
        path = p.capture.write(tmp_path / 'big.pcap')
        names = ['_ws.expert.message', 'pcq.status', 'pcq.expert.not_shown', *names]
        start = time.monotonic()
        rows = tshark.fields(path, names, '-Y', 'frame.number == %d' % frame)
        assert time.monotonic() - start < seconds
        assert len(rows) == 1
        got = {n: v.split(',') if v else [] for n, v in zip(names, rows[0])}
        got['_ws.expert.message'] = rows[0][0]
        return got
    return do


def not_shown(got):
    """The number that the expert names, 0 without one."""
    m = re.search(r'(\d[\d,]*) (?:more )?\S*(?: \S+)* not shown|not shown[^0-9]*(\d[\d,]*)', got['_ws.expert.message'])
    assert bool(m) == bool(got['pcq.expert.not_shown']), got['_ws.expert.message']
    return int((m[1] or m[2]).replace(',', '')) if m else 0


MANY = {    # values, and the blocks that have them: the budget is the packet's
    'few': (1000, lambda: [counters(1000)]),
    'one block': (VALUES, lambda: [counters(VALUES)]),
    'ten blocks': (300000, lambda: [counters(30000)] * 10),
    'small blocks': (200000, lambda: [block(1, values(1, i)) for i in range(200000)]),
    'instances': (300000, lambda: [block(4, instances([instance('') + values(1)] * 300000))]),
}


@pytest.mark.parametrize('many', MANY)
def test_05_40_many_values(read, many):
    """Values shown and values said not to be shown are all there are; those shown are the first, and right."""
    (n, blocks), p = MANY[many], Pcq()
    got = read(p, p.data(*blocks()), ['pcq.value'])
    shown = [int(v) for v in got['pcq.value']]
    assert got['pcq.status'] == ['0'] and len(shown) + not_shown(got) == n
    assert n > 1000 or not got['pcq.expert.not_shown']
    if many == 'one block':
        assert shown == list(range(len(shown))) and len(shown) >= 120000     # 8 items each, of a million


def test_05_40_a_filter_on_values_finds_what_is_not_shown(tshark, tmp_path):
    """Without a visible tree too, where values are shown without the structures around them."""
    p = Pcq()
    frame = p.data(counters(VALUES))
    path = p.capture.write(tmp_path / 'big.pcap')
    for expression in ('pcq.value', 'pcq.value && pcq.expert.not_shown', 'pcq.value && _ws.expert.message ~ "not shown"'):
        out, _ = tshark.run('-r', path, '-o', 'gui.max_tree_items:%d' % (10 ** 5 if expression == 'pcq.value' else 10 ** 6), '-Y', expression)
        assert out.split()[:1] == [str(frame)], expression


def list_of(p, count):
    """A list of instances without names"""
    machine = utf16('\\\\SRV', 8)
    request = struct.pack('<3I', len(machine) // 2, 0, len(machine) // 2) + machine + GUID + struct.pack('<I', ROOM)
    return p.call(2, request, p.returned(instance('') * count))


FOUR = block(1, values(1, 4711))
ANNOUNCED = {   # what is asked, a field, and what of it is certain
    'a million empty instances': (lambda p: list_of(p, 10 ** 6), 'pcq.expert.not_shown', bool),
    'a million instances without values': (lambda p: p.data(block(6, ids(0) + instances([instance('')] * 10 ** 6)), FOUR), 'pcq.value', lambda x: True),
    'four thousand million instances and a handful of bytes': (
        lambda p: p.data(block(4, struct.pack('<2I', 8 + 16, NONE) + instance('')), FOUR), 'pcq.value', lambda x: x[-1] == '4711'),
    '65,536 counters with a name each, all of them the same bytes': (
        lambda p: p.registration(10, string_table([(i, 0) for i in range(65536)], utf16('abc'))), 'pcq.counter.name', lambda x: set(x) == {'abc'}),
}


@pytest.mark.parametrize('case', ANNOUNCED)
def test_05_19_34_very_many(read, case):
    (make, field, is_right), p = ANNOUNCED[case], Pcq()
    got = read(p, make(p), [field], 20)
    assert got['pcq.status'] == ['0'] and is_right(got[field])


@pytest.mark.parametrize('step, findings', [(0, [1]), (2, range(1, 101))])
def test_05_19_overlapping_long_strings(read, step, findings):
    """Every offset leads into one long string: reading all of every one would be quadratic. One finding says so; of those that lead to no
    beginning of a string each, as long as there is room."""
    n, p = 60000, Pcq()
    table = string_table([(i, step * i) for i in range(n)], utf16('x' * 2 * n, 8))
    got = read(p, p.registration(5, table), ['pcq.expert.string_offset', 'pcq.counter.name'], 15)
    assert got['pcq.status'] == ['0']
    assert len(got['pcq.expert.string_offset']) in findings
    assert 1 <= len(got['pcq.counter.name']) < 100 and max(map(len, got['pcq.counter.name'])) == 1025


def test_05_40_many_times_one_counter_that_is_known(tshark, tmp_path):
    """Five items for each id, all below the end of DCE/RPC's list of fragments: no loop for Wireshark 4.6."""
    p, many = Pcq(), 16000
    p.open()
    p.counters([1])
    p.change([identifier(NONE, 'a')])
    p.data(block(2, struct.pack('<2I', 8 + 4 * many, many) + struct.pack('<I', 1) * many))
    out, _ = tshark.run('-r', p.capture.write(tmp_path / 'many.pcap'), '-O', 'pcq')
    assert out.count('Counter id: 1 ') + out.count('Counter id: 1\n') >= many and 'Counter type: PERF_COUNTER_BULK_COUNT' in out


def test_05_22_many_identifiers_in_a_request(tshark, tmp_path):
    """Both directions of ValidateCounters."""
    p = Pcq()
    last = p.change([identifier(1, None)] * 150000)
    rows = tshark.fields(p.capture.write(tmp_path / 'many.pcap'), ['frame.number', 'pcq.add', 'pcq.status'], '-Y', 'pcq.add || pcq.status')
    assert [(add in ('1', 'True'), status) for _, add, status in rows] == [(True, ''), (False, '0')] and rows[1][0] == str(last)
