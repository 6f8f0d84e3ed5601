# SPDX-License-Identifier: GPL-2.0-or-later
"""What Samba's HKEY_PERFORMANCE_DATA serves: the two tdb files it reads, and what it makes of them.

names.tdb: "1" how many names there may be; "INDEX" and "INDEX+1" a name and its help; "INDEXrel" is "p" for an object,
"c[PARENT]" for a counter; "INDEXtype" the counter's type; "INDEXinst" how many instances an object has, "INDEXiNname"
the name of one; "0PerfFreq". data.tdb: "INDEX" a counter's value in decimal, "INDEXiN" an instance's values, 8 bytes
each; "0PerfTime", "0PerfTime100nSec". A parent's index has to be below its counters'. Keys and values have no NUL.
"""

import os
import struct
import time
from dataclasses import dataclass, field

import tdb
from gen import cooking
from gen.model import Instant
from gen.record import Record, utf16

FREQUENCY = 10000000
FILETIME_OF_1970 = 116444736000000000
NO_INSTANCES = -1
NOVICE = 100
HEADER, DEFINITION, INSTANCE = 64, 40, 24       # bytes of PERF_OBJECT_TYPE, _COUNTER_DEFINITION, _INSTANCE_DEFINITION


@dataclass
class Counter:
    """value(number of the sample, number of the instance): an int, or the text of a text counter."""
    index: int
    name: str
    type: int
    value: object

    @property
    def is_text(self):
        return self.type & 0x300 == 0x300


@dataclass
class Object:
    index: int
    name: str
    counters: list
    instances: object = None        # number of the sample -> names; None for an object without instances


@dataclass
class Moment:
    """The clocks of one sample."""
    number: int = 0
    perf_time: int = 0
    filetime: int = 0

    @classmethod
    def now(cls, number):
        """Samba reads both as floating-point numbers of 53 bits, so the FILETIME is a multiple of 16."""
        return cls(number, time.monotonic_ns() // 100 + 10 ** 12,
                   (FILETIME_OF_1970 + time.time_ns() // 100) // 10000 * 10000)


@dataclass
class Perfmon:
    """The objects that one server has, and the sample that it hands out now."""
    objects: list
    moment: Moment = field(default_factory=Moment)

    @property
    def titles(self):
        pairs = [(o.index, o.name) for o in self.objects]
        pairs += [(c.index, c.name) for o in self.objects for c in o.counters]
        return sorted(pairs)

    @property
    def base_index(self):
        return max(index for index, _ in self.titles) // 2

    def write(self, folder, number=0):
        """Make the sample of that number the one that the server hands out."""
        self.moment = Moment.now(number)
        store(os.path.join(folder, 'names.tdb'), self.names())
        store(os.path.join(folder, 'data.tdb'), self.data())

    def names(self):
        yield '1', str(self.base_index)
        yield '0PerfFreq', str(FREQUENCY)
        for index, name in self.titles:
            yield str(index), name
            yield str(index + 1), name + ', explained.'
        for o in self.objects:
            yield '%drel' % o.index, 'p'
            for number, name in enumerate(self.instances(o) or ()):
                yield '%di%dname' % (o.index, number), name
            if o.instances:
                yield '%dinst' % o.index, str(len(self.instances(o)))
            for c in o.counters:
                yield '%drel' % c.index, 'c[%d]' % o.index
                yield '%dtype' % c.index, str(c.type)

    def data(self):
        yield '0PerfTime', str(self.moment.perf_time)
        yield '0PerfTime100nSec', str(self.moment.filetime)
        for o in self.objects:
            for c in o.counters:
                yield str(c.index), str(c.value(self.moment.number, 0))
            for number in range(len(self.instances(o) or ())):
                values = [c.value(self.moment.number, number) for c in o.counters]
                yield '%di%d' % (o.index, number), struct.pack('<%dQ' % len(values), *values)

    def instances(self, o):
        return o.instances(self.moment.number) if o.instances else None

    def block(self, system_time, system_name='REG'):
        """The PERF_DATA_BLOCK that the server makes of it. system_time: when it was asked, in seconds since 1970."""
        objects = Record()
        for o in self.objects:
            objects.add(self.object(o))
        r = Record()
        name_size = 2 * len(system_name) + 2
        header_size = 88 + name_size + 8 - (88 + name_size) % 8     # a whole 8 where nothing is missing
        r.node('hkpd.data_block', header_size)
        r.raw('PERF'.encode('utf-16-le'))
        r.field('hkpd.little_endian', True, len(r), 4)
        r.raw(struct.pack('<I', 1))
        r.u32('hkpd.version', 1)
        r.u32('hkpd.revision', 1)
        r.u32('hkpd.total_size', len(objects))                      # Windows counts the header too
        r.u32('hkpd.header_size', header_size)
        r.u32('hkpd.num_objects', len(self.objects))
        r.i32('hkpd.default_object', -1)
        t = time.gmtime(system_time)
        words = t.tm_year, t.tm_mon, (t.tm_wday + 1) % 7, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, 0
        r.raw(struct.pack('<8H', *words), 'hkpd.system_time', time.strftime('%Y-%m-%dT%H:%M:%S.000', t))
        r.raw(bytes(4))
        r.u64('hkpd.perf_time', self.moment.perf_time)
        r.u64('hkpd.perf_freq', FREQUENCY)
        r.u64('hkpd.perf_time_100ns', self.moment.filetime)
        r.u32('hkpd.system_name_size', name_size)
        r.u32('hkpd.system_name_offset', 88)
        r.text('hkpd.system_name', system_name)
        r.raw(bytes(header_size - len(r)))
        return r.add(objects)

    def object(self, o):
        definitions, at = Record(), 8
        for c in o.counters:
            size = len(str(c.value(self.moment.number, 0))) if c.is_text else 8
            definitions.add(self.definition(c, size, at))
            at += size
        body = Record()
        names = self.instances(o)
        if names is None:
            body.add(self.counter_block(o, 0, at))
        for number, name in enumerate(names or ()):
            body.add(self.instance(name))
            body.add(self.counter_block(o, number, at + 4))         # Samba counts four bytes too many
        r = Record()
        r.node('hkpd.object', HEADER + len(definitions) + len(body))
        r.u32('hkpd.object.total_size', HEADER + len(definitions) + len(body))
        r.u32('hkpd.object.definition_size', HEADER + len(definitions))
        r.u32('hkpd.object.header_size', HEADER)
        r.u32('hkpd.object.index', o.index)
        r.raw(bytes(4))
        r.u32('hkpd.object.help_index', o.index + 1)
        r.raw(bytes(4))
        r.u32('hkpd.object.detail_level', NOVICE)
        r.u32('hkpd.object.num_counters', len(o.counters))
        r.i32('hkpd.object.default_counter', 0)
        r.i32('hkpd.object.num_instances', NO_INSTANCES if names is None else len(names))
        r.u32('hkpd.object.code_page', 0)
        r.u64('hkpd.object.perf_time', 0)
        r.u64('hkpd.object.perf_freq', 0)
        return r.add(definitions).add(body)

    def definition(self, c, size, offset):
        r = Record()
        r.node('hkpd.counter_definition', DEFINITION)
        r.u32('hkpd.definition.size', DEFINITION)
        r.u32('hkpd.counter.index', c.index)
        r.raw(bytes(4))
        r.u32('hkpd.counter.help_index', c.index + 1)
        r.raw(bytes(4))
        value = c.value(self.moment.number, 0)
        r.i32('hkpd.counter.default_scale', scale_of(value) if c.type & 0xF00 == 0 else 0)
        r.u32('hkpd.detail_level', NOVICE)
        r.u32('hkpd.counter.type', c.type)
        r.u32('hkpd.counter.size', size)
        r.u32('hkpd.counter.offset', offset)
        return r

    @staticmethod
    def instance(name):
        r = Record()
        name_size = len(utf16(name)) + 2
        size = -(-(INSTANCE + name_size) // 8) * 8
        r.node('hkpd.instance', size)
        r.u32('hkpd.instance.size', size)
        r.u32('hkpd.instance.parent_object_index', 0)
        r.u32('hkpd.instance.parent_instance', 0)
        r.i32('hkpd.instance.unique_id', -1)
        r.u32('hkpd.instance.name_offset', INSTANCE)
        r.u32('hkpd.instance.name_size', name_size)
        r.text('hkpd.instance.name', name)
        r.pad(8)
        return r

    def counter_block(self, o, number, end):
        size = -(-end // 8) * 8
        r = Record()
        r.node('hkpd.counter_block', size)
        r.u32('hkpd.counter_block.size', size)
        r.raw(bytes(4))
        for c in o.counters:
            value = c.value(self.moment.number, number)
            if c.is_text:
                r.node('pcq.counter_data', len(value))
                r.raw(value.encode('ascii'), 'pcq.value.text', value)
            else:
                r.node('pcq.counter_data', 8)
                r.u64('pcq.value', value)
        r.raw(bytes(size - len(r)))
        return r

    def values(self, before=None):
        """[end of the path, calculated value or None] of each value in order; before: the same handle's sample before
        this one. Instances are known by name and ordinal, a base counter follows its user, the objects' own clock
        stands still."""
        now, earlier = self.readings(), before.readings() if before else {}
        at = self.instant()
        out = []
        for o in self.objects:
            names = [None] if not o.instances else self.instances(o)
            for number, name in enumerate(names):
                ordinal = names[:number].count(name)
                shown = '' if name is None else '(%s%s)' % (name, '#%d' % ordinal if ordinal else '')
                for position, c in enumerate(o.counters):
                    def reading(sample, moment):
                        value = sample.get((o.index, name, ordinal, position))
                        base = sample.get((o.index, name, ordinal, position + 1))
                        return cooking.Reading(value, moment, base) if value else None
                    cooked = None
                    if not c.is_text:
                        cooked = cooking.cook(c.type, reading(now, at), reading(earlier, before and before.instant()))
                    out.append(['\\%s%s\\%s' % (o.name, shown, c.name), cooked])
        return out

    def instant(self):
        return Instant(self.moment.number, self.moment.perf_time, self.moment.filetime, FREQUENCY)

    def readings(self):
        """{(object, instance name, ordinal, position of the counter): (number, bytes)}"""
        out = {}
        for o in self.objects:
            names = [None] if not o.instances else self.instances(o)
            for number, name in enumerate(names):
                for position, c in enumerate(o.counters):
                    if not c.is_text:
                        key = o.index, name, names[:number].count(name), position
                        out[key] = c.value(self.moment.number, number), 8
        return out

    def title_list(self, helps=False):
        """"Counter 009" or "Explain 009"."""
        pairs = [(index + 1, name + ', explained.') for index, name in self.titles]
        if not helps:
            pairs = [(1, str(self.base_index))] + self.titles
        r = Record()
        for index, text in pairs:
            n = r.node('hkpd.title')
            # the field is the number, its bytes are digits
            digits = ('%d\0' % index).encode('utf-16-le')
            r.raw(digits, 'hkpd.title.index', index)
            r.text('hkpd.title.text', text)
            r.end(n)
        r.raw(bytes(2))
        return r


def scale_of(value):
    """The power of ten that brings a value between 10 and 100."""
    scale = 0
    if value == 0:
        return scale
    while value > 100:
        value //= 10
        scale -= 1
    while value < 10:
        value *= 10
        scale += 1
    return scale


def store(path, pairs):
    database = tdb.Tdb(path + '.new', 0, tdb.DEFAULT, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    for key, value in pairs:
        database.store(key.encode(), value if isinstance(value, bytes) else value.encode())
    database.close()
    os.replace(path + '.new', path)         # the server opens it anew for each call
