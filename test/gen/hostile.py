# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose cost somebody chose: small numbers in the bytes that multiply. Each takes a size and grows in
proportion to it, so that a reader's work can be held against the bytes."""

import struct
from types import SimpleNamespace

from . import stubs
from .hkpd_stubs import answer as winreg_answer
from .hkpd_stubs import handle_back, open_root
from .hkpd_stubs import query as winreg_query
from .pcap import WINREG, Capture, Rpc, Tcp
from .wires import ask_mapper

HOSTILE = {}
SCALE = {}                  # how large the smallest capture must be for its growth to show
GUID = bytes(range(1, 17))
HANDLE = bytes(4) + bytes(range(1, 17))
NONE = 0xFFFFFFFF
RAWCOUNT, BULK_COUNT, TEXT = 0x00010000, 0x10410500, 0x00000B00
ROOM = 1 << 26
NOW = 134351767437550592


def hostile(make, scale=16000, name=None):
    """Registers make(p, size) under its function's name; p is a connection of PerflibV2, h one of the registry, c a capture without any."""
    def talk(size):
        line = {'p': Pcq, 'h': Hkpd, 'c': Capture}[make.__code__.co_varnames[0]]()
        make(line, size)
        return getattr(line, 'capture', line)
    name = name or make.__name__.replace('_', '-')
    HOSTILE[name], SCALE[name] = talk, scale
    return talk


def slowly(make):
    """The same for what multiplies with a small factor."""
    return hostile(make, 100000)


def utf16(text, align=2):
    data = text.encode('utf-16-le') + b'\0\0'
    return data + bytes(-len(data) % align)


def long_name(size, head='n'):
    """A name of about so many bytes."""
    return (head + 'ame of no end ' * (size // 28 + 1))[:max(size // 2, 4)]


# --- PerflibV2 ---------------------------------------------------------------------------------------------------

class Pcq:
    """One connection; stubs are put together from bytes."""

    def __init__(self, capture=None, server=None, handle=HANDLE, client_port=50001):
        self.capture, self.handle, self.time = capture or Capture(), handle, 0
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

    def counters(self, ids, guid=GUID, kind=BULK_COUNT, base=NONE):
        rows = b''.join(struct.pack('<2IQIi6I', i, kind, 0, 100, 0, base, NONE, NONE, NONE, 0, 0) for i in ids)
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

    def counter_data(self, *blocks, time=None):
        """The answer, a second later than the one before, or at this time."""
        self.time += 1
        now, body = self.time if time is None else time, b''.join(blocks)
        head = struct.pack('<2I3Q8H', 48 + len(body), len(blocks), now * 10 ** 7, NOW + now * 10 ** 7, 10 ** 7, 2026, 9, 2, 29, 17, 32, 23, 0)
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


def asked(p, added, answers=(), counters=None, kind=BULK_COUNT, info=None, machine='\\\\SRV'):
    """A query of `added`, of a set whose counters were told or not, and these answers: lists of blocks."""
    if counters is not None:
        p.counters(counters, kind=kind)
    p.open(machine)
    p.change(added)
    if info:
        p.info(info)
    for blocks in answers:
        p.data(*blocks)


def counters_query(p, counters=10, answers=(), name='Set', **how):
    """A server that knows a set of counters, and a query of all of them."""
    p.registration(9, utf16(name))
    asked(p, [identifier()], answers, range(counters), **how)
    return p


def twice(blocks):
    """blocks(number of the answer)"""
    return [blocks(0), blocks(1)]


def identifiers(count, **how):
    return [identifier(i, None, **{name: x(i) for name, x in how.items()}) for i in range(count)]


def single(count=1, first=0):
    """So many blocks of one value."""
    return [block(1, values(1, first))] * count


def sized_text(size):
    """A block of one value that is a text."""
    text = utf16('t' * size, 8)
    return struct.pack('<2I', len(text), 8 + len(text)) + text


def rows_of(names, first=0, number=0):
    """A block of type 4: instances of these names, numbered, with a value each."""
    return block(4, instances([instance(x, i) + values(1, first) for i, x in enumerate(names, number)]))


def numbered(count, name='i%d'):
    return [name % i for i in range(count)]


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


# Below that each of its strings is shorter than what is read of one.
hostile(lambda p, size: [p.registration(10, string_table([(i, 0) for i in range(size // 128)], utf16(long_name(size // 16))), guid=bytes([n]) * 16)
                         for n in range(8)], 32000, 'string-tables-of-many-sets')


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
    for i in range(size // 500):
        p.change([identifier(i, None)])
    for _ in range(2):
        p.data(*[block(1, values(1))] * (size // 500))


@hostile
def same_identifiers(p, size):
    """One identifier many times, told by QueryCounterInfo, removed again."""
    p.open()
    count = size // 300
    for _ in range(2):
        p.change([identifier(1, None)] * count)
        p.info([identifier(1, None, index=i) for i in range(count)])
        p.data(*[block(1, values(1))] * count)
    p.change([identifier(1, None)] * count, add=False)


@hostile
def refused_under_long_names(p, size):
    """Identifiers of 40 bytes, each refused, and long names of server, set and counter that each would repeat."""
    p.registration(9, utf16('S' * 1000))
    p.registration(10, string_table([(1, 0)], utf16('C' * 1000)))
    p.open('\\\\' + 'M' * 1000)
    asked = [identifier(1, None, instance_id=i) for i in range(size // 100)]
    p.change(asked, answer=b''.join(x[:16] + struct.pack('<I', 2) + x[20:] for x in asked))


def same_sums(count):
    """Names whose hashes are equal wherever a character counts 33 times the next one: 'A', 'Q' and 'B', '0' do."""
    pairs = max((count - 1).bit_length(), 1)
    return [''.join(('AQ', 'B0')[i >> k & 1] for k in range(pairs)) for i in range(count)]


@hostile
def many_servers(c, size):
    """A server for every handful of bytes, each with names of its own."""
    for i in range(size // 2200):
        p = Pcq(c, server='10.%d.%d.%d' % (i >> 16, i >> 8 & 255, i & 255))
        p.registration(9, utf16('Set %d' % i))
        p.open()


@slowly
def many_pdus_in_a_frame(p, size):
    """A large answer and many small ones in one frame."""
    rpc, frame = counters_query(p).rpc, []
    samples = [[counterset(10, numbered(size // 1000))]] + [[block(1, values(1))]] * (size // 500)
    first = rpc.call_id
    rpc.transport.to_server([b''.join(rpc.request_pdus(6, p.handle + struct.pack('<I', ROOM), call_id=first + i))
                             for i in range(len(samples))])
    for i, blocks in enumerate(samples):
        frame += rpc.response_pdus(p.counter_data(*blocks, time=i), call_id=first + i)
    rpc.transport.to_client(frame)


@hostile
def many_binds(p, size):
    """Binds in few segments, and their answers."""
    tcp, there, back = p.rpc.transport, [], []
    p.rpc.transport = SimpleNamespace(to_server=there.extend, to_client=back.extend)
    for _ in range(size // 200):
        p.rpc.bind()
    tcp.to_server(there)
    tcp.to_client(back)


@hostile
def base_of_a_long_name(p, size):
    """Counters of one instance with a long name, whose base is in no block; an identifier has such a name, too."""
    p.registration(9, utf16('Set'))
    p.counters(range(size // 160), kind=0x20020400, base=900000)  # PERF_RAW_FRACTION
    p.open()
    p.change([identifier(), identifier(NONE, long_name(size // 4))])
    for n in range(2):
        p.data(counterset(size // 160, [long_name(size // 4)], n), block(2, ids(size // 160) + values(size // 160, n)))


@slowly
def changes_answered_backwards(p, size):
    """Many changes that wait at once; the newest is answered first."""
    p.open()
    numbers, first, tcp = range(size // 170), p.rpc.call_id, p.rpc.transport
    tcp.to_server([b''.join(p.rpc.request_pdus(7, p.handle + struct.pack('<3I', 0, 0, 1), call_id=first + i)) for i in numbers])
    tcp.to_client([b''.join(p.rpc.response_pdus(bytes(8), call_id=first + i)) for i in reversed(numbers)])


# --- HKEY_PERFORMANCE_DATA --------------------------------------------------------------------------------------------

class Hkpd:
    def __init__(self, capture=None, client_port=50001):
        self.capture, self.time = capture or Capture(), 0
        self.rpc = Rpc(Tcp(self.capture, mss=60000, client_port=client_port), WINREG, max_frag=60000)
        self.rpc.bind()
        self.call(3, bytes(open_root()), bytes(handle_back(HANDLE)))

    call = Pcq.call

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


def counter_block(count, first=0, step=1):
    return struct.pack('<2I%dQ' % count, 8 + 8 * count, 0, *range(first, first + step * count, step))


def perf_object(index, definitions, rows=None, no_instances=b''):
    """rows None: one counter block without an instance"""
    head, body = b''.join(definitions), no_instances if rows is None else b''.join(rows)
    return struct.pack('<8I4i2Q', 64 + len(head) + len(body), 64 + len(head), 64, index, 0, index + 1, 0, 100,
                       len(definitions), -1, -1 if rows is None else len(rows), 0, 10 ** 7, 10 ** 7) + head + body


def in_a_row(count, first=6):
    return [definition(first + 2 * k, place=8 + 8 * k) for k in range(count)]


def table(names, counters=1, first=0, index=230):
    """An object of so many counters, with instances of these names."""
    return perf_object(index, in_a_row(counters), [row(x, counter_block(counters, first)) for x in names])


def parents(count, first, of, index=230, name='p%d'):
    """An object whose instance i is the child of instance of(i) of object 230."""
    return perf_object(index, in_a_row(1), [row(name % i, counter_block(1, first), parent=(230, of(i))) for i in range(count)])


def places(count, **how):
    return [definition(6 + 2 * k, **{name: x(k) for name, x in how.items()}) for k in range(count)]


@hostile
def hkpd_long_titles(h, size):
    h.titles([('230', long_name(size // 4)), ('6', long_name(size // 4, 'c'))])
    for n in range(2):
        h.sample(table(numbered(size // 200), 1, n))


def overlapping(h, size, kind, data):
    """Counters that all show the same half of the bytes."""
    definitions = [definition(6 + 2 * k, kind, len(data), 8) for k in range(size // 80)]
    h.sample(perf_object(230, definitions, None, struct.pack('<2I', 8 + len(data), 0) + data))


@slowly
def hkpd_large_then_small(h, size):
    """An object behind a very large one, asked for again and again."""
    small = table('a', index=232)
    h.sample(table(numbered(size // 128)), small)
    for _ in range(size // 1600):
        h.sample(small, name='232')


# Each is one expression. (p, size): a connection of PerflibV2
PLAIN = {
    # What is long once is written for each value: one instance with a name of half the bytes and all the counters
    'long-instance-name': lambda p, size: counters_query(p, size // 120, twice(lambda n: [counterset(size // 120, [long_name(size // 4)], n)])),
    # identifiers with long instance names, listed with each use of the handle
    'long-names-of-query': lambda p, size: asked(p, [identifier(i, long_name(size // 20)) for i in range(10)], [single()] * (size // 1200)),
    # entries that share one string: each begins one character later
    'string-table-suffixes': lambda p, size: p.registration(10, string_table(
        [(i, 2 * (i % (size // 4))) for i in range(size // 16)], utf16(long_name(size // 2)))),
    'string-table-unterminated': lambda p, size: p.registration(10, string_table(
        [(i, 0) for i in range(size // 16)], long_name(size // 2).encode('utf-16-le'))),
    'same-index': lambda p, size: asked(p, identifiers(size // 120), [single(size // 120)], info=identifiers(size // 120, index=lambda i: 0)),
    # as many blocks as counters, in an order that only their types can tell
    'large-query-large-answer': lambda p, size: asked(p, [identifier(i, None if i % 2 else '*') for i in range(size // 160)], [
        [*(rows_of('a') if i % 2 == back else single()[0] for i in range(size // 160))] for back in (0, size // 160 % 2 ^ 1)]),
    # instances of one name and id
    'same-instances': lambda p, size: counters_query(p, 1, twice(lambda n: [
        block(4, instances([instance('same', 1) + values(1, n)] * (size // 100)))])),
    # instances without a name, without values
    'empty-instances': lambda p, size: counters_query(p, 0, [[block(6, ids(0) + instances([struct.pack('<2I', 8, 0)] * (size // 16)))]] * 2),
    'handles-never-closed': lambda p, size: [p.open(handle=bytes(4) + struct.pack('<4I', i, 1, 2, 3)) for i in range(size // 400)],
    'error-blocks': lambda p, size: counters_query(p, 10, [[block(0, status=5)] * (size // 32)] * 2),
    'single-blocks': lambda p, size: asked(p, identifiers(size // 150), twice(lambda n: single(size // 150, n)), range(size // 150)),
    # text counters as long as they may be
    'long-value-texts': lambda p, size: asked(p, [identifier(0)], [
        [block(4, instances([instance('i') + sized_text(size // 40)] * 20))]], [0], TEXT),
}
SLOW = {
    # one handle, opened and closed again and again
    'same-handle-opened': lambda p, size: [(p.open(), p.close()) for _ in range(size // 800)],
    # each answer with a status that no other had
    'statuses-all-different': lambda p, size: [
        p.call(6, p.handle + struct.pack('<I', ROOM), p.returned(b'', status=1 << 29 | i)) for i in range(size // 330)],
    # each answer has an instance that no other has: a table of all would be mostly empty
    'ever-new-instances': lambda p, size: counters_query(p, 1, [
        [rows_of(['new %d' % n], n, n)] for n in range(size // 650)], info=[identifier(0, index=0)]),
    # many counters, then many calls that carry the handle
    'large-query-small-calls': lambda p, size: asked(p, identifiers(size // 160), [[]] * (size // 800)),
    # refused counters, all but one, whose values come again and again
    'refused-but-one': lambda p, size: (p.open(), p.change(identifiers(size // 200), answer=b''.join(
        [x[:16] + b'\5' + x[17:] for x in identifiers(size // 200)][1:] + identifiers(1))), [p.data(*single()) for _ in range(size // 500)]),
    'names-that-collide': lambda p, size: counters_query(p, 1, twice(lambda n: [counterset(1, same_sums(size // 200), n)])),
    # a large sample, and small ones of the same handle behind it
    'large-then-small': lambda p, size: counters_query(p, 1, [[rows_of(numbered(size // 64))], *(
        [rows_of(['i%d' % (size // 64 - 1)], n, size // 64 - 1)] for n in range(size // 1400))]),
    'mapper-asked': lambda c, size: [ask_mapper(c, '192.0.2.20', client_port=1024 + i) for i in range(size // 1200)],
    # queries of one connection, each with a packet that is sent again
    'queries-and-events': lambda p, size: [(p.open(handle=bytes(4) + struct.pack('<4I', i, 1, 2, 3)), p.capture.add(p.capture.frames[-1][1]))
                                           for i in range(size // 600)],
    'hkpd-long-question-many-answers': lambda h, size: [h.sample(table('a'), name='7 ' * (size // 8))] + [h.rpc.transport.to_client(
        h.rpc.response_pdus(bytes(winreg_answer(b'', kind=3, room=ROOM)), h.rpc.call_id - 1)) for _ in range(size // 300)],
    'hkpd-many-objects-then-one': lambda h, size: [h.sample(*[table('a', index=2 * i) for i in range(size // 400)])] + [
        h.sample(table('a', index=2), name='2') for _ in range(size // 1200)],
    'hkpd-ever-new-instances': lambda h, size: [h.sample(table(['new %d' % n], 1, n)) for n in range(size // 800)],
}
PLAIN |= {
    'hkpd-long-system-name': lambda h, size: [h.sample(table(numbered(size // 1200), 10, n), system=long_name(size // 4)) for n in range(2)],
    # definitions times instances, with one definition that lies outside
    'hkpd-cells-one-bad': lambda h, size: h.sample(perf_object(
        230, places(size // 80, place=lambda k: 8 if k else 4000), [row('', counter_block(1))] * (size // 80 // 2))),
    # as many definitions as instances: 4 MB are 2^32 values
    'hkpd-cells-beyond-32-bits': lambda h, size: h.sample(perf_object(
        230, [definition(6, width=4, place=4)] * (size // 72), [struct.pack('<6I2I', 24, 0, 0, NONE, 0, 0, 8, 1)] * (size // 72))),
    # text counters that all show the same half of the bytes; the same as numbers of no usual width
    'hkpd-overlapping-texts': lambda h, size: overlapping(h, size, TEXT, utf16(long_name(size // 2), 8)),
    'hkpd-overlapping-bytes': lambda h, size: overlapping(h, size, RAWCOUNT, bytes(range(256)) * (size // 512)),
}
# Two samples, (n of them, size) -> the objects of each
TWICE = {
    'hkpd-long-instance': lambda n, size: [table([long_name(size // 4)], size // 200, n)],
    # definitions times instances: all the values stand on the same 8 bytes
    'hkpd-cells': lambda n, size: [perf_object(230, places(size // 160), [row('', counter_block(1, n))] * (size // 160 // 2))],
    'hkpd-same-instances': lambda n, size: [table(['same'] * (size // 120), 1, n)],
    'hkpd-same-objects': lambda n, size: [table('a', 1, n)] * (size // 400),
    # children whose parents stand at the far end of another object
    'hkpd-parents-in-turn': lambda n, size: [parents(size // 280, n, lambda i: size // 280 - 1 - i, 232, 't%.0s'),
                                             table(numbered(size // 280, 'p%d'))],
    'hkpd-children-of-a-long-name': lambda n, size: [parents(size // 240, n, lambda i: 0, 232, 't%.0s'), table([long_name(size)], 1, n)],
    # every instance is the child of the next, in its own object
    'hkpd-parents-of-themselves': lambda n, size: [parents(size // 160, n, lambda i: (i + 1) % (size // 160))],
}
TWICE_SLOWLY = {
    # definitions that lie over each other, times instances with names: each value has a path of its own
    'hkpd-windows-of-one-block': lambda n, size: [perf_object(230, places(size // 160, place=lambda k: 8 + 8 * (k % 50)), [
        row(x, counter_block(50, n)) for x in numbered(size // 1800)])],
    # an object without instances and with very many counters
    'hkpd-many-definitions': lambda n, size: [perf_object(4, in_a_row(size // 100), None, counter_block(size // 100, n))],
}


def two_samples(objects):
    return lambda h, size: [h.sample(*objects(n, size)) for n in range(2)]


for scale, cases in (16000, PLAIN), (100000, SLOW):
    for name, make in cases.items():
        hostile(make, scale, name)
for scale, cases in (16000, TWICE), (100000, TWICE_SLOWLY):
    for name, objects in cases.items():
        hostile(two_samples(objects), scale, name)
