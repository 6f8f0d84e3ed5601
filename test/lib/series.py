# SPDX-License-Identifier: GPL-2.0-or-later
"""What statistics and exports must say of a scenario: the series of its values, worked out from the generator alone."""

import json
import csv
import datetime
import io
import re
from typing import NamedTuple

from gen.model import TYPES

# [MS-PCQ] 2.2.4.2 and winperf.h
RAW_COUNTS = {TYPES[n] for n in ('PERF_COUNTER_RAWCOUNT', 'PERF_COUNTER_LARGE_RAWCOUNT', 'PERF_COUNTER_RAWCOUNT_HEX',
                                 'PERF_COUNTER_LARGE_RAWCOUNT_HEX')}
COLUMNS = ['time', 'frame', 'protocol', 'query', 'server', 'counterset', 'instance', 'counter', 'path', 'raw', 'result', 'unit',
           'reason', 'status', 'assumed']


# winperf.h: the display bits of a type
UNITS = {1: '/sec', 2: '%', 3: 'sec'}


def unit_of(kind):
    return UNITS.get(kind >> 28, '')


class Answer(NamedTuple):
    frame: int
    at: datetime.datetime       # of the frame
    key: object                 # the handle
    values: list


def series(scenario, numbers=None):
    """[Answer] of a scenario of either protocol, in order; numbers: only these frames"""
    out = []
    for frame, messages in sorted(scenario.frames.items()):
        for m in messages:
            if m.kind != 'response' or 'values' not in m.record or numbers is not None and frame not in numbers:
                continue
            at = datetime.datetime.fromtimestamp(scenario.capture.frames[frame - 1][0] / 10 ** 6, datetime.timezone.utc)
            out.append(Answer(frame, at, m.record.get('parameters', {}).get('hQuery'), m.record['values']))
    return out


def columns(answers):
    """The paths of a document, in the order in which they first came."""
    return list(dict.fromkeys(v.path for a in answers for v in a.values if v.is_column))


def pdh_time(at):
    return at.strftime('%m/%d/%Y %H:%M:%S.') + '%03d' % (at.microsecond // 1000)


def pdh_rows(text):
    """[[cell]] of a PDH-CSV file, of which every byte outside the cells is as typeperf writes it."""
    assert text.endswith('\r\n')
    rows = []
    for row in csv.reader(io.StringIO(text, newline=''), strict=True):
        rows.append(row)
    quoted = ''.join(','.join('"%s"' % c.replace('"', '""') for c in row) + '\r\n' for row in rows)
    assert quoted == text
    return rows


def compare_pdh(text, answers, refused=0):
    """-> how many numbers were compared; refused: so many counters have a blank column behind all others, None: any"""
    rows = pdh_rows(text)
    paths = columns(answers)
    refused = len(rows[0]) - len(paths) - 1 if refused is None else refused
    assert rows[0][:len(paths) + 1] == ['(PDH-CSV 4.0) (UTC)(0)'] + paths
    assert len(rows[0]) == len(set(rows[0])) == len(paths) + 1 + refused
    assert all(cell == ' ' for row in rows[1:] for cell in row[len(paths) + 1:])
    assert len(rows) == len(answers) + 1
    count = 0
    for row, answer in zip(rows[1:], answers):
        assert row[0] == pdh_time(answer.at)
        expected = {}
        for v in answer.values:
            expected.setdefault(v.path, v.cooked)
        assert len(row) == len(rows[0])
        for path, cell in zip(paths, row[1:]):
            if expected.get(path) is None:
                assert cell == ' ', (answer.frame, path, cell)
            else:
                assert re.fullmatch(r'-?\d+\.\d{6}', cell), (answer.frame, path, cell)
                assert abs(float(cell) - expected[path]) <= 5.1e-7 + 1e-12 * abs(expected[path]), (path, cell, expected[path])
                count += 1
    return count


def long_rows(text):
    """[{column: cell}], of which every byte is RFC 4180."""
    assert text.endswith('\r\n')
    rows = list(csv.reader(io.StringIO(text, newline=''), strict=True))

    def cell(c):
        return '"%s"' % c.replace('"', '""') if re.search('[",\r\n]', c) else c
    assert ''.join(','.join(map(cell, row)) + '\r\n' for row in rows) == text
    assert rows[0] == COLUMNS
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]]


# What JSON has of a monitor beside the columns of `pcq,queries`
ONLY_IN_JSON = {'jitter': 'Jitter (s)', 'late_answered': 'Slow', 'server_clock': 'Server clock (s)', 'opened': 'Opened', 'closed': 'Closed',
                'size_probes': 'Size probes', 'no_data': 'No data'}


def table(tshark, capture, statistic, *args):
    rows = rows_of_table(tshark.run('-q', '-r', capture, '-z', statistic, *args)[0])
    name, _, query_filter = statistic.partition(',')[2].partition(',')
    if name == 'queries':
        out, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,summary,json' + (query_filter and ',' + query_filter), *args)
        monitors = {m['handle']: m for m in json.loads(out)['monitors'] if 'handle' in m}
        for row in rows:
            m = monitors.get(row['Query'].strip(), {})
            row.update({title: '' if m.get(key) is None else str(m[key]) for key, title in ONLY_IN_JSON.items()})
    return rows


def rows_of_table(out):
    """[{column: cell}] of a table of `-z`; a cell that is not shown is None"""
    lines = [line for line in out.split('\n') if line.endswith(' |')]
    names = [c.strip() for c in lines[0].split('|')[:-1]]
    return [dict(zip(names, [c[:-1] for c in line.split('|')[:-1]] + [None] * len(names))) for line in lines[1:]]
