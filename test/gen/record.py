# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes, and beside them the ordered list of fields that a dissector must show for them."""

import struct
import uuid
from typing import NamedTuple


class Field(NamedTuple):
    """One field of the contract: what it is called, what it holds, which bytes it highlights.

    The value of a structure node is None; numbers are int, flags bool, everything else text
    (bytes as hexadecimal digits, GUIDs in their usual form, SYSTEMTIME as ISO 8601).
    """
    name: str
    value: object
    offset: int
    length: int


NEW = tuple.__new__     # what a NamedTuple's own constructor does, which was half of the generator's time
UNSIGNED = {fmt: (1 << 8 * struct.calcsize('=' + fmt)) - 1 for fmt in 'BHIQ'}
GAP = '...'
GAP_FIELD = Field(GAP, None, 0, 0)      # in an expectation: here may stand anything


class Record:
    """A growing run of bytes with the fields written so far; offsets count from its first byte."""

    def __init__(self, order='<'):
        self.order = order
        self.data = bytearray()
        self.fields = []

    def __len__(self):
        return len(self.data)

    def __bytes__(self):
        return bytes(self.data)

    def field(self, name, value, offset, length):
        self.fields.append(Field(name, value, offset, length))

    def node(self, name, length=0):
        """A structure starts here; a length not known yet is set by end()."""
        self.fields.append(Field(name, None, len(self.data), length))
        return len(self.fields) - 1

    def end(self, node):
        """The structure of `node` ends here."""
        f = self.fields[node]
        self.fields[node] = f._replace(length=len(self.data) - f.offset)

    def raw(self, data, name=None, value=None):
        if name:
            self.fields.append(NEW(Field, (name, value, len(self.data), len(data))))
        self.data += data

    def number(self, fmt, name, value):
        """An integer; the value kept is what a reader of the bytes sees, so -1 in an 'I' is 0xFFFFFFFF."""
        value &= UNSIGNED.get(fmt, -1)
        self.raw(struct.pack(self.order + fmt, value), name, value)

    def u16(self, name, value):
        self.number('H', name, value)

    def u32(self, name, value):
        self.number('I', name, value)

    def i32(self, name, value):
        self.number('i', name, value)

    def u64(self, name, value):
        self.number('Q', name, value)

    def all(self, fields, *values):
        """Names in their order, each a u32 but for what it says behind a colon; "-" has no name."""
        for field, value in zip(fields.split(), values, strict=True):
            name, _, kind = field.partition(':')
            getattr(self, kind or 'u32')(None if name == '-' else name, value)

    def guid(self, name, value):
        g = uuid.UUID(str(value))
        data = g.bytes_le if self.order == '<' else g.bytes
        self.raw(data, name, str(g))

    def text(self, name, value, size=None):
        """NUL-terminated UTF-16; the field covers the terminator, not what fills it up to `size` bytes."""
        data = utf16(value, self.order) + b'\0\0'
        self.raw(data, name, value)
        if size is not None:
            self.raw(bytes(size - len(data)))

    def pad(self, to, fill=0):
        self.data += bytes([fill]) * (-len(self.data) % to)

    def add(self, other):
        """Append another record, fields and all."""
        base = len(self.data)
        self.fields += shifted(other.fields, base)
        self.data += other.data
        return self

    def patch(self, offset, fmt, value):
        """Overwrite a number, in the bytes and in the field that shows it."""
        data = struct.pack(self.order + fmt, value)
        self.data[offset:offset + len(data)] = data
        self.fields = [Field(f.name, value, *f[2:]) if f.offset == offset and f.length == len(data) and f.value is not None
                       else f for f in self.fields]


def utf16(text, order='<'):
    """UTF-16 without a byte order mark; lone surrogates pass."""
    return text.encode('utf-16-le' if order == '<' else 'utf-16-be', 'surrogatepass')


def shifted(fields, by):
    return [NEW(Field, (name, value, offset + by, length)) for name, value, offset, length in fields] if by else fields
