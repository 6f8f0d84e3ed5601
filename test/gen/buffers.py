# SPDX-License-Identifier: GPL-2.0-or-later
"""The structures of [MS-PCQ] 2.2.4 and the buffers of 3.1.4.1, little-endian, each as a Record.

Every builder takes whatever sizes and counts a test wants to be wrong as keyword arguments; by default they
are right.
"""

import datetime
import struct

from .record import Record, utf16

NONE = 0xFFFFFFFF           # no base counter, no string, wildcard counter, any instance id
FILETIME_EPOCH = datetime.datetime(1601, 1, 1)

# The fields in the bits of Type, winperf.h: name, shift, mask; flags are one bit wide.
TYPE_BITS = (
    ('pcq.counter.type.size', 8, 0x3),
    ('pcq.counter.type.kind', 10, 0x3),
    ('pcq.counter.type.subtype', 16, 0xF),
    ('pcq.counter.type.timer', 20, 0x3),
    ('pcq.counter.type.delta', 22, 0x1),
    ('pcq.counter.type.delta_base', 23, 0x1),
    ('pcq.counter.type.inverse', 24, 0x1),
    ('pcq.counter.type.multi', 25, 0x1),
    ('pcq.counter.type.display', 28, 0xF),
)
# The bits of Attrib, [MS-PCQ] 2.2.4.2, from bit 0 up.
ATTRIB_BITS = ('reference', 'no_display', 'no_group_separator', 'display_as_real', 'display_as_hex')


def aligned(size, to=8):
    return -(-size // to) * to


def system_time(filetime):
    """The FILETIME as the eight words of a SYSTEMTIME, cut to milliseconds."""
    t = FILETIME_EPOCH + datetime.timedelta(microseconds=filetime // 10)
    return (t.year, t.month, (t.weekday() + 1) % 7, t.day, t.hour, t.minute, t.second, t.microsecond // 1000)


def system_time_text(words):
    return '%04d-%02d-%02dT%02d:%02d:%02d.%03d' % (*words[:2], *words[3:])


def counterset_reg_info(guid, num_counters, instance_type, detail=100, kind=0):
    """2.2.4.1"""
    r = Record()
    n = r.node('pcq.counterset_reg_info')
    r.all('pcq.counterset.guid:guid pcq.counterset.type pcq.detail_level pcq.counterset.num_counters pcq.counterset.instance_type',
          guid, kind, detail, num_counters, instance_type)
    r.end(n)
    return r


def counter_reg_info(counter_id, counter_type, attrib=0, detail=100, scale=0, base=NONE, time=NONE, freq=NONE,
                     multi=NONE, aggregate=0, reserved=0):
    """2.2.4.2"""
    r = Record()
    n = r.node('pcq.counter_reg_info')
    r.u32('pcq.counter.id', counter_id)
    at = len(r)
    r.u32('pcq.counter.type', counter_type)
    for name, shift, mask in TYPE_BITS:
        bits = counter_type >> shift & mask
        r.field(name, bool(bits) if mask == 1 else bits, at, 4)
    at = len(r)
    r.u64('pcq.counter.attrib', attrib)
    for bit, name in enumerate(ATTRIB_BITS):
        r.field('pcq.counter.attrib.' + name, bool(attrib >> bit & 1), at, 8)
    r.all('pcq.detail_level pcq.counter.default_scale:i32 pcq.counter.base_id pcq.counter.perf_time_id pcq.counter.perf_freq_id '
          'pcq.counter.multi_id pcq.counter.aggregate_func pcq.reserved', detail, scale, base, time, freq, multi, aggregate, reserved)
    r.end(n)
    return r


def single_string(name, text):
    """RequestCode 3, 4, 7, 9."""
    r = Record()
    r.text(name, text)
    return r


def string_buffer(strings, name='pcq.counter.name', base='block', fill=0, size=None, count=None, offsets=None,
                  terminate_last=True):
    """2.2.4.3, 2.2.4.4 and the strings: (counter id, text or None) pairs.

    base: dwOffset counts from the start of the 'block' (as Windows sends) or the 'end' of the headers
    (as [MS-PCQ] says). offsets: {position: dwOffset} to be sent instead, shown without a string.
    """
    first = 8 + 8 * len(strings)
    origin = first if base == 'end' else 0
    places, blob = [], b''
    for i, (_, text) in enumerate(strings):
        places.append(None if text is None else first + len(blob))
        if text is not None:
            blob += utf16(text) + (b'\0\0' if terminate_last or i + 1 < len(strings) else b'')
    total = aligned(first + len(blob))
    r = Record()
    n = r.node('pcq.string_buffer')
    r.u32('pcq.string_buffer.size', total if size is None else size)
    r.u32('pcq.string_buffer.num_counters', len(strings) if count is None else count)
    for i, (counter_id, text) in enumerate(strings):
        r.node('pcq.string_counter', 8)
        r.u32('pcq.counter.id', counter_id)
        offset = NONE if places[i] is None else places[i] - origin
        if offsets and i in offsets:
            r.u32('pcq.string.offset', offsets[i])
        else:
            r.u32('pcq.string.offset', offset)
            if text is not None:
                end = 2 if terminate_last or i + 1 < len(strings) else 0
                r.field(name, text, places[i], len(utf16(text)) + end)
    r.raw(blob)
    r.pad(8, fill)
    r.end(n)
    return r


def instance(instance_id, name, fill=0, size=None, terminate=True):
    """2.2.4.5 with its name; without the data blocks that may follow."""
    data = utf16(name)
    total = aligned(8 + len(data) + (2 if terminate else 0))
    r = Record()
    n = r.node('pcq.instance')
    r.u32('pcq.instance.size', total if size is None else size)
    r.u32('pcq.instance.id', instance_id)
    if terminate:
        r.text('pcq.instance.name', name)
    else:
        r.raw(data, 'pcq.instance.name', name)
    r.pad(8, fill)
    r.end(n)
    return r


def instances(items, fill=0):
    """The buffer of EnumerateCounterSetInstances: (id, name) pairs."""
    r = Record()
    for instance_id, name in items:
        r.add(instance(instance_id, name, fill))
    return r


def identifier(guid, counter_id=NONE, instance_id=NONE, name=None, status=0, index=0, reserved=0, room=None,
               fill=0, size=None):
    """2.2.4.6; room is the space for the name where a client sends more than the name needs."""
    data = b'' if name is None else utf16(name) + b'\0\0'
    total = aligned(40 + (len(data) if room is None else room))
    r = Record()
    n = r.node('pcq.identifier')
    r.all('pcq.counterset.guid:guid pcq.identifier.status pcq.identifier.size pcq.counter.id pcq.instance.id pcq.identifier.index pcq.reserved',
          guid, status, total if size is None else size, counter_id, instance_id, index, reserved)
    if name is not None:
        r.text('pcq.instance.name', name)
    r.raw(bytes([fill]) * (total - len(r)))
    r.end(n)
    return r


def identifiers(items):
    """A run of identifier() argument dictionaries."""
    r = Record()
    for item in items:
        r.add(identifier(**item))
    return r


def data_header(total, blocks, stamp, filetime, freq, words=None):
    """2.2.4.7, 48 bytes"""
    r = Record()
    n = r.node('pcq.data_header')
    r.all('pcq.data.total_size pcq.data.num_counters pcq.data.perf_time_stamp:u64 pcq.data.perf_time_100ns:u64 pcq.data.perf_freq:u64',
          total, blocks, stamp, filetime, freq)
    words = system_time(filetime) if words is None else words
    r.raw(struct.pack('<8H', *words), 'pcq.data.system_time', system_time_text(words))
    r.end(n)
    return r


def counter_header(status, kind, size, reserved=0):
    """2.2.4.8; opens the pcq.block node, which block() closes."""
    r = Record()
    r.node('pcq.block', size)
    r.all('pcq.block.status pcq.block.type pcq.block.size pcq.reserved', status, kind, size, reserved)
    return r


def value_field(value, width):
    """Name, bytes and shown value of a counter value: an int of 4 or 8 bytes, or bytes: of text, too, since who shows it does not know its type."""
    if isinstance(value, int):
        return 'pcq.value', value.to_bytes(width, 'little'), value
    if isinstance(value, str):
        value = utf16(value) + b'\0\0'
    name = 'pcq.value' if len(value) in (4, 8) else 'pcq.value.raw'
    shown = int.from_bytes(value, 'little') if name == 'pcq.value' else value.hex()
    return name, value, shown


# How dwSize of a PERF_COUNTER_DATA treats the padding behind the value.
PADDED = 'padded'       # counted, as Windows sends
ALIGNED = 'aligned'     # not counted, but the next structure is aligned, as [MS-PCQ] can be read


def counter_data(value, width=8, sizing=PADDED, size=None, data_size=None, fill=0):
    """2.2.4.9"""
    name, data, shown = value_field(value, width)
    total = aligned(8 + len(data)) if sizing == PADDED else 8 + len(data)
    r = Record()
    n = r.node('pcq.counter_data')
    r.u32('pcq.value.data_size', len(data) if data_size is None else data_size)
    r.u32('pcq.value.size', total if size is None else size)
    if data:
        r.raw(data, name, shown)
    r.pad(8, fill)
    r.end(n)
    return r


def multi_counters(ids, padded=False, size=None, count=None, behind=0):
    """2.2.4.11 and its id array; padded: dwSize of an odd count is rounded up to 8; behind: bytes of padding that it leaves out."""
    total = 8 + 4 * len(ids)
    if padded:
        total = aligned(total)
    r = Record()
    n = r.node('pcq.multi_counters')
    r.u32('pcq.multi_counters.size', total if size is None else size)
    r.u32('pcq.multi_counters.count', len(ids) if count is None else count)
    for i in ids:
        r.u32('pcq.counter.id', i)
    r.raw(bytes(total - len(r)))
    r.end(n)
    r.raw(bytes(behind))
    return r


def multi_instances(body_size, count):
    """2.2.4.10; the instances follow."""
    r = Record()
    r.node('pcq.multi_instances', 8 + body_size)
    r.u32('pcq.multi_instances.size', 8 + body_size)
    r.u32('pcq.multi_instances.count', count)
    return r


def block(kind, body=None, status=0, size=None, reserved=0):
    """A PERF_COUNTER_HEADER block round its body, padded to 8."""
    body = body or Record()
    total = aligned(16 + len(body))
    r = counter_header(status, kind, total if size is None else size, reserved)
    r.add(body)
    r.pad(8)
    r.end(0)
    return r


def error_block(status, behind=b''):
    """dwType 0"""
    r = block(0, None, status, 16 + len(behind))
    r.raw(behind)
    r.end(0)
    return r


def single_block(value, width=8, sizing=PADDED):
    """dwType 1"""
    return block(1, counter_data(value, width, sizing))


def multi_counters_block(ids, values, padded=False, sizing=PADDED):
    """dwType 2: values are (value, width) pairs in the order of the ids"""
    body = multi_counters(ids, padded)
    for v in values:
        body.add(counter_data(*v, sizing=sizing))
    return block(2, body)


def _instances(rows, sizing, fill=0):
    inner = Record()
    for instance_id, name, values in rows:
        inner.add(instance(instance_id, name, fill))
        for v in values:
            inner.add(counter_data(*v, sizing=sizing))
    return multi_instances(len(inner), len(rows)).add(inner)


def multi_instances_block(rows, sizing=PADDED, fill=0):
    """dwType 4: rows are (instance id, name, [(value, width)])"""
    return block(4, _instances(rows, sizing, fill))


def counterset_block(ids, rows, padded=False, sizing=PADDED, fill=0):
    """dwType 6"""
    return block(6, multi_counters(ids, padded).add(_instances(rows, sizing, fill)))


def data_buffer(blocks, stamp, filetime, freq=10000000, total=None, count=None, words=None):
    """The buffer of QueryCounterData: header and blocks."""
    body = Record()
    for b in blocks:
        body.add(b)
    size = 48 + len(body)
    return data_header(size if total is None else total, len(blocks) if count is None else count,
                       stamp, filetime, freq, words).add(body)
