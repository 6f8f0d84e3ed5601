# SPDX-License-Identifier: GPL-2.0-or-later
"""PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h) from a model of a server's objects, and what each value means.

    block(objects, at) -> Block: a Record with the fields that a dissector must show, and the values with their paths
"""

import datetime
from dataclasses import dataclass, field
from typing import NamedTuple

from . import cooking
from .buffers import FILETIME_EPOCH
from .model import BASES, TYPES
from .record import Record, utf16

NONE = -1           # instances; -2 and -3 are descriptions
HEADER, OBJECT, DEFINITION, INSTANCE = 88, 64, 40, 24
NO_UNIQUE_ID = -1


@dataclass
class Counter:
    """value(Instant, place of the instance) -> int, str or bytes. multi: the 32-bit number behind the timer, alike."""
    index: int
    name: str
    type: int
    value: object
    width: int = 8
    multi: object = None
    scale: int = 0
    same_place: bool = False    # stands where the one before it stands

    @property
    def size(self):
        """CounterSize"""
        return self.width


class Instance(NamedTuple):
    name: str
    unique_id: int = NO_UNIQUE_ID
    parent: tuple = None        # (title index, number of the instance)


@dataclass
class Object:
    """instances(Instant) -> [Instance], None without instances; or one of the metadata numbers."""
    index: int
    name: str
    counters: list
    instances: object = None
    code_page: int = 0
    encoding: str = 'utf-16'
    time: object = lambda at: 0
    freq: int = 0


class Value(NamedTuple):
    path: str
    raw: object
    type: int
    reading: object     # cooking.Reading
    key: tuple


@dataclass
class Block:
    record: Record
    values: list
    objects: list                       # title indexes, in the order of the block
    places: dict = field(default_factory=dict)  # what stands where, for those that damage it


def rows_of(o, at):
    if o.instances is None:
        return [None]
    return [] if isinstance(o.instances, int) else o.instances(at)


def unique(texts):
    """What paths call instances of these names, one by one: the second of a name gets #1, and one that is called so beside it #0."""
    def is_taken(text):
        base, mark, number = text.rpartition('#')
        if number == '0':
            return base in texts and is_taken(base)
        return mark and number.isascii() and number.isdigit() and number[0] != '0' and texts.count(base) > int(number)
    counts = [texts[:k].count(text) for k, text in enumerate(texts)]
    return ['%s#%d' % (text, n) if n or is_taken(text) else text for text, n in zip(texts, counts)]


class Builder:
    def __init__(self, objects, at, order, system, names, samba, fill, address):
        self.objects, self.at, self.order = objects, at, order
        self.system, self.names, self.samba, self.fill, self.address = system, names, samba, fill, address
        self.values, self.places = [], {}

    def label(self, index):
        return self.names.get(index, '#%d' % index)

    def block(self):
        at, name = self.at, utf16(self.system, self.order) + b'\0\0'
        size = HEADER + len(name) if self.system else HEADER
        size += -size % 8
        parts = [self.object(o) for o in self.objects]
        body = sum(map(len, parts))
        r = Record(self.order)
        r.node('hkpd.data_block', size)
        r.raw(utf16('PERF', self.order))
        r.field('hkpd.little_endian', self.order == '<', len(r), 4)
        r.all('- hkpd.version hkpd.revision hkpd.total_size hkpd.header_size hkpd.num_objects hkpd.default_object:i32',
              int(self.order == '<'), 1, 1, body if self.samba else size + body, size, len(self.objects), 238)
        t = FILETIME_EPOCH + datetime.timedelta(milliseconds=at.filetime // 10000)
        words = Record(self.order)
        for w in (t.year, t.month, t.isoweekday() % 7, t.day, t.hour, t.minute, t.second, t.microsecond // 1000):
            words.u16(None, w)
        r.raw(bytes(words), 'hkpd.system_time', t.strftime('%Y-%m-%dT%H:%M:%S.') + '%03d' % (t.microsecond // 1000))
        r.raw(bytes([self.fill]) * 4)
        r.all('hkpd.perf_time:u64 hkpd.perf_freq:u64 hkpd.perf_time_100ns:u64 hkpd.system_name_size hkpd.system_name_offset',
              at.stamp, at.freq, at.filetime, len(name) if self.system else 0, HEADER)
        if self.system:
            r.text('hkpd.system_name', self.system)
        r.pad(8, self.fill)
        for o, part in zip(self.objects, parts):
            base = len(r)
            for what, offset in part.places.items():
                self.places[(o.index, *what)] = base + offset
            r.add(part)
        return r

    def object(self, o):
        offsets, at = [], 8
        for c in o.counters:
            width = c.width + (4 if c.multi else 0)
            if c.same_place:
                offsets.append(offsets[-1])
                continue
            at += -at % (8 if width > 4 else 4)
            offsets.append(at)
            at += width
        rows = rows_of(o, self.at)
        n = NONE if o.instances is None else o.instances if isinstance(o.instances, int) else len(rows)
        r = Record(self.order)
        r.places = {('object',): 0}
        node = r.node('hkpd.object')
        r.all('hkpd.object.total_size hkpd.object.definition_size hkpd.object.header_size hkpd.object.index - hkpd.object.help_index - '
              'hkpd.object.detail_level hkpd.object.num_counters hkpd.object.default_counter:i32 hkpd.object.num_instances:i32 '
              'hkpd.object.code_page hkpd.object.perf_time:u64 hkpd.object.perf_freq:u64', 0, OBJECT + DEFINITION * len(o.counters), OBJECT,
              o.index, 0x5F5F5F5F, o.index + 1, 0, 100, len(o.counters), -1, n, o.code_page, o.time(self.at), o.freq)
        for k, (c, offset) in enumerate(zip(o.counters, offsets)):
            r.places['definition', k] = len(r)
            self.definition(r, c, offset)
        identities = self.identities(o, rows)
        for k, row in enumerate(rows):
            if row is not None:
                r.places['instance', k] = len(r)
                self.instance(r, o, row)
            r.places['counters', k] = len(r)
            self.counter_block(r, o, k, identities[k], offsets, at)
        r.end(node)
        r.patch(0, 'I', len(r))
        return r

    def definition(self, r, c, offset):
        r.node('hkpd.counter_definition', DEFINITION)
        r.all('hkpd.definition.size hkpd.counter.index - hkpd.counter.help_index - hkpd.counter.default_scale:i32 hkpd.detail_level '
              'hkpd.counter.type hkpd.counter.size hkpd.counter.offset', DEFINITION, c.index, 0x5F5F5F5F, c.index + 1 if c.index else 0, 0,
              c.scale, 200, c.type, c.size, offset)

    def instance(self, r, o, row):
        name = utf16(row.name, self.order) + b'\0\0' if o.encoding == 'utf-16' else row.name.encode(o.encoding) + b'\0'
        name = name if row.name else b''
        size = INSTANCE + len(name)
        size += -size % 8
        r.node('hkpd.instance', size)
        r.all('hkpd.instance.size hkpd.instance.parent_object_index hkpd.instance.parent_instance hkpd.instance.unique_id:i32 '
              'hkpd.instance.name_offset hkpd.instance.name_size', size, *(row.parent or (0, 0)), row.unique_id, INSTANCE, len(name))
        if name:
            r.raw(name, 'hkpd.instance.name', row.name)
        r.raw(bytes([self.fill]) * (size - INSTANCE - len(name)))

    def counter_block(self, r, o, k, identity, offsets, end):
        size = end + -end % 8
        r.node('hkpd.counter_block', size)
        start = len(r)
        r.u32('hkpd.counter_block.size', size)
        data = bytearray([self.fill]) * (size - 4)
        cells = []
        for c, offset in zip(o.counters, offsets):
            raw = c.value(self.at, k)
            cell = Record(self.order)
            if isinstance(raw, int):
                cell.number('Q' if c.width == 8 else 'I', None, raw)
                name, shown = 'pcq.value', raw % 2 ** (8 * c.width)
            elif isinstance(raw, str):
                cell.raw(raw.encode(o.encoding if o.code_page else 'ascii') if c.type & 0x10000 else utf16(raw, self.order) + b'\0\0')
                name, shown = 'pcq.value.text', raw
            else:
                cell.raw(raw)
                name, shown = 'pcq.value.raw', raw.hex()
            data[offset - 4:offset - 4 + len(cell)] = bytes(cell)
            multi = (c.multi(self.at, k), 4) if c.multi else None
            if multi:
                behind = Record(self.order)
                behind.u32(None, multi[0])
                data[offset + c.width - 4:offset + c.width] = bytes(behind)
            r.field('pcq.counter_data', None, start + offset, c.size)
            if c.width:
                r.field(name, shown, start + offset, c.width)
            cells.append((raw if not isinstance(raw, int) else (shown, c.width), multi))
        r.raw(bytes(data))
        for n, c in enumerate(o.counters):
            self.values.append(self.meaning(o, identity, n, c, cells))

    def identities(self, o, rows):
        """Of each row: what paths call it, and what tells it from the others in every sample."""
        texts, alike, out = [], [], []
        for row in rows:
            if row is None:
                return [(None, None)]
            parent, text = None, row.name
            if row.parent:
                parent = row.parent
                there = next((rows_of(x, self.at) for x in self.objects if x.index == row.parent[0]), [])
                if row.parent[1] < len(there) and there[row.parent[1]] is not None:
                    name = there[row.parent[1]].name
                    parent = row.parent[0], name, [x.name for x in there[:row.parent[1]]].count(name)
                    text = name + '/' + text
            who = row.unique_id if row.unique_id != NO_UNIQUE_ID else (row.name, parent)
            ordinal = alike.count(who)
            texts.append(text)
            alike.append(who)
            out.append((who, ordinal))
        return list(zip(unique(texts), out))

    def meaning(self, o, identity, n, c, cells):
        text, who = identity
        path = '\\\\%s\\%s%s\\%s' % (self.system.lstrip('\\') or self.address, self.label(o.index),
                                     '' if text is None else '(%s)' % text, self.label(c.index))
        raw, multi = cells[n]
        following = o.counters[n + 1] if n + 1 < len(o.counters) else None
        base = cells[n + 1][0] if following and following.type in BASES else None
        multi = base if base and following.type == TYPES['PERF_COUNTER_MULTI_BASE'] else multi
        time = o.time(self.at)
        reading = None
        if isinstance(raw, tuple):
            reading = cooking.Reading(raw, self.at, base, (time, 8) if time else None, (o.freq, 8) if o.freq else None,
                                      multi)
        key = o.index, who, c.index, sum(x.index == c.index for x in o.counters[:n])
        return Value(path, raw[0] if reading else raw, c.type, reading, key)


def block(objects, at, order='<', system='SRV01', names=None, samba=False, fill=0, address='192.0.2.20'):
    b = Builder(objects, at, order, system, names or {}, samba, fill, address)
    record = b.block()
    return Block(record, b.values, [o.index for o in objects], b.places)


def titles(pairs, order='<'):
    """A list of titles: REG_MULTI_SZ of numbers and texts."""
    r = Record(order)
    for index, text in pairs:
        node = r.node('hkpd.title')
        r.raw(utf16('%d\0' % index), 'hkpd.title.index', index)
        r.text('hkpd.title.text', text)
        r.end(node)
    r.raw(bytes(2))
    return r
