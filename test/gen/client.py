# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripted conversations: what a client asks, over any transport.

A transport is a function call(opnum, request Record) -> (fault, response stub): the plain captures' writer,
a real RPC client, or Model.handle itself.
"""

import struct
import uuid

from . import buffers, stubs
from .buffers import NONE
from .stubs import CLOSE, DATA, ENUMERATE, INFO, INSTANCES, OPEN, REG_INFO, VALIDATE

SERVER = '\\\\SRV01'
NOT_ENOUGH_MEMORY = 8


class Fault(Exception):
    """The call was answered with a DCE/RPC fault."""


class Client:
    """Requests in one byte order and transfer syntax; answers are read far enough to go on."""

    def __init__(self, call, machine=SERVER, order='<', ndr64=False):
        self.call, self.machine, self.order, self.ndr64 = call, machine, order, ndr64

    def _do(self, opnum, **p):
        fault, stub = self.call(opnum, stubs.request(opnum, self.order, self.ndr64, **p))
        if fault:
            raise Fault('0x%08x' % fault)
        return stubs.Reader(stub, self.order, self.ndr64)

    def _sized(self, opnum, in_size=None, probe=True, **p):
        """Size probe and call, or a call with in_size; -> (status, number returned, data)."""
        size = in_size
        if size is None:
            size = 0
            if probe:
                status, size, _ = self._sized(opnum, 0, **p)
                if status != NOT_ENOUGH_MEMORY:
                    return status, size, b''
        r = self._do(opnum, dwInSize=size, **p)
        r.dword()
        rtn = r.dword()
        r.count()
        r.count()
        actual = r.count()
        data = r.take(actual * (16 if opnum == ENUMERATE else 1))
        return r.dword(), rtn, data

    def enumerate(self, in_size=None):
        """-> (status, GUIDs)"""
        status, _, data = self._sized(ENUMERATE, in_size, szMachine=self.machine)
        read = (lambda b: uuid.UUID(bytes_le=b)) if self.order == '<' else (lambda b: uuid.UUID(bytes=b))
        return status, [str(read(data[i:i + 16])) for i in range(0, len(data), 16)]

    def reg_info(self, guid, code, lcid=0, in_size=None):
        return self._sized(REG_INFO, in_size, szMachine=self.machine, CounterSetGuid=guid, RequestCode=code,
                           RequestLCID=lcid)

    def instances(self, guid, in_size=None):
        return self._sized(INSTANCES, in_size, szMachine=self.machine, CounterSetGuid=guid)

    def open(self):
        """-> handle"""
        return self._do(OPEN, szMachine=self.machine).handle()

    def query(self, identifiers, info=True):
        """-> handle of a query of these, whose order is told"""
        handle = self.open()
        self.validate(handle, identifiers)
        if info:
            self.info(handle)
        return handle

    def close(self, handle):
        r = self._do(CLOSE, hQuery=handle)
        r.handle()
        return r.dword()

    def info(self, handle, in_size=None):
        return self._sized(INFO, in_size, hQuery=handle)

    def data(self, handle, in_size=None):
        return self._sized(DATA, in_size, hQuery=handle)

    def validate(self, handle, identifiers, add=True):
        """identifiers: dictionaries of buffers.identifier() arguments, or a Record; -> [Status]"""
        data = identifiers if hasattr(identifiers, 'fields') else buffers.identifiers(identifiers)
        r = self._do(VALIDATE, hQuery=handle, lpData=data, dwAdd=int(add))
        n = r.count()
        blob, at, out = r.take(n), 0, []
        while at + 40 <= n:
            status, size = struct.unpack_from('<2I', blob, at + 16)
            out.append(status)
            if size < 40:
                break
            at += size
        r.dword()
        return out


def wanted(sets):
    """Identifiers for every dwType over the model's sets, with refused ones among them."""
    by = {s.name: s.guid for s in sets}
    cpu = by['Processor Information']
    return [
        dict(guid=by['Every Type'], counter_id=NONE),                               # dwType 2
        dict(guid=cpu, counter_id=26, name='_Total'),                               # 1
        dict(guid=cpu, counter_id=0, name='*'),                                     # 4
        dict(guid=cpu, counter_id=NONE, name='*'),                                  # 6
        dict(guid=cpu, counter_id=NONE, name='0,1', room=32, fill=0xAA),            # 2, more room than the name needs
        dict(guid=cpu, counter_id=999, name='*'),                                   # refused: no such counter
        dict(guid=str(uuid.UUID(int=0xDEAD)), counter_id=1, name='*'),              # refused: no such set
        dict(guid=cpu, counter_id=26, name='_Total'),                               # refused: already there
        dict(guid=cpu, counter_id=3, name='0,7'),                                   # accepted, then an error block
        dict(guid=by['Harbour'], counter_id=NONE, name='*'),                        # 6, instances come and go
        dict(guid=by['Harbour'], counter_id=2, instance_id=101, name='pier*'),      # 4, a pattern and an instance id
        dict(guid=by['Odd Values'], counter_id=NONE, name=''),                      # 2, an empty name for a single set
        dict(guid=by['Lanes \U0001F6A6'], counter_id=NONE, name='*'),               # 6, odd names and text
        dict(guid=by['History'], counter_id=1, name='*'),                           # 4 without instances
    ]


def browse(client, sets, codes=range(1, 11), languages=(0, 0x407)):
    """What a client asks before it opens a query: everything there is to know of each set."""
    client.enumerate()
    for s in sets:
        for code in codes:
            if code == 2:
                for c in s.counters[:2]:
                    client.reg_info(s.guid, 2, c.id)
            elif code in (3, 4, 5, 6):
                for lcid in languages:
                    client.reg_info(s.guid, code, lcid)
            else:
                client.reg_info(s.guid, code)
        client.instances(s.guid)


def query(client, identifiers, samples=2, remove=(), info=True, in_size=None):
    """A query's whole life: open, add, see the order, sample, remove some, sample again, close."""
    handle = client.open()
    client.validate(handle, identifiers)
    if info:
        client.info(handle)
    for _ in range(samples):
        client.data(handle, in_size)
    if remove:
        client.validate(handle, remove, add=False)
        if info:
            client.info(handle)
        client.data(handle, in_size)
    client.close(handle)
    return handle


def whole(client, sets, samples=3):
    """Browsing and a query of everything."""
    browse(client, sets)
    ids = wanted(sets)
    return query(client, ids, samples, remove=[ids[1], ids[6]])


def refusals(client, sets):
    """Calls that the server answers with an error."""
    guid, unknown = sets[0].guid, str(uuid.UUID(int=1))
    client.enumerate(1)
    client.reg_info(unknown, 1)
    client.reg_info(guid, 2, 4711)
    client.reg_info(guid, 11, 0, 100)
    client.reg_info(guid, 3, 0x40C)
    client.instances(unknown)
    handle = client.open()
    client.validate(handle, buffers.Record())
    client.data(handle)                     # an empty query: the header alone
    client.info(handle)
    client.close(handle)


def against(server, order='<', ndr64=False, calls=None):
    """A transport straight into a Model; calls collects (opnum, request, fault, response, record)."""
    def call(opnum, request):
        fault, stub, record = server.handle(opnum, bytes(request), 6, order, ndr64)
        if calls is not None:
            calls.append((opnum, bytes(request), fault, stub, record))
        return fault, stub
    return call
