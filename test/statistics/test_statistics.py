# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,tree`, `-z pcq,counters`, `-z pcq,queries` and `-z pcq,refusals`: every number, against what the generator knows."""

import math
import os
import pty
import re
import statistics
import struct
import subprocess
import unicodedata
from collections import Counter as Tally

import pytest

from conftest import TSHARK
from gen import hkpd_scenario, hkpd_stubs, stubs
from gen.scenario import Scenario, tcp_line
from gen.scenarios import SCENARIOS
from gen.scripted import Server, Times, answers, ask, begin, counter, frames_of, learn, multiple, run, seconds, single, capture_talk, unseen, whole_session
from series import series, unit_of
from series import table as lines_of
from network import captured

EPOCH = 116444736000000000      # 1 January 1970 as FILETIME


def table(*args):
    """The rows without the sentences behind them."""
    return [row for row in lines_of(*args) if list(row.values())[1] is not None]


@pytest.fixture
def stat(tshark, tmp_path):
    """stat(scenario, 'counters', …) -> its rows"""
    def get(scenario, name, *args, query_filter=''):
        scenario.write(tmp_path / 'scenario.pcap')
        return table(tshark, tmp_path / 'scenario.pcap', 'pcq,%s%s' % (name, query_filter and ',' + query_filter), *args)
    return get


def small(value=lambda at, k: at.number):
    return single('Small', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', value))


def one_counter(values, kind='PERF_COUNTER_RAWCOUNT', clock=None):
    s = single('Small', counter(1, kind, 'Things', values))
    scenario, c = begin(Server([s], clock=clock or seconds(20)), s)
    run(c, [ask(s, 1)], len(values))
    return scenario


def frames(scenario, opnum, kind):
    return [n for n, _ in frames_of(scenario, opnum, kind)]


# --- counters -------------------------------------------------------------------------------------------------------

def as_in_a_table(text):
    """What is not printable is escaped as in C: it would end a cell or a row, steer a terminal or turn its direction."""
    def escaped(c):
        if unicodedata.category(c) not in ('Cc', 'Cf', 'Cn', 'Cs'):
            return c
        known = dict(zip('\a\b\f\n\r\t\v', 'abfnrtv')).get(c)
        return '\\' + known if known else ('\\%03o' if ord(c) < 0x80 else '\\u%04X') % ord(c)
    return ''.join(map(escaped, text))


def compare_counters(rows, answers):
    """-> how many have a mean"""
    expected, count = {}, 0
    for answer in answers:
        for v in {v.path: v for v in reversed(answer.values) if not v.is_text}.values():
            row = expected.setdefault(v.path, {'Samples': 0, 'results': [], 'type': v.type})
            row['Samples'] += 1
            row['results'] += [] if v.cooked is None else [v.cooked]
    shown = {row['Counter'].replace(' (assumed)', ''): row for row in rows}
    assert len(shown) == len(rows) and '0' not in {row['Samples'] for row in rows}
    assert set(shown) == {as_in_a_table(p) for p in expected}
    for path, e in expected.items():
        row, results = shown[as_in_a_table(path)], e['results']
        assert int(row['Samples']) == e['Samples'], path
        if not results:
            assert row['Unit'] == row['Max'] == ''
            continue
        for column, value in (('Last', results[-1]), ('Min', min(results)),
                              ('Mean', math.fsum(results) / len(results)), ('Max', max(results))):
            assert float(row[column]) == pytest.approx(value, rel=1e-5), (path, column)
        assert row['Unit'] == unit_of(e['type']), path
        count += 1
    return count


def test_counters(stat, passes):
    scenario = whole_session()
    assert compare_counters(stat(scenario, 'counters', *passes), series(scenario)) > 60


@pytest.mark.parametrize('how', [{}, dict(samba=True)], ids=['windows', 'samba'])
def test_counters_of_hkpd(stat, how, passes):
    scenario = hkpd_scenario.session(samples=4, **how)
    assert compare_counters(stat(scenario, 'counters', *passes), series(scenario)) == 45


@pytest.mark.parametrize('kind, base, unit', [('PERF_COUNTER_BULK_COUNT', None, '/sec'), ('PERF_PRECISION_SYSTEM_TIMER', 'PERF_LARGE_RAW_BASE', '%'),
                                              ('PERF_AVERAGE_BULK', 'PERF_LARGE_RAW_BASE', '')])
def test_resets(stat, kind, base, unit):
    """A value, or a base, that goes backwards has no result, and is counted."""
    numbers = [2 ** 33 + n for n in (0, 10, 5, 25, 20, 60)]
    first = counter(1, kind, 'Things', lambda at, k: 1000 + 3 * at.number, base=2) if base else counter(1, kind, 'Things', numbers)
    s = single('Small', first, *([counter(2, base, None, numbers)] if base else []))
    scenario, c = begin(Server([s], clock=seconds(20)), s)
    run(c, [ask(s, i) for i in (1, 2)[:1 + bool(base)]], len(numbers))
    row = stat(scenario, 'counters')[0]
    assert (row['Counter'][-6:], row['Samples'], row['Resets'], row['Unit']) == ('Things', '6', '2', unit)


def test_two_queries_of_one_counter(stat):
    """One row for a path, whoever asked. A filter chooses answers."""
    s = small(lambda at, k: 10 + at.number)
    scenario, c = begin(Server([s]), s)
    handles = [c.query([ask(s, 1)]) for _ in range(2)]
    for h in handles + handles[:1] * 3 + handles:
        c.data(h, 1000)
    row, = stat(scenario, 'counters')
    assert (row['Samples'], row['Last'], row['Mean']) == ('7', '16', '13')
    row, = stat(scenario, 'counters', query_filter='frame.number in {%d, %d}' % tuple(frames(scenario, stubs.DATA, 'response')[1:3]))
    assert (row['Samples'], row['Min'], row['Max']) == ('2', '11', '12')


@pytest.mark.parametrize('where', ['table', 'file', 'terminal'])
def test_nothing_steers_a_terminal(tshark, tmp_path, where):
    """Control characters of both kinds and directional marks: a table has escapes, a terminal blanks; a file holds what was sent."""
    name = 'a\x1b[31m\x7f\x80\x85\x9b2J\xa0\u2029\u202a\u202e\u202f\u2065\u2066\u2069\u206a性z'
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', lambda at, k: 5), instances=lambda n: [(1, name)])
    capture = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 1))).write(tmp_path / 'scenario.pcap')
    if where == 'table':
        row, = table(tshark, capture, 'pcq,counters')
        assert row['Counter'] == as_in_a_table('\\\\SRV01\\Set(%s)\\Size' % name)
        return
    command = [TSHARK, '-q', '-r', capture, '-z', 'pcq,long,' + ('-' if where == 'terminal' else str(tmp_path / 'out'))]
    ours, theirs = pty.openpty()
    subprocess.run(command, env=tshark.env, stdout=theirs, check=True)
    os.close(theirs)
    text = os.read(ours, 65536) if where == 'terminal' else (tmp_path / 'out').read_bytes()
    os.close(ours)
    row = text.decode().replace('\r\r\n', '\r\n').split('\r\n')[1].split(',')
    assert row[6] == (name if where == 'file' else ''.join(c if as_in_a_table(c) == c else ' ' * len(c.encode()) for c in name))


# --- queries --------------------------------------------------------------------------------------------------------

SECOND = 10 ** 6


def test_queries(stat, passes):
    """Intervals from request to request, by the capture's clock."""
    ticks = [0, 10000123, 20000456, 30000001, 40000210, 85000321, 95000007, 105000111]
    stamps = [(5 * 10 ** 11 + t, 134351767437550592 + t) for t in ticks]
    scenario = one_counter(list(range(8)), clock=Times(stamps))
    row, = stat(scenario, 'queries', *passes)
    asked = [scenario.capture.frames[n - 1][0] for n in frames(scenario, stubs.DATA, 'request')]
    intervals = [(b - a) / SECOND for a, b in zip(asked, asked[1:])]
    median = statistics.median(intervals)
    assert float(row['Interval (s)']) == pytest.approx(median, rel=1e-5)
    assert float(row['Jitter (s)']) == pytest.approx(statistics.median(abs(x - median) for x in intervals), rel=1e-5)
    assert float(row['Longest gap (s)']) == pytest.approx(max(intervals), rel=1e-5)
    offsets = [(filetime - EPOCH) / 10 ** 7 - a.at.timestamp() for (_, filetime), a in zip(stamps, series(scenario))]
    assert float(row['Server clock (s)']) == pytest.approx(statistics.median(offsets), abs=6e-4)
    opened, closed = frames(scenario, stubs.OPEN, 'response')[0], frames(scenario, stubs.CLOSE, 'request')[0]
    assert (row['Query'], row['Client'], row['Server']) == ('query 1', '192.0.2.10', 'SRV01 (192.0.2.20)')
    assert (row['Opened'], row['Closed']) == ('frame %d' % opened, 'frame %d' % closed)
    assert (row['Counters'], row['Refused'], row['Samples']) == ('1', '0', '8')
    # PERF_DATA_HEADER, PERF_COUNTER_HEADER, PERF_COUNTER_DATA with 4 bytes ([MS-PCQ] 2.2.4.8 and after)
    assert row['Bytes/sample'] == str(48 + 16 + 16)


def test_queries_without_samples_or_ends(stat):
    s = small()
    server = Server([s], clock=seconds(9, filetime=36 * 10 ** 9))       # counts from the machine's start, an hour ago
    early = unseen(server).open()
    scenario, c = begin(server, s)
    c.validate(early, [ask(s, 1), ask(s, 9)])
    c.data(early, 1000)
    c.open()
    first, = stat(scenario, 'queries')        # none without samples
    assert (first['Opened'], first['Closed'], first['Samples']) == ('before the capture', 'left open', '1')
    assert (first['Counters'], first['Refused'], first['Interval (s)'], first['Server clock (s)']) == ('1', '1', '', '')


def test_a_query_for_each_sample_is_one_row(stat, passes):
    """Of two pollers with a set of counters each, whether they close it or not; one without samples stays apart. What is refused each time is a row, too."""
    sets = [single(name, counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', lambda at, k: at.number)) for name in ('A', 'B')]
    scenario, c = begin(Server(sets), *sets)
    for _ in range(4):
        for s in sets:
            run(c, [ask(s, 1), ask(s, 9)], 1)
    run(c, [ask(sets[0], 1), ask(sets[0], 9)], 2, close=False)
    run(c, [ask(sets[0], 1), ask(sets[0], 9)], 1, close=False)
    c.open()
    rows = stat(scenario, 'queries', *passes)
    assert [(row['Query'], row['Samples'], row['Refused']) for row in rows] == [
        ('query 1 and 5 more', '7', '6'), ('query 2 and 3 more', '4', '4')]
    assert [(r['Query'], r['Count']) for r in stat(scenario, 'refusals', *passes)] == [('query 1', '6'), ('query 2', '4')]
    opens, closes = frames(scenario, stubs.OPEN, 'response'), frames(scenario, stubs.CLOSE, 'request')
    assert [(row['Opened'], row['Closed']) for row in rows[:2]] == [
        ('frame %d' % opens[0], 'left open'), ('frame %d' % opens[1], 'frame %d' % closes[-1])]
    asked = [scenario.capture.frames[n - 1][0] / SECOND for n in frames(scenario, stubs.DATA, 'request')[1:8:2]]
    gaps = [b - a for a, b in zip(asked, asked[1:])]
    assert float(rows[1]['Interval (s)']) == pytest.approx(statistics.median(gaps), abs=1e-5)


@pytest.mark.parametrize('statistic', ['queries', 'counters', 'refusals'])
def test_a_capture_that_is_forgotten_in_its_middle(tshark, tmp_path, statistic):
    """tshark -M: what was counted stays, and a handle that comes later is another one, wherever it lies in memory."""
    sets = [single('Set %d' % n, counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', lambda at, k: 10)) for n in range(30)]
    server, scenario = Server(sets), Scenario()
    for n, s in enumerate(sets):
        c = tcp_line(scenario, server, client_port=50001 + n).client()
        learn(c, s)
        run(c, [ask(s, 1), ask(s, 9)], 2)
    size = len(scenario.capture.frames) // 30
    assert size * 30 == len(scenario.capture.frames)
    rows = table(tshark, scenario.write(tmp_path / 'scenario.pcap'), 'pcq,' + statistic, '-M', size)
    rows = [row for row in rows if row.get('Samples') != '0']
    assert len(rows) == 30 and {row.get('Samples', row.get('Count')) for row in rows} == {'1' if statistic == 'refusals' else '2'}
    if statistic == 'queries':
        assert {row['Opened'] for row in rows} != {'before the capture'} and {row['Bytes/sample'] for row in rows} == {'80'}


def test_queries_of_hkpd(stat, passes):
    """Of objects without instances definitions count, whether there are instances now or never."""
    row, = stat(hkpd_scenario.session(samples=4), 'queries', *passes)
    assert row['Query'].startswith('handle ') and row['Samples'] == '4'
    assert row['Opened'].startswith('frame ') and row['Closed'].startswith('frame ')
    assert float(row['Interval (s)']) > 0
    assert row['Counters'] == str(sum(len(o.counters) for o in hkpd_scenario.machine())) == '17'


# --- whose fault it is ----------------------------------------------------------------------------------------------

def paced(pauses, takes, probes=(), stamped='end'):
    """A query of one counter: how long the client pauses before each sample, how long the server takes for it (and for
    the size probe before it), in seconds; the server's clock is read at the beginning or the end of that."""
    s = small()
    scenario = Scenario()
    stamps, waits = [], []
    server = Server([s], clock=Times(stamps))

    def wait(opnum, kind, stub):
        if (opnum, kind) == (stubs.DATA, 'request'):
            wait.asked = scenario.capture.now
        if (opnum, kind) == (stubs.DATA, 'response'):
            scenario.capture.now = wait.asked + int(waits.pop(0) * SECOND)
        return stub
    c = tcp_line(scenario, server, alters=wait).client()
    learn(c, s)
    h = c.query([ask(s, 1)], info=False)
    for n, (pause, take) in enumerate(zip(pauses, takes)):
        scenario.capture.now += int(pause * SECOND)
        if probes:
            stamps.append((0, 0))
            waits.append(probes[n])
            c.data(h, 0)
            stamps.pop()
        at = scenario.capture.now + (int(take * SECOND) if stamped == 'end' else 0)
        stamps.append((at * 10, EPOCH + at * 10))
        waits.append(take)
        c.data(h, 1000)
    return scenario


USUAL = [1.0] * 14
QUICK = [0.01] * 14


def but(usual, **other):
    return [other.get('n%d' % n, x) for n, x in enumerate(usual)]


@pytest.mark.parametrize('how, found', [
    (dict(pauses=USUAL), []),
    (dict(pauses=but(USUAL, n9=3.0)), [('Late sample', 3.01, 1.01)]),
    (dict(pauses=USUAL, takes=but(QUICK, n10=3.0)), [('Slow response', 3, .01)]),
    (dict(pauses=but(USUAL, n11=3.0), takes=but(QUICK, n11=4.0)), [('Late sample', 3.01, 1.01), ('Slow response', 4, .01)]),
    # a size probe and its repetition are one request
    (dict(pauses=but(USUAL, n11=3.0), probes=QUICK), [('Late sample', 3.02, 1.02)]),
    (dict(pauses=USUAL, probes=but(QUICK, n10=2.0)), []),
], ids=['in time', 'late', 'slow', 'both', 'probes', 'slow probe'])
def test_a_packet_says_what_is_late_or_slow(tshark, tmp_path, how, found, passes):
    scenario = paced(**{'takes': QUICK, **how})
    rows = tshark.fields(scenario.write(tmp_path / 'scenario.pcap'), ['frame.number', '_ws.expert.message'], *passes, '-Y', 'pcq.expert.late')
    said = re.findall(r'(Late sample|Slow response): (\S+) s (?:since the previous one )?\(usually (\S+) s\)', ','.join(r[1] for r in rows))
    assert [what for what, *_ in said] == [what for what, *_ in found]
    assert all(abs(float(x) - y) < .005 for one, other in zip(said, found) for x, y in zip(one[1:], other[1:])), said
    assert {int(r[0]) for r in rows} <= set(frames(scenario, stubs.DATA, 'response'))


@pytest.mark.parametrize('delay, late', [(0, 0), (3, 2)], ids=['in time', 'late'])
def test_who_asks_two_questions_in_turn_is_in_time(tshark, tmp_path, delay, late):
    """HKEY_PERFORMANCE_DATA: short times between two questions and long ones to the next two are as usual."""
    scenario, talk = hkpd_scenario.begin_talk()
    began = scenario.capture.now
    for n in range(12):
        for part, index in ((.1, 238), (.2, 2)):
            scenario.capture.now = began + int((n + part + (delay if n > 8 else 0)) * SECOND)
            talk.sample(str(index), only={index})
    scenario.write(tmp_path / 'turns.pcap')
    rows = tshark.fields(tmp_path / 'turns.pcap', ['_ws.expert.message'], '-Y', 'pcq.expert.late')
    assert [r[0] for r in rows] == ['Late sample: 4.000 s since the previous one (usually 1.000 s)'] * late


def test_response_times(stat, passes):
    takes = [0.01, 0.03, 0.02, 0.5, 0.04]
    scenario = paced(USUAL, takes)
    row, = stat(scenario, 'queries', *passes)
    assert (row['Median SRT (s)'], row['Max SRT (s)']) == ('0.03', '0.5')
    assert row['Max SRT frame'] == str(answers(scenario)[3][0])


def test_a_response_whose_request_is_missing_has_no_time(stat):
    s, drop = small(), [True, False, False]
    scenario, c = begin(Server([s]), s, alters=lambda opnum, kind, stub: None if (opnum, kind) == (stubs.DATA, 'request') and drop.pop(0) else stub)
    run(c, [ask(s, 1)], 3)
    row, = stat(scenario, 'queries')
    assert (row['Samples'], row['Median SRT (s)']) == ('2', '0.001')


# --- refusals -------------------------------------------------------------------------------------------------------

def test_the_refused(stat, passes):
    """Path, error by name, how often, the first frame, query and client; b is not there in two samples."""
    s = multiple('Comings', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', [5, 5]), instances=lambda n: [(ord(x), x) for x in ('a' if n in (1, 2) else 'ab')])
    scenario, c = begin(Server([s]), s)
    c.open()
    h = c.query([ask(s, 1, 'a'), ask(s, 9, 'a'), ask(s, 1, 'b')], info=False)
    c.validate(h, [ask(s, 9, 'a')])
    c.line.rpc.call_id -= 1                         # answered twice
    c.line.response(stubs.VALIDATE, frames_of(scenario, stubs.VALIDATE, 'response')[-1][1].stub)
    c.validate(h, [ask(s, 9, 'b')], add=False)      # no removal is a refusal
    c.validate(h, [ask(s, 1, 'b')])                 # the query has it: no refusal either
    c.info(h)
    for _ in range(4):
        c.data(h, 1000)
    rows = stat(scenario, 'refusals', *passes)
    assert list(rows[0])[:6] == ['Path', 'Error', 'Count', 'First frame', 'Query', 'Client']
    first = frames(scenario, stubs.VALIDATE, 'response')[0]
    gone = answers(scenario)[1][0]
    assert [tuple(r.values())[:6] for r in rows] == [
        ('\\\\SRV01\\Comings(a)\\#9', 'ERROR_WMI_ITEMID_NOT_FOUND', '2', str(first), 'query 2', '192.0.2.10'),
        ('\\\\SRV01\\Comings(b)\\Size', 'ERROR_NO_DATA', '2', str(gone), 'query 2', '192.0.2.10')]
    assert [r['Description'].split(' ')[:2] for r in rows] == [['counter', 'not'], ['no', 'data']]


def test_refusals_of_each_client_and_server(stat):
    """Also of servers with one name."""
    s, scenario, there = small(), Scenario(), [('192.0.2.10', '192.0.2.20'), ('192.0.2.11', '192.0.2.20'), ('192.0.2.10', '192.0.2.21')]
    for n, (client, server) in enumerate(there):
        tcp_line(scenario, Server([s]), client=client, server=server, client_port=50001 + n).client().query([ask(s, 9)])
    assert [(r['Client'], r['Count']) for r in stat(scenario, 'refusals')] == [(client, '1') for client, _ in there]


ALREADY_EXISTS = 183        # the query has the counter: no refusal


def test_refused_is_the_same_everywhere(stat, passes):
    """Refusals of counters, of queries, and Info's count those that the server's responses hold."""
    scenario = whole_session()
    refused = sum(f.value not in (0, ALREADY_EXISTS) for _, m in frames_of(scenario, stubs.VALIDATE, 'response') if m.record['parameters']['dwAdd']
                  for f in m.fields if f.name == 'pcq.identifier.status')
    failed = sum(bool(f.value) for _, m in answers(scenario) for f in m.fields if f.name == 'pcq.block.status')
    assert refused >= 2 and failed >= 3
    for name, columns in (('refusals', ['Count']), ('queries', ['Refused', 'Failed'])):
        rows = [r for r in stat(scenario, name, *passes) if name != 'refusals' or (r['Path'].startswith('\\') and r['Error'] != 'no instances')]
        assert sum(int(r[c]) for r in rows for c in columns) == refused + failed, name
    assert sum(int(r['Refused']) for r in stat(scenario, 'queries', *passes)) == refused


def test_a_failure_of_which_nobody_knows_whose_it_is(stat):
    s = multiple('Comings', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', [1, 1]))
    server = Server([s])
    c = unseen(server)
    early = c.query([ask(s, 1, 'a'), ask(s, 1, 'gone')], info=False)
    row, = stat(capture_talk(server, lambda c: c.data(early, 1000)), 'refusals')
    assert (row['Path'], row['Error'], row['Query']) == ('(not known whose block it is)', 'ERROR_NO_DATA', 'query 1')


# winerror.h's numbers and what their texts say there
ERRORS = {3: 'later', 5: 'rights', 8: 'memory', 14: 'memory', 21: 'not ready', 50: 'not support', 87: 'wrong', 170: 'busy',
          183: 'already', 232: 'no data', 258: 'in time', 1168: 'not there', 1450: 'memory', 1460: 'in time',
          1722: 'provider gone', 1726: 'provider gone', 4200: 'provider gone', 4201: 'instance not there',
          4202: 'counter not there', 4211: 'registration'}


def test_what_errors_mean(stat):
    """One that nothing is known of has no meaning."""
    s = single('Small', *[counter(n, 'PERF_COUNTER_RAWCOUNT', None, [1]) for n in (*ERRORS, 9999)])
    scenario = Scenario()

    def alter(opnum, kind, stub):
        if (opnum, kind) != (stubs.VALIDATE, 'response'):
            return stub
        stub = bytearray(stub)
        for i, n in enumerate((*ERRORS, 9999)):
            struct.pack_into('<I', stub, 4 + 40 * i + 16, n)        # behind the max count and the GUID
        return bytes(stub) + bytes(8)
    server = Server([s])
    c = tcp_line(scenario, server, alters=alter).client()
    c.validate(unseen(server).open(), [ask(s, n) for n in (*ERRORS, 9999)])
    rows = stat(scenario, 'refusals')      # without that which says that the query has it
    # of a damaged answer it is not believed that the server knows the handle
    assert {r['Query'] for r in rows} == {''}
    meanings = {int(r['Path'].rpartition('#')[2]): r['Description'] for r in rows}
    assert meanings.pop(9999) == '' and set(meanings) == set(ERRORS) - {ALREADY_EXISTS}
    for n, word in ERRORS.items():
        assert n == ALREADY_EXISTS or word in meanings[n], (n, meanings[n])


def test_calls_that_fail_as_a_whole(stat, passes):
    """Each operation is a row where access is denied; size probes and the ends of lists are none."""
    rows = stat(SCENARIOS['access-denied'](), 'refusals', *passes)
    assert [(r['Path'], r['Error'], r['Count']) for r in rows] == [
        (name, 'ERROR_ACCESS_DENIED', '1') for name in (
            'EnumerateCounterSet', 'OpenQueryHandle', 'QueryCounterInfo', 'QueryCounterData', 'ValidateCounters',
            'CloseQueryHandle')]
    assert all('rights' in r['Description'] for r in rows)
    assert stat(hkpd_scenario.session(samples=2), 'refusals', *passes) == []


# --- calls ----------------------------------------------------------------------------------------------------------

def tree(tshark, capture, *args, query_filter=''):
    """{(node, …): [cells]} of the statistics tree"""
    out, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,tree' + (query_filter and ',' + query_filter), *args)
    nodes, way = {}, []
    for line in out.split('\n'):
        m = re.match(r'( *)(\S.*?)  +(\d+) +(.*)$', line)
        if m:
            way = way[:len(m[1])] + [m[2]]
            nodes[tuple(way)] = [m[3]] + m[4].split()
    return nodes


def test_calls(tshark, tmp_path, passes):
    scenario = whole_session()
    scenario.write(tmp_path / 'scenario.pcap')
    nodes = tree(tshark, tmp_path / 'scenario.pcap', *passes)
    messages = [m for _, there in sorted(scenario.frames.items()) for m in there]
    requests = Tally(stubs.OPERATIONS[m.opnum].removeprefix('PerflibV2') for m in messages if m.kind == 'request')
    assert nodes['Requests by operation',][0] == str(sum(requests.values()))
    for name, count in requests.items():
        assert nodes['Requests by operation', name][0] == str(count), name
    statuses = Tally(m.status for m in messages if m.kind == 'response')
    assert nodes['Responses by status',][0] == str(sum(statuses.values()))
    assert nodes['Responses by status', 'ERROR_SUCCESS'][0] == str(statuses[0])
    assert nodes['Responses by status', 'ERROR_NOT_ENOUGH_MEMORY'][0] == str(statuses[8])


def test_calls_of_hkpd(tshark, tmp_path, passes):
    """Only what concerns performance data: the rest of the registry is not counted, nor a repeated response."""
    scenario = hkpd_scenario.session(samples=3)
    talk = hkpd_scenario.Talk(scenario, client_port=50009)
    talk.open()
    talk.sample('238 2', only={2, 238})
    talk.ask('Another', b'\1\0\0\0')
    rpc = talk.rpc
    rpc.transport.to_client(rpc.response_pdus(bytes(hkpd_stubs.answer(None, size=5000)), call_id=rpc.call_id - 1))
    scenario.write(tmp_path / 'scenario.pcap')
    nodes = tree(tshark, tmp_path / 'scenario.pcap', *passes)
    kinds = Tally(m.kind for there in scenario.frames.values() for m in there)
    assert nodes['Requests by operation',][0] == str(kinds['request'])
    assert int(nodes['Requests by operation', 'QueryValue'][0]) == 7
    assert nodes['Responses by status',][0] == str(kinds['response'])


@pytest.mark.parametrize('filter_', ['pcq.counter_data', 'pcq.path contains "Memory"'])
def test_a_query_that_was_closed_beside_the_filter(tshark, tmp_path, filter_):
    """The filter chooses the answers that count, as in docs/statistics.md's example. The query was closed, in the capture, and not left open, as -2
    says; Opened says where it was opened, which the filter leaves out as well."""
    capture = captured(tmp_path / 'scenario.pcap', 8)
    row, = [r for r in lines_of(tshark, capture, 'pcq,queries,' + filter_) if r['Server'] is not None]
    assert row['Samples'] == '8' and row['Closed'].strip() != 'left open'
