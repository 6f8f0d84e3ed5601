#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture with any number of values, for measuring: make_capture.py FILE SAMPLES INSTANCES COUNTERS

One query for all instances and counters of a set, whose registration information comes first, and SAMPLES answers of
INSTANCES x COUNTERS values in 4280-byte fragments."""

import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from gen.pcap import Capture, Rpc, Tcp  # noqa: E402

SET = bytes(range(16))
HANDLE = bytes(4) + bytes(range(1, 17))
BULK_COUNT = 0x10410500
NONE = 0xFFFFFFFF


def string(text):
    data = text.encode('utf-16le') + b'\0\0'
    return struct.pack('<3I', len(data) // 2, 0, len(data) // 2) + data + bytes(-len(data) % 4)


def padded(text):
    data = text.encode('utf-16le') + b'\0\0'
    return data + bytes(-len(data) % 8)


def answer(data, in_size=1 << 26):
    return struct.pack('<5I', len(data), len(data), in_size, 0, len(data)) + data + bytes(-len(data) % 4) + bytes(4)


def ask_registration(code):
    return string('\\\\SRV') + SET + struct.pack('<3I', code, 0, 1 << 26)


def registration(counters):
    """RequestCode 1: a set of 64-bit rates"""
    rows = b''.join(struct.pack('<2IQIi6I', i, BULK_COUNT, 0, 100, 0, NONE, NONE, NONE, NONE, 0, 0)
                    for i in range(counters))
    return SET + struct.pack('<4I', 0, 100, counters, 2) + rows


def identifier():
    name = padded('*')
    return SET + struct.pack('<6I', 0, 40 + len(name), NONE, NONE, 0, 0) + name


def sample(number, instances, counters, filler=b''):
    ids = struct.pack('<2I', 8 + 4 * counters, counters) + struct.pack('<%dI' % counters, *range(counters))
    ids += bytes(-len(ids) % 8)
    ids = struct.pack('<I', len(ids)) + ids[4:]
    rows = []
    for i in range(instances):
        name = padded('instance %d' % i)
        rows.append(struct.pack('<2I', 8 + len(name), i) + name)
        rows.append(b''.join(struct.pack('<2IQ', 8, 16, 1000 * number * (c + 1) + i) for c in range(counters)))
    body = b''.join(rows)
    block = ids + struct.pack('<2I', 8 + len(body), instances) + body
    block = struct.pack('<4I', 0, 6, 16 + len(block), 0) + block
    now = 133716612800000000 + number * 10000000
    head = struct.pack('<2I3Q8H', 48 + len(block), 1, number * 10000000, now, 10000000, 2024, 9, 2, 24, 14, 21, 20, 0)
    return head + block


def main(path, samples, instances, counters):
    capture = Capture()
    rpc = Rpc(Tcp(capture))
    rpc.bind()
    rpc.request(1, ask_registration(1))
    rpc.response(answer(registration(counters)))
    rpc.request(3, string('\\\\SRV'))
    rpc.response(HANDLE + bytes(4))
    add = identifier()
    rpc.request(7, HANDLE + struct.pack('<2I', len(add), len(add)) + add + struct.pack('<I', 1))
    rpc.response(struct.pack('<I', len(add)) + add + bytes(4))
    for number in range(samples):
        rpc.request(6, HANDLE + struct.pack('<I', 1 << 26))
        rpc.response(answer(sample(number, instances, counters)))
    capture.write(path)


if __name__ == '__main__':
    main(sys.argv[1], *map(int, sys.argv[2:5]))
