# SPDX-License-Identifier: GPL-2.0-or-later
"""Stubs of the remote registry's calls ([MS-RRP] 3.1.5) that reach HKEY_PERFORMANCE_DATA, NDR and NDR64, in either
byte order."""

from .record import utf16
from .stubs import Ndr, swap_handle

OPEN_HKLM, OPEN_DATA, CLOSE, CREATE_KEY, ENUM_VALUE, OPEN_KEY, QUERY_VALUE, OPEN_TEXT, OPEN_NLS_TEXT = 2, 3, 5, 6, 10, 15, 17, 32, 33
REG_BINARY, REG_MULTI_SZ = 3, 7
MORE_DATA = 234


class Stub(Ndr):
    def __init__(self, order='<', ndr64=False):
        super().__init__(order, ndr64)
        self.referents = 0x20000

    def context(self, handle):
        self.pad(4)
        self.raw(handle if self.order == '<' else swap_handle(handle))

    def pointer(self, there=True):
        """A unique pointer's referent id."""
        self.referents += 4
        self.count(self.referents if there else 0)

    def string(self, text):
        """RRP_UNICODE_STRING; None: no name at all"""
        data = b'' if text is None else utf16(text, self.order) + b'\0\0'
        self.pad(8 if self.ndr64 else 4)
        self.u16(None, len(data))
        self.u16(None, len(data))
        self.pointer(text is not None)
        if text is not None:
            for n in (len(data) // 2, 0, len(data) // 2):
                self.count(n)
            self.raw(data)

    def pointed_dword(self, value):
        self.pointer(value is not None)
        if value is not None:
            self.dword(None, value)

    def buffer(self, data, room=None, actual=None):
        """[size_is, length_is] bytes; None: a null pointer"""
        self.pointer(data is not None)
        if data is None:
            return
        n = len(data)
        for value in (n if room is None else room, 0, n if actual is None else actual):
            self.count(value)
        self.data_at = len(self)
        if isinstance(data, (bytes, bytearray)):
            self.raw(data)
        else:
            self.add(data)

    def value(self, kind, data, size, length, room=None, actual=None):
        self.pointed_dword(kind)
        self.buffer(data, room, actual)
        self.pointed_dword(size)
        self.pointed_dword(length)


def open_root(order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.pointer(False)
    s.dword(None, 0x02000000)
    return s


def handle_back(handle, status=0, order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.context(handle)
    s.dword(None, status)
    return s


def open_key(handle, name, order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.context(handle)
    s.string(name)
    s.dword(None, 0)
    s.dword(None, 0x20019)
    return s


def create_key(handle, name, order='<', ndr64=False):
    """[MS-RRP] 3.1.5.7: class, options, rights, no security attributes, disposition"""
    s = Stub(order, ndr64)
    s.context(handle)
    s.string(name)
    s.string(None)
    s.dword(None, 0)
    s.dword(None, 0x20019)
    s.pointer(False)
    s.pointed_dword(0)
    return s


def created(handle, disposition=2, status=0, order='<', ndr64=False):
    """2: it was there already"""
    s = Stub(order, ndr64)
    s.context(handle)
    s.pointed_dword(disposition)
    s.dword(None, status)
    return s


def close(handle, order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.context(handle)
    return s


def query(handle, name, room=65536, sent=b'', order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.context(handle)
    s.string(name)
    s.value(0, sent, room, len(sent) if sent is not None else 0, room=room)
    return s


def answer(data, status=0, kind=REG_BINARY, size=None, order='<', ndr64=False, room=None, actual=None):
    """data: a Record or bytes; None: a null pointer"""
    s = Stub(order, ndr64)
    n = len(data or b'')
    s.value(kind, data, n if size is None else size, n, room, actual)
    s.dword(None, status)
    return s


def enum_value(handle, index, room=65536, order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.context(handle)
    s.dword(None, index)
    s.pad(8 if ndr64 else 4)
    s.u16(None, 0)
    s.u16(None, 512)
    s.pointer()
    for n in (256, 0, 0):
        s.count(n)
    s.value(0, b'', room, 0, room=room)
    return s


def enum_answer(name, data, status=0, kind=REG_MULTI_SZ, order='<', ndr64=False):
    s = Stub(order, ndr64)
    s.string(name)
    n = len(data or b'')
    s.value(kind, data, n, n)
    s.dword(None, status)
    return s
