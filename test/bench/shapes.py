# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures to measure with, in any number of answers: what a shape costs is the slope between two numbers.

SHAPES: name -> Shape; measured() puts them into one capture. PEERS: what in-tree dissectors of like shape make of as many values."""

import os
import random
import struct
import sys
from typing import Callable, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gen.hostile import (Hkpd, Pcq, block, counter_block, counterset, identifier, ids, in_a_row, instance,  # noqa: E402
                         instances, perf_object, row, string_table, utf16, values)
from gen.mutate import own_servers  # noqa: E402
from gen.pcap import Capture, Tcp  # noqa: E402

# A frame of LLC: callgrind is told to write down what was counted when its dissector is called.
MARKER = bytes.fromhex('0180c2000000020000000001') + struct.pack('>H', 3) + b'\x42\x42\x03'.ljust(46, b'\0')
AT_MARKER = '--dump-before=dissect_xdlc_control'


class Shape(NamedTuple):
    about: str
    unit: str               # what is counted
    per_answer: int         # units in an answer
    answers: tuple          # the two numbers of answers between which the slope is taken
    make: Callable          # (answers, units in each) -> Capture
    protocol: str = 'pcq'


def query(counters):
    """A query of a set of 64-bit rates whose registration is in the capture, in fragments as Windows sends them."""
    p = Pcq(repeat=True)
    p.rpc.max_frag, p.rpc.transport.mss = 4280, 1440
    p.registration(9, utf16('Set'))
    p.counters(range(counters))
    p.registration(10, string_table([(i, 32 * i) for i in range(counters)],
                                    b''.join(utf16('counter %d' % i).ljust(32, b'\0') for i in range(counters))))
    p.open()
    return p


def one(answers, rows=1000, counters=10):
    p = query(counters)
    p.change([identifier()])
    for n in range(answers):
        p.data(counterset(counters, ['instance %d' % i for i in range(rows)], 1000 * n))
    return p.capture


def comings_and_goings(answers, count, every):
    """-> the names of processes of each answer: in every so many one is gone, wherever it stood, and another has come. Names
    are of one size, so sizes tell nothing."""
    names = ['process %05d' % i for i in range(count)]
    for n in range(answers):
        if n > 0 and n % every == 0:
            del names[7919 * n % count]
            names.append('process %05d' % (90000 - n))
        yield names


def of_processes(names, first):
    """A block of type 6. A process keeps its id, wherever it stands."""
    row_values = values(10, first)
    return block(6, ids(10) + instances([instance(x, int(x[-5:])) + row_values for x in names]))


def processes(answers, values, every):
    p = query(10)
    p.change([identifier()])
    for n, names in enumerate(comings_and_goings(answers, values // 10, every)):
        p.data(of_processes(names, 1000 * n))
    return p.capture


def day(to, answers, count=1000, every=2):
    """The same as a pipe brings it, piece by piece."""
    p = Pcq(repeat=True)
    p.registration(9, utf16('Set'))
    p.counters(range(10))
    p.open()
    p.change([identifier()])
    head = 0
    for n, names in enumerate(comings_and_goings(answers, count, every)):
        p.data(of_processes(names, 1000 * n))
        to.write(p.capture.file()[head:])
        p.capture.frames.clear()
        head = 24                               # of the file


def places(answers, values):
    """Ever the same instances in ever another order."""
    p = query(10)
    p.change([identifier()])
    names = ['process %05d' % i for i in range(values // 10)]
    for n in range(answers):
        random.Random(n).shuffle(names)
        p.data(of_processes(names, 1000 * n))
    return p.capture


def sizes(answers, values):
    """No answer has the size of another."""
    p = query(10)
    p.change([identifier()])
    for n in range(answers):
        p.data(of_processes(['process %05d' % i for i in range(values // 10 - 1)] + ['p' * (4 * n) + '00000'], 1000 * n))
    return p.capture


def machine(answers, values):
    """Processors and disks: two sets whose instances stay."""
    p = query(10)
    p.change([identifier(), identifier(instance='?')])
    p.info([identifier(), identifier(instance='?', index=1)])
    disks = values // 50
    for n in range(answers):
        p.data(counterset(10, ['0,%d' % i for i in range(values // 10 - disks)], 1000 * n),
               counterset(10, ['%d C:' % i for i in range(disks)], 1000 * n))
    return p.capture


def tall(answers, rows=10000):
    p = query(1)
    p.change([identifier(0)])
    for n in range(answers):
        p.data(block(4, instances([instance('instance %d' % i, i) + values(1, 1000 * n + i) for i in range(rows)])))
    return p.capture


def blocks(answers, count=10000):
    p = query(count)
    p.change([identifier(i, None) for i in range(count)])
    p.info([identifier(i, None, index=i) for i in range(count)])
    for n in range(answers):
        p.data(*[block(1, values(1, 1000 * n + i)) for i in range(count)])
    return p.capture


def tall_comings(answers, count):
    """Instances of one counter that come and go."""
    p = query(1)
    p.change([identifier(0)])
    for n, names in enumerate(comings_and_goings(answers, count, 2)):
        p.data(block(4, instances([instance(x, int(x[-5:])) + values(1, 1000 * n) for x in names])))
    return p.capture


def blocks_comings(answers, count=10000):
    """Instances, each in a block of its own, of which one or another has an error in every second answer."""
    p = query(1)
    p.change([identifier(0, 'instance %d' % i) for i in range(count)])
    p.info([identifier(0, 'instance %d' % i, index=i) for i in range(count)])
    for n in range(answers):
        gone = 7919 * n % (count - 1) + 1 if n % 2 else None
        p.data(*[block(0, b'', 4201) if i == gone else block(1, values(1, 1000 * n + i)) for i in range(count)])
    return p.capture


def small(answers):
    p = query(1)
    p.change([identifier(0, None)])
    for n in range(answers):
        p.data(block(1, values(1, 1000 * n)))
    return p.capture


def storm(answers):
    """A client that reads the registration of set after set: name, counters and their names."""
    p = query(1)
    for n in range(answers):
        guid = struct.pack('<4I', n, 1, 2, 3)
        p.registration(9, utf16('Set %d' % n), guid)
        p.counters(range(10), guid)
        p.registration(10, string_table([(i, 32 * i) for i in range(10)],
                                        b''.join(utf16('counter %d' % i).ljust(32, b'\0') for i in range(10))), guid)
    return p.capture


def hkpd(answers, rows=1000, counters=10):
    h = Hkpd()
    h.rpc.max_frag, h.rpc.transport.mss = 4280, 1440
    h.titles([('230', 'Process')] + [(str(6 + 2 * k), 'counter %d' % k) for k in range(counters)])
    for n in range(answers):
        h.sample(perf_object(230, in_a_row(counters), [row('instance %d' % i, counter_block(counters, 1000 * n))
                                                       for i in range(rows)]), name='230')
    return h.capture


def hkpd_objects(answers, count=10000):
    h = Hkpd()
    h.rpc.max_frag, h.rpc.transport.mss = 4280, 1440
    h.titles([('6', 'counter')] + [(str(1000 + 2 * k), 'object %d' % k) for k in range(count)])
    for n in range(answers):
        h.sample(*[perf_object(1000 + 2 * k, in_a_row(1), None, counter_block(1, 1000 * n)) for k in range(count)])
    return h.capture


def hkpd_comings(answers, values, counters=10):
    """Processes that come and go."""
    h = Hkpd()
    h.rpc.max_frag, h.rpc.transport.mss = 4280, 1440
    h.titles([('230', 'Process')] + [(str(6 + 2 * k), 'counter %d' % k) for k in range(counters)])
    for n, names in enumerate(comings_and_goings(answers, values // counters, 2)):
        h.sample(perf_object(230, in_a_row(counters), [row(x, counter_block(counters, 1000 * n)) for x in names]), name='230')
    return h.capture


def udp(capture, port, data):
    head = struct.pack('>4H', 50000, port, 8 + len(data), 0)
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 28 + len(data), 1, 0x4000, 64, 17, 0, bytes([192, 0, 2, 1]),
                     bytes([192, 0, 2, 2]))
    capture.add(bytes(6) + bytes(5) + b'\1' + b'\x08\0' + ip + head + data)


def netflow(answers, records=1000):
    """NetFlow v9: records of ten fields of 4 bytes."""
    capture = Capture()
    kinds = (8, 12, 15, 1, 2, 21, 22, 10, 14, 16)
    template = struct.pack('>2H', 256, len(kinds)) + b''.join(struct.pack('>2H', k, 4) for k in kinds)
    template = struct.pack('>2H', 0, 4 + len(template)) + template
    for n in range(answers + 1):
        body = template if n == 0 else b''.join(struct.pack('>10I', *(n * i + k for k in range(10))) for i in range(records))
        flowset = body if n == 0 else struct.pack('>2H', 256, 4 + len(body)) + body
        udp(capture, 2055, struct.pack('>2H4I', 9, 1 if n == 0 else records, n, n, n, 7) + flowset)
    return capture


def pcp(answers, rows=1000, metrics=10):
    """Performance Co-Pilot: RESULTs of ten metrics with a thousand instances."""
    capture = Capture()
    tcp = Tcp(capture, port=44321)
    for n in range(answers):
        body = struct.pack('>3I', n, 0, metrics)
        for m in range(metrics):
            body += struct.pack('>3I', m, rows, 0) + b''.join(struct.pack('>2I', i, n * i) for i in range(rows))
        tcp.send(1, struct.pack('>3I', 12 + len(body), 0x7001, 1) + body)
    return capture


SHAPES = {
    'one': Shape('1,000 instances x 10 counters', 'value', 10000, (2, 3), lambda n, values: one(n, values // 10)),
    'tall': Shape('10,000 instances x 1 counter', 'value', 10000, (2, 3), lambda n, values: tall(n, values)),
    'tall-2': Shape('10,000 instances x 1 counter, one of them another in every 2nd answer', 'value', 10000, (2, 12), tall_comings),
    'blocks': Shape('10,000 blocks of one counter', 'value', 10000, (2, 3), lambda n, values: blocks(n, values)),
    'blocks-2': Shape('10,000 blocks of one instance, one of them an error in every 2nd answer', 'value', 10000, (2, 12),
                      blocks_comings),
    'machine': Shape('processors and disks, constant: 1,000 instances x 10', 'value', 10000, (2, 12), machine),
    'processes-2': Shape('1,000 processes x 10, one of them another in every 2nd answer', 'value', 10000, (2, 22),
                         lambda n, values: processes(n, values, 2)),
    'processes-3': Shape('the same in every 3rd', 'value', 10000, (2, 23), lambda n, values: processes(n, values, 3)),
    'processes-10': Shape('the same in every 10th', 'value', 10000, (2, 22), lambda n, values: processes(n, values, 10)),
    'places': Shape('1,000 instances x 10, in ever another order', 'value', 10000, (2, 22), places),
    'sizes': Shape('1,000 instances x 10, every answer of another size', 'value', 10000, (2, 22), sizes),
    'small': Shape('one value an answer', 'call', 1, (30, 130), lambda n, values: small(n)),
    'storm': Shape('registration of sets, three calls each', 'set', 1, (30, 80), lambda n, values: storm(n)),
    'hkpd': Shape('PERF_DATA_BLOCK, 1,000 x 10', 'value', 10000, (2, 3), lambda n, values: hkpd(n, values // 10), 'hkpd'),
    'hkpd-2': Shape('PERF_DATA_BLOCK, 1,000 processes x 10, one of them another in every 2nd answer', 'value', 10000, (2, 12),
                    hkpd_comings, 'hkpd'),
    'hkpd-tall-2': Shape('PERF_DATA_BLOCK, 10,000 processes x 1, the same', 'value', 10000, (2, 12),
                         lambda n, values: hkpd_comings(n, values, 1), 'hkpd'),
    'hkpd-tall': Shape('PERF_DATA_BLOCK, 10,000 x 1', 'value', 10000, (2, 3),
                       lambda n, values: hkpd(n, values, 1), 'hkpd'),
    'hkpd-objects': Shape('PERF_DATA_BLOCK, 10,000 objects', 'value', 10000, (2, 3),
                          lambda n, values: hkpd_objects(n, values), 'hkpd'),
}
PEERS = {
    'netflow': Shape('NetFlow v9, 1,000 records x 10', 'value', 10000, (2, 3),
                     lambda n, values: netflow(n, values // 10), 'cflow'),
    'pcp': Shape('PCP, 10 metrics x 1,000', 'value', 10000, (2, 3), lambda n, values: pcp(n, values // 10), 'pcp'),
}
# Those whose growth to a million values is measured.
GROWING = ('one', 'blocks')
# Small ones for a budget.
BUDGET = ('one', 'blocks', 'processes-2', 'places', 'small')
# Whose list costs at most so many times what it costs without the plugin: one value of each answer stands in it.
LISTED, MOST_OF_LIST = ('one', 'tall', 'tall-2', 'blocks', 'blocks-2', 'processes-2', 'places', 'sizes', 'hkpd-2', 'hkpd-tall-2'), 1.15


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
