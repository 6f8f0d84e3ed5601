# SPDX-License-Identifier: GPL-2.0-or-later
"""Countersets, their counters and instances, and a clock: what a modelled server knows.

Values are plain functions of the sample number, so that calculated values can be predicted (cooking.py).
"""

import uuid
from dataclasses import dataclass, field
from typing import Callable, NamedTuple

from .buffers import NONE

NAMESPACE = uuid.UUID('5d3e1f0a-6b0c-4a52-9d0e-0c0ffee00001')
ENGLISH, GERMAN, JAPANESE = 0x409, 0x407, 0x411
SINGLE, MULTIPLE, GLOBAL_AGGREGATE, MULTI_AGGREGATE, AGGREGATE_HISTORY, INSTANCE_AGGREGATE = 0, 2, 4, 6, 12, 22
FREQ = 10000000

# winperf.h's counter types, those of [MS-PCQ] 2.2.4.2 and the ones that only the header names.
TYPES = {
    'PERF_COUNTER_RAWCOUNT_HEX': 0x00000000,
    'PERF_COUNTER_LARGE_RAWCOUNT_HEX': 0x00000100,
    'PERF_COUNTER_TEXT': 0x00000B00,
    'PERF_COUNTER_RAWCOUNT': 0x00010000,
    'PERF_COUNTER_LARGE_RAWCOUNT': 0x00010100,
    'PERF_DOUBLE_RAW': 0x00012000,
    'PERF_COUNTER_DELTA': 0x00400400,
    'PERF_COUNTER_LARGE_DELTA': 0x00400500,
    'PERF_SAMPLE_COUNTER': 0x00410400,
    'PERF_COUNTER_QUEUELEN_TYPE': 0x00450400,
    'PERF_COUNTER_LARGE_QUEUELEN_TYPE': 0x00450500,
    'PERF_COUNTER_100NS_QUEUELEN_TYPE': 0x00550500,
    'PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE': 0x00650500,
    'PERF_COUNTER_COUNTER': 0x10410400,
    'PERF_COUNTER_BULK_COUNT': 0x10410500,
    'PERF_RAW_FRACTION': 0x20020400,
    'PERF_LARGE_RAW_FRACTION': 0x20020500,
    'PERF_COUNTER_TIMER': 0x20410500,
    'PERF_PRECISION_SYSTEM_TIMER': 0x20470500,
    'PERF_100NSEC_TIMER': 0x20510500,
    'PERF_PRECISION_100NS_TIMER': 0x20570500,
    'PERF_OBJ_TIME_TIMER': 0x20610500,
    'PERF_PRECISION_OBJECT_TIMER': 0x20670500,
    'PERF_SAMPLE_FRACTION': 0x20C20400,
    'PERF_COUNTER_TIMER_INV': 0x21410500,
    'PERF_100NSEC_TIMER_INV': 0x21510500,
    'PERF_COUNTER_MULTI_TIMER': 0x22410500,
    'PERF_100NSEC_MULTI_TIMER': 0x22510500,
    'PERF_COUNTER_MULTI_TIMER_INV': 0x23410500,
    'PERF_100NSEC_MULTI_TIMER_INV': 0x23510500,
    'PERF_AVERAGE_TIMER': 0x30020400,
    'PERF_ELAPSED_TIME': 0x30240500,
    'PERF_COUNTER_NODATA': 0x40000200,
    'PERF_AVERAGE_BULK': 0x40020500,
    'PERF_SAMPLE_BASE': 0x40030401,
    'PERF_AVERAGE_BASE': 0x40030402,
    'PERF_RAW_BASE': 0x40030403,
    'PERF_LARGE_RAW_BASE': 0x40030500,
    'PERF_COUNTER_MULTI_BASE': 0x42030500,
    'PERF_COUNTER_HISTOGRAM_TYPE': 0x80000000,
}
TYPE_NAMES = {v: k for k, v in TYPES.items()}
BASES = {v for v, n in TYPE_NAMES.items() if n.endswith('_BASE')}
NO_COUNTERS = {TYPES[n] for n in ('PERF_COUNTER_TEXT', 'PERF_COUNTER_NODATA', 'PERF_DOUBLE_RAW', 'PERF_COUNTER_HISTOGRAM_TYPE')}


class Value(NamedTuple):
    """What is to be said of a value of an answer."""
    path: str
    raw: object         # a number, a text, or bytes as hexadecimal digits
    type: int
    cooked: object      # the calculated value; None: there is none

    @property
    def is_text(self):
        return self.type == TYPES['PERF_COUNTER_TEXT']

    @property
    def is_column(self):
        """Does typeperf show it? Bases and texts are no counters."""
        return self.type not in BASES and self.type not in NO_COUNTERS


class Instant(NamedTuple):
    """One reading of the server's clocks."""
    number: int
    stamp: int          # PerfTimeStamp
    filetime: int       # PerfTime100NSec
    freq: int = FREQ


class Clock:
    """Each sample is about a second after the one before; the two clocks do not tick alike."""

    def __init__(self, stamp=1259983709807, filetime=134351767437550592):
        self.stamp, self.filetime, self.number = stamp, filetime, 0

    def at(self, n):
        return Instant(n, self.stamp + n * 10000000 + n % 3 * 1234, self.filetime + n * 10000000 + n % 4 * 5000)

    def now(self):
        return self.at(self.number)

    def tick(self):
        self.number += 1


@dataclass
class Instance:
    id: int
    name: str
    place: int = None       # what its values depend on; None: its position among the instances


@dataclass
class Counter:
    """names and helps are {LCID: text}; a missing LCID of a known language is a string that is not there."""
    id: int
    type: int
    names: dict = field(default_factory=dict)
    helps: dict = field(default_factory=dict)
    value: Callable = None      # (Instant, place of the instance) -> int, str or bytes
    width: int = None           # bytes of an int value
    attrib: int = 0
    detail: int = 100
    scale: int = 0
    base: int = NONE
    time: int = NONE
    freq: int = NONE
    multi: int = NONE
    aggregate: int = 0

    def __post_init__(self):
        if self.width is None:
            self.width = 8 if self.type >> 8 & 3 == 1 else 4

    def sample(self, at, k):
        """The value at that instant for the k-th instance; ints wrap at their width."""
        v = self.value(at, k)
        return v % (1 << 8 * self.width) if isinstance(v, int) else v


@dataclass
class Counterset:
    name: str
    kind: int
    counters: list
    instances: Callable = lambda at: []      # Instant -> [Instance]
    names: dict = field(default_factory=dict)
    helps: dict = field(default_factory=dict)
    provider: str = 'Model Provider'
    guid: str = None
    detail: int = 100
    enumerable: bool = True     # False: EnumerateCounterSetInstances answers ERROR_WMI_INVALID_REGINFO

    def __post_init__(self):
        self.guid = self.guid or str(uuid.uuid5(NAMESPACE, self.name))
        self.names = {ENGLISH: self.name, **self.names}

    @property
    def provider_guid(self):
        return str(uuid.uuid5(NAMESPACE, 'provider ' + self.provider))

    @property
    def named_instances(self):
        return self.kind != SINGLE

    def counter(self, counter_id):
        return next((c for c in self.counters if c.id == counter_id), None)


def grows(start, step, spread=7):
    """A counter that gains `step` with every sample, a little more for each further instance."""
    return lambda at, k: start + 1000 * k + at.number * (step + spread * k)


def level(values):
    """A reading that goes up and down."""
    return lambda at, k: values[(at.number + k) % len(values)]


def share(percent, of='filetime'):
    """A timer that ran for that part of the clock's ticks."""
    return lambda at, k: getattr(at, of) * (percent + k) // 100


# One counter of every type: its value, and with what else it is registered; base, time, freq and multi are of OPERANDS
CLOCKS = dict(time=901, freq=902)
EVERY_TYPE = {
    'PERF_COUNTER_RAWCOUNT_HEX': (level([0xBEEF0001, 0xBEEF00FF]), dict(attrib=0x10)),
    'PERF_COUNTER_LARGE_RAWCOUNT_HEX': (level([0x123456789ABCDEF0, 0xF]), dict(attrib=0x11)),
    'PERF_COUNTER_TEXT': (lambda at, k: 'state %d \U0001F98A' % at.number, {}),
    'PERF_COUNTER_RAWCOUNT': (level([42, 17, 99]), dict(scale=-3, attrib=4)),
    'PERF_COUNTER_LARGE_RAWCOUNT': (level([2 ** 40 + 1, 2 ** 64 - 1, 7]), dict(scale=10, attrib=8)),
    'PERF_DOUBLE_RAW': (level([5, 6]), {}),
    'PERF_COUNTER_DELTA': (grows(4294966000, 777), dict(scale=-10)),
    'PERF_COUNTER_LARGE_DELTA': (grows(10 ** 12, 888), {}),
    'PERF_SAMPLE_COUNTER': (grows(500, 250), {}),
    'PERF_COUNTER_QUEUELEN_TYPE': (grows(0, 25000000), {}),
    'PERF_COUNTER_LARGE_QUEUELEN_TYPE': (grows(10 ** 11, 35000000), {}),
    'PERF_COUNTER_100NS_QUEUELEN_TYPE': (grows(10 ** 11, 45000000), {}),
    'PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE': (grows(10 ** 10, 5500), CLOCKS),
    'PERF_COUNTER_COUNTER': (grows(4294967000, 1500), {}),
    'PERF_COUNTER_BULK_COUNT': (grows(2 ** 33, 123456789), dict(scale=-6)),
    'PERF_RAW_FRACTION': (level([25, 50, 75]), dict(base=913)),
    'PERF_LARGE_RAW_FRACTION': (level([10 ** 10, 3 * 10 ** 10]), dict(base=914)),
    'PERF_COUNTER_TIMER': (share(20, 'stamp'), {}),
    'PERF_PRECISION_SYSTEM_TIMER': (grows(10 ** 9, 4000000), dict(base=914)),
    'PERF_100NSEC_TIMER': (share(30), {}),
    'PERF_PRECISION_100NS_TIMER': (grows(10 ** 9, 6000000), dict(base=914)),
    'PERF_OBJ_TIME_TIMER': (grows(10 ** 6, 400), CLOCKS),
    'PERF_PRECISION_OBJECT_TIMER': (grows(10 ** 6, 500), dict(base=914, **CLOCKS)),
    'PERF_SAMPLE_FRACTION': (grows(100, 30), dict(base=911)),
    'PERF_COUNTER_TIMER_INV': (share(80, 'stamp'), {}),
    'PERF_100NSEC_TIMER_INV': (share(70), {}),
    'PERF_COUNTER_MULTI_TIMER': (share(120, 'stamp'), dict(multi=903)),
    'PERF_100NSEC_MULTI_TIMER': (share(140), dict(multi=903)),
    'PERF_COUNTER_MULTI_TIMER_INV': (share(160, 'stamp'), dict(multi=903)),
    'PERF_100NSEC_MULTI_TIMER_INV': (share(180), dict(multi=903)),
    'PERF_AVERAGE_TIMER': (grows(4294900000, 2000000), dict(base=912)),
    'PERF_ELAPSED_TIME': (lambda at, k: 134351700000000000, CLOCKS),
    'PERF_COUNTER_NODATA': (lambda at, k: b'', dict(attrib=2)),
    'PERF_AVERAGE_BULK': (grows(10 ** 9, 48462010), dict(base=912)),
    'PERF_COUNTER_MULTI_BASE': (grows(1, 1), dict(attrib=2)),
    'PERF_COUNTER_HISTOGRAM_TYPE': (grows(3, 3), dict(detail=200)),
}
OPERANDS = {
    901: ('PERF_COUNTER_LARGE_RAWCOUNT', 'Object Time', lambda at, k: at.filetime),
    902: ('PERF_COUNTER_LARGE_RAWCOUNT', 'Object Frequency', lambda at, k: FREQ),
    903: ('PERF_COUNTER_RAWCOUNT', 'Engines', lambda at, k: 4),
    911: ('PERF_SAMPLE_BASE', None, grows(1000, 120)),
    912: ('PERF_AVERAGE_BASE', None, grows(4294900000, 625966)),
    913: ('PERF_RAW_BASE', None, lambda at, k: 200),
    914: ('PERF_LARGE_RAW_BASE', None, grows(4 * 10 ** 10, 10000000)),
}


def _all_types():
    """Ids are those of the table's order."""
    out = []
    for i, (name, (value, extra)) in enumerate(EVERY_TYPE.items(), 1):
        label = name.removeprefix('PERF_').replace('_', ' ').title()
        out.append(Counter(i, TYPES[name], {ENGLISH: label, GERMAN: label + ' (Zähler)'},
                           {ENGLISH: 'Shows ' + label + '.', GERMAN: 'Zeigt ' + label + '.'}, value, **extra))
    out += [Counter(cid, TYPES[kind], {ENGLISH: label} if label else {}, {}, value, attrib=0 if label else 2)
            for cid, (kind, label, value) in OPERANDS.items()]
    return Counterset('Every Type', SINGLE, out, names={GERMAN: 'Jeder Typ'},
                      helps={ENGLISH: 'One counter of every type.', GERMAN: 'Ein Zähler von jedem Typ.'})


def _processor_information():
    """The one in-box set whose ids, names and types are public."""
    t = TYPES
    rows = ((0, '% Processor Time', 'Prozessorzeit (%)', '100NSEC_TIMER_INV', share(60), {}),
            (1, '% User Time', 'Benutzerzeit (%)', '100NSEC_TIMER', share(20), {}),
            (3, 'Interrupts/sec', 'Interrupts/s', 'COUNTER_COUNTER', grows(4294960000, 4321), {}),
            (12, 'C1 Transitions/sec', 'C1-Übergänge/s', 'COUNTER_BULK_COUNT', grows(10 ** 9, 987), {}),
            (17, 'Processor Frequency', 'Prozessorfrequenz', 'COUNTER_RAWCOUNT', level([2400, 3100, 800]), {}),
            (26, '% Processor Utility', 'Prozessornutzen (%)', 'AVERAGE_BULK', grows(3256992943318, 48462010),
             dict(base=27)),
            (27, None, None, 'AVERAGE_BASE', grows(4294000000, 625966), dict(attrib=2)))
    counters = [Counter(i, t['PERF_' + kind], {ENGLISH: en, GERMAN: de} if en else {},
                        {ENGLISH: en + ' of the processor.'} if en else {}, v, aggregate=2, **x)
                for i, en, de, kind, v, x in rows]
    names = ['0,0', '0,1', '0,_Total', '_Total']
    return Counterset('Processor Information', MULTI_AGGREGATE, counters,
                      lambda at: [Instance(i, n) for i, n in enumerate(names)],
                      names={GERMAN: 'Prozessorinformationen'},
                      helps={ENGLISH: 'Processors, one instance for each.', GERMAN: 'Prozessoren, je eine Instanz.'},
                      guid='b4fc721a-0378-476f-89ba-a5a79f810b36')


LONG = 'long ' * 240 + 'end'             # 1,203 characters
ODD_NAMES = ['lane', 'lane', '', 'x' * 1024, '\U0001F98A lane \U0001F6A2', 'paren)thesis', 'back\\slash', 'hash#2',
             'a/b', 'star', '‮right to left', 'tab\tand\x07bell', 'CJK 性能']


def _lanes():
    """Names of every sort, duplicates, and counters whose 32-bit type is fed with 8 bytes."""
    t = TYPES
    counters = [
        Counter(1, t['PERF_COUNTER_COUNTER'], {ENGLISH: 'Cars/sec', GERMAN: 'Autos/s'}, {ENGLISH: LONG}, grows(100, 50)),
        Counter(2, t['PERF_COUNTER_RAWCOUNT'], {ENGLISH: 'Cars Waiting', GERMAN: ''}, {ENGLISH: ''},
                level([3, 1, 4, 1, 5]), width=8, aggregate=4),
        Counter(3, t['PERF_COUNTER_BULK_COUNT'], {ENGLISH: LONG, GERMAN: '\U0001F697' * 600}, {}, grows(2 ** 63, 1 << 20),
                aggregate=3),
        Counter(4, t['PERF_COUNTER_TEXT'], {ENGLISH: 'Sign', GERMAN: 'Schild'}, {ENGLISH: 'What the sign says.'},
                lambda at, k: ('open %d' % at.number) * (1 + k % 3) + ' ', aggregate=0),
        Counter(65535, t['PERF_AVERAGE_TIMER'], {ENGLISH: 'Time in Lane'}, {}, grows(7, 3000000), base=5),
        Counter(5, t['PERF_AVERAGE_BASE'], {}, {}, grows(70, 10), attrib=2),
    ]
    return Counterset('Lanes \U0001F6A6', MULTIPLE, counters,
                      lambda at: [Instance(i // 2, n) for i, n in enumerate(ODD_NAMES)],
                      names={GERMAN: 'Spuren'}, helps={ENGLISH: LONG})


def _harbour():
    """Global aggregate, one counter for each aggregate function; instances come and go."""
    t = TYPES
    kinds = ('Undefined', 'Total', 'Average', 'Minimum', 'Maximum')
    counters = [Counter(i, t['PERF_COUNTER_LARGE_RAWCOUNT'], {ENGLISH: 'Boats ' + n}, {}, grows(i, 2), aggregate=i,
                        detail=200) for i, n in enumerate(kinds)]
    counters.append(Counter(5, t['PERF_COUNTER_BULK_COUNT'], {ENGLISH: 'Tons/sec'}, {}, grows(10 ** 10, 5000)))

    def boats(at):
        return [Instance(100 + i, 'pier %d' % i, i) for i in range(6) if (i + at.number) % 3]
    return Counterset('Harbour', GLOBAL_AGGREGATE, counters, boats, helps={GERMAN: 'Der Hafen.'}, detail=200)


def _odd_values():
    """Values of other lengths than 4 and 8, and numbers that go backwards or divide by nothing."""
    t = TYPES
    counters = [Counter(n, 0x00010000 + (n << 24), {ENGLISH: '%d bytes' % n}, {},
                        lambda at, k, n=n: bytes(range(0xE1, 0xE1 + n))) for n in (1, 2, 3, 5, 7, 12, 16)]
    counters += [
        Counter(40, t['PERF_COUNTER_BULK_COUNT'], {ENGLISH: 'Backwards'}, {}, lambda at, k: 10 ** 9 - at.number * 1000),
        Counter(41, t['PERF_RAW_FRACTION'], {ENGLISH: 'Nothing of nothing'}, {}, lambda at, k: 5, base=42),
        Counter(42, t['PERF_RAW_BASE'], {}, {}, lambda at, k: 0),
        Counter(43, t['PERF_COUNTER_LARGE_RAWCOUNT'], {ENGLISH: 'All ones'}, {}, lambda at, k: 2 ** 64 - 1),
        Counter(44, 0x7BCDE900, {ENGLISH: 'Unknown type'}, {}, lambda at, k: 4711),
    ]
    return Counterset('Odd Values', SINGLE, counters, provider='Second Provider')


def crowd(instances, counters=5, name='Crowd'):
    """A set of any size, for big answers."""
    rows = [Counter(i, TYPES['PERF_COUNTER_BULK_COUNT'], {ENGLISH: 'Steps %d' % i}, {}, grows(i * 10 ** 6, 10 + i))
            for i in range(1, counters + 1)]
    people = [Instance(i, 'person %d' % i) for i in range(instances)]
    return Counterset(name, MULTIPLE, rows, lambda at: people)


def countersets(crowd_size=40):
    """All of the model's sets. GUIDs are returned by EnumerateCounterSet in this order."""
    empty = [Counter(1, TYPES['PERF_COUNTER_RAWCOUNT'], {ENGLISH: 'Ghosts'}, {}, lambda at, k: 0)]
    return [_all_types(), _processor_information(), _lanes(), _harbour(), _odd_values(), crowd(crowd_size),
            Counterset('History', AGGREGATE_HISTORY, empty, lambda at: []),
            Counterset('Aggregated Instances', INSTANCE_AGGREGATE, empty, lambda at: []),
            Counterset('Broken', SINGLE, empty, enumerable=False),
            Counterset('No Counters', MULTIPLE, [], lambda at: [])]
