# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture's hosts and their monitors: what each does, second by second, and which frames are those that something went wrong in."""

import contextlib
import struct

from gen import stubs
from gen.client import Client, Fault
from gen.hkpd_block import Counter as Number
from gen.hkpd_block import Instance as Row
from gen.hkpd_block import Object
from gen.hkpd_scenario import Talk
from gen.model import TYPES
from gen.pcap import PERFLIB, Pipe, Rpc, SealedRpc
from gen.scenario import SECOND, Line, Scenario
from gen.scripted import ROOM, Clock, Server, ask, learn, memory, processors
from gen.stubs import DATA
from gen.wires import FIN, IOCTL, READ, Link, Refused, Session, bind

CLIENT, OTHER = '192.0.2.10', '192.0.2.11'
SRV01, SRV02 = ('SRV01', '192.0.2.20'), ('SRV02', '192.0.2.40')


class Network:
    """since: the frames of which any may be named as the first that shows it"""

    def __init__(self):
        self.scenario = Scenario()
        self.capture = self.scenario.capture
        self.began, self.since, self.ports, self.models = self.capture.now, [], 50000, 0
        self.boot = self.began - 50000 * SECOND

    def port(self):
        self.ports += 1
        return self.ports

    def model(self, sets, boot=None, **says):
        """A server, or what of it one monitor sees: no two deal out the same handles."""
        model = Server(sets, scenario=self.scenario, boot=boot or self.boot, **says)
        self.models += 1
        model.opened = 1000 * self.models
        return model

    def wait(self, seconds):
        self.capture.now += int(seconds * SECOND)

    def at(self, seconds):
        """Until so long after the beginning."""
        self.capture.now = max(self.capture.now, self.began + int(seconds * SECOND))

    @contextlib.contextmanager
    def culprit(self):
        """What goes by within is what happened first."""
        before = len(self.capture.frames)
        try:
            yield
        finally:
            self.since += range(before + 1, len(self.capture.frames) + 1)

    @contextlib.contextmanager
    def unseen(self, *which):
        """What goes by within was not captured, or of it the packets of these numbers."""
        before = len(self.capture.frames)
        yield
        new = self.capture.frames[before:]
        self.capture.frames[before:] = [f for n, f in enumerate(new) if which and n not in which]

    def time(self, frame):
        return self.capture.frames[frame - 1][0] // SECOND


class Calls(Line):
    """fate of the next sample, or call of `opnum`: takes (seconds until it is answered), between(monitor) (what goes by meanwhile), behind (seconds for the
    answer's way), instead (status of SMB), change(stub) (damage)"""

    def __init__(self, monitor, rpc, model):
        super().__init__(monitor.network.scenario, rpc, model)
        self.monitor, self.fate = monitor, {}

    def call(self, opnum, request):
        m, rpc = self.monitor, self.rpc
        fate = self.fate if opnum == self.fate.get('opnum', DATA) else {}
        rpc.request(opnum, bytes(request))
        m.meanwhile(**fate)
        fault, stub, _ = self.model.handle(opnum, bytes(request), 6, rpc.order, rpc.ndr64)
        m.comes_back(rpc, **fate)
        if fault:
            rpc.fault(fault)
        else:
            rpc.response(fate.get('change', bytes)(stub))
        return fault, stub


class Monitor:
    """What PerflibV2 and HKEY_PERFORMANCE_DATA have in common: connections, and pauses."""
    def __init__(self, network, server=SRV01, client=CLIENT, smb=False, port=None, says=None, protocol=Rpc, reads=False, **tcp):
        self.network, self.server, self.host, self.is_smb, self.says, self.protocol, self.reads = network, server, client, smb, says, protocol, reads
        self.tcp_port, self.tcp_options, self.results, self.sets = port or (445 if smb else 49671), tcp, (), None

    def connect(self):
        """-> what carries RPC"""
        self.tcp = Link(self.network.capture, self.tcp_port, self.network.port(), client=self.host, server=self.server[1], **self.tcp_options)
        if not self.is_smb:
            return self.tcp
        self.smb = Session(self.tcp, self.says, '\\\\%s\\IPC$' % self.server[0])
        self.pipe = Pipe(self.smb, transceive=not self.reads)
        return self.pipe

    def meanwhile(self, takes=0, between=None, **_):
        """Between request and answer: TCP, or SMB's STATUS_PENDING, says that the request came."""
        if takes:
            self.network.wait(min(takes, .04))
            self.smb.pending() if self.is_smb else self.tcp.ack(1)
            self.network.wait(takes - .04)
        if between:
            between(self)

    def comes_back(self, rpc, behind=0, instead=None, **_):
        """The answer's way, or SMB's error in place of it"""
        self.network.wait(behind)
        if instead:
            rpc.call_id += 1
            self.pipe.waiting = False
            if self.reads:
                self.smb.ask(READ, self.pipe.read_request())
            raise Refused(self.smb.fails(instead, READ if self.reads else IOCTL))

    def run(self, count, each=1, **fate):
        """Samples, each so long behind the one before, as a timer has it."""
        for _ in range(count):
            began = self.network.capture.now
            self.sample(wait=0, **fate)
            self.network.capture.now = max(self.network.capture.now, began + int(each * SECOND))
        return self

    def hang_up(self, flags=FIN, side=0):
        self.tcp.segment(side, b'', flags)
        if flags == FIN:
            self.tcp.segment(1 - side, b'', FIN)
            self.tcp.segment(side, b'', 0x10)
        self.forget()


class Perflib(Monitor):
    """each: what it does anew for each sample: 'query', 'connection', or nothing. browses: reads names and types, once."""

    def __init__(self, network, sets=None, asked=None, each=None, room=ROOM, model=None, browses=True, denies=None, faults=None, refuses=None, **how):
        super().__init__(network, **how)
        self.sets = sets or [memory(), processors()]
        self.asked = asked(*self.sets) if asked else [ask(s, name='*' if s.named_instances else None) for s in self.sets]
        self.model = model or network.model(self.sets, denies=denies, faults=faults, refuses=refuses)
        self.each, self.room, self.browses, self.line, self.handle = each, room, browses, None, None

    def reach(self):
        if self.line is None:
            rpc = self.protocol(self.connect(), PERFLIB)
            bind(rpc, *self.results)
            self.line = Calls(self, rpc, self.model)
            self.client = Client(self.line.call, '\\\\' + self.server[0])
            if self.browses:
                learn(self.client, *self.sets)
                self.browses = False
        return self

    def open(self):
        self.reach()
        if self.handle is None:
            handle = self.client.open()
            if not any(handle):
                raise Refused
            self.handle = handle
            self.client.validate(self.handle, self.asked)
            self.client.info(self.handle)
        return self

    def sample(self, wait=1, **fate):
        self.reach().line.fate = fate
        self.open()
        with contextlib.suppress(Fault):
            self.client.data(self.handle, self.room)
        self.line.fate = {}
        if self.each:
            self.close(self.each == 'connection')
        self.network.wait(wait)

    def close(self, ends=True):
        if self.handle is not None:
            self.client.close(self.handle)
        self.handle = None
        if ends and self.line:
            self.hang_up()

    def forget(self):
        self.line = self.handle = None

    def ask_alone(self, opnum=DATA):
        """A request (for a sample) that nobody answers."""
        how = dict(hQuery=self.handle, dwInSize=ROOM) if opnum == DATA else dict(szMachine='\\\\' + self.server[0])
        self.line.rpc.request(opnum, bytes(stubs.request(opnum, **how)))
        self.line.rpc.call_id += 1


def count(step):
    return lambda at, k: (k + 1) * 10 ** 6 + step * at.number


def windows():
    """What stands in a small machine's answer."""
    number = lambda index, name, kind, step, width=4: Number(index, name, TYPES[kind], count(step), width)
    return [Object(2, 'System', [number(10, 'File Read Operations/sec', 'PERF_COUNTER_COUNTER', 150),
                                 number(44, 'Processor Queue Length', 'PERF_COUNTER_RAWCOUNT', 0)]),
            Object(230, 'Process', [number(784, 'ID Process', 'PERF_COUNTER_RAWCOUNT', 0),
                                    number(180, 'Working Set', 'PERF_COUNTER_LARGE_RAWCOUNT', 1, 8)],
                   lambda at: [Row('System'), Row('svchost'), Row('_Total')]),
            Object(238, 'Processor', [number(148, 'Interrupts/sec', 'PERF_COUNTER_COUNTER', 700)], lambda at: [Row('0'), Row('_Total')])]


class Registry(Monitor):
    """HKEY_PERFORMANCE_DATA. each: 'connection' or nothing; name: what it asks for; only: the objects that come."""

    class Talk(Talk):
        fate = {}

        def call(self, opnum, request, response, record=None, experts=()):
            m, fate = self.monitor, self.fate
            asked = self.rpc.request(opnum, bytes(request))
            m.meanwhile(**fate)
            m.comes_back(self.rpc, **fate)
            return asked, self.rpc.response(fate.get('change', bytes)(bytes(response)))

    def __init__(self, network, objects=None, name='Global', only=None, each=None, titles=True, **how):
        super().__init__(network, **how)
        self.objects, self.name, self.only, self.each, self.titles, self.talk = objects or windows(), name, only, each, titles, None
        self.clock = Clock(network.capture, network.boot)

    def open(self):
        if self.talk is None:
            self.talk = talk = self.Talk(self.network.scenario, self.objects, transport=self.connect(), system=self.server[0], protocol=self.protocol)
            talk.monitor, talk.clock, talk.handles = self, self.clock, 10 * self.network.ports
            talk.open()
            if self.titles:
                talk.titles()
                self.titles = False
        return self

    def sample(self, wait=1, only=None, status=0, **fate):
        self.open()
        self.talk.fate = fate
        if status:
            self.talk.ask(self.name, None, status=status)
        else:
            self.talk.sample(self.name, self.only if only is None else only)
        self.talk.fate = {}
        if self.each:
            self.close()
        self.network.wait(wait)

    def close(self):
        if self.talk:
            self.talk.close()
            self.hang_up()

    def forget(self):
        self.talk = None


MODES = {
    'tcp': (Perflib, {}), 'smb': (Perflib, dict(smb=True)), 'sealed': (Perflib, dict(protocol=SealedRpc)),
    'sealed-smb': (Perflib, dict(protocol=SealedRpc, smb=True)), 'poller': (Perflib, dict(each='query')),
    'connects': (Perflib, dict(each='connection')), 'hkpd': (Registry, {}), 'hkpd-smb': (Registry, dict(smb=True)),
    'hkpd-connects': (Registry, dict(each='connection')), 'sealed-hkpd': (Registry, dict(protocol=SealedRpc)),
    'sealed-hkpd-smb': (Registry, dict(protocol=SealedRpc, smb=True)), 'smb-reads': (Perflib, dict(smb=True, reads=True)),
    'sealed-smb-reads': (Perflib, dict(protocol=SealedRpc, smb=True, reads=True)),
}


def start(network, mode='tcp', **more):
    kind, how = MODES[mode]
    return kind(network, **{**how, **more})


def polls(*parts, mode='tcp', each=1, **how):
    """A monitor's scenario: how many samples all is well, and what else happens, one after the other."""
    def play(w):
        m = start(w, mode, **how)
        for part in parts:
            part(m) if callable(part) else m.run(part, each)
        m.close()
    return play


def captured(path, *parts, **how):
    network = Network()
    polls(*parts, **how)(network)
    return network.capture.write(path)


def good(count=1, each=1, **fate):
    return lambda m: m.run(count, each, **fate)


def bad(count=1, each=1, any=False, **fate):
    """Samples that are not as they should be; the first is the one to name, or any of them."""
    def part(m):
        for n in range(count):
            with m.network.culprit() if any or n == 0 else contextlib.nullcontext():
                began = m.network.capture.now
                attempt(m.sample, wait=0, **fate)
                m.network.capture.now = max(m.network.capture.now, began + int(each * SECOND))
    return part


def named(part):
    """Any of its frames is the one to name."""
    def marked(m):
        with m.network.culprit():
            part(m)
    return marked


def pause(seconds):
    """... longer than its interval, of which the sample before has waited one"""
    return lambda m: m.network.wait(seconds)


def lost(count=1, *packets):
    """Samples, or those packets of each, that were not captured."""
    def part(m):
        for _ in range(count):
            with m.network.unseen(*packets):
                m.run(1)
    return part


def ends(flags):
    """The server ends the connection, which is the first sign of anything."""
    def part(m):
        named(lambda m: m.tcp.segment(1, b'', flags))(m)
        m.forget()
    return part


def leaves(flags=FIN, side=0):
    return lambda m: m.hang_up(flags, side)


def gone(m):
    """Nothing more goes by."""
    m.forget()


def together(network, until, *plans):
    """plans: (monitor, interval, first); each samples by its own clock."""
    due = [[first, i, m, interval] for i, (m, interval, first) in enumerate(plans)]
    while min(due)[0] < until:
        turn = min(due)
        network.at(turn[0])
        turn[2].sample(wait=0)
        turn[0] += turn[3]
    for m, _, _ in plans:
        m.close()


def attempt(step, *args, **how):
    """A client that gives up where it is refused. -> whether it was"""
    try:
        step(*args, **how)
    except (Refused, Fault):
        return True
    return False


def block_size(place, size):
    """Damage of an answer: the size that its block of this place says."""
    def change(stub):
        out, at = bytearray(stub), 20 + 48
        for _ in range(place):
            at += struct.unpack_from('<I', out, at + 8)[0]
        struct.pack_into('<I', out, at + 8, size)
        return bytes(out)
    return change


def twice(network, more=3):
    """A mirrored port, or what was captured in two places: each packet is there again, so many microseconds later."""
    both = sorted((when + late, n, frame) for n, (when, frame) in enumerate(network.capture.frames, 1) for late in (0, more))
    network.capture.frames = [(when, frame) for when, _, frame in both]
    network.since = [at for at, (_, n, _) in enumerate(both, 1) if n in network.since]


def swapped(network, each=4, first=60):
    """From the frame on, of each so many the next two stand in the capture the wrong way round."""
    frames = network.capture.frames
    for at in range(first, len(frames) - 1, each):
        frames[at:at + 2] = frames[at:at + 2][::-1]
        network.since.append(at + 1)
