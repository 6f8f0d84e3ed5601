# SPDX-License-Identifier: GPL-2.0-or-later
"""script/dev/compare-csv, on what a model of typeperf writes: another zone, clock, language, set of columns, lines, and faults."""

import datetime
import random
import subprocess
import sys
from typing import NamedTuple

import pytest

from conftest import TOP

SCRIPT = TOP / 'script' / 'dev' / 'compare-csv'
START = datetime.datetime(2026, 9, 29, 23, 58, 23, 30000)
RATE, RAW = '0x10410500', '0x00010100'     # PERF_COUNTER_BULK_COUNT, PERF_COUNTER_LARGE_RAWCOUNT
GUID = '{5b6a2c9e-0000-4000-8000-000000000001}'
GERMAN = {'Things/sec': 'Dinge/s', 'Things now': 'Dinge jetzt', 'Small': 'Klein'}
LINES, INSTANCES = 40, 3


class Column(NamedTuple):
    path: str
    kind: str
    samples: list       # what the server sent, one for each second


def columns():
    lots = random.Random(7)
    found = []
    for number in range(INSTANCES):
        count, made = lots.randrange(10 ** 6), []
        for _ in range(LINES):
            count += lots.randrange(1, 10 ** 5)
            made.append(count)
        found.append(Column('\\\\SRV01\\Small (new)(inst %d)\\Things/sec' % number, RATE, made))
        found.append(Column('\\\\SRV01\\Small (new)(inst %d)\\Things now' % number, RAW,
                            [lots.randrange(10 ** 9) for _ in range(LINES)]))
    return found


def values(column, lines):
    """What PDH calculates where it has seen these samples: a rate is since the one before."""
    if column.kind == RAW:
        return [float(column.samples[n]) for n in lines]
    return [None] + [(column.samples[n] - column.samples[before]) / (n - before) for before, n in zip(lines, lines[1:])]


class Typeperf:
    """A file of typeperf's, or of ours, which has UTC and the frame's time."""

    def __init__(self, chosen=None, lines=range(LINES), shift=0.0, jitter=0.0):
        lots = random.Random(int(shift) + 1)
        self.columns = columns() if chosen is None else chosen
        self.lines = list(lines)
        self.times = [START + datetime.timedelta(seconds=n + shift + lots.uniform(0, jitter)) for n in self.lines]
        self.cells = [values(c, self.lines) for c in self.columns]
        self.first, self.ends, self.encoding, self.comma, self.blank = '(PDH-CSV 4.0)', '\r\n', 'utf-8', '.', ' '
        self.rename = lambda path: path
        self.tail = ''

    def write(self, name):
        rows = [[self.first] + [self.rename(c.path) for c in self.columns]]
        for k, when in enumerate(self.times):
            cells = [self.blank if c[k] is None else ('%.6f' % c[k]).replace('.', self.comma) for c in self.cells]
            rows.append([when.strftime('%m/%d/%Y %H:%M:%S.%f')[:-3]] + cells)
        text = ''.join(','.join('"%s"' % cell.replace('"', '""') for cell in row) + self.ends for row in rows) + self.tail
        name.write_bytes(text.encode(self.encoding))


class Said(NamedTuple):
    status: int
    text: str
    clock: str
    lines: tuple        # theirs, ours, both
    paired: tuple       # columns of theirs, ours; by path, by values; only theirs, only ours
    kinds: dict         # {type: (columns, equal, different, capped, behind a gap, only theirs, only ours)}


def numbers(line):
    return tuple(int(word) for word in line.replace(',', ' ').replace(';', ' ').split() if word.isdigit())


@pytest.fixture
def compare(tmp_path):
    def get(theirs, ours=None, *options, types=True):
        theirs.write(tmp_path / 'their.csv')
        (ours or Typeperf()).write(tmp_path / 'our.csv')
        names = 'set\t%s\t2\nname\t%s\t-\ten\tSmall (new)\n' % (GUID, GUID)
        for number, (name, kind) in enumerate((('Things/sec', RATE), ('Things now', RAW))):
            names += 'name\t%s\t%d\ten\t%s\ncounter\t%s\t%d\t%s\t-\t-\t-\t-\t0\n' % (GUID, number, name, GUID, number, kind)
        (tmp_path / 'names.txt').write_text(names)
        typed = ['--types', tmp_path / 'names.txt'] if types else []
        done = subprocess.run([sys.executable, SCRIPT, tmp_path / 'their.csv', tmp_path / 'our.csv', *typed, *options],
                              capture_output=True, timeout=60, check=False)
        assert not done.stderr, done.stderr
        lines = done.stdout.decode('utf-8').splitlines()
        start = next(k for k, line in enumerate(lines) if line.startswith('type '))
        kinds = {}
        for line in lines[start + 1:]:
            if not line:
                break
            kind, cells = line[:line.index('  ')], line[line.index('  '):].split()
            kinds[kind] = tuple(int(cell) for cell in cells if cell.isdigit())
        return Said(done.returncode, '\n'.join(lines), lines[1], numbers(lines[0]), numbers(lines[2]), kinds)
    return get


def all_equal(rates=LINES - 1, raw=LINES, each=INSTANCES):
    return {RATE: (each, each * rates, 0, 0, 0, 0, 0), RAW: (each, each * raw, 0, 0, 0, 0, 0)}


def far(kinds):
    """median and most are no whole numbers: only what is one is looked at"""
    return {kind: cells[:3] for kind, cells in kinds.items()}


def changed(lines=range(LINES), shift=0.0, chosen=None, rename=None, **cells):
    """A file of which cells are other ones. cells: of the first rate, or of the first raw count {line: what stands there}"""
    made = Typeperf(chosen, lines, shift)
    made.rename = rename or made.rename
    for column, there in enumerate(('rate', 'raw')):
        for line, value in cells.get(there, {}).items():
            made.cells[column][line] = value(made.cells[column][line]) if callable(value) else value
    return made


def slower(seconds):
    """A wrong unit of time in each rate"""
    made = Typeperf()
    for cells, column in zip(made.cells, made.columns):
        cells[:] = [x and x * seconds if column.kind == RATE else x for x in cells]
    return made


def exchanged():
    """Paths go before values: two names on each other's columns differ in every line."""
    made = Typeperf()
    made.cells[1], made.cells[3] = made.cells[3], made.cells[1]
    return made


RATES, RAWS, FEWER = INSTANCES * (LINES - 1), INSTANCES * LINES, [n for n in range(LINES) if n != 17]
# theirs, ours; the status, and of rates and of raw counts: equal, different, capped, behind a gap, only theirs, only ours
CASES = {
    # the rate behind it is over two seconds there: said apart, and no fault; a raw count has to be equal all the same
    'a sample is missing of theirs': (lambda: changed(FEWER), changed, 0, (RATES - 2 * INSTANCES, 0, 0, INSTANCES), (RAWS - INSTANCES,)),
    'a raw count behind a gap': (lambda: changed(FEWER, raw={17: lambda x: x + 1}), changed, 1, (RATES - 2 * INSTANCES, 0),
                                 (RAWS - INSTANCES - 1, 1)),
    'minutes': (lambda: slower(1 / 60), changed, 1, (0, RATES), (RAWS, 0)),
    'exchanged': (exchanged, changed, 1, None, (LINES, 2 * LINES)),
    'a blank of theirs': (lambda: changed(raw={9: None}), changed, 1, None, (RAWS - 1, 0, 0, 0, 0, 1)),
    # perfmon stops there
    'over 100': (lambda: changed(rate={9: 100.0}), lambda: changed(rate={9: 117.5}), 0, (RATES - 1, 0, 1), (RAWS,)),
}


@pytest.mark.parametrize('name', CASES)
def test_two_files(compare, name):
    theirs, ours, status, *counts = CASES[name]
    said = compare(theirs(), ours())
    assert said.status == status and said.paired == (2 * INSTANCES, 2 * INSTANCES, 2 * INSTANCES, 0, 0, 0)
    for kind, expected in zip((RATE, RAW), counts):
        expected = expected and (INSTANCES, *expected)
        if expected and (status == 0 or len(expected) > 3):     # how far a difference is may be a whole number too
            expected += (0,) * (7 - len(expected))
        assert expected is None or said.kinds[kind][:len(expected)] == expected


@pytest.mark.parametrize('zone, off', [(7200, 0.25), (-34200, 61.4)])
def test_another_zone_and_clock(compare, zone, off):
    """Lines are 1 s apart: every whole second brings all lines together but a few, the values say which it is."""
    said = compare(Typeperf(shift=zone + off, jitter=0.02))
    assert (said.status, said.lines, said.kinds) == (0, (LINES, LINES, LINES), all_equal())
    minutes, seconds = said.clock.split(': ')[1].split(' minutes and ')
    assert int(minutes) * 60 == zone
    assert abs(float(seconds.split()[0]) - off) < 0.05


@pytest.mark.parametrize('encoding, zone', [('utf-8-sig', 'Mitteleuropäische Sommerzeit'), ('utf-16', 'Mitteleuropäische Sommerzeit'), ('cp932', '東京 (標準時) ソ表')])
def test_another_language(compare, encoding, zone):
    """Names, the zone's name in the code page of the machine, decimal commas: columns are found by their values, and said to be."""
    theirs = Typeperf(shift=7200)
    theirs.first, theirs.encoding, theirs.comma = '(PDH-CSV 4.0) (%s)(-120)' % zone, encoding, ','
    theirs.tail = '\r\n%s\r\n' % zone

    def german(path):
        for english, there in GERMAN.items():
            path = path.replace(english, there)
        return path
    theirs.rename = german
    said = compare(theirs)
    assert (said.status, said.kinds) == (0, all_equal())
    assert said.paired == (2 * INSTANCES, 2 * INSTANCES, 0, 2 * INSTANCES, 0, 0)


@pytest.mark.parametrize('column, kind, times, line', [(0, RATE, 1.5, 1), (5, RAW, 1.000001, LINES - 1)])
def test_one_wrong_value(compare, column, kind, times, line):
    theirs = Typeperf(shift=3600)
    right = theirs.cells[column][line]
    theirs.cells[column][line] = right * times
    said = compare(theirs, None, '--names')
    expected = {kind: cells[:3] for kind, cells in all_equal().items()}
    expected[kind] = (INSTANCES, expected[kind][1] - 1, 1)
    assert (said.status, far(said.kinds)) == (1, expected)
    assert '%s line %d: ' % (theirs.columns[column].path, line + 1) in said.text


def test_nothing_that_is_anybodys(compare):
    theirs, ours = Typeperf(shift=7200), Typeperf()
    theirs.cells[1][9] = 424242.0
    ours.columns = [c._replace(path=c.path.replace('inst 2', 'other')) for c in ours.columns]
    said = compare(theirs, ours)
    named = compare(theirs, ours, '--names')
    assert (said.status, said.paired[2:]) == (1, (4, 2, 0, 0))
    for text in ('SRV01', 'Small', 'inst', 'Things', '424242', '2026', '23:58', 'other', 'csv'):
        assert text not in said.text, text
    assert '424242' in named.text and 'other' in named.text and 'inst 2' in named.text


def test_nothing_to_compare(tmp_path):
    """No line of one is in the other's, no header: status 2, or a sentence without the path."""
    (tmp_path / 'a.csv').write_text('"(PDH-CSV 4.0)","\\\\S\\A\\B"\r\n')
    (tmp_path / 'b.csv').write_text('time,frame\r\n')
    empty = subprocess.run([sys.executable, SCRIPT, tmp_path / 'a.csv', tmp_path / 'a.csv'], capture_output=True, check=False)
    other = subprocess.run([sys.executable, SCRIPT, tmp_path / 'b.csv', tmp_path / 'a.csv'], capture_output=True, check=False)
    missing = subprocess.run([sys.executable, SCRIPT, tmp_path / 'c.csv', tmp_path / 'a.csv'], capture_output=True, check=False)
    assert empty.returncode == 2
    assert other.stderr.strip() == b'compare-csv: b.csv does not begin with (PDH-CSV 4.0)'
    assert missing.stderr.strip() == b'compare-csv: FileNotFoundError'
