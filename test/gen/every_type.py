# SPDX-License-Identifier: GPL-2.0-or-later
"""Every counter type in every place that a value and its helpers can stand in."""

from .buffers import NONE
from .model import MULTIPLE, TYPES, Counter, Counterset, ENGLISH, Instance
from .scripted import ask

INSTANCES = ('left', 'right', 'middle')
BASES = {'PERF_AVERAGE_TIMER': 911, 'PERF_AVERAGE_BULK': 911, 'PERF_RAW_FRACTION': 905, 'PERF_LARGE_RAW_FRACTION': 906,
         'PERF_SAMPLE_FRACTION': 907, 'PERF_PRECISION_SYSTEM_TIMER': 908, 'PERF_PRECISION_100NS_TIMER': 908,
         'PERF_PRECISION_OBJECT_TIMER': 908}
TIMED = ('PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE', 'PERF_OBJ_TIME_TIMER', 'PERF_PRECISION_OBJECT_TIMER',
         'PERF_ELAPSED_TIME')
# No formula is published for it.
UNDECIDED = {TYPES['PERF_DOUBLE_RAW']}
# dwType by whether the counter and the instance are wildcards
SHAPES = {1: (False, False), 2: (True, False), 4: (False, True), 6: (True, True)}


def number(cid, low, step):
    """Something that grows unevenly, differently for each counter and instance."""
    return lambda at, k: low + 31 * cid + k * 1009 + at.number * (step + 13 * cid + 7 * k) + at.number ** 2 * (cid % 11)


SPECIAL = {'PERF_COUNTER_NODATA': lambda at, k: b'', 'PERF_COUNTER_TEXT': lambda at, k: 'text %d' % at.number,
           'PERF_ELAPSED_TIME': lambda at, k: 134351000000000000 + 1000 * k + at.number}


def every_type(wide, guid=None):
    """The set of all types; wide: 32-bit types are fed with 8 bytes, as real providers do."""
    rows = []
    for cid, (name, kind) in enumerate(TYPES.items(), 1):
        more, value = {}, SPECIAL.get(name) or number(cid, 4294960000 if cid % 2 else 10 ** 6, 40000)
        if 'MULTI_TIMER' in name or name.endswith('TIMER_INV') or name in ('PERF_COUNTER_TIMER', 'PERF_100NSEC_TIMER'):
            value = number(cid, 10 ** 12, 6543210)
        more['base'] = BASES.get(name, NONE)
        if name in TIMED:
            more.update(time=901, freq=902)
        if 'MULTI_TIMER' in name:
            more['multi'] = 903
        width = 8 if wide and kind >> 8 & 3 == 0 else None
        rows.append(Counter(cid, kind, {ENGLISH: name}, {}, value, width=width, **more))
    for cid, kind, value in (
            (901, 'PERF_COUNTER_LARGE_RAWCOUNT', lambda at, k: at.filetime + 5 * k),
            (902, 'PERF_COUNTER_LARGE_RAWCOUNT', lambda at, k: 10000000 - k),
            (903, 'PERF_COUNTER_RAWCOUNT', lambda at, k: 3 + k),
            (905, 'PERF_RAW_BASE', number(905, 2000, 3)),
            (906, 'PERF_LARGE_RAW_BASE', number(906, 10 ** 11, 3)),
            (907, 'PERF_SAMPLE_BASE', number(907, 4294967000, 500)),
            (908, 'PERF_LARGE_RAW_BASE', number(908, 10 ** 13, 10 ** 7)),
            (911, 'PERF_AVERAGE_BASE', number(911, 4294967000, 625966))):
        rows.append(Counter(cid, TYPES[kind], {ENGLISH: 'helper %d' % cid}, {}, value))
    return Counterset('Types', MULTIPLE, rows, lambda at: [Instance(i, n, i) for i, n in enumerate(INSTANCES)], guid=guid)


def spread(counterset, shape, helper_shape):
    """Identifiers that ask for the values in one shape and for their helpers in another, and what wildcards show.

    With equal shapes of wildcard counters all stand in the same block.
    """
    ids = [c.id for c in counterset.counters]
    values, helpers = [i for i in ids if i < 900], [i for i in ids if i > 900]
    asked, shows = [], {}
    for chosen, (wild_counter, wild_instance) in ((values, SHAPES[shape]), (helpers, SHAPES[helper_shape])):
        for name in ['*'] if wild_instance else INSTANCES:
            asked += [ask(counterset, c, name) for c in ([NONE] if wild_counter else chosen)]
            if wild_counter:
                shows[counterset.guid, name] = chosen
    return asked, shows


def together(counterset, shape):
    """Values and helpers in the same blocks."""
    return [ask(counterset, NONE, name) for name in (['*'] if shape == 6 else INSTANCES)], {}
