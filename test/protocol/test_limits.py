# SPDX-License-Identifier: GPL-2.0-or-later
"""More than a tree may hold, more than a packet has: bounded time, no lost status, and an expert that counts."""

import re
import struct
import time

import pytest

from gen import stubs
from gen.buffers import data_header
from gen.damage import FILETIME, GUID, STAMP
from gen.pcap import Rpc, Tcp
from gen.scene import Line, Scene
from gen.stubs import DATA, INSTANCES, VALIDATE

HANDLE = bytes(4) + bytes(range(1, 17))
VALUES = 333334


def line():
    """A line with the largest fragments there are, in segments as large."""
    scene = Scene()
    rpc = Rpc(Tcp(scene.capture, mss=60000), max_frag=65535)
    rpc.bind()
    return scene, Line(scene, rpc)


def response(data, status=0, in_size=1 << 26):
    """A response stub round a big buffer, without the fields that nobody could compare."""
    head = struct.pack('<5I', len(data), len(data), in_size, 0, len(data))
    return head + data + bytes(-len(data) % 4) + struct.pack('<I', status)


def counter_block(kind, body):
    body += bytes(-len(body) % 8)
    return struct.pack('<4I', 0, kind, 16 + len(body), 0) + body


def data_buffer(*blocks):
    body = b''.join(blocks)
    return bytes(data_header(48 + len(body), len(blocks), STAMP, FILETIME, 10000000)) + body


def values(n, first=0):
    return b''.join(struct.pack('<2IQ', 8, 16, first + i) for i in range(n))


def multi_counters(n):
    return struct.pack('<2I', 8 + 4 * n, n) + struct.pack('<%dI' % n, *range(n)) + values(n)


def instances(n, with_value=False):
    """Instances of no name."""
    value = struct.pack('<2IQ', 8, 16, 5) if with_value else b''
    return b''.join(struct.pack('<2IQ', 16, i, 0) + value for i in range(n))


@pytest.fixture
def ask(tshark, tmp_path):
    """ask(opnum, stub, fields, request parameters) -> {field: [shown values]} of the response, in bounded time"""
    def do(opnum, stub, names, seconds=40, **p):
        scene, l = line()
        p = {'hQuery': HANDLE, 'dwInSize': 1 << 26, **p}
        l.request(opnum, stubs.request(opnum, **p))
        frame = l.response(opnum, stub, [])
        path = scene.write(tmp_path / 'big.pcap')
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


def list_of(rows, n):
    return struct.pack('<2I', 8 + len(rows), n) + rows


MANY = {    # values, and the blocks that have them: the budget is the packet's
    'few': (1000, lambda: [counter_block(2, multi_counters(1000))]),
    'one block': (VALUES, lambda: [counter_block(2, multi_counters(VALUES))]),
    'ten blocks': (300000, lambda: [counter_block(2, multi_counters(30000))] * 10),
    'small blocks': (200000, lambda: [counter_block(1, values(1, i)) for i in range(200000)]),
    'instances': (300000, lambda: [counter_block(4, list_of(instances(300000, True), 300000))]),
}


@pytest.mark.parametrize('many', MANY)
def test_05_40_many_values(ask, many):
    """Values shown and values said not to be shown are all there are; those shown are the first, and right."""
    n, blocks = MANY[many]
    got = ask(DATA, response(data_buffer(*blocks())), ['pcq.value'])
    shown = [int(v) for v in got['pcq.value']]
    assert got['pcq.status'] == ['0'] and len(shown) + not_shown(got) == n
    assert n > 1000 or not got['pcq.expert.not_shown']
    if many == 'one block':
        assert shown == list(range(len(shown))) and len(shown) >= 250000


def test_05_40_a_filter_on_values_finds_what_is_not_shown(tshark, tmp_path):
    """Without a visible tree too, where values are shown without the structures around them."""
    scene, l = line()
    l.request(DATA, stubs.request(DATA, hQuery=HANDLE, dwInSize=1 << 26))
    frame = l.response(DATA, response(data_buffer(counter_block(2, multi_counters(VALUES)))), [])
    path = scene.write(tmp_path / 'big.pcap')
    for expression in ('pcq.value && pcq.expert.not_shown', 'pcq.value && _ws.expert.message ~ "not shown"'):
        out, _ = tshark.run('-r', path, '-Y', expression)
        assert out.split()[:1] == [str(frame)], expression


def test_05_34_a_million_empty_instances(ask):
    """A list of instances without names."""
    got = ask(INSTANCES, response(instances(10 ** 6)), [], szMachine='', CounterSetGuid=GUID)
    assert got['pcq.status'] == ['0'] and got['pcq.expert.not_shown']


def test_05_34_a_million_instances_without_values(ask):
    """A PERF_COUNTERSET block of instances and no counters."""
    body = struct.pack('<2I', 8, 0) + list_of(instances(10 ** 6), 10 ** 6)
    got = ask(DATA, response(data_buffer(counter_block(6, body), counter_block(1, values(1, 4711)))), ['pcq.value'])
    assert got['pcq.status'] == ['0']


def test_05_34_announced_instances_cost_nothing(ask):
    """0xFFFFFFFF instances and a handful of bytes."""
    body = struct.pack('<2I', 8 + 16, 0xFFFFFFFF) + instances(1)
    got = ask(DATA, response(data_buffer(counter_block(4, body), counter_block(1, values(1, 4711)))), ['pcq.value'], 10)
    assert got['pcq.status'] == ['0'] and got['pcq.value'][-1] == '4711'


def test_05_19_many_strings(ask):
    """65,536 counters with a name each, all of them the same bytes."""
    n = 65536
    head = struct.pack('<2I', 8 + 8 * n + 8, n) + b''.join(struct.pack('<2I', i, 8 + 8 * n) for i in range(n))
    got = ask(1, response(head + 'abc\0'.encode('utf-16-le')), ['pcq.counter.name'], szMachine='', CounterSetGuid=GUID,
              RequestCode=10, RequestLCID=0)
    assert got['pcq.status'] == ['0'] and set(got['pcq.counter.name']) == {'abc'}


@pytest.mark.parametrize('step', [0, 2])
def test_05_19_overlapping_long_strings(ask, step):
    """Every offset leads into one long string: reading all of every one would be quadratic. One finding says so."""
    n = 60000
    text = ('x' * 2 * n + '\0').encode('utf-16-le')
    head = struct.pack('<2I', 8 + 8 * n + len(text) + 6, n) + b''.join(
        struct.pack('<2I', i, 8 + 8 * n + step * i) for i in range(n))
    names = ['pcq.expert.string_offset', 'pcq.counter.name']
    got = ask(1, response(head + text + bytes(6)), names, 15, szMachine='', CounterSetGuid=GUID, RequestCode=5,
              RequestLCID=0)
    assert got['pcq.status'] == ['0']
    assert len(got['pcq.expert.string_offset']) == 1
    assert 1 <= len(got['pcq.counter.name']) < 100 and max(map(len, got['pcq.counter.name'])) == 1025


@pytest.mark.parametrize('count', [4, 5, 9, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_wrong_count_makes_no_headers_of_text(ask, count):
    """Three strings, and a number that says more."""
    texts = ['% Processor Time', '% User Time', 'Interrupts/sec']
    data, offset = b'', 8 + 8 * 3
    head = b''
    for i, text in enumerate(texts):
        head += struct.pack('<2I', i + 1, offset + len(data))
        data += (text + '\0').encode('utf-16-le')
    data += bytes(-len(data) % 8)
    names = ['pcq.expert.count', 'pcq.expert.string_offset', 'pcq.counter.name', 'pcq.counter.id']
    got = ask(1, response(struct.pack('<2I', offset + len(data), count) + head + data), names, szMachine='',
              CounterSetGuid=GUID, RequestCode=5, RequestLCID=0)
    assert got['pcq.counter.name'] == texts and got['pcq.counter.id'] == ['1', '2', '3']
    assert len(got['pcq.expert.count']) == 1 and not got['pcq.expert.string_offset']


def test_05_22_many_identifiers_in_a_request(tshark, tmp_path):
    """Both directions of ValidateCounters."""
    scene, l = line()
    one = struct.pack('<16s6I', bytes(range(16)), 0, 40, 1, 0xFFFFFFFF, 0, 0)
    data = one * 150000
    first = l.request(VALIDATE, struct.pack('<20s2I', HANDLE, len(data), len(data)) + data + struct.pack('<I', 1), [])
    last = l.response(VALIDATE, struct.pack('<I', len(data)) + data + struct.pack('<I', 0), [])
    rows = tshark.fields(scene.write(tmp_path / 'many.pcap'), ['frame.number', 'pcq.add', 'pcq.status'], '-Y', 'pcq.add || pcq.status')
    assert [(int(n), add in ('1', 'True'), status) for n, add, status in rows] == [(first, True, ''), (last, False, '0')]
