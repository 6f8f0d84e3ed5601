# SPDX-License-Identifier: GPL-2.0-or-later
"""Stubs of the remote registry's calls ([MS-RRP] 3.1.5) that reach HKEY_PERFORMANCE_DATA, NDR and NDR64, in either
byte order."""

from .record import Record, utf16
from .stubs import Ndr, swap_handle

OPEN_HKLM, OPEN_DATA, CLOSE, ENUM_VALUE, OPEN_KEY, QUERY_VALUE, OPEN_TEXT = 2, 3, 5, 10, 15, 17, 32
REG_BINARY, REG_MULTI_SZ = 3, 7
MORE_DATA = 234


class Stub(Ndr):
    """Each part returns the stub, for the next one."""

    def __init__(self, order='<', ndr64=False):
        super().__init__(order, ndr64)
        self.referents = 0x20000

    def context(self, handle):
        self.pad(4)
        self.raw(handle if self.order == '<' else swap_handle(handle))
        return self

    def pointer(self, there=True):
        """A unique pointer's referent id."""
        self.referents += 4
        self.count(self.referents if there else 0)
        return self

    def lengths(self, *lengths):
        """Of an RRP_UNICODE_STRING"""
        self.pad(8 if self.ndr64 else 4)
        for length in lengths:
            self.u16(None, length)
        return self

    def string(self, text):
        """RRP_UNICODE_STRING; None: no name at all"""
        data = b'' if text is None else utf16(text, self.order) + b'\0\0'
        self.lengths(len(data), len(data)).pointer(text is not None)
        return self if text is None else self.array((len(data) // 2, 0, len(data) // 2), data)

    def array(self, counts, data=b''):
        for n in counts:
            self.count(n)
        self.add(data) if isinstance(data, Record) else self.raw(data)
        return self

    def pointed_dword(self, value):
        self.pointer(value is not None)
        return self if value is None else self.dword(None, value)

    def value(self, kind, data, size, length, room=None, actual=None):
        """data: [size_is, length_is] bytes; None: a null pointer"""
        self.pointed_dword(kind).pointer(data is not None)
        if data is not None:
            self.array((len(data) if room is None else room, 0, len(data) if actual is None else actual), data)
        return self.pointed_dword(size).pointed_dword(length)


def open_root(**how):
    return Stub(**how).pointer(False).dword(None, 0x02000000)


def handle_back(handle, status=0, **how):
    return Stub(**how).context(handle).dword(None, status)


def open_key(handle, name, **how):
    return Stub(**how).context(handle).string(name).dword(None, 0).dword(None, 0x20019)


def close(handle, **how):
    return Stub(**how).context(handle)


def query(handle, name, room=65536, sent=b'', **how):
    return Stub(**how).context(handle).string(name).value(0, sent, room, len(sent) if sent is not None else 0, room=room)


def answer(data, status=0, kind=REG_BINARY, size=None, room=None, actual=None, **how):
    """data: a Record or bytes; None: a null pointer"""
    n = len(data or b'')
    return Stub(**how).value(kind, data, n if size is None else size, n, room, actual).dword(None, status)


def enum_value(handle, index, room=65536, **how):
    return Stub(**how).context(handle).dword(None, index).lengths(0, 512).pointer().array((256, 0, 0)).value(0, b'', room, 0, room=room)


def enum_answer(name, data, status=0, kind=REG_MULTI_SZ, **how):
    n = len(data or b'')
    return Stub(**how).string(name).value(kind, data, n, n).dword(None, status)
