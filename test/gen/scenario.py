# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture together with what each of its frames must show."""

import copy
from typing import NamedTuple

from .client import SERVER, Client
from .pcap import Capture, Pipe, Rpc, Smb2, Tcp
from . import stubs
from .record import Record
from .server import Model
from .stubs import DATA


class Message(NamedTuple):
    """A request or response as one frame shows it."""
    opnum: int
    kind: str               # 'request' or 'response'
    fields: list            # [Field]; offsets count from the stub's first byte
    stub: bytes
    record: dict            # the server's record of the call, {} without a model
    experts: tuple = ()     # names that must be there, without pcq.expert.; 'a|b' is one of both

    @property
    def status(self):
        return next((f.value for f in reversed(self.fields) if f.name == 'pcq.status'), None)


class Scenario:
    """The capture and, by frame number, its messages in order."""

    def __init__(self, name=''):
        self.name, self.capture, self.frames = name, Capture(), {}
        self.options = ()       # what tshark must be told to read it right
        self.chat = ()          # experts that may be on its good messages

    def expect(self, frame, message):
        self.frames.setdefault(frame, []).append(message)
        return frame

    def fields(self, frame):
        return [f for m in self.frames.get(frame, []) for f in m.fields]

    def copy(self):
        """One whose bytes may be changed."""
        other = copy.copy(self)
        other.capture = copy.copy(self.capture)
        other.capture.frames = list(self.capture.frames)
        return other

    def write(self, path, **kw):
        return self.capture.write(path, **kw)


SECOND = 10 ** 6


class Line:
    """An RPC connection within a scenario; its calls go to a server, or are given as stubs.

    What goes wrong with calls: alters(opnum, kind, stub) -> the stub as it is captured, None: it went another way;
    loses(opnum, kind, number of the QueryCounterData): this PDU was not captured; before, behind: {number of a QueryCounterData:
    seconds that it takes until the server reads its clock, and behind that}."""

    def __init__(self, scenario, rpc, model=None, trailer=False, alters=lambda opnum, kind, stub: stub, loses=lambda *_: False, before=None,
                 behind=None):
        self.scenario, self.rpc, self.model, self.trailer, self.alters, self.loses = scenario, rpc, model, trailer, alters, loses
        self.before, self.behind, self.number = before or {}, behind or {}, -1

    def request(self, opnum, stub, fields=None, record=None, experts=(), **how):
        """Sends a request; a Record brings its fields along."""
        frame = self.rpc.request(opnum, bytes(stub), self.trailer, **how)
        return self._expect(frame, opnum, 'request', stub, fields, record, experts)

    def response(self, opnum, stub, fields=None, record=None, experts=(), **how):
        frame = self.rpc.response(bytes(stub), **how)
        return self._expect(frame, opnum, 'response', stub, fields, record, experts)

    def _expect(self, frame, *what):
        return self.scenario.expect(frame, self.message(*what))

    @staticmethod
    def message(opnum, kind, stub, fields=None, record=None, experts=()):
        if fields is None:
            fields = stub.fields if isinstance(stub, Record) else []
        fields = [f for f in fields if f.name]
        return Message(opnum, kind, fields, bytes(stub), record or {}, tuple(experts))

    def call(self, opnum, request):
        """A whole call; what Client wants for its transport."""
        rpc, capture, sent = self.rpc, self.scenario.capture, bytes(request)
        self.number += opnum == DATA
        n = self.number if opnum == DATA else None
        seen, frame = self.alters(opnum, 'request', sent), None
        if self.loses(opnum, 'request', n):
            rpc.transport.skip(0, b''.join(rpc.request_pdus(opnum, sent)))
        elif seen is not None:
            frame = rpc.request(opnum, seen, self.trailer)
        capture.now += int(self.before.get(n, 0) * SECOND)
        fault, stub, record = self.model.handle(opnum, sent, 6, rpc.order, rpc.ndr64)
        if frame:
            self._expect(frame, opnum, 'request', seen, record['request'] if seen == sent else [], record)
        capture.now += int(self.behind.get(n, 0) * SECOND)
        seen = self.alters(opnum, 'response', stub)
        if seen is None:
            rpc.call_id += 1
        elif fault:
            rpc.fault(fault)
        elif self.loses(opnum, 'response', n):
            rpc.transport.skip(1, b''.join(rpc.response_pdus(stub)))
            rpc.call_id += 1
        else:
            self.response(opnum, seen, record['response'] if seen == stub else [], record)
        return fault, stub

    def together(self, calls, turned=False, whole=True):
        """(opnum, parameters of the request) of calls whose requests are in one frame and whose responses are in another, turned around
        or not. -> that frame"""
        rpc, made = self.rpc, []
        for opnum, p in calls:
            request = stubs.request(opnum, **p)
            _, stub, record = self.model.handle(opnum, bytes(request), 6)
            made.append((opnum, request, stub, record, rpc.call_id))
            rpc.call_id += 1
        frame = rpc.transport.to_server([x for o, r, _, _, i in made for x in rpc.request_pdus(o, bytes(r), call_id=i)])
        for opnum, request, _, record, _ in made:
            self._expect(frame, opnum, 'request', request, record['request'], record)
        made = made[::-1] if turned else made
        frame = rpc.transport.to_client([x for _, _, stub, _, i in made for x in rpc.response_pdus(stub, i)], whole=whole)
        for opnum, _, stub, record, _ in made:
            self._expect(frame, opnum, 'response', stub, record['response'], record)
        return frame

    def client(self, machine=SERVER):
        client = Client(self.call, machine, self.rpc.order, self.rpc.ndr64)
        client.line = self
        return client


def tcp_line(scenario, model=None, order='<', ndr64=False, trailer=False, max_frag=4280, v6=False, client_port=50001,
             bind=True, mss=1440, server=None, client=None, port=49671, protocol=Rpc, seq=1000, **wrong):
    tcp = Tcp(scenario.capture, port, client_port, v6=v6, mss=mss, server=server, client=client, seq=seq)
    rpc = protocol(tcp, order=order, ndr64=ndr64, max_frag=max_frag)
    if bind:
        rpc.bind()
    return Line(scenario, rpc, model, trailer, **wrong)


def smb_line(scenario, model=None, order='<', ndr64=False, trailer=False, max_frag=4280, transceive=True,
             read_size=65536, write_size=65536, client_port=50002, called='SRV01', **wrong):
    pipe = Pipe(Smb2(Tcp(scenario.capture, 445, client_port), called=called), transceive=transceive, read_size=read_size,
                write_size=write_size)
    rpc = Rpc(pipe, order=order, ndr64=ndr64, max_frag=max_frag)
    rpc.bind()
    return Line(scenario, rpc, model, trailer, **wrong)


def scenario(name, line=tcp_line, model=None, **options):
    """-> (Scenario, Line)"""
    s = Scenario(name)
    return s, line(s, model or Model(), **options)
