# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose cost somebody chose: small numbers in the bytes that multiply. Each takes a size and grows in
proportion to it, so that a reader's work can be held against the bytes.

    python3 -m gen.hostile FOLDER BYTES [NAME…]     (from test/) writes them
"""

import struct
import sys
from pathlib import Path

from . import stubs
from .hkpd_stubs import answer as winreg_answer
from .hkpd_stubs import handle_back, open_root
from .hkpd_stubs import query as winreg_query
from .pcap import WINREG, Capture, Rpc, Tcp

HOSTILE = {}
SCALE = {}                  # how large the smallest capture must be for its growth to show
GUID = bytes(range(1, 17))
HANDLE = bytes(4) + bytes(range(1, 17))
NONE = 0xFFFFFFFF
RAWCOUNT, BULK_COUNT, TEXT = 0x00010000, 0x10410500, 0x00000B00
ROOM = 1 << 26
NOW = 134351767437550592


def hostile(make, scale=16000):
    """Registers make(size) -> Capture under its function's name; make(p, size) has a connection of PerflibV2, make(h, size) of the registry."""
    name, talks = make.__name__.replace('_', '-'), make.__code__.co_varnames[0] != 'size'

    def talk(size):
        line = Hkpd() if make.__code__.co_varnames[0] == 'h' else Pcq()
        make(line, size)
        return line.capture
    HOSTILE[name], SCALE[name] = talk if talks else make, scale
    return HOSTILE[name]


def slowly(make):
    """The same for what multiplies with a small factor."""
    return hostile(make, 100000)


def very_slowly(make):
    """The same for what multiplies with a step of a few instructions."""
    return hostile(make, 400000)


def utf16(text, align=2):
    data = text.encode('utf-16-le') + b'\0\0'
    return data + bytes(-len(data) % align)


def long_name(size, head='n'):
    """A name of about so many bytes."""
    return (head + 'ame of no end ' * (size // 28 + 1))[:max(size // 2, 4)]


# --- PerflibV2 ---------------------------------------------------------------------------------------------------

class Pcq:
    """One connection; stubs are put together from bytes. Answers of the same form are cheaper than others, so unless they
    may `repeat` each has a number of its own in a field that means nothing."""

    def __init__(self, capture=None, server=None, handle=HANDLE, client_port=50001, repeat=False):
        self.capture, self.handle, self.time, self.repeat = capture or Capture(), handle, 0, repeat
        self.rpc = Rpc(Tcp(self.capture, mss=60000, server=server, client_port=client_port), max_frag=60000)
        self.rpc.bind()

    def call(self, opnum, request, response):
        self.rpc.request(opnum, request)
        return self.rpc.response(response)

    def returned(self, data, status=0):
        head = struct.pack('<5I', len(data), len(data), ROOM, 0, len(data))
        return head + data + bytes(-len(data) % 4) + struct.pack('<I', status)

    def open(self, machine='\\\\SRV', handle=None):
        return self.call(3, bytes(stubs.request(3, szMachine=machine)), (handle or self.handle) + bytes(4))

    def close(self, handle=None):
        return self.call(4, handle or self.handle, bytes(24))

    def registration(self, code, data, guid=GUID, lcid=0x409):
        text = utf16('\\\\SRV')
        request = struct.pack('<3I', len(text) // 2, 0, len(text) // 2) + text
        request += bytes(-len(request) % 4) + guid + struct.pack('<3I', code, lcid, ROOM)
        return self.call(1, request, self.returned(data))

    def counters(self, ids, guid=GUID, kind=BULK_COUNT):
        rows = b''.join(struct.pack('<2IQIi6I', i, kind, 0, 100, 0, NONE, NONE, NONE, NONE, 0, 0) for i in ids)
        return self.registration(1, guid + struct.pack('<4I', 0, 100, len(ids), 2) + rows, guid)

    def change(self, identifiers, add=True, answer=None, status=0):
        data = b''.join(identifiers)
        request = self.handle + struct.pack('<2I', len(data), len(data)) + data + struct.pack('<I', int(add))
        data = data if answer is None else answer
        return self.call(7, request, struct.pack('<I', len(data)) + data + struct.pack('<I', status))

    def info(self, identifiers):
        return self.call(5, self.handle + struct.pack('<I', ROOM), self.returned(b''.join(identifiers)))

    def data(self, *blocks):
        return self.call(6, self.handle + struct.pack('<I', ROOM), self.counter_data(*blocks))

    def counter_data(self, *blocks):
        """The answer, a second later than the one before."""
        self.time += 1
        body = b''.join(blocks)
        if len(body) >= 16 and not self.repeat:
            body = body[:12] + struct.pack('<I', self.time) + body[16:]     # PERF_COUNTER_HEADER.dwReserved
        head = struct.pack('<2I3Q8H', 48 + len(body), len(blocks), self.time * 10 ** 7, NOW + self.time * 10 ** 7,
                           10 ** 7, 2026, 9, 2, 29, 17, 32, 23, 0)
        return self.returned(head + body)


def identifier(counter=NONE, instance='*', guid=GUID, index=0, instance_id=NONE):
    name = b'' if instance is None else utf16(instance, 8)
    return guid + struct.pack('<6I', 0, 40 + len(name), counter, instance_id, index, 0) + name


def block(kind, body=b'', status=0):
    body += bytes(-len(body) % 8)
    return struct.pack('<4I', status, kind, 16 + len(body), 0) + body


def values(count, first=0):
    return b''.join(struct.pack('<2IQ', 8, 16, first + i) for i in range(count))


def ids(count):
    data = struct.pack('<2I', 8 + 4 * count, count) + struct.pack('<%dI' % count, *range(count))
    data += bytes(-len(data) % 8)
    return struct.pack('<I', len(data)) + data[4:]


def instance(name, number=0):
    name = utf16(name, 8)
    return struct.pack('<2I', 8 + len(name), number) + name


def instances(rows):
    body = b''.join(rows)
    return struct.pack('<2I', 8 + len(body), body and len(rows) or 0) + body


def counterset(counters, names, first=0):
    """A block of type 6."""
    rows = [instance(n, i) + values(counters, first) for i, n in enumerate(names)]
    return block(6, ids(counters) + instances(rows))


def string_table(entries, blob):
    """entries: (id, offset into blob)"""
    first = 8 + 8 * len(entries)
    table = b''.join(struct.pack('<2I', i, first + at) for i, at in entries)
    data = struct.pack('<2I', first + len(blob), len(entries)) + table + blob
    return data


def counters_query(size=None, machine='\\\\SRV', counters=10, name='Set'):
    """A server that knows a set of counters, and a query of all of them."""
    p = Pcq()
    p.registration(9, utf16(name))
    p.counters(range(counters))
    p.open(machine)
    p.change([identifier()])
    return p


# 1: what is long once is written for each value.


@hostile
def long_names_of_everything(size):
    """Machine, set and counter have names of a sixth of the bytes each."""
    p = counters_query(machine='\\\\' + long_name(size // 6), counters=1, name=long_name(size // 6))
    p.registration(10, string_table([(0, 0)], utf16(long_name(size // 6))))
    for n in range(2):
        p.data(block(4, instances([instance('i%d' % i, i) + values(1, n) for i in range(size // 160)])))
    return p.capture


@hostile
def long_instance_name(size):
    """One instance with a name of half the bytes and all the counters."""
    count = size // 120
    p = counters_query(counters=count)
    for n in range(2):
        p.data(counterset(count, [long_name(size // 4)], n))
    return p.capture


@hostile
def long_names_all(size):
    """Machine, set and counter are as long as they are shown, and the instances are many."""
    p = counters_query(machine='\\\\' + 'm' * 1024, counters=1, name='s' * 1024)
    p.registration(10, string_table([(0, 0)], utf16('c' * 1024)))
    for n in range(2):
        p.data(block(4, instances([instance('i%d' % i, i) + values(1, n) for i in range(size // 80)])))
    return p.capture


@slowly
def ever_new_instances(size):
    """Each answer has an instance that no other has: a table of all would be mostly empty."""
    p = counters_query(counters=1)
    p.info([identifier(0, index=0)])
    for n in range(size // 650):
        p.data(block(4, instances([instance('new %d' % n, n) + values(1, n)])))
    return p.capture


@hostile
def long_names_of_query(p, size):
    """Identifiers with long instance names, listed with each use of the handle."""
    p.open()
    p.change([identifier(i, long_name(size // 20)) for i in range(10)])
    for _ in range(size // 1200):
        p.data(block(1, values(1)))


@hostile
def long_names_many_blocks(p, size):
    """A block for each counter of one instance, whose name is repeated in each identifier."""
    count = 20
    p.registration(10, string_table([(i, 0) for i in range(count)], utf16(long_name(size // 8))))
    p.counters(range(count))
    p.open()
    p.change([identifier(i, long_name(size // 60)) for i in range(count)])
    for _ in range(size // 2400):
        p.data(*[block(1, values(1)) for _ in range(count)])


# What answers have in common is kept once.

def repeating(asked, kind=BULK_COUNT):
    p = Pcq(repeat=True)
    p.counters([0], kind=kind)
    p.open()
    p.change([asked])
    return p


@hostile
def almost_repeated(size):
    """Answers that differ in their last bytes: each is compared with the one before for nothing."""
    p = repeating(identifier(0, None))
    blocks = [block(1, values(1))] * (size // 8 // 32)
    for n in range(8):
        p.data(*blocks, block(0, status=n))
    return p.capture


@hostile
def repeated_halves(size):
    """Values that stand now on words of 8 bytes, now on their halves."""
    p = repeating(identifier(NONE, None))
    one = block(2, struct.pack('<3I', 12, 1, 0) + values(1))
    for n in range(8):
        p.data(*[one] * (size // 8 // len(one)))
    return p.capture


@hostile
def repeated_texts(size):
    """Values of no number's size, which fill what they have in common with all their bytes."""
    p = repeating(identifier(0, None), TEXT)
    text = utf16('t' * 500, 8)
    for n in range(8):
        p.data(*[block(1, struct.pack('<2I', len(text), 8 + len(text)) + text)] * (size // 8 // (24 + len(text))))
    return p.capture


@hostile
def repeated_forms(size):
    """Each query has two answers of the same form, so that nothing is saved."""
    p = Pcq(repeat=True)
    p.counters([0])
    for n in range(size // 1200):
        p.handle = bytes(4) + struct.pack('<4I', n, 1, 2, 3)
        p.open()
        p.change([identifier(0, None)])
        for _ in range(2):
            p.data(*[block(1, values(1, n))] * 4)
    return p.capture


# 2: entries that share one string.


@hostile
def string_table_suffixes(p, size):
    """Each entry begins one character later."""
    count = size // 16
    p.registration(10, string_table([(i, 2 * (i % (size // 4))) for i in range(count)], utf16(long_name(size // 2))))


def string_tables_of_many_sets(size):
    """The same in many answers, of a set each: what is kept of them?"""
    p = Pcq()
    for n in range(8):
        p.registration(10, string_table([(i, 0) for i in range(size // 128)], utf16(long_name(size // 16))),
                       guid=bytes([n]) * 16)
    return p.capture


hostile(string_tables_of_many_sets, 32000)      # below that each of its strings is shorter than what is read of one


@hostile
def string_table_unterminated(p, size):
    blob = long_name(size // 2).encode('utf-16-le')
    p.registration(10, string_table([(i, 0) for i in range(size // 16)], blob))


# 5: queries that change.


@slowly
def many_changes_with_data(p, size):
    p.open()
    for i in range(size // 1600):
        p.change([identifier(i, None)])
        p.data(block(1, values(1)))
        p.change([identifier(i, None)], add=False)


@slowly
def growing_query(p, size):
    """A counter more with every change, and an answer that holds them all at the end."""
    p.open()
    count = size // 500
    for i in range(count):
        p.change([identifier(i, None)])
    p.data(*[block(1, values(1)) for _ in range(count)])
    p.data(*[block(1, values(1)) for _ in range(count)])


@slowly
def unknown_changes(p, size):
    """Changes whose answers do not add up end what was known, again and again."""
    p.open()
    for i in range(size // 1000):
        p.change([identifier(i, None)])
        p.change([identifier(i, None)], answer=identifier(i, None)[:36])


@slowly
def large_query_small_calls(p, size):
    """Many counters, then many calls that carry the handle."""
    p.open()
    p.change([identifier(i, None) for i in range(size // 160)])
    for _ in range(size // 800):
        p.data()


@hostile
def large_query_large_answer(p, size):
    """As many blocks as counters, in an order that only their types can tell."""
    p.open()
    count = size // 160
    p.change([identifier(i, None if i % 2 else '*') for i in range(count)])
    blocks = [block(1, values(1)) if i % 2 else block(4, instances([instance('a') + values(1)])) for i in range(count)]
    p.data(*blocks)
    p.data(*reversed(blocks))


@hostile
def same_identifiers(p, size):
    """One identifier many times, told by QueryCounterInfo, removed again."""
    p.open()
    count = size // 300
    for _ in range(2):
        p.change([identifier(1, None) for _ in range(count)])
        p.info([identifier(1, None, index=i) for i in range(count)])
        p.data(*[block(1, values(1)) for _ in range(count)])
    p.change([identifier(1, None) for _ in range(count)], add=False)


@hostile
def same_index(p, size):
    p.open()
    count = size // 120
    p.change([identifier(i, None) for i in range(count)])
    p.info([identifier(i, None, index=0) for i in range(count)])
    p.data(*[block(1, values(1)) for _ in range(count)])


@hostile
def refused_under_long_names(p, size):
    """Identifiers of 40 bytes, each refused, and long names of server, set and counter that each would repeat."""
    p.registration(9, utf16('S' * 1000))
    p.registration(10, string_table([(1, 0)], utf16('C' * 1000)))
    p.open('\\\\' + 'M' * 1000)
    asked = [identifier(1, None, instance_id=i) for i in range(size // 100)]
    p.change(asked, answer=b''.join(x[:16] + struct.pack('<I', 2) + x[20:] for x in asked))


# What is the same many times, or many.

@hostile
def same_instances(size):
    """Instances of one name and id, in two samples."""
    p = counters_query(counters=1)
    for n in range(2):
        p.data(block(4, instances([instance('same', 1) + values(1, n) for _ in range(size // 100)])))
    return p.capture


@hostile
def empty_instances(size):
    """Instances without a name, without values."""
    p = counters_query(counters=0)
    for n in range(2):
        p.data(block(6, ids(0) + instances([struct.pack('<2I', 8, 0)] * (size // 16))))
    return p.capture


@hostile
def same_counters(p, size):
    """A set that gives one id to all of its counters, and names for each of them."""
    count = size // 100
    p.counters([1] * count)
    p.registration(10, string_table([(1, 0)] * count, utf16('name')))
    p.registration(10, string_table([(1, 0)] * count, utf16('other')))
    p.open()
    p.change([identifier(1)])
    p.data(block(4, instances([instance('i%d' % i, i) + values(1) for i in range(size // 200)])))


@slowly
def name_told_anew(p, size):
    """The same counter's name, another one each time, and values between."""
    p.counters([0])
    p.open()
    p.change([identifier(0)])
    for n in range(size // 1100):
        p.registration(10, string_table([(0, 0)], utf16('name %d' % n)))
        p.data(block(4, instances([instance('i') + values(1)])))


@slowly
def same_handle_opened(p, size):
    """One handle, opened and closed again and again."""
    for _ in range(size // 800):
        p.open()
        p.close()


@hostile
def handles_never_closed(p, size):
    for i in range(size // 400):
        p.open(handle=bytes(4) + struct.pack('<4I', i, 1, 2, 3))


@hostile
def countersets_learned(p, size):
    for i in range(size // 550):
        p.registration(9, utf16('Set %d' % i), guid=struct.pack('<4I', i, 1, 2, 3))


@slowly
def statuses_all_different(p, size):
    """Each answer with a status that no other had."""
    for i in range(size // 330):
        p.call(6, p.handle + struct.pack('<I', ROOM), p.returned(b'', status=1 << 29 | i))


def same_sums(count):
    """Names whose hashes are equal wherever a character counts 33 times the next one: 'A', 'Q' and 'B', '0' do."""
    pairs = max((count - 1).bit_length(), 1)
    return [''.join(('AQ', 'B0')[i >> k & 1] for k in range(pairs)) for i in range(count)]


@slowly
def names_that_collide(size):
    p = counters_query(counters=1)
    for n in range(2):
        p.data(counterset(1, same_sums(size // 200), n))
    return p.capture


@slowly
def identifiers_that_collide(p, size):
    """Counter and instance change so that 31 times the one and the other make the same sum."""
    p.counters([0])
    p.open()
    for first in range(0, size // 100, 1000):
        p.change([identifier(first + i, None, instance_id=(1 << 31) - 31 * (first + i)) for i in range(1000)])


@very_slowly
def calls_that_collide(p, size):
    """So do the numbers of frames and of calls."""
    for _ in range(size // 330):
        p.rpc.call_id = (1 << 30) - 31 * len(p.capture.frames)
        p.call(6, p.handle + struct.pack('<I', ROOM), p.returned(b'', status=5))


@hostile
def error_blocks(size):
    """A block for 16 bytes."""
    p = counters_query()
    for _ in range(2):
        p.data(*[block(0, status=5)] * (size // 32))
    return p.capture


@hostile
def single_blocks(p, size):
    count = size // 150
    p.counters(range(count))
    p.open()
    p.change([identifier(i, None) for i in range(count)])
    for n in range(2):
        p.data(*[block(1, values(1, n)) for _ in range(count)])


@slowly
def large_then_small(size):
    """A large sample, and small ones of the same handle behind it."""
    p = counters_query(counters=1)
    p.data(block(4, instances([instance('i%d' % i, i) + values(1) for i in range(size // 64)])))
    for n in range(size // 1400):
        p.data(block(4, instances([instance('i%d' % (size // 64 - 1), size // 64 - 1) + values(1, n)])))
    return p.capture


@slowly
def large_and_small_in_turn(p, size):
    """A block of one instance behind one of very many."""
    p.counters([0, 1])
    p.open()
    p.change([identifier(0), identifier(1)])
    many = block(4, instances([instance('i%d' % i, i) + values(1) for i in range(size // 512)]))
    for n in range(8):
        p.data(many, *[block(4, instances([instance('x') + values(1, n)]))] * 100)


@hostile
def long_value_texts(p, size):
    """Text counters as long as they may be."""
    p.counters([0], kind=TEXT)
    p.open()
    p.change([identifier(0)])
    text = utf16('x' * (size // 40), 8)
    row = instance('i') + struct.pack('<2I', len(text), 8 + len(text)) + text
    p.data(block(4, instances([row] * 20)))


@hostile
def many_servers(size):
    """A server for every handful of bytes, each with names of its own."""
    capture = Capture()
    for i in range(size // 2200):
        p = Pcq(capture, server='10.%d.%d.%d' % (i >> 16, i >> 8 & 255, i & 255))
        p.registration(9, utf16('Set %d' % i))
        p.open()
    return capture


@slowly
def many_pdus_in_a_frame(size):
    """A large answer and many small ones in one frame."""
    p = counters_query(counters=10)
    rpc, frame = p.rpc, []
    sample = counterset(10, ['i%d' % i for i in range(size // 1000)])
    samples = [[sample]] + [[block(1, values(1))]] * (size // 500)
    first = rpc.call_id
    asked = [b''.join(rpc.request_pdus(6, p.handle + struct.pack('<I', ROOM), call_id=first + i))
             for i in range(len(samples))]
    rpc.transport.to_server(asked)
    for i, blocks in enumerate(samples):
        body = b''.join(blocks)
        head = struct.pack('<2I3Q8H', 48 + len(body), len(blocks), i * 10 ** 7, NOW + i * 10 ** 7, 10 ** 7, 2026, 9, 2,
                           29, 17, 32, 23, 0)
        frame += rpc.response_pdus(p.returned(head + body), call_id=first + i)
    rpc.transport.to_client(frame)
    return p.capture


# --- HKEY_PERFORMANCE_DATA --------------------------------------------------------------------------------------------

class Hkpd:
    def __init__(self, capture=None, client_port=50001):
        self.capture, self.time = capture or Capture(), 0
        self.rpc = Rpc(Tcp(self.capture, mss=60000, client_port=client_port), WINREG, max_frag=60000)
        self.rpc.bind()
        self.call(3, bytes(open_root()), bytes(handle_back(HANDLE)))

    def call(self, opnum, request, response):
        self.rpc.request(opnum, request)
        return self.rpc.response(response)

    def ask(self, data, name='Global', kind=3):
        return self.call(17, bytes(winreg_query(HANDLE, name, room=ROOM)),
                         bytes(winreg_answer(data, kind=kind, room=ROOM)))

    def titles(self, pairs, name='Counter 009'):
        return self.ask(b''.join(utf16(x) for pair in pairs for x in pair) + b'\0\0', name, kind=7)

    def sample(self, *objects, name='Global', system='SRV'):
        self.time += 1
        system = utf16(system, 8)
        body = b''.join(objects)
        head = 'PERF'.encode('utf-16-le') + struct.pack('<6Ii', 1, 1, 1, 88 + len(system) + len(body),
                                                        88 + len(system), len(objects), -1)
        head += struct.pack('<8H4x3Q2I', 2026, 9, 2, 29, 17, 32, 23, 0, self.time * 10 ** 7, 10 ** 7,
                            NOW + self.time * 10 ** 7, len(system), 88) + system
        return self.ask(head + body, name)


def definition(index, kind=BULK_COUNT, width=8, place=8):
    return struct.pack('<10I', 40, index, 0, index + 1, 0, 0, 100, kind, width, place)


def row(name, counters, unique=NONE, parent=(0, 0)):
    """An instance and its counter block."""
    name = utf16(name)
    size = 24 + len(name) + -(24 + len(name)) % 8
    head = struct.pack('<4I2I', size, *parent, unique, 24, len(name)) + name.ljust(size - 24, b'\0')
    return head + counters


def counter_block(count, first=0):
    return struct.pack('<2I%dQ' % count, 8 + 8 * count, 0, *range(first, first + count))


def perf_object(index, definitions, rows=None, no_instances=b''):
    """rows None: one counter block without an instance"""
    head, body = b''.join(definitions), no_instances if rows is None else b''.join(rows)
    return struct.pack('<8I4i2Q', 64 + len(head) + len(body), 64 + len(head), 64, index, 0, index + 1, 0, 100,
                       len(definitions), -1, -1 if rows is None else len(rows), 0, 10 ** 7, 10 ** 7) + head + body


def in_a_row(count, first=6):
    return [definition(first + 2 * k, place=8 + 8 * k) for k in range(count)]


@hostile
def hkpd_long_system_name(h, size):
    for n in range(2):
        h.sample(perf_object(230, in_a_row(10), [row('i%d' % i, counter_block(10, n)) for i in range(size // 1200)]),
                 system=long_name(size // 4))


@hostile
def hkpd_long_instance(h, size):
    count = size // 200
    for n in range(2):
        h.sample(perf_object(230, in_a_row(count), [row(long_name(size // 4), counter_block(count, n))]))


@hostile
def hkpd_long_parent(h, size):
    """A parent's name of a quarter of the bytes, and children."""
    for n in range(2):
        h.sample(perf_object(230, in_a_row(1), [row(long_name(size // 8), counter_block(1))]),
                 perf_object(232, in_a_row(1), [row('t%d' % i, counter_block(1, n), parent=(230, 0))
                                                for i in range(size // 200)]))


@hostile
def hkpd_long_titles(h, size):
    h.titles([('230', long_name(size // 4)), ('6', long_name(size // 4, 'c'))])
    for n in range(2):
        h.sample(perf_object(230, in_a_row(1), [row('i%d' % i, counter_block(1, n)) for i in range(size // 200)]))


@hostile
def hkpd_same_titles(h, size):
    """One index with many titles, and the other order."""
    h.titles([('6', 'name %d' % i) for i in range(size // 100)])
    h.titles([(str(2 * (size // 100 - i)), 'name') for i in range(size // 100)], 'Counter 007')
    h.sample(perf_object(230, in_a_row(1), [row('i%d' % i, counter_block(1)) for i in range(size // 400)]))


@hostile
def hkpd_cells(h, size):
    """Definitions times instances: all the values stand on the same 8 bytes."""
    count = size // 160
    definitions = [definition(6 + 2 * k) for k in range(count)]
    for n in range(2):
        h.sample(perf_object(230, definitions, [row('', counter_block(1, n)) for _ in range(count // 2)]))


@hostile
def hkpd_cells_one_bad(h, size):
    """The same, with one definition that lies outside."""
    count = size // 80
    definitions = [definition(6 + 2 * k, place=8 if k else 4000) for k in range(count)]
    h.sample(perf_object(230, definitions, [row('', counter_block(1)) for _ in range(count // 2)]))


@hostile
def hkpd_cells_beyond_32_bits(h, size):
    """As many definitions as instances: 4 MB are 2^32 values."""
    count = size // 72
    h.sample(perf_object(230, [definition(6, width=4, place=4)] * count,
                         [struct.pack('<6I2I', 24, 0, 0, NONE, 0, 0, 8, 1)] * count))


@hostile
def hkpd_overlapping_texts(h, size):
    """Text counters that all show the same half of the bytes."""
    text = utf16(long_name(size // 2), 8)
    definitions = [definition(6 + 2 * k, TEXT, len(text), 8) for k in range(size // 80)]
    h.sample(perf_object(230, definitions, None, struct.pack('<2I', 8 + len(text), 0) + text))


@hostile
def hkpd_overlapping_bytes(h, size):
    """The same as numbers of no usual width."""
    data = bytes(range(256)) * (size // 512)
    definitions = [definition(6 + 2 * k, RAWCOUNT, len(data), 8) for k in range(size // 80)]
    h.sample(perf_object(230, definitions, None, struct.pack('<2I', 8 + len(data), 0) + data))


@slowly
def hkpd_windows_of_one_block(h, size):
    """Definitions that lie over each other, times instances with names: each value has a path of its own."""
    definitions = [definition(6 + 2 * k, place=8 + 8 * (k % 50)) for k in range(size // 160)]
    for n in range(2):
        h.sample(perf_object(230, definitions, [row('i%d' % i, counter_block(50, n)) for i in range(size // 1800)]))


@slowly
def hkpd_ever_new_instances(h, size):
    for n in range(size // 800):
        h.sample(perf_object(230, in_a_row(1), [row('new %d' % n, counter_block(1, n))]))


@slowly
def hkpd_object_after_object(h, size):
    """A large sample of many objects, then one of them after the other by itself."""
    count = size // 700
    objects = [perf_object(1000 + 2 * i, in_a_row(1), [row('a', counter_block(1))]) for i in range(count)]
    h.sample(*objects)
    for i in range(count):
        h.sample(objects[i], name=str(1000 + 2 * i))


@slowly
def hkpd_large_then_small(h, size):
    """An object behind a very large one, asked for again and again."""
    small = perf_object(232, in_a_row(1), [row('a', counter_block(1))])
    h.sample(perf_object(230, in_a_row(1), [row('i%d' % i, counter_block(1)) for i in range(size // 128)]), small)
    for _ in range(size // 1600):
        h.sample(small, name='232')


@slowly
def hkpd_many_definitions(h, size):
    """An object without instances and with very many counters."""
    count = size // 100
    for n in range(2):
        h.sample(perf_object(4, in_a_row(count), None, counter_block(count, n)))


@hostile
def hkpd_same_instances(h, size):
    for n in range(2):
        h.sample(perf_object(230, in_a_row(1), [row('same', counter_block(1, n)) for _ in range(size // 120)]))


@hostile
def hkpd_same_objects(h, size):
    """One object very many times."""
    for n in range(2):
        h.sample(*[perf_object(230, in_a_row(1), [row('a', counter_block(1, n))])] * (size // 400))


@hostile
def hkpd_parents_in_turn(h, size):
    """Children whose parents stand at the far end of another object."""
    count = size // 280
    for n in range(2):
        h.sample(perf_object(232, in_a_row(1), [row('t', counter_block(1, n), parent=(230, count - 1 - i))
                                                for i in range(count)]),
                 perf_object(230, in_a_row(1), [row('p%d' % i, counter_block(1)) for i in range(count)]))


@hostile
def hkpd_parents_of_themselves(h, size):
    """Every instance is the child of the next, in its own object."""
    count = size // 160
    for n in range(2):
        h.sample(perf_object(230, in_a_row(1), [row('p%d' % i, counter_block(1, n), parent=(230, (i + 1) % count))
                                                for i in range(count)]))


@hostile
def machines_of_an_address(size):
    """Each connection calls it otherwise, and browses."""
    capture = Capture()
    for n in range(size // 1600):
        p = Pcq(capture, client_port=1024 + n)
        p.open('\\\\M%d' % n, struct.pack('<5I', 0, n, 1, 2, 3))
        p.registration(9, utf16('Set %d' % n))
    return capture


@hostile
def titles_of_machines(size):
    """Connections that tell titles, each another, before any of them says whose: the last one first."""
    capture = Capture()
    talks = [Hkpd(capture, client_port=1024 + n) for n in range(size // 2000)]
    for n, h in enumerate(talks):
        h.titles([('5000', 'Set'), ('5002', 'N%d' % n)])
    for n, h in reversed(list(enumerate(talks))):
        h.sample(perf_object(5000, in_a_row(1), None, counter_block(1, n)), system='S%d' % (n % 3))
    return capture


if __name__ == '__main__':
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or HOSTILE:
        HOSTILE[name](int(sys.argv[2])).write(folder / (name + '.pcap'))
