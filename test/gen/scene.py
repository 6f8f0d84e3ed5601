# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture together with what each of its frames must show."""

import copy
from typing import NamedTuple

from .client import SERVER, Client
from .pcap import Capture, Pipe, Rpc, Smb2, Tcp
from .record import Record
from .server import Model


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


class Scene:
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


class Line:
    """An RPC connection within a scene; its calls go to a model, or are given as stubs."""

    def __init__(self, scene, rpc, model=None, trailer=False):
        self.scene, self.rpc, self.model, self.trailer = scene, rpc, model, trailer

    def request(self, opnum, stub, fields=None, record=None, experts=(), **how):
        """Sends a request; a Record brings its fields along."""
        frame = self.rpc.request(opnum, bytes(stub), self.trailer, **how)
        return self._expect(frame, opnum, 'request', stub, fields, record, experts)

    def response(self, opnum, stub, fields=None, record=None, experts=(), **how):
        frame = self.rpc.response(bytes(stub), **how)
        return self._expect(frame, opnum, 'response', stub, fields, record, experts)

    def _expect(self, frame, *what):
        return self.scene.expect(frame, self.message(*what))

    @staticmethod
    def message(opnum, kind, stub, fields=None, record=None, experts=()):
        if fields is None:
            fields = stub.fields if isinstance(stub, Record) else []
        fields = [f for f in fields if f.name]
        return Message(opnum, kind, fields, bytes(stub), record or {}, tuple(experts))

    def call(self, opnum, request):
        """A whole call; what Client wants for its transport."""
        rpc = self.rpc
        fault, stub, record = self.model.handle(opnum, bytes(request), 6, rpc.order, rpc.ndr64)
        self.request(opnum, request, record['request'], record)
        if fault:
            rpc.fault(fault)
        else:
            self.response(opnum, stub, record['response'], record)
        return fault, stub

    def client(self, machine=SERVER):
        return Client(self.call, machine, self.rpc.order, self.rpc.ndr64)


def tcp_line(scene, model=None, order='<', ndr64=False, trailer=False, max_frag=4280, v6=False, client_port=50001,
             bind=True, mss=1440, server=None, client=None, port=49671, protocol=Rpc, seq=1000):
    tcp = Tcp(scene.capture, port, client_port, v6=v6, mss=mss, server=server, client=client, seq=seq)
    rpc = protocol(tcp, order=order, ndr64=ndr64, max_frag=max_frag)
    if bind:
        rpc.bind()
    return Line(scene, rpc, model, trailer)


def smb_line(scene, model=None, order='<', ndr64=False, trailer=False, max_frag=4280, transceive=True,
             read_size=65536, write_size=65536, client_port=50002, called='SRV01'):
    pipe = Pipe(Smb2(Tcp(scene.capture, 445, client_port), called=called), transceive=transceive, read_size=read_size,
                write_size=write_size)
    rpc = Rpc(pipe, order=order, ndr64=ndr64, max_frag=max_frag)
    rpc.bind()
    return Line(scene, rpc, model, trailer)


def scene(name, line=tcp_line, model=None, **options):
    """-> (Scene, Line)"""
    s = Scene(name)
    return s, line(s, model or Model(), **options)
