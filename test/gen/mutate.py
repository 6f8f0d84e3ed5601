# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with wrong numbers where numbers matter: sizes, counts, offsets, indexes and types of a scenario's messages get
values that lie; and captures put together of several."""

import re
import struct

from .pcap import SESSION, Capture

# What leads a reader astray, by the last words of a field's name.
LEADING = ('size', 'count', 'counters', 'num_counters', 'num_objects', 'num_instances', 'offset', 'index', 'type', 'length',
           'width', 'place', 'data_size', 'total_size', 'header_size', 'definition_size', 'base_id', 'time_id', 'freq_id',
           'multi_id', 'counter.id', 'id', 'status', 'version', 'freq', 'parent', 'little_endian')
FILES = ('names', 'csv', 'long', 'report')    # statistics that want to know where to write
HUGE = (0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFE, 0xFFFFFFFF)


def leads(field):
    return isinstance(field.value, int) and field.length in (4, 8) and field.name.rpartition('.')[2] in LEADING


def lie(noise, field, stub):
    """Another value for that number: near it, a boundary, the size of something else, or anything."""
    v = abs(field.value)
    near = (v - 8, v - 1, v + 1, v + 4, v + 8, 2 * v, v // 2, v << 8)
    bounds = (0, 1, 3, 4, 7, 8, 15, 16, 40, 48, len(stub) - field.offset, len(stub), *HUGE)
    pick = noise.randrange(4)
    value = noise.choice(near) if pick == 0 else noise.choice(bounds) if pick < 3 else noise.getrandbits(32)
    return value % (1 << 8 * field.length)


def lying(scenario, noise, share=0.05, order='<'):
    """The scenario with that share of the leading numbers changed in every other message, at least one."""
    frames = scenario.capture.frames
    for number, messages in scenario.frames.items():
        when, frame = frames[number - 1]
        frame = bytearray(frame)
        for m in messages:
            at = frame.find(m.stub) if m.stub else -1
            fields = [f for f in m.fields if leads(f)]
            # what was learned from a sound message is what the next one meets
            if at < 0 or not fields or noise.random() < 0.5:
                continue
            for f in noise.sample(fields, max(1, int(share * len(fields)))):
                data = lie(noise, f, m.stub).to_bytes(f.length, 'little' if order == '<' else 'big')
                frame[at + f.offset:at + f.offset + f.length] = data
        frames[number - 1] = when, bytes(frame)
    return scenario


EXTREMES = (0x00, 0x01, 0x07, 0x7F, 0x80, 0xFF)


def damaged(scenario, noise, share):
    """The scenario with that share of the bytes behind the RPC headers changed, half of them to extremes."""
    frames = scenario.capture.frames
    for number, messages in scenario.frames.items():
        when, frame = frames[number - 1]
        stub = messages[-1].stub
        at = frame.find(stub[:32]) if len(stub) >= 8 else -1
        data = bytearray(frame)
        for i in range(at if at > 0 else len(frame) // 2, len(data)):
            if noise.random() < share:
                data[i] = noise.choice(EXTREMES) if noise.random() < 0.5 else noise.randrange(256)
        frames[number - 1] = when, bytes(data)
    return scenario


def statistics(help_text, folder):
    """What the plugin offers under -z, those that want to know where to write with a file"""
    found = sorted(set(re.findall(r'^\s*((?:pcq|hkpd),[\w,]+)', help_text, re.M)))
    assert found
    return [z if (kind := z.split(',')[1]) not in FILES else 'pcq,%s,%s' % (kind, folder / ('out.' + kind)) for z in found]


def own_servers(frame, number):
    """The frame with servers that no other capture has, and with sessions of SMB that are numbered anew (Wireshark 4.6 takes
    sessions of one number for one): IPv4 addresses of servers change, the client stays."""
    if frame[12:14] != b'\x08\0':
        return frame
    frame = bytearray(frame.replace(struct.pack('<Q', SESSION), struct.pack('<Q', SESSION + number)))
    for at in (26, 30):
        if frame[at] == 10:
            frame[at:at + 2] = 128 + (number >> 8), number & 255
        elif bytes(frame[at:at + 3]) == bytes([192, 0, 2]) and frame[at + 3] != 10:
            frame[at:at + 3] = 172, 16 + (number >> 8), number & 255
    return bytes(frame)


def together(captures):
    """One capture of several, each with servers of its own."""
    out = Capture()
    for number, capture in enumerate(captures):
        for i, (_, frame) in enumerate(capture.frames, 1):
            out.add(own_servers(frame, number))
            if i in capture.cut:
                out.snap(len(out.frames), capture.cut[i])
    return out
