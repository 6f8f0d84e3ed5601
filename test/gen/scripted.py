# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios for what one packet teaches the others: a server whose every answer the scenario decides.

The conversation may have parts that are not in the capture (unseen()), a line on which calls are damaged or lost
(scenario.Line), two servers, handles of the scenario's choice. The expected paths and calculated values come with the record
of each answer, as in server.py, from cooking.py's formulas.
"""

import functools

from . import client, model
from .buffers import NONE
from .client import Client
from .model import ENGLISH, FREQ, MULTIPLE, SINGLE, TYPES, Counter, Counterset, Instance, Instant
from .scenario import SECOND, Scenario, tcp_line
from .server import Model, Query
from .stubs import DATA, REG_INFO

EPOCH = 116444736000000000      # 1 January 1970 as FILETIME
ROOM, ALL = 1 << 16, range(1000)        # of an answer; whichever call it is


class Times:
    """The server's clocks, sample by sample: (PerfTimeStamp, PerfTime100NSec) pairs, the last one goes on."""

    def __init__(self, times, freq=FREQ):
        self.times, self.freq, self.number = times, freq, 0

    def now(self):
        stamp, filetime = self.times[min(self.number, len(self.times) - 1)]
        return Instant(self.number, stamp, filetime, self.freq)

    def tick(self):
        self.number += 1


def seconds(count, stamp=5 * 10 ** 11, filetime=134351767437550592):
    """Samples about a second apart, by two clocks that disagree a little."""
    return Times([(stamp + n * 10 ** 7 + 321 * n * n, filetime + n * 10 ** 7 - 77 * n * n) for n in range(count)])


class Clock:
    """The server's clocks go with the capture's; it was started at `boot`."""

    def __init__(self, capture, boot=None):
        self.capture, self.number, self.boot = capture, 0, capture.now - 50000 * SECOND if boot is None else boot

    def now(self):
        at = self.capture.now
        return Instant(self.number, (at - self.boot) * 10, EPOCH + at * 10, FREQ)

    def tick(self):
        self.number += 1


class Server(Model):
    """Blocks stand as they were added, unless an order is given. scenario: its clocks go with that capture's, and it was started at `boot`."""

    def __init__(self, sets, order=None, scenario=None, boot=None, **options):
        options.setdefault('clock', Clock(scenario.capture, boot) if scenario else seconds(100))
        super().__init__(sets, order=order or (lambda query: range(len(query.identifiers))), **options)


def unseen(server, machine=client.SERVER):
    """A client whose calls are not in the capture."""
    return Client(client.against(server), machine)


def learn(c, *sets, codes=(1, 9, 10), lcid=0):
    """The calls that teach names and types; codes 3 and 5 are asked in the given locale."""
    for s in sets:
        for code in codes:
            c.reg_info(s.guid, code, lcid if code in (3, 4, 5, 6) else 0)


def ask(counterset, counter_id=NONE, name=None, **more):
    """Arguments of an identifier."""
    return dict(guid=counterset.guid, counter_id=counter_id, name=name, **more)


def run(c, asked, samples=2, info=True, close=True):
    """A query: -> its handle"""
    handle = c.open()
    c.validate(handle, asked)
    if info:
        c.info(handle)
    for _ in range(samples):
        c.data(handle, 1 << 20)
    if close:
        c.close(handle)
    return handle


def begin(server, /, *learned, name='', line=tcp_line, **options):
    """-> a scenario of one connection, and its client, that has learned these sets"""
    scenario = Scenario(name)
    client = line(scenario, server, **options).client()
    learn(client, *learned)
    return scenario, client


def capture_talk(server, told, /, name='scenario', line=tcp_line, **options):
    """A scenario of one connection: told(client) talks."""
    scenario = Scenario(name)
    told(line(scenario, server, **options).client())
    return scenario


def counter(cid, kind, name, values, **more):
    """values: a list by sample number, or a function(Instant, place)"""
    value = values if callable(values) else (lambda at, k: values[min(at.number, len(values) - 1)])
    return Counter(cid, TYPES[kind] if isinstance(kind, str) else kind, {ENGLISH: name} if name else {}, {}, value, **more)


def single(name, *counters):
    return Counterset(name, SINGLE, list(counters))


def multiple(name, *counters, instances=('a', 'b')):
    """instances: names, or (id, name) pairs, or a function of the sample number giving either"""
    def now(at):
        rows = instances(at.number) if callable(instances) else instances
        return [Instance(i, x, i) if isinstance(x, str) else Instance(*x) for i, x in enumerate(rows)]
    return Counterset(name, MULTIPLE, list(counters), now)


def gauge(count=4, kind='PERF_COUNTER_RAWCOUNT', **more):
    """Counter i is 10 i, and one more with each further instance."""
    return multiple('Set', *[counter(i, kind, 'Counter %d' % i, lambda at, k, i=i: 10 * i + k) for i in range(1, count + 1)], **more)


def backward(query):
    """Blocks the other way round"""
    return list(range(len(query.identifiers)))[::-1]


def memory():
    return single('Memory', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Available MBytes', lambda at, k: 1000 + at.number),
                  counter(2, 'PERF_COUNTER_BULK_COUNT', 'Pages/sec', lambda at, k: 4000 * at.number))


def processors(instances=('a', 'b')):
    return multiple('Processor', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Speed', lambda at, k: 2000),
                    counter(2, 'PERF_COUNTER_BULK_COUNT', 'Work', lambda at, k: 1000 * at.number), instances=instances)


def frames_of(scenario, opnum, kind, where=lambda m: True):
    """[(frame, message)] in order"""
    return [(n, m) for n, ms in scenario.frames.items() for m in ms if (m.opnum, m.kind) == (opnum, kind) and where(m)]


def answers(scenario, opnum=DATA):
    found = frames_of(scenario, opnum, 'response', lambda m: m.status == 0)
    assert found
    return found


def taught_in(scenario, code, guid, lcid=None):
    """Frame of the first good answer to that registration request."""
    def right(m):
        p = m.record['parameters']
        return m.status == 0 and (p['RequestCode'], p['CounterSetGuid']) == (code, guid) and lcid in (None, p['RequestLCID'])
    return frames_of(scenario, REG_INFO, 'response', right)[0][0]


@functools.cache
def whole_session(line=tcp_line, samples=5, **options):
    """Odd shapes, instances that come and go, refused counters, a removal."""
    server = Server(model.countersets(), clock=model.Clock(), order=Query.block_order)
    scenario, c = begin(server, line=line, **options)
    client.browse(c, server.sets)
    ids = client.wanted(server.sets)
    client.query(c, ids, samples, remove=[ids[1], ids[6]])
    return scenario
