# SPDX-License-Identifier: GPL-2.0-or-later
"""Request and response stubs of the eight operations ([MS-PCQ] 3.1.4.1), NDR and NDR64, in either byte order.

Builders return Records; parse_request() reads what a client sent.
"""

import struct
import uuid

from .record import Record, utf16

OPERATIONS = ('PerflibV2EnumerateCounterSet', 'PerflibV2QueryCounterSetRegistrationInfo',
              'PerflibV2EnumerateCounterSetInstances', 'PerflibV2OpenQueryHandle', 'PerflibV2CloseQueryHandle',
              'PerflibV2QueryCounterInfo', 'PerflibV2QueryCounterData', 'PerflibV2ValidateCounters')
ENUMERATE, REG_INFO, INSTANCES, OPEN, CLOSE, INFO, DATA, VALIDATE = range(8)
NO_HANDLE = bytes(20)


def swap_handle(handle):
    """A context handle (attributes and UUID) in the other byte order."""
    attributes, guid = struct.unpack('<I16s', handle)
    return struct.pack('>I16s', attributes, uuid.UUID(bytes_le=guid).bytes)


class Ndr(Record):
    """A stub under construction."""

    def __init__(self, order='<', ndr64=False):
        super().__init__(order)
        self.ndr64 = ndr64

    def count(self, value):
        """A conformance or variance count."""
        self.pad(8 if self.ndr64 else 4)
        self.number('Q' if self.ndr64 else 'I', None, value)

    def dword(self, name, value):
        self.pad(4)
        self.u32(name, value)
        return self

    def machine(self, value, max_count=None, offset=0, actual=None, terminate=True):
        """[string] wchar_t *: max count, offset, actual count, characters in the stub's byte order"""
        data = utf16(value, self.order) + (b'\0\0' if terminate else b'')
        n = len(data) // 2
        self.count(n if max_count is None else max_count)
        self.count(offset)
        self.count(n if actual is None else actual)
        if data:
            self.raw(data, 'pcq.machine', value)

    def inline_guid(self, value):
        self.pad(4)
        self.guid('pcq.counterset.guid', value)

    def handle(self, handle):
        """The 20 bytes as little-endian sends them are shown, whatever order they travel in."""
        self.pad(4)
        self.raw(handle if self.order == '<' else swap_handle(handle), 'pcq.handle', handle.hex())


def request(opnum, order='<', ndr64=False, **p):
    """The request stub from parameters named as in the IDL."""
    r = Ndr(order, ndr64)
    if opnum in (ENUMERATE, REG_INFO, INSTANCES, OPEN):
        r.machine(p['szMachine'])
    else:
        r.handle(p['hQuery'])
    if opnum in (REG_INFO, INSTANCES):
        r.inline_guid(p['CounterSetGuid'])
    if opnum == REG_INFO:
        r.dword('pcq.request_code', p['RequestCode'])
        r.dword('pcq.counter.id' if p['RequestCode'] == 2 else 'pcq.lcid', p['RequestLCID'])
    if opnum == VALIDATE:
        data = p['lpData']
        r.dword('pcq.in_size', p.get('dwInSize', len(data)))
        r.count(p.get('max_count', len(data)))
        r.add(data)
        r.pad(4)
        r.field('pcq.add', bool(p['dwAdd']), len(r), 4)
        r.u32(None, p['dwAdd'])
    elif opnum not in (OPEN, CLOSE):
        r.dword('pcq.in_size', p['dwInSize'])
    return r


def response(opnum, order='<', ndr64=False, status=0, data=None, in_size=0, rtn_size=None, handle=NO_HANDLE,
             out_size=None, max_count=None, offset=0, actual=None):
    """The response stub. data is a Record (a list of GUIDs for opnum 0); counts may be given wrong."""
    r = Ndr(order, ndr64)
    if opnum in (OPEN, CLOSE):
        r.handle(handle)
    elif opnum == VALIDATE:
        r.count(len(data) if max_count is None else max_count)
        r.add(data)
    else:
        n = len(data or ())
        out = n if out_size is None else out_size
        r.dword('pcq.out_size', out)
        r.dword('pcq.rtn_size', n if rtn_size is None else rtn_size)
        r.count(in_size if max_count is None else max_count)
        r.count(offset)
        r.count(n if actual is None else actual)
        if opnum == ENUMERATE:
            for g in data or ():
                r.inline_guid(g)
        elif data:
            r.add(data)
    r.dword('pcq.status', status)
    return r


class Reader:
    """The reading end of Ndr."""

    def __init__(self, stub, order, ndr64):
        self.stub, self.order, self.ndr64, self.at = stub, order, ndr64, 0

    def take(self, n, align=1):
        self.at += -self.at % align
        self.at += n
        assert self.at <= len(self.stub)
        return self.stub[self.at - n:self.at]

    def dword(self):
        return struct.unpack(self.order + 'I', self.take(4, 4))[0]

    def count(self):
        fmt = 'Q' if self.ndr64 else 'I'
        size = struct.calcsize(fmt)
        return struct.unpack(self.order + fmt, self.take(size, size))[0]

    def machine(self):
        _, _, actual = self.count(), self.count(), self.count()
        text = self.take(2 * actual).decode('utf-16-le' if self.order == '<' else 'utf-16-be', 'surrogatepass')
        return text[:-1]

    def guid(self):
        data = self.take(16, 4)
        return str(uuid.UUID(bytes_le=data) if self.order == '<' else uuid.UUID(bytes=data))

    def handle(self):
        data = self.take(20, 4)
        return data if self.order == '<' else struct.pack('<I', *struct.unpack('>I', data[:4])) + uuid.UUID(
            bytes=data[4:]).bytes_le


def parse_request(opnum, stub, order='<', ndr64=False):
    """The IDL's parameters; lpData of opnum 7 stays bytes. Bytes behind the last parameter are ignored."""
    r = Reader(stub, order, ndr64)
    p = {}
    if opnum in (ENUMERATE, REG_INFO, INSTANCES, OPEN):
        p['szMachine'] = r.machine()
    else:
        p['hQuery'] = r.handle()
    if opnum in (REG_INFO, INSTANCES):
        p['CounterSetGuid'] = r.guid()
    if opnum == REG_INFO:
        p['RequestCode'], p['RequestLCID'] = r.dword(), r.dword()
    if opnum not in (OPEN, CLOSE):
        p['dwInSize'] = r.dword()
    if opnum == VALIDATE:
        p['lpData'] = r.take(r.count())
        p['dwAdd'] = r.dword()
    return p
