# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong with a monitor: a scene for each, by the capture's clock."""

import contextlib

from . import stubs
from .client import Fault
from .hkpd_block import Counter as Number
from .hkpd_block import Object
from .hkpd_scene import Talk
from .hkpd_stubs import OPEN_DATA, handle_back, open_root
from .model import FREQ, TYPES, Instant, level
from .scene import Line, Scene, tcp_line
from .story_script import Script, ask, counter, learn, multiple, single
from .stubs import DATA, ENUMERATE, INFO, OPEN, REG_INFO, VALIDATE

SECOND = 10 ** 6
EPOCH = 116444736000000000      # 1 January 1970 as FILETIME
ROOM = 1 << 16
ALL = range(1000)
DENIED = 5


class Clock:
    """The server's clocks go with the capture's; it was started at `boot`."""

    def __init__(self, capture, boot=None):
        self.capture, self.number, self.boot = capture, 0, capture.now - 50000 * SECOND if boot is None else boot

    def now(self):
        at = self.capture.now
        return Instant(self.number, (at - self.boot) * 10, EPOCH + at * 10, FREQ)

    def tick(self):
        self.number += 1


class Server(Script):
    """denies, faults: {operation: (error, calls by their number)}; refuses: the status of each counter"""

    def __init__(self, sets, scene, denies=None, faults=None, refuses=None, boot=None):
        super().__init__(sets, clock=Clock(scene.capture, boot))
        self.denies, self.faults, self.refuses, self.calls = denies or {}, faults or {}, refuses, {}

    def handle(self, opnum, *request):
        number = self.calls[opnum] = self.calls.get(opnum, -1) + 1
        fault, stub, record = super().handle(opnum, *request)
        code, numbers = self.faults.get(opnum, (0, ()))
        if number in numbers:
            return code, stub, record
        status, numbers = self.denies.get(opnum, (0, ()))
        if number in numbers:
            p = record['parameters']
            data = self._identifier_record(p['lpData']) if opnum == VALIDATE else None
            out = stubs.response(opnum, status=status, data=data, in_size=p.get('dwInSize', 0))
            record = {k: v for k, v in record.items() if k != 'values'}
            return 0, bytes(out), dict(record, response=out.fields, status=status)
        return fault, stub, record

    def _add(self, query, i):
        return self.refuses or super()._add(query, i)


class Wire(Line):
    """before, behind: {number of a QueryCounterData: seconds that it takes until the server reads its clock, and behind that};
    loses(operation, kind, number): this PDU was not captured"""

    def __init__(self, line, before=None, behind=None, loses=lambda *_: False):
        super().__init__(line.scene, line.rpc, line.model)
        self.before, self.behind, self.loses, self.number = before or {}, behind or {}, loses, -1

    def call(self, opnum, request):
        rpc, now = self.rpc, self.scene.capture
        self.number += opnum == DATA
        n = self.number if opnum == DATA else None
        if self.loses(opnum, 'request', n):
            rpc.transport.skip(0, b''.join(rpc.request_pdus(opnum, bytes(request))))
        else:
            self.request(opnum, bytes(request))
        now.now += int(self.before.get(n, 0) * SECOND)
        fault, stub, record = self.model.handle(opnum, bytes(request), 6, rpc.order, rpc.ndr64)
        now.now += int(self.behind.get(n, 0) * SECOND)
        if fault:
            rpc.fault(fault)
        elif self.loses(opnum, 'response', n):
            rpc.transport.skip(1, b''.join(rpc.response_pdus(stub)))
            rpc.call_id += 1
        else:
            self.response(opnum, stub, record['response'], record)
        return fault, stub


def memory():
    return single('Memory', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Available MBytes', lambda at, k: 1000 + at.number),
                  counter(2, 'PERF_COUNTER_BULK_COUNT', 'Pages/sec', lambda at, k: 4000 * at.number))


def processors(instances=('a', 'b')):
    return multiple('Processor', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Speed', lambda at, k: 2000),
                    counter(2, 'PERF_COUNTER_BULK_COUNT', 'Work', lambda at, k: 1000 * at.number), instances=instances)


def samples(client, scene, asked, *sets, count=8, pauses=(), teach=True, opens=True, close=True, room=ROOM):
    """What a monitor does: reads names and types, opens a query, samples each second. -> the handle"""
    if teach:
        learn(client, *sets)
    if not opens:
        return None
    h = client.open()
    client.validate(h, asked)
    client.info(h)
    for n in range(count):
        client.data(h, room)
        scene.capture.now += int(dict(pauses).get(n, 1) * SECOND)
    if close:
        client.close(h)
    return h


def monitor(sets=None, asked=None, line=tcp_line, server=None, wire=None, **how):
    """asked(sets) -> identifiers; the client gives up at a fault."""
    scene, sets = Scene(), sets or [memory()]
    client = Wire(line(scene, Server(sets, scene, **(server or {}))), **(wire or {})).client()
    with contextlib.suppress(Fault):
        samples(client, scene, asked(*sets) if asked else [ask(s) for s in sets], *sets, **how)
    return scene


def until(stage, way, code=DENIED):
    """Who is told no (way: 'denies' or 'faults') goes no further."""
    scene, s = Scene(), memory()
    c = Wire(tcp_line(scene, Server([s], scene, **{way: {stage: (code, ALL)}}))).client()
    handle = []
    steps = {ENUMERATE: c.enumerate, REG_INFO: lambda: learn(c, s), OPEN: lambda: handle.append(c.open()),
             VALIDATE: lambda: c.validate(handle[0], [ask(s)]), INFO: lambda: c.info(handle[0]), DATA: lambda: c.data(handle[0])}
    with contextlib.suppress(Fault):
        for opnum, step in steps.items():
            step()
            if opnum == stage:
                break
    return scene


def resent():
    """A request that has to be sent five times."""
    scene, s = Scene(), memory()
    server = Server([s], scene)
    line = tcp_line(scene, server)
    c, tcp = line.client(), line.rpc.transport
    h = samples(c, scene, [ask(s)], s, count=4, close=False)
    request, seq = bytes(stubs.request(DATA, hQuery=h, dwInSize=ROOM)), tcp.seq[0]
    for pause in .3, .6, 1.2, 2.4:
        line.request(DATA, request)
        scene.capture.now += int(pause * SECOND)
        tcp.seq[0] = seq
    c.data(h, ROOM)
    return scene


def again(restarts=False, close=False, gap=40):
    """A client that begins anew, since the server was started anew or without a reason."""
    scene, s = Scene(), memory()
    server = Server([s], scene)
    samples(tcp_line(scene, server).client(), scene, [ask(s)], s, count=5, close=close)
    scene.capture.now += gap * SECOND
    server = Server([s], scene, boot=scene.capture.now - 20 * SECOND) if restarts else server
    samples(tcp_line(scene, server, client_port=50077).client(), scene, [ask(s)], s, count=5)
    return scene


def silent(asks):
    """The capture goes on for a minute, with or without a request that waits."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene))
    h = samples(line.client(), scene, [ask(s)], s, count=5, close=False)
    if asks:
        line.request(DATA, bytes(stubs.request(DATA, hQuery=h, dwInSize=ROOM)))
    for _ in range(20):
        scene.capture.now += 3 * SECOND
        line.rpc.transport.segment(0, b'', 0x10)
    return scene


def broken_off(flags, goes_on=False, side=1, close=False, **how):
    """One end (1: the server's) ends the connection; the client comes again, or not."""
    scene, s = Scene(), memory()
    server = Server([s], scene)
    line = tcp_line(scene, server, **how)
    samples(line.client(), scene, [ask(s)], s, count=5, close=close)
    line.rpc.transport.segment(side, b'', flags)
    if goes_on:
        samples(tcp_line(scene, server, client_port=50077).client(), scene, [ask(s)], s, count=5)
    return scene


def asked_in_vain(opnum, request):
    """Of a client that has read names, the next call is not answered."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene))
    learn(line.client(), s)
    line.request(opnum, bytes(request))
    return scene


def poller(closes=True, connects=False, asked=None, pauses=(), before=(), count=8, loses=(), what=memory, **server):
    """A query for each sample."""
    scene, s = Scene(), what()
    server, wire = Server([s], scene, **server), None
    for n in range(count):
        if wire is None or connects:
            wire = Wire(tcp_line(scene, server, client_port=50001 + n))
        wire.before = {wire.number + 1: dict(before).get(n, 0)}
        wire.loses = lambda opnum, kind, _, n=n: n in loses and (opnum, kind) == (DATA, 'response')
        with contextlib.suppress(Fault):
            samples(wire.client(), scene, asked(s) if asked else [ask(s)], s, count=1, teach=n == 0, close=closes,
                    pauses={0: dict(pauses).get(n, 1)})
    return scene


def snapped(length):
    scene = monitor([processors()], lambda s: [ask(s, 2, '*')])
    for n in range(1, len(scene.capture.frames) + 1):
        scene.capture.snap(n, min(length, len(scene.capture.frames[n - 1][1])))
    return scene


def registry_denied(opens, opnum=OPEN_DATA):
    """The key is not given, or no value of it; or another key that the client opens before."""
    scene = Scene()
    talk = Talk(scene)
    for _ in range(3):
        if opens:
            talk.open()
            talk.ask('Global', None, status=DENIED)
        else:
            talk.call(opnum, open_root(**talk.how), handle_back(bytes(20), status=DENIED, **talk.how))
    return scene


BOTH = 'request', 'response'


def without_samples(*numbers, kinds=BOTH):
    return dict(loses=lambda opnum, kind, n: n in numbers and kind in kinds)


def without_calls(*opnums, kinds=BOTH):
    """Without a number: of all operations."""
    return dict(loses=lambda opnum, kind, n: kind in kinds and (not opnums or opnum in opnums))
