# SPDX-License-Identifier: GPL-2.0-or-later
"""What a part of a session says is what all of it says, or less, or marked as assumed.

Of some bundled sessions in the clear every frame with a PDU is left out once, and each pair of the calls that set up a
query. All that is left of a session stands in one capture with the others, each with a server address of its own, so that
none teaches another.
"""

import csv
import ipaddress
import itertools
import re
import struct

import pytest

from conftest import TOP
from gen.pcap import SERVER, Capture
from gen.stubs import INFO, OPEN, VALIDATE

PLAIN = TOP / 'test' / 'pcaps' / 'plain'
SETUP = {str(OPEN), str(INFO), str(VALIDATE)}
NAMES = ['query-tcp6-trailer', 'query-smb', 'fragments-tcp', 'two-clients', 'refusals']


def at(frame, number):
    """The same from or to the server of that number."""
    v6 = frame[12:14] == b'\x86\xdd'
    old = ipaddress.ip_address(SERVER[v6]).packed
    new = old[:-4] + struct.pack('>I', (10 << 24) + number)
    first, size = (22, 16) if v6 else (26, 4)
    for place in first, first + size:
        if frame[place:place + size] == old:
            frame = frame[:place] + new + frame[place + size:]
    return frame


def cuts(tshark, path):
    """[the frames that are left out]: none, each with a PDU, each pair of calls that set up a query"""
    fields = ['frame.number', 'pcq.opnum', 'dcerpc.request_in']
    rows = tshark.fields(path, fields, '-Y', 'pcq', '-E', 'occurrence=f')
    frames = [int(r[0]) for r in rows]
    calls = [{int(r[0]), int(r[2])} for r in rows if r[1] in SETUP and r[2]]
    return [set(), *({n} for n in frames), *(a | b for a, b in itertools.combinations(calls, 2))]


def write(path, whole, left_out):
    """-> [(session, frame of the whole one)] of the capture's frames"""
    places = [(i, n) for i, out in enumerate(left_out) for n in range(1, len(whole) + 1) if n not in out]
    capture = Capture()
    capture.frames = [(whole[n - 1][0], at(whole[n - 1][1], i)) for i, n in places]
    capture.write(path)
    return places


def said(tshark, path, places, folder):
    """{(session, frame): ([what pcq,long says of each value], frame of the sample before)}"""
    out, _ = tshark.run('-r', path, '-z', 'pcq,long,%s' % (folder / 'long.csv'), '-T', 'fields', '-e', 'frame.number',
                        '-e', 'pcq.sample.previous', '-e', 'pcq.expert.order_assumed', '-Y', 'pcq')
    before, doubted = {}, set()
    for line in out.splitlines():
        number, previous, assumed = line.split('\t')
        before[int(number)] = places[int(previous) - 1][1] if previous.isdigit() else None
        doubted |= {number} if assumed else set()
    rows = {}
    with open(folder / 'long.csv', encoding='utf-8', newline='') as f:
        for row in csv.DictReader(f):
            number = int(row['frame'])
            assumed = row['assumed'] == '1' if 'assumed' in row else row['frame'] in doubted
            path = row['path'].split('\\', 3)[3] if row['path'] else ''
            rows.setdefault(places[number - 1], ([], before[number]))[0].append((path, row['raw'], row['result'], assumed))
    return rows


def is_less(path, right):
    """The same, or with a GUID or number where no name is known."""
    unnamed = re.sub(r'\\\\\\#\d+$', r'\\\\.*', re.sub(r'^\\\{[-0-9a-f\\]+\\\}', r'[^\\\\(]*', re.escape(path)))
    return path == '' or re.fullmatch(unnamed, right)


def compare(rows):
    """-> how many paths and results are said of parts"""
    paths = results = 0
    for (session, frame), (values, before) in rows.items():
        whole, whole_before = rows[0, frame]
        if len(values) != len(whole):
            continue            # a part of the answer is missing
        for (path, raw, result, assumed), (right, all_raw, all_result, _) in zip(values, whole):
            where = session, frame, path, right, result, all_result
            assert raw == all_raw, where
            if not assumed:
                assert is_less(path, right), where
                assert before != whole_before or result in ('', all_result), where
                paths, results = paths + (path != ''), results + (result != '')
    return paths, results


@pytest.mark.parametrize('name', NAMES)
def test_a_part_says_no_more_than_the_whole(tshark, tmp_path, name):
    path = PLAIN / (name + '.pcap')
    left_out = cuts(tshark, path)
    places = write(tmp_path / 'cut.pcap', Capture.of_file(path).frames, left_out)
    rows = said(tshark, tmp_path / 'cut.pcap', places, tmp_path)
    paths, results = compare(rows)
    whole = [v for (session, _), (values, _) in rows.items() if session == 0 for v in values]
    assert paths >= len([v for v in whole if v[0] and not v[3]]) * len(left_out) / 3
    assert len(left_out[-1]) == 4
