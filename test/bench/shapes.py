# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures to measure with, in any number of answers: what a shape costs is the slope between two numbers.

SHAPES: name -> Shape; measured() puts them into one capture."""

import os
import struct
import sys
from typing import Callable, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gen.hostile import (GUID, Hkpd, Pcq, block, counter_block, counterset, identifier, ids, in_a_row, instance,  # noqa: E402
                         instances, perf_object, string_table, table, utf16, values)
from gen.mutate import own_servers  # noqa: E402
from gen.pcap import Capture  # noqa: E402

# A frame of LLC: callgrind is told to write down what was counted when its dissector is called.
MARKER = bytes.fromhex('0180c2000000020000000001') + struct.pack('>H', 3) + b'\x42\x42\x03'.ljust(46, b'\0')
AT_MARKER = '--dump-before=dissect_xdlc_control'


class Shape(NamedTuple):
    about: str
    answers: tuple          # the two numbers of answers between which the slope is taken
    make: Callable          # (answers, units in each) -> Capture
    unit: str = 'value'     # what is counted


def query(counters, windows=True):
    """A query of a set of 64-bit rates whose registration is in the capture, in fragments as Windows sends them."""
    p = Pcq()
    if windows:
        p.rpc.max_frag, p.rpc.transport.mss = 4280, 1440
    registration(p, 'Set', counters)
    p.open()
    return p


def registration(p, name, counters, guid=GUID):
    p.registration(9, utf16(name), guid)
    p.counters(range(counters), guid)
    p.registration(10, string_table([(i, 32 * i) for i in range(counters)],
                                    b''.join(utf16('counter %d' % i).ljust(32, b'\0') for i in range(counters))), guid)


def sampled(counters, added, blocks, info=()):
    """A shape's make(): answers of these blocks(number of the answer, units); what is added and told, the units say too."""
    def make(answers, units):
        p = query(counters(units) if callable(counters) else counters)
        p.change(added(units) if callable(added) else added)
        told = info(units) if callable(info) else info
        if told:
            p.info(told)
        for n in range(answers):
            p.data(*blocks(n, units))
        return p.capture
    return make


def comings_and_goings(count, every):
    """-> the names of processes of an answer: in every so many one is gone, wherever it stood, and another has come. Names are of
    one size, so sizes tell nothing."""
    names = ['process %05d' % i for i in range(count)]

    def of(n):
        if n > 0 and n % every == 0:
            del names[7919 * n % count]
            names.append('process %05d' % (90000 - n))
        return names
    return of


def of_processes(names, first):
    """A block of type 6. A process keeps its id, wherever it stands."""
    row_values = values(10, first)
    return block(6, ids(10) + instances([instance(x, int(x[-5:])) + row_values for x in names]))


def processes(every):
    def make(answers, units):
        there = comings_and_goings(units // 10, every)
        return sampled(10, [identifier()], lambda n, units: [of_processes(there(n), 1000 * n)])(answers, units)
    return make


def day(to, answers, count=1000, every=2):
    """Processes as a pipe brings them, piece by piece."""
    p, there, head = query(10, windows=False), comings_and_goings(count, every), 0
    p.change([identifier()])
    for n in range(answers):
        p.data(of_processes(there(n), 1000 * n))
        to.write(p.capture.file()[head:])
        p.capture.frames.clear()
        head = 24                               # of the file


def storm(answers, _):
    """A client that reads the registration of set after set: name, counters and their names."""
    p = query(1)
    for n in range(answers):
        registration(p, 'Set %d' % n, 10, struct.pack('<4I', n, 1, 2, 3))
    return p.capture


def hkpd(titles, objects):
    """objects(number of the answer, units) -> (objects, what is asked for)"""
    def make(answers, units):
        h = Hkpd()
        h.rpc.max_frag, h.rpc.transport.mss = 4280, 1440
        h.titles(titles(units))
        for n in range(answers):
            there, name = objects(n, units)
            h.sample(*there, name=name)
        return h.capture
    return make


def hkpd_rows(counters, every=None):
    """An object of so many counters; its instances stay, or are processes that come and go."""
    def make(answers, units):
        there = comings_and_goings(units // counters, every) if every else lambda n: ['instance %d' % i for i in range(units // counters)]
        return hkpd(lambda _: [('230', 'Process')] + [(str(6 + 2 * k), 'counter %d' % k) for k in range(counters)],
                    lambda n, _: ([table(there(n), counters, 1000 * n)], '230'))(answers, units)
    return make


def each(units, name=None):
    """An identifier for each counter, or for each instance of one."""
    return [[identifier(0, name % i, index=x) if name else identifier(i, None, index=x) for i, x in enumerate(indexes)]
            for indexes in ([0] * units, range(units))]


SHAPES = {
    'one': Shape('1,000 instances x 10 counters', (2, 3), sampled(
        10, [identifier()], lambda n, units: [counterset(10, ['instance %d' % i for i in range(units // 10)], 1000 * n)])),
    'tall': Shape('10,000 instances x 1 counter', (2, 3), sampled(1, [identifier(0)], lambda n, units: [
        block(4, instances([instance('instance %d' % i, i) + values(1, 1000 * n + i) for i in range(units)]))])),
    'blocks': Shape('10,000 blocks of one counter', (2, 3), sampled(
        lambda units: units, lambda units: each(units)[0], lambda n, units: [block(1, values(1, 1000 * n + i)) for i in range(units)],
        lambda units: each(units)[1])),
    'processes-2': Shape('1,000 processes x 10, one of them another in every 2nd answer', (2, 22), processes(2)),
    'small': Shape('one value an answer', (30, 130), sampled(1, [identifier(0, None)], lambda n, _: [block(1, values(1, 1000 * n))]), 'call'),
    'storm': Shape('registration of sets, three calls each', (30, 80), storm, 'set'),
    'hkpd': Shape('PERF_DATA_BLOCK, 1,000 x 10', (2, 3), hkpd_rows(10)),
    'hkpd-2': Shape('PERF_DATA_BLOCK, 1,000 processes x 10, one of them another in every 2nd answer', (2, 12), hkpd_rows(10, 2)),
    'hkpd-tall': Shape('PERF_DATA_BLOCK, 10,000 x 1', (2, 3), hkpd_rows(1)),
    'hkpd-objects': Shape('PERF_DATA_BLOCK, 10,000 objects', (2, 3), hkpd(
        lambda units: [('6', 'counter')] + [(str(1000 + 2 * k), 'object %d' % k) for k in range(units)],
        lambda n, units: ([perf_object(1000 + 2 * k, in_a_row(1), None, counter_block(1, 1000 * n)) for k in range(units)], 'Global'))),
}
# Small ones for a budget.
BUDGET = ('one', 'blocks', 'processes-2', 'small')
# How many times what a list costs without the plugin it may cost: one value of each answer stands in it, and of
# PERF_DATA_BLOCK Wireshark makes an item of each byte.
LISTED = {'processes-2': 1.15, 'tall': 1.15, 'blocks': 1.25, 'hkpd-2': 0.25, 'hkpd-tall': 0.25}


def measured(shapes, units):
    """The captures of all shapes in one, each with servers of its own, in answers of so many units. A frame stands in the
    middle of each, between its two numbers of answers, and one at its end; two at the very beginning tell what such a
    frame costs."""
    together = Capture()
    for _ in range(2):
        together.add(MARKER)
    for number, shape in enumerate(shapes):
        low, high = shape.answers
        before = len(shape.make(low, units).frames)
        for i, (_, frame) in enumerate(shape.make(high, units).frames):
            if i == before:
                together.add(MARKER)
            together.add(own_servers(frame, number))
        together.add(MARKER)
    return together
