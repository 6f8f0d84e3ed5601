# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong with a monitor: a scene for each, by the capture's clock."""

import contextlib

from . import stubs
from .client import Fault
from .hkpd_scene import Talk
from .hkpd_stubs import OPEN_DATA, handle_back, open_root
from .scene import SECOND, Scene, tcp_line
from .story import Server, ask, counter, learn, multiple, single
from .stubs import DATA, ENUMERATE, INFO, OPEN, REG_INFO, VALIDATE

ROOM = 1 << 16
ALL = range(1000)
DENIED = 5


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
    h = client.query(asked)
    for n in range(count):
        client.data(h, room)
        scene.capture.now += int(dict(pauses).get(n, 1) * SECOND)
    if close:
        client.close(h)
    return h


def monitor(sets=None, asked=None, line=tcp_line, server=None, wire=None, **how):
    """asked(sets) -> identifiers; the client gives up at a fault."""
    scene, sets = Scene(), sets or [memory()]
    client = line(scene, Server(sets, scene=scene, **(server or {})), **(wire or {})).client()
    with contextlib.suppress(Fault):
        samples(client, scene, asked(*sets) if asked else [ask(s) for s in sets], *sets, **how)
    return scene


def until(stage, way, code=DENIED):
    """Who is told no (way: 'denies' or 'faults') goes no further."""
    scene, s = Scene(), memory()
    c = tcp_line(scene, Server([s], scene=scene, **{way: {stage: (code, ALL)}})).client()
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
    server = Server([s], scene=scene)
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
    server = Server([s], scene=scene)
    samples(tcp_line(scene, server).client(), scene, [ask(s)], s, count=5, close=close)
    scene.capture.now += gap * SECOND
    server = Server([s], scene=scene, boot=scene.capture.now - 20 * SECOND) if restarts else server
    samples(tcp_line(scene, server, client_port=50077).client(), scene, [ask(s)], s, count=5)
    return scene


def silent(asks):
    """The capture goes on for a minute, with or without a request that waits."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene=scene))
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
    server = Server([s], scene=scene)
    line = tcp_line(scene, server, **how)
    samples(line.client(), scene, [ask(s)], s, count=5, close=close)
    line.rpc.transport.segment(side, b'', flags)
    if goes_on:
        samples(tcp_line(scene, server, client_port=50077).client(), scene, [ask(s)], s, count=5)
    return scene


def asked_in_vain(opnum, request):
    """Of a client that has read names, the next call is not answered."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene=scene))
    learn(line.client(), s)
    line.request(opnum, bytes(request))
    return scene


def poller(closes=True, connects=False, asked=None, pauses=(), before=(), count=8, loses=(), what=memory, **server):
    """A query for each sample."""
    scene, s = Scene(), what()
    server, line = Server([s], scene=scene, **server), None
    for n in range(count):
        if line is None or connects:
            line = tcp_line(scene, server, client_port=50001 + n)
        line.before = {line.number + 1: dict(before).get(n, 0)}
        line.loses = lambda opnum, kind, _, n=n: n in loses and (opnum, kind) == (DATA, 'response')
        with contextlib.suppress(Fault):
            samples(line.client(), scene, asked(s) if asked else [ask(s)], s, count=1, teach=n == 0, close=closes,
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
