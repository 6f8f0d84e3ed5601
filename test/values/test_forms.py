# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples that differ in their numbers alone share the rest: what is shown must not depend on it."""

import struct

import pytest

from conftest import TOP
from gen.hostile import BULK_COUNT, NONE, ROOM, Pcq, block, identifier, ids, instance, instances, string_table, utf16, values
from learned import cooked, one, read_file
from test_calls import most_memory

FIRST_SAMPLE, NEW_INSTANCE, SAMPLE_DROPPED = 1, 2, 17


COUNTER = 0x10410400    # PERF_COUNTER_COUNTER, of 4 bytes


def query(counters, asked, kind=BULK_COUNT):
    """A query of a set of rates; a second lies between two samples, so a rate is the difference."""
    p = Pcq(repeat=True)
    p.registration(9, utf16('Set'))
    p.counters(range(counters), kind=kind)
    p.registration(10, string_table([(i, 32 * i) for i in range(counters)],
                                    b''.join(utf16('c%d' % i).ljust(32, b'\0') for i in range(counters))))
    p.open()
    p.change(asked)
    return p


def number(n, row, column):
    """Of sample n: a rate of its own for each cell, so that one taken for another shows."""
    return n * n * (100 * row + column + 1)


def row_of(n, row, columns, width=8):
    kind = {8: '<2IQ', 4: '<2II4x'}[width]
    return b''.join(struct.pack(kind, width, 16, number(n, row, c)) for c in columns)


def rows(n, order):
    """A block of one counter whose instances stand in this order."""
    return block(4, instances([instance('i%d' % r, r) + row_of(n, r, [0]) for r in order]))


def odd_ids(columns):
    """dwSize as it is, without padding: the values stand on halves of 8 bytes."""
    return struct.pack('<2I', 8 + 4 * len(columns), len(columns)) + struct.pack('<%dI' % len(columns), *columns)


def shapes():
    """name -> (identifiers, blocks of sample n, [(path, row, column)] in order)"""
    names = [('one', 0), ('two', 1), ('two', 2), ('three', 3)]
    labels = ['one', 'two', 'two#1', 'three']

    def many(ids_of, columns, width=8):
        return ([identifier()],
                lambda n: [block(6, ids_of(columns) + instances([instance(x, 7) + row_of(n, r, columns, width) for x, r in names]))],
                [(labels[r], r, c) for r in range(4) for c in columns])
    yield 'even', many(lambda c: ids(len(c)), range(4))
    yield 'odd', many(odd_ids, range(3))
    yield 'odd-padded', many(lambda c: ids(len(c)), range(3))
    yield 'narrow', many(odd_ids, range(3), 4)
    yield 'instances', ([identifier(1)], lambda n: [block(4, instances([instance(x, 7) + row_of(n, r, [1]) for x, r in names]))],
                        [(labels[r], r, 1) for r in range(4)])
    yield 'columns', ([identifier(NONE, None)], lambda n: [block(2, odd_ids(range(5)) + row_of(n, 0, range(5)))],
                      [(None, 0, c) for c in range(5)])
    yield 'blocks', ([identifier(c, None) for c in range(6)], lambda n: [block(1, row_of(n, 0, [c])) for c in range(6)],
                     [(None, 0, c) for c in range(6)])


SHAPES = dict(shapes())


def path_of(instance_name, column):
    return '\\\\SRV\\Set%s\\c%d' % ('(%s)' % instance_name if instance_name else '', column)


def shown(frame):
    return [(one(v, 'pcq.path'), cooked(v)) for v in frame.values]


def expected(cells, n, before):
    why = (None, FIRST_SAMPLE)
    return [(path_of(i, c), (float(number(n, r, c) - number(before, r, c)), None) if before is not None else why)
            for i, r, c in cells]


@pytest.mark.parametrize('name', SHAPES)
def test_what_repeats_is_calculated_as_ever(tshark, tmp_path, name, two_pass):
    asked, blocks, cells = SHAPES[name]
    p = query(6, asked, COUNTER if name == 'narrow' else BULK_COUNT)
    frames = [p.data(*blocks(n)) for n in range(5)]
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    for n, frame in enumerate(frames):
        assert shown(got[frame]) == expected(cells, n, n - 1 if n else None), n


def test_instances_that_change_places_in_bytes_of_the_same_size(tshark, tmp_path, two_pass):
    p = query(1, [identifier(0)])
    orders = [(0, 1, 2), (0, 1, 2), (2, 0, 1), (2, 0, 1), (0, 1, 2), (0, 2, 1)]
    frames = [p.data(rows(n, order)) for n, order in enumerate(orders)]
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    for n, (frame, order) in enumerate(zip(frames, orders)):
        cells = [('i%d' % r, r, 0) for r in order]
        assert shown(got[frame]) == expected(cells, n, n - 1 if n else None), n


@pytest.mark.parametrize('names', [('a', 'ab'), ('ab', 'a'), ('', 'a'), ('a', '')])
def test_an_instance_whose_name_begins_like_another(tshark, tmp_path, names, two_pass):
    """In its place, with its id."""
    p = query(1, [identifier(0)])
    frames = [p.data(block(4, instances([instance(name, 7) + row_of(n, 0, [0])]))) for n, name in enumerate(names)]
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    assert [v for _, v in shown(got[frames[0]]) + shown(got[frames[1]])] == [(None, FIRST_SAMPLE), (None, NEW_INSTANCE)]


def test_blocks_that_change_places(tshark, tmp_path, two_pass):
    """The query is told anew in another order: all blocks are of one type and size, so only the order tells."""
    asked = [identifier(c, None) for c in range(3)]
    p = query(3, asked)
    orders = [(0, 1, 2), (0, 1, 2), (2, 0, 1), (2, 0, 1), (1, 0, 2)]
    frames = []
    for n, order in enumerate(orders):
        if n == 0 or order != orders[n - 1]:
            p.change([asked[0]], add=False)
            p.change([asked[0]])                    # from now on the old order tells nothing
            p.info([identifier(c, None, index=order.index(c)) for c in range(3)])
        frames.append(p.data(*[block(1, row_of(n, 0, [c])) for c in order]))
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    for n, (frame, order) in enumerate(zip(frames, orders)):
        assert shown(got[frame]) == expected([(None, 0, c) for c in order], n, n - 1 if n else None), n


def test_a_second_answer_in_the_frame_has_a_form_of_its_own(tshark, tmp_path, two_pass):
    """Of two answers to a request in one frame the first is the sample. The second is of the same size."""
    p = query(1, [identifier(0)])

    def data(n, order):
        p.time = n
        return p.counter_data(rows(n, order))
    ask = p.handle + struct.pack('<I', ROOM)
    for n in range(2):
        p.call(6, ask, data(n, (0, 1, 2)))
    p.rpc.request(6, ask)
    pdus = [x for order in ((0, 1, 2), (2, 1, 0)) for x in p.rpc.response_pdus(data(2, order))]
    frame = p.rpc.transport.to_client(pdus)
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    both = [expected([('i%d' % r, r, 0) for r in order], 2, 1) for order in ((0, 1, 2), (2, 1, 0))]
    assert shown(got[frame]) == both[0] + both[1]


def test_a_second_answer_is_no_sample(tshark, tmp_path, two_pass):
    """In a frame of its own, and of the same form: nothing is calculated, and nothing is compared with it."""
    p = query(1, [identifier(0)])
    frames, again = [], []
    for n in range(4):
        p.time = n
        frames.append(p.data(rows(n, (0, 1, 2))))
        p.rpc.call_id -= 1
        again.append(p.rpc.response(p.counter_data(rows(n + 5, (0, 1, 2)))))
    got = read_file(tshark, p.capture.write(tmp_path / 'a.pcap'), two_pass=two_pass)
    for n, frame in enumerate(frames):
        assert shown(got[frame]) == expected([('i%d' % r, r, 0) for r in range(3)], n, n - 1 if n else None), n
    for frame in again:
        assert [x.removeprefix('pcq.expert.') for x in got[frame].experts] == ['second_response']
        assert not got[frame].all('pcq.sample.previous')
        there = shown(got[frame])
        assert [path for path, _ in there] == [path_of('i%d' % r, 0) for r in range(3)]
        assert all(value is None and why for _, (value, why) in there)


def test_what_is_dropped_of_them(tshark, tmp_path):
    """0.9 MB for what they have in common and 24 KB of numbers each: of twelve, 1 MiB holds the newest six."""
    count = 12
    p = query(1, [identifier(0)])
    names = [instance('instance %04d' % i + 'x' * 120, i) for i in range(3000)]
    for n in range(count):
        p.data(block(4, instances([x + values(1, n * i) for i, x in enumerate(names)])))
    common, numbers = 48 + 24 + sum(16 + len(x) for x in names), 8 * 3005
    left = ((1 << 20) - common - numbers // 2) // numbers      # where a number stands takes 4 bytes, once
    assert 1 < left < count - 1
    path = p.capture.write(tmp_path / 'a.pcap')
    shown = tshark.fields(path, ['pcq.cooked.none', 'pcq.cooked'], '-2', '-o', 'pcq.sample_limit:1', '-Y', 'pcq.counter_data')
    each = [[cell.split(',') if cell else [] for cell in row] for row in shown]
    reasons = [str(FIRST_SAMPLE)] + [str(SAMPLE_DROPPED)] * (count - left)
    assert [none for none, _ in each] == [[reason] * len(names) for reason in reasons] + [[]] * (left - 1)
    assert [len(numbers) for _, numbers in each] == [0] * len(reasons) + [len(names)] * (left - 1)


def test_what_they_have_in_common_is_counted_once(tshark, tmp_path):
    """As long as one of them is left, and no longer. Of four queries, 1 MiB holds now this one's samples, now that one's; the
    smallest one's are there whenever they would fit."""
    first = query(1, [identifier(0)])
    others = [Pcq(first.capture, client_port=50001 + i, handle=bytes(19) + bytes([i]), repeat=True) for i in (1, 2, 3)]
    for p in others:
        p.open()
        p.change([identifier(0)])
    queries, small = dict(zip('ABCD', [first, *others])), list(range(10))
    counts = {'A': 10000, 'B': 18750, 'C': len(small), 'D': 28125}      # of 32 bytes, a fourth of them numbers
    # What 1 MiB holds behind each: of A all that they have in common, 330 KB, and 80 KB for each but the first.
    for name in 'AAA' 'BC' 'AA' 'C' 'D' 'C':
        n = queries[name].time
        queries[name].data(block(4, instances([instance('', i) + values(1, n * (i + 1)) for i in range(counts[name])])))
    rows = tshark.fields(first.capture.write(tmp_path / 'a.pcap'), ['pcq.query.number', 'pcq.cooked.none', 'pcq.cooked'], '-o',
                         'pcq.sample_limit:1', '-Y', 'pcq.counter_data')
    kept = {name: [(set(none.split(',')), [float(x) for x in cooked.split(',') if x]) for number, none, cooked in rows
                   if int(number) == i] for i, name in enumerate('ABCD', 1)}
    new, dropped = ({str(FIRST_SAMPLE)}, []), ({str(SAMPLE_DROPPED)}, [])
    same = ({''}, [float(i + 1) for i in range(counts['A'])])
    assert kept['A'] == [new, same, same, dropped, same]
    assert kept['C'] == [new] + [({''}, [float(i + 1) for i in small])] * 2
    assert kept['B'] == kept['D'] == [new]


def test_their_numbers_are_all_that_they_take(tshark, tmp_path):
    """64 MB of blocks of one value, 8 of 32 bytes: a fourth, and the first sample once more."""
    count, size = 64, 1 << 20
    p = query(1, [identifier(0, None)])
    data = [block(1, struct.pack('<2I8s', 8, 16, b'%')) for _ in range(size // 32)]
    for _ in range(count):
        p.data(*data)
    path = p.capture.write(tmp_path / 'a.pcap')
    kept = most_memory(tshark.env, '-r', path)
    bare = most_memory(dict(tshark.env, WIRESHARK_PLUGIN_DIR=str(TOP / 'test')), '-r', path)
    assert kept - bare < count * size * 0.5, (kept - bare) >> 20
