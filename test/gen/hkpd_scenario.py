# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversations about HKEY_PERFORMANCE_DATA with a modelled server.

    talk = Talk(Scenario('name'), order='<', ndr64=False)
    talk.open(); talk.titles(); talk.sample(); talk.close()
"""

import functools
import uuid

from . import cooking, hkpd_stubs as stubs
from .hkpd_block import Counter, Instance, Object, block, titles
from .model import EVERY_TYPE, NAMESPACE, OPERANDS, TYPES, Clock, Value, grows, level, share
from .pcap import WINREG, Pipe, Rpc, Smb2, Tcp
from .scenario import Line, Scenario

FREQ = 10000000
ACCESS_DENIED = 5


# Types once more: 32 bits by its type, 8 bytes by its size; without a base: the object's time, and nothing
AGAIN = {'PERF_COUNTER_COUNTER': (grows(4294967000, 1500), 8), 'PERF_PRECISION_OBJECT_TIMER': (grows(10 ** 6, 600), None),
         'PERF_AVERAGE_BULK': (grows(10 ** 9, 48462010), None)}


def every_type():
    """An object with one counter of every type and the operands behind it, and its own clock."""
    rows, place = [], 6000

    def add(name, value, width=None, base=None, multi=None):
        nonlocal place
        label = name.removeprefix('PERF_').replace('_', ' ').title()
        rows.append(Counter(place, label, TYPES[name], value, wide(name) if width is None else width, multi, scale=-(place % 7)))
        place += 2
        if base:
            kind, _, value = OPERANDS[base]
            rows.append(Counter(0, None, TYPES[kind], value, wide(kind)))

    def wide(name):
        return 8 if TYPES[name] >> 8 & 3 == 1 else 4
    other = {'PERF_COUNTER_TEXT': (None, 40), 'PERF_COUNTER_NODATA': (None, 0), 'PERF_ELAPSED_TIME': (lambda at, k: 77 * 10 ** 9, None)}
    for name, (value, how) in sorted(EVERY_TYPE.items(), key=lambda x: 'multi' not in x[1][1]):     # first what has its operand in its row alone
        if name in ('PERF_COUNTER_MULTI_BASE', 'PERF_DOUBLE_RAW'):      # stands behind its timer; has no formula
            continue
        mine, width = other.get(name, (None, None))
        add(name, mine or value, width, how.get('base'), OPERANDS[how['multi']][2] if 'multi' in how else None)
        if name in AGAIN:
            add(name, *AGAIN[name])
    rows.append(Counter(place, 'Place In Code Page', 0x00010B00, lambda at, k: 'place %d' % k, 12))
    rows.append(Counter(place + 2, 'Five Bytes', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: b'12345', 5))
    # the multi counter as a definition of its own; nothing behind the timer
    for n, behind in enumerate(([Counter(0, None, TYPES['PERF_COUNTER_MULTI_BASE'], lambda at, k: 3)], [])):
        rows += [Counter(place + 4 + 2 * n, 'Multi %d' % n, TYPES['PERF_COUNTER_MULTI_TIMER'], share(120, 'stamp')), *behind]
    # neither of the header's clocks, nor its frequency
    return Object(5998, 'Every Type', rows, time=lambda at: 10 ** 11 + at.number * 3580000 + at.number ** 2, freq=3579545)


def machine():
    """Objects as a small Windows machine has them: with and without instances, parents, UniqueIDs, equal names."""
    t = TYPES

    def processes(at):
        names = ['Idle', 'System', 'svchost', 'svchost', 'explorer', 'gr\xf6\xdfe', '']
        return [Instance(n) for n in (names[:2] + ['new one'] + names[2:] if at.number % 3 == 2 else names)]

    def process_id(at, k):
        """Keeps where the new one comes."""
        return 4 * k if at.number % 3 != 2 or k < 2 else 400 if k == 2 else 4 * (k - 1)

    def threads(at):
        where = [x.name for x in processes(at)]
        explorer, svchost = where.index('explorer'), where.index('svchost')
        return [Instance('0', parent=(230, svchost)), Instance('0', parent=(230, svchost + 1)),
                Instance('3', parent=(230, explorer)), Instance('4', parent=(230, explorer)), Instance('loose')]

    def disks(at):
        rows = [Instance('0 C:', 7), Instance('1 D:', 9), Instance('', 11), Instance('_Total', 12)]
        return rows[::-1] if at.number % 2 else rows        # told by their UniqueIDs, whatever their order

    return [
        Object(2, 'System', [
            Counter(10, 'File Read Operations/sec', t['PERF_COUNTER_COUNTER'], grows(4294960000, 1500), 4),
            Counter(674, 'System Up Time', t['PERF_ELAPSED_TIME'], lambda at, k: 134351700000000000),
            Counter(44, 'Processor Queue Length', t['PERF_COUNTER_RAWCOUNT'], level([3, 0, 1]), 4),
            Counter(4046, 'The Same', t['PERF_COUNTER_RAWCOUNT'], level([3, 0, 1]), 4, same_place=True),
        ], time=lambda at: at.filetime, freq=FREQ),
        Object(232, 'Thread', [
            Counter(6, '% Processor Time', t['PERF_100NSEC_TIMER'], share(5)),
            Counter(804, 'ID Thread', t['PERF_COUNTER_RAWCOUNT'], lambda at, k: 4000 + 4 * k, 4),
        ], threads),
        Object(230, 'Process', [
            Counter(6, '% Processor Time', t['PERF_100NSEC_TIMER'], share(3)),
            Counter(784, 'ID Process', t['PERF_COUNTER_RAWCOUNT'], process_id, 4),
        ], processes, code_page=1252, encoding='cp1252'),
        Object(234, 'PhysicalDisk', [
            Counter(208, 'Avg. Disk sec/Read', t['PERF_AVERAGE_TIMER'], grows(10 ** 7, 90000), 4),
            Counter(0, None, t['PERF_AVERAGE_BASE'], grows(500, 9), 4),
            Counter(218, 'Disk Bytes/sec', t['PERF_COUNTER_BULK_COUNT'], grows(10 ** 10, 5 * 10 ** 6)),
        ], disks),
        Object(238, 'Processor', [
            Counter(6, '% Processor Time', t['PERF_100NSEC_TIMER_INV'], share(60)),
            Counter(148, 'Interrupts/sec', t['PERF_COUNTER_COUNTER'], grows(4294960000, 700), 4),
        ], lambda at: [Instance(n) for n in ('0', '1', '_Total')]),
        Object(4500, 'Druckwarteschlange', [
            Counter(4502, 'Auftr\xe4ge', t['PERF_COUNTER_RAWCOUNT'], lambda at, k: k, 4),
        ], lambda at: [Instance('Hauspost \xe4'), Instance('_Total')], code_page=1252, encoding='cp1252'),
        Object(4600, 'Empty', [Counter(4602, 'Jobs', t['PERF_COUNTER_RAWCOUNT'], lambda at, k: 1, 4)], lambda at: []),
        Object(4700, 'Metadata', [Counter(4702, 'Nothing', t['PERF_COUNTER_RAWCOUNT'], lambda at, k: 1, 4)], -2),
        Object(4800, 'More Metadata', [Counter(4802, 'Nothing', t['PERF_COUNTER_RAWCOUNT'], lambda at, k: 1, 4)], -3),
    ]


def names_of(objects):
    pairs = {}
    for o in objects:
        pairs[o.index] = o.name
        pairs.update((c.index, c.name) for c in o.counters if c.index and c.name)
    return pairs


def built_in(objects):
    """What every Windows has: the base's titles, which the machine here has as they are."""
    return {index: name for index, name in names_of(objects).items() if index <= 1846}


def helps_of(objects):
    return {index + 1: 'Explains %s.' % name for index, name in names_of(objects).items()}


class Talk:
    """One client's calls. What a response has to show is in the scenario: fields, and in its record the values."""

    def __init__(self, scenario, objects=None, order='<', ndr64=False, smb=False, block_order='<', system='SRV01',
                 client_port=50001, server=None, known=True, samba=False, fill=0, max_frag=4280, transport=None,
                 called='SRV01', protocol=Rpc, **tcp):
        self.scenario, self.order, self.ndr64 = scenario, order, ndr64
        self.objects = machine() if objects is None else objects
        self.block_order, self.system, self.samba, self.fill = block_order, system, samba, fill
        self.names = names_of(self.objects) if known else {}
        self.clock, self.samples, self.handles = Clock(), {}, 0
        if transport is None and smb:
            transport = Pipe(Smb2(Tcp(scenario.capture, 445, client_port, server=server, **tcp), called=called))
        elif transport is None:
            transport = Tcp(scenario.capture, client_port=client_port, server=server, **tcp)
        self.address = server or '192.0.2.20'
        self.rpc = protocol(transport, WINREG, order, ndr64, max_frag)
        self.rpc.bind()
        self.line = Line(scenario, self.rpc)
        self.handle = None

    @property
    def how(self):
        return dict(order=self.order, ndr64=self.ndr64)

    def new_handle(self):
        self.handles += 1
        return b'\1\0\0\0' + uuid.uuid5(NAMESPACE, 'key %d of %s' % (self.handles, self.address)).bytes_le

    def call(self, opnum, request, response, record=None, experts=()):
        """-> frames of both"""
        asked = self.line.request(opnum, request)
        return asked, self.line.response(opnum, response, record=record, experts=experts)

    def open(self, opnum=stubs.OPEN_DATA):
        self.handle = self.new_handle()
        request, response = stubs.open_root(**self.how), stubs.handle_back(self.handle, **self.how)
        return self.call(opnum, request, response)

    def open_key(self, name, parent=None):
        handle = self.new_handle()
        frames = self.call(stubs.OPEN_KEY, stubs.open_key(parent or self.handle, name, **self.how),
                           stubs.handle_back(handle, **self.how))
        self.handle = handle
        return frames

    def close(self, handle=None):
        return self.call(stubs.CLOSE, stubs.close(handle or self.handle, **self.how),
                         stubs.handle_back(bytes(20), **self.how))

    def ask(self, name, data, status=0, kind=stubs.REG_BINARY, room=65536, sent=b'', record=None, experts=(),
            handle=None, size=None):
        return self.call(stubs.QUERY_VALUE, stubs.query(handle or self.handle, name, room, sent, **self.how),
                         stubs.answer(data, status, kind, size, room=max(room, len(data or b'')), **self.how), record,
                         experts)

    def titles(self, name='Counter 009', pairs=None, kind=stubs.REG_MULTI_SZ, **how):
        pairs = [(1, '1847')] + sorted((names_of(self.objects) if pairs is None else pairs).items())
        return self.ask(name, titles(pairs), kind=kind, **how)

    def block(self, objects=None, at=None):
        return block(self.objects if objects is None else objects, at or self.clock.now(), self.block_order,
                     self.system, self.names, self.samba, self.fill, self.address)

    def sample(self, name='Global', only=None, status=0, change=None, experts=(), counts=True, **how):
        """An answer with values. only: title indexes; change(Block) damages it."""
        objects = [o for o in self.objects if only is None or o.index in only]
        b = self.block(objects)
        if change:
            change(b)
        record = {'values': self.meanings(b, counts and status == 0 and not change, how.get('handle') or self.handle, name)}
        frames = self.ask(name, b.record, status, record=record, experts=experts, **how)
        if counts:
            self.clock.tick()
        return frames

    def meanings(self, b, counts, handle, question):
        """[model.Value], against the answer before to this question of the handle."""
        before = self.samples.get((handle, question.lower()), {}) if counts else {}
        out = [Value(v.path, v.raw, v.type, cooking.cook(v.type, v.reading, before.get(v.key)) if v.reading else None) for v in b.values]
        if counts and b.objects:
            self.samples[handle, question.lower()] = {v.key: v.reading for v in b.values}
        return out


def begin_talk(*objects, name='', titles=True, **how):
    """-> a scenario, and the talk of a client that has opened the key and read the titles"""
    scenario = Scenario(name)
    talk = Talk(scenario, *objects, **how)
    talk.open()
    if titles:
        talk.titles()
    return scenario, talk


def answers(scenario):
    """[(frame, message)] of the answers with values."""
    return [(number, m) for number, there in sorted(scenario.frames.items()) for m in there if 'values' in m.record]


def session(name='session', samples=4, titles_first=True, **how):
    """A monitor's whole session."""
    scenario = Scenario(name)
    talk = Talk(scenario, **how)
    talk.open()
    if titles_first:
        talk.titles()
        talk.titles('Explain 009', helps_of(talk.objects))
    for _ in range(samples):
        talk.sample()
    if not titles_first:
        talk.titles()
    talk.close()
    return scenario


# Of each form, for those that change bytes of them
SESSIONS = {'hkpd-%d' % i: functools.cache(functools.partial(session, samples=3, **how)) for i, how in enumerate((
    dict(), dict(ndr64=True), dict(order='>'), dict(block_order='>'), dict(samba=True), dict(titles_first=False)))}
