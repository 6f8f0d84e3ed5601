# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,csv`, `-z pcq,long` and Export Objects: every byte of both forms, against series worked out from the generator."""

import base64
import functools
import gzip
import itertools
import json
import os
import re
import struct
import subprocess

import pytest

from conftest import TOP, TSHARK
from gen import hkpd_scenario, stubs
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, ask, begin, counter, frames_of, learn, multiple, run, seconds, single, capture_talk, unseen, whole_session
from gen.every_type import every_type, together
from series import RAW_COUNTS, compare_pdh, long_rows, pdh_rows, series, table, unit_of
from test_order import sharkd  # noqa: F401 (a fixture)

FIRST_SAMPLE = 'first sample'


@pytest.fixture
def export(tshark, tmp_path):
    """export(scenario, 'csv', …) -> the text of the file"""
    def get(scenario, form, *args, query_filter='', name='out.csv'):
        capture, out = tmp_path / 'scenario.pcap', tmp_path / name
        scenario.write(capture)
        tshark.run('-q', '-r', capture, *scenario.options, '-z', 'pcq,%s,%s%s' % (form, out, query_filter and ',' + query_filter),
                   *args)
        return out.read_bytes().decode('utf-8')
    return get


def failing(tshark, *args):
    """(exit status, what is said) of a tshark that is expected to fail"""
    done = tshark.start(*args, timeout=60)
    return done.returncode, done.stderr.decode('utf-8', 'replace')


@functools.cache
def all_types():
    types = every_type(False)
    scenario, c = begin(Server([types], clock=seconds(9)), types)
    run(c, together(types, 6)[0], 4)
    return scenario


def small(samples=3):
    s = single('Small', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Things', lambda at, k: 1000 + 10 * at.number))
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1)], samples)
    return scenario


# --- PDH-CSV ------------------------------------------------------------------------------------------------------

def refused(scenario):
    """How many counters of the scenario's only query were asked for and never added."""
    outcomes = {}
    for _, m in frames_of(scenario, stubs.VALIDATE, 'response'):
        identifiers = []
        for f in m.fields if m.record['parameters']['dwAdd'] else ():
            if f.name == 'pcq.counterset.guid':
                identifiers.append({})
            if identifiers:
                identifiers[-1].setdefault(f.name, f.value)
        for i in identifiers:
            key = tuple(i.get('pcq.' + n) for n in ('counterset.guid', 'counter.id', 'instance.name'))
            outcomes.setdefault(key, set()).add(i['pcq.identifier.status'])
    return sum(0 not in seen for seen in outcomes.values())


@pytest.mark.parametrize('make', [whole_session, all_types, *(
    functools.partial(hkpd_scenario.session, samples=4, **how) for how in ({}, dict(samba=True), dict(block_order='>')))],
    ids=['whole_session', 'all_types', 'windows', 'samba', 'big-endian'])
def test_pdh_csv(export, make, passes):
    scenario = make()
    assert compare_pdh(export(scenario, 'csv', *passes), series(scenario), refused(scenario)) > 60


def two_queries():
    """Two handles that are asked in turns, and the answers of each."""
    sets = [single('First', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', lambda at, k: at.number)),
            single('Second', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Two', lambda at, k: 100 + at.number))]
    scenario, c = begin(Server(sets), *sets)
    handles = [c.query([ask(s, 1)]) for s in sets]
    for handle in handles * 3:
        c.data(handle)
    answers = series(scenario)
    return scenario, answers[0::2], answers[1::2]


@pytest.mark.parametrize('name, other', [('run.csv', 'run-query-2.csv'), ('folder.d/run', 'folder.d/run-query-2'),
                                         ('folder.d/a.b.csv', 'folder.d/a.b-query-2.csv')])
def test_a_file_for_each_query(export, tmp_path, name, other):
    """A folder's dot is none of the file's."""
    scenario, first, second = two_queries()
    (tmp_path / 'folder.d').mkdir()
    assert compare_pdh(export(scenario, 'csv', name=name), first) == 3
    assert compare_pdh((tmp_path / other).read_bytes().decode(), second) == 3
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob('*') if p.is_file()) == sorted([name, other, 'scenario.pcap'])


@pytest.mark.parametrize('make, names', [(lambda: two_queries()[0], r'SRV01-query-[12]\.csv'),
                                         (lambda: hkpd_scenario.session(samples=3), r'SRV01-hkpd-\d+\.csv'),
                                         (whole_session, r'SRV01-query-\d+\.csv')], ids=['two queries', 'hkpd', 'whole'])
def test_export_objects(tshark, tmp_path, make, names, passes):
    """A file for each handle, and what -z pcq,names writes."""
    scenario, folder = make(), tmp_path / 'objects'
    tshark.run('-q', '-r', scenario.write(tmp_path / 'scenario.pcap'), *passes, '--export-objects', 'pcq,%s' % folder,
               '-z', 'pcq,names,%s' % (tmp_path / 'names'))
    files = {p.name: p.read_bytes().decode() for p in folder.iterdir()}
    assert files.pop('pcq_names') == (tmp_path / 'names').read_text()
    handles = sorted({a.key for a in series(scenario)}, key=[a.key for a in series(scenario)].index)
    assert len(files) == len(handles) and all(re.fullmatch(names, name) for name in files)
    for name, handle in zip(sorted(files), handles):
        assert compare_pdh(files[name], [a for a in series(scenario) if a.key == handle], None) >= 3


def objects_of(s):
    """-> the list's rows, and {name: text}, of sharkd"""
    out, = s.ask(('tap', dict(tap0='nstat:pcq,queries', tap1='eo:pcq')))
    table, tap = sorted(json.loads(out)['result']['taps'], key=lambda t: 'objects' in t)
    assert 'SRV01' in str(table)        # both are filled at the end
    names = [o['filename'] for o in tap['objects']]
    told = [s.ask(('download', dict(token='%s_%d' % (tap['tap'], i)))) for i in range(len(names))]
    return tap['objects'], {n: base64.b64decode(json.loads(t)['result']['data']).decode() for n, (t,) in zip(names, told)}


def test_objects_again_and_again(sharkd, tmp_path):     # noqa: F811
    """Whoever frees the objects and asks again gets the same again: in any order, beside statistics, of another capture. The list
    has the first answer's packet, the host, and what it is."""
    scenario, first, second = two_queries()
    scenario.write(tmp_path / 'scenario.pcap')
    whole_session().write(tmp_path / 'other.pcap')
    s = sharkd()
    for _ in range(2):
        s.load(tmp_path / 'scenario.pcap')
        for _ in range(3):
            rows, texts = objects_of(s)
            assert sorted((o['type'], o['filename']) for o in rows) == [
                ('text/csv', 'SRV01-query-1.csv'), ('text/csv', 'SRV01-query-2.csv'), ('text/plain', 'pcq_names')]
            for name, answers in ('SRV01-query-1.csv', first), ('SRV01-query-2.csv', second):
                assert compare_pdh(texts[name], answers) == 3
                assert [(o['pkt'], o['hostname']) for o in rows if o['filename'] == name] == [(answers[0].frame, 'SRV01')]
            assert texts['pcq_names'].startswith('# pcq names 1\n') and 'First' in texts['pcq_names']
            s.ask(('tap', dict(tap0='nstat:pcq,counters', tap1='stat:pcq')))
        s.load(tmp_path / 'other.pcap')
        text, = (text for name, text in objects_of(s)[1].items() if name.endswith('.csv'))
        assert compare_pdh(text, series(whole_session()), refused(whole_session())) > 60
    lacks, again = re.findall('pcq: (.*)', (tmp_path / 'home' / 'stderr').read_text())
    assert lacks == again


def test_standard_output(tshark, tmp_path, export):
    """Of all queries, for "-" and for no name."""
    for form, others in ('csv', ['out-query-2.csv']), ('long', []):
        text = export(two_queries()[0], form) + ''.join((tmp_path / name).read_bytes().decode() for name in others)
        for name in '-', '':
            done = tshark.start('-q', '-r', tmp_path / 'scenario.pcap', '-z', 'pcq,%s,%s,pcq' % (form, name))
            assert (done.returncode, done.stdout) == (0, text.encode())
    # a file's name may lack a dot
    subprocess.run([TSHARK, '-q', '-r', tmp_path / 'scenario.pcap', '-z', 'pcq,csv,run'], env=tshark.env, cwd=tmp_path, check=True)
    assert {p.name for p in tmp_path.glob('r*')} == {'run', 'run-query-2'}


def test_rows_as_they_come(tshark):
    """Of a capture that goes on: an answer's rows are there before the next packets are."""
    scenario = small(6)
    answers, ends, data = series(scenario), [24], scenario.capture.file()
    for _, frame in scenario.capture.frames:
        ends.append(ends[-1] + 16 + len(frame))
    assert ends[-1] == len(data)
    child = subprocess.Popen([TSHARK, '-q', '-r', '-', '-z', 'pcq,long,-'], env=tshark.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for before, frame in zip([0, *(ends[a.frame] for a in answers)], [a.frame for a in answers]):
        child.stdin.write(data[before:ends[frame]])
        child.stdin.flush()
        lines = [child.stdout.readline() for _ in range(1 + (before == 0))]
        assert lines[-1].split(b',')[1] == str(frame).encode()
    child.stdin.close()
    child.stdout.read()
    assert child.wait(20) == 0


def test_names_that_change_places(export):
    """Instances that change places, go and come back, are renamed, and names that are learned between two answers:
    both forms have what is known as it goes by."""
    there = ['abc', 'abc', 'acb', 'ab', 'acd', 'abc', 'a', 'abc', 'bca', 'bca', 'bcd', 'xbcd', 'dac', 'acd', 'xbd']
    s = multiple('Comings', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', lambda at, k: 10 * at.number + k),
                 counter(2, 'PERF_COUNTER_RAWCOUNT', 'Weight', lambda at, k: 1000 * at.number + k),
                 counter(3, 'PERF_COUNTER_LARGE_DELTA', 'Growth', lambda at, k: 1000 * k + k * at.number),
                 instances=lambda n: [(ord(x), x) for x in there[n]])
    server = Server([s])

    def talk(c):
        learn(c, s, codes=(1, 9))
        handle = c.query([ask(s, name='*')])
        for n in range(len(there)):
            if n == 6:
                learn(c, s, codes=(10,))
            c.data(handle, 1 << 20)
    scenario = capture_talk(server, talk)
    late = {a.frame for a in series(scenario)[6:]}
    for passes in [], ['-2']:
        rows = long_rows(export(scenario, 'long', *passes))
        answers = [a if passes or a.frame in late else a._replace(values=[v._replace(path=re.sub(
            'Size$', '#1', re.sub('Weight$', '#2', re.sub('Growth$', '#3', v.path)))) for v in a.values]) for a in series(scenario)]
        assert [r['path'] for r in rows] == [v.path for a in answers for v in a.values]
        cells = {(a.frame, v.path): v.cooked for a in answers for v in reversed(a.values)}
        assert compare_pdh(export(scenario, 'csv', *passes), answers) == sum(x is not None for x in cells.values())


@pytest.mark.parametrize('ids', [(5, 5), (5, 6)], ids=['equal-ids', 'other-ids'])
def test_a_second_instance_of_a_name_beside_the_first_alone(export, ids, passes):
    """A block for the name alone holds the first of that name: nothing that the second is compared with or divided by."""
    rows = [ids[:1], ids, ids, ids[:1], ids]
    s = multiple('Pairs', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Things', lambda at, k: 5000 * at.number + 70000 * k),
                 counter(2, 'PERF_LARGE_RAW_FRACTION', 'Part', lambda at, k: 30 + k, base=3),
                 counter(3, 'PERF_LARGE_RAW_BASE', None, lambda at, k: 60 + k),
                 instances=lambda n: [(i, 'twin') for i in rows[n]])
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, '*'), ask(s, 2, '*'), ask(s, 1, 'twin'), ask(s, 3, 'twin')], len(rows))
    answers = series(scenario)
    second = [v.cooked for a in answers for v in a.values if v.path.endswith('#1)\\Things')]
    assert [x is None for x in second] == [True, False, True]
    # where one came or went nobody knows which is the first of them
    answers = [a if n == 2 else a._replace(values=[v._replace(cooked=None) if v.path.endswith('Things') else v for v in a.values])
               for n, a in enumerate(answers)]
    assert compare_pdh(export(scenario, 'csv', *passes), answers) == 1 + 1 + 5


def test_more_than_a_tree_holds(export):
    """The tree's budget is none of the export's."""
    s = multiple('Crowd', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', lambda at, k: k),
                 instances=['i%d' % i for i in range(3000)])
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, '*')], 2)
    limit = ['-o', 'gui.max_tree_items:1000']
    assert compare_pdh(export(scenario, 'csv', *limit), series(scenario)) == 6000
    assert len(long_rows(export(scenario, 'long', *limit))) == 6000


# --- The long form ------------------------------------------------------------------------------------------------

def parts(path):
    m = re.fullmatch(r'\\\\([^\\]*)\\(.*)\\([^\\]*)', path, re.S)
    server, middle, name = m.groups()
    m = re.fullmatch(r'(.*?)\((.*)\)', middle, re.S)
    return (server, *(m.groups() if m else (middle, '')), name)


def compare_long(text, answers, simple=True, protocol='pcq'):
    """-> how many results were compared"""
    rows, expected = long_rows(text), [(a, v) for a in answers for v in a.values]
    assert len(rows) == len(expected)
    for row, (answer, v) in zip(rows, expected):
        shown = dict(time=answer.at.strftime('%Y-%m-%dT%H:%M:%S.%f') + '000Z', frame=str(answer.frame), query='1', status='0',
                     protocol=protocol, assumed='0', path=v.path, unit=unit_of(v.type))
        if simple:
            shown.update(zip(('server', 'counterset', 'instance', 'counter'), parts(v.path)))
        if isinstance(v.raw, int) or v.is_text:
            shown['raw'] = str(v.raw)
        if v.cooked is None:
            shown['result'] = ''
        elif v.type in RAW_COUNTS:
            shown['result'] = str(v.raw)
        else:
            number = float(row['result'])
            assert number == pytest.approx(v.cooked, rel=1e-12), row
            assert repr(number) in (row['result'], row['result'] + '.0') or 'e' in repr(number), row
        assert row == row | shown and bool(row['reason']) == (v.cooked is None and not v.is_text)
    return sum(v.cooked is not None for _, v in expected)


def test_long(export, passes):
    scenario = all_types()
    answers, text = series(scenario), export(scenario, 'long', *passes)
    assert compare_long(text, answers) > 150
    first = [r for r in long_rows(text) if r['frame'] == str(answers[0].frame)]
    assert {r['reason'] for r in first if r['counter'] == 'PERF_COUNTER_COUNTER'} == {FIRST_SAMPLE}


def awkward(count):
    """Names that need quotes or have an end of line, long ones, and more counters than the writer keeps the cells of."""
    names = ['a,b', 'say "so"', '"', 'n' * 96, 'n' * 97, '"' * 96, '\u00e4' * 60, 'x,' * 300]
    names += ['counter %d' % i for i in range(len(names), count)]
    s = multiple('Set, "one"', *[counter(i, 'PERF_COUNTER_BULK_COUNT', n, lambda at, k, i=i: 1000 * at.number * i + at.number)
                                 for i, n in enumerate(names)], instances=lambda n: [(0, 'i,1'), (1, '"'), (2, 'line\nend')])
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, name='*')], 3)
    return scenario


@pytest.mark.parametrize('count', [10, 400])
def test_awkward_names(export, count, passes):
    scenario = awkward(count)
    assert compare_long(export(scenario, 'long', *passes), series(scenario), simple=False) == 2 * 3 * count
    assert compare_pdh(export(scenario, 'csv', *passes), series(scenario)) == 2 * 3 * count


def test_long_of_hkpd(export, passes):
    scenario = hkpd_scenario.session(samples=3)
    assert compare_long(export(scenario, 'long', *passes), series(scenario), simple=False, protocol='hkpd') > 60


COUNTS = [2 ** 64 - 1, 2 ** 53 + 1, 0]     # the first two are no doubles
TEXTS = ['Intel(R) CPU', 'a\tb c', 'two\r\nlines', '', 'x, "y"', '\u043b\u0438\u043d\u0438\u044f']


@pytest.mark.parametrize('kind, told, values', [
    ('LARGE_RAWCOUNT', (1, 9, 10), COUNTS), ('LARGE_RAWCOUNT_HEX', (1, 9, 10), COUNTS),
    ('TEXT', (1, 9, 10), TEXTS)], ids=['count', 'hexadecimal', 'text'])
def test_values_as_they_were_sent(export, kind, told, values, passes):
    """All bits of a count; a text with white space in it, or without a character, where its type says that it is one."""
    s = single('Sent', counter(1, 'PERF_COUNTER_' + kind, 'Name', values))
    scenario, c = begin(Server([s]))
    learn(c, s, codes=told)
    run(c, [ask(s, 1)], len(values))
    rows = long_rows(export(scenario, 'long', *passes))
    assert [(r['raw'], r['result'], r['reason']) for r in rows] == [(str(v), '' if kind == 'TEXT' else str(v), '') for v in values]


def test_bytes_of_an_unknown_type_are_whole(export):
    s = single('Sent', counter(1, 'PERF_COUNTER_TEXT', 'Name', ['x' * 1000]))
    row, = long_rows(export(capture_talk(Server([s]), lambda c: run(c, [ask(s, 1)], 1)), 'long'))
    assert row['raw'].startswith(('x' * 1000).encode('utf-16-le').hex()), row


def test_an_answer_of_no_known_query(tshark, tmp_path):
    """Its request ends too soon, and its handle was never seen to be opened: the row says of no query."""
    s = single('Small', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', [7]))
    server, scenario = Server([s]), Scenario()
    hidden = unseen(server)
    early = hidden.query([ask(s, 1)], info=False)
    c = tcp_line(scenario, server, alters=lambda opnum, kind, stub: stub[:-4] if kind == 'request' else stub).client()
    c.data(early, 1000)
    line, = said(tshark, tmp_path, scenario.write(tmp_path / 'scenario.pcap'), 'long')
    assert 'responses of no known query or handle: 1; ' in line
    shown, _ = tshark.run('-q', '-r', tmp_path / 'scenario.pcap', '-z', 'pcq,summary')
    assert 'no samples' in shown and '\nresponses of no known query or handle: 1; ' in shown
    row, = long_rows((tmp_path / 'said.csv').read_bytes().decode())
    assert (row['query'], row['raw'], row['counter']) == ('', '7', '')


@pytest.mark.parametrize('form', ['csv', 'objects'])
def test_refused_counters_have_blank_columns(tshark, tmp_path, form, passes):
    """As typeperf writes them: behind the others, once each; not what the server added later, nor other queries'."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', [5]), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Late', [6]))
    server = Server([s])

    def talk(c):
        learn(c, s)
        for counters in (1, 8), (1, 9, 2):
            h = c.query([ask(s, n, 'a') for n in counters], info=False)
            c.validate(h, [ask(s, 9, 'a')], add=False)
            c.info(h)
            c.data(h, 1000)
            c.validate(h, [ask(s, counters[1], 'a'), ask(s, 7, 'b')])
            c.data(h, 1000)
            c.data(h, 1000)         # which fails, and is no counter
        c.query([ask(s, 9, 'a')])       # no sample, so no document
    answers = itertools.cycle([None, None, bytes(stubs.response(stubs.DATA, status=5))])
    capture = capture_talk(server, talk, alters=lambda opnum, kind, stub: (opnum, kind) == (stubs.DATA, 'response') and next(answers) or stub).write(tmp_path / 'a.pcap')
    how, names = {'csv': (['-z', 'pcq,csv,%s' % (tmp_path / 'x.csv')], ('x.csv', 'x-query-2.csv')),
                  'objects': (['--export-objects', 'pcq,%s' % tmp_path], ('SRV01-query-1.csv', 'SRV01-query-2.csv'))}[form]
    tshark.run('-q', '-r', capture, *how, *passes)
    texts = [(tmp_path / name).read_bytes().decode() for name in names]
    set_a, set_b = '\\\\SRV01\\Set(a)\\', '\\\\SRV01\\Set(b)\\'
    first, second = [pdh_rows(t) for t in texts]
    assert first[0][1:] == [set_a + 'Size', set_a + '#8', set_b + '#7']
    assert [r[1:] for r in first[1:]] == [['5.000000', ' ', ' ']] * 2
    assert second[0][1:] == [set_a + 'Size', set_a + 'Late', set_a + '#9', set_b + '#7']
    assert [r[1:] for r in second[1:]] == [['5.000000', '6.000000', ' ', ' ']] * 2 and not list(tmp_path.glob('*query-3*'))


def test_refused_blocks(tshark, tmp_path, export):
    """An instance that is gone: a row with the block's status and no value; no column of its own in PDH-CSV."""
    s = multiple('Comings', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', [5]), instances=lambda n: [(ord(x), x) for x in ('ab', 'a', 'ab')[n]])
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, 'a'), ask(s, 1, 'b')], 3)
    rows = long_rows(export(scenario, 'long'))
    assert [(r['instance'], r['raw'], r['result'], r['reason'], r['status']) for r in rows] == [
        ('a', '5', '5', '', '0'), ('b', '5', '5', '', '0'),
        ('a', '5', '5', '', '0'), ('b', '', '', 'ERROR_NO_DATA', '232'),
        ('a', '5', '5', '', '0'), ('b', '5', '5', '', '0')]
    assert rows[3]['path'] == '\\\\SRV01\\Comings(b)\\Size' and {r['assumed'] for r in rows} == {'0'}
    assert compare_pdh(export(scenario, 'csv'), series(scenario)) == 5
    scenario, c = begin(Server([s]), s)
    run(c, [ask(s, 1, 'a'), ask(s, 1, 'b')], 3, info=False, close=False)
    c.line.rpc.call_id -= 1     # a second response to the last call
    c.line.response(stubs.DATA, frames_of(scenario, stubs.DATA, 'response')[1][1].stub)
    assert [(r['status'], r['assumed']) for r in long_rows(export(scenario, 'long'))] == [(r['status'], '1') for r in rows]
    failed, = table(tshark, tmp_path / 'scenario.pcap', 'pcq,refusals')
    assert (failed['Path'], failed['Count']) == ('\\\\SRV01\\Comings(b)\\Size (assumed)', '1')


# --- Damage: of captures with bad input statistics/test_books.py looks at both forms ---------------------------------

def odd_packets(scenario, path, at):
    """pcapng: a section, an interface, Simple Packet Blocks, whose packets have no time, or Enhanced ones, of a time in microseconds."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack('<II', kind, len(body) + 12) + body + struct.pack('<I', len(body) + 12)
    path.write_bytes(block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack('<HHI', 1, 0, 0)) +
                     b''.join(block(6, struct.pack('<5I', 0, at >> 32, at % 2 ** 32, len(data), len(data)) + data) if at else
                              block(3, struct.pack('<I', len(data)) + data) for _, data, *_ in scenario.capture.frames))
    return path


@pytest.mark.parametrize('at', [0, 10 ** 18], ids=['no time', 'the year 33658'])
def test_frames_without_a_time(tshark, tmp_path, passes, at):
    """Blank cells, not the year 1970, and no time that an answer took. The report has no clock to show."""
    scenario, page = small(), tmp_path / 'page.html'
    capture, out, long = odd_packets(scenario, tmp_path / 'scenario.pcapng', at), tmp_path / 'out.csv', tmp_path / 'long.csv'
    tshark.run('-q', '-r', capture, '-z', 'pcq,csv,%s' % out, '-z', 'pcq,long,%s' % long, '-z', 'pcq,report,%s' % page, *passes)
    assert ('"begin":%d,"seconds":0,"east":0' % (at // 10 ** 6)) in page.read_text()
    rows = pdh_rows(out.read_bytes().decode())[1:]
    assert len(rows) == len(series(scenario)) and {r[0] for r in rows} == {' '}
    rows = long_rows(long.read_bytes().decode())
    assert {r['time'] for r in rows} == {''} and any(r['result'] for r in rows)
    row, = table(tshark, capture, 'pcq,queries', *passes)
    assert row['Samples'] == str(len(series(scenario))) and row['Interval (s)'] in ('', '0')
    assert at or {row[c] for c in ('Median SRT (s)', 'Max SRT (s)', 'Max SRT frame')} == {''}


# --- Never silently empty -----------------------------------------------------------------------------------------

def said(tshark, tmp_path, capture, form, *args):
    """The lines on standard error of an export that succeeds"""
    how = ['--export-objects', 'pcq,%s' % (tmp_path / 'objects')] if form == 'objects' else ['-z', 'pcq,%s,%s' % (form, tmp_path / 'said.csv')]
    (tmp_path / 'said.csv').unlink(missing_ok=True)     # Wireshark 4.6 says that a PDH-CSV without rows is no good JSON
    _, err = tshark.run('-q', '-r', capture, *how, *args)
    return err.splitlines()


def untyped():
    """A client that browsed before the capture begins: names and types are not in it, but of one set."""
    s = single('Known', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Here', lambda at, k: 3))
    other = single('Strange', *[counter(n, 'PERF_COUNTER_BULK_COUNT', 'There %d' % n, lambda at, k: at.number) for n in (1, 2)])
    scenario, c = begin(Server([s, other]), s)
    run(c, [ask(s, 1), ask(other, 1), ask(other, 2)], 3)
    return scenario


def assumed(infos=1):
    """Two queries: QueryCounterInfo of the second, or of both, was not captured, so the order of its counters has to tell whose a
    block is. Its two counters are of one set, so it is assumed for both."""
    s = single('Pair', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Here', lambda at, k: 3),
               counter(2, 'PERF_COUNTER_RAWCOUNT', 'There', lambda at, k: 4))
    other = single('Other', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Sure', lambda at, k: 5),
                   counter(2, 'PERF_COUNTER_RAWCOUNT', 'Sure, too', lambda at, k: 6))
    scenario, c = begin(Server([s, other]), s, other)
    handles = [c.open(), c.open()]
    c.validate(handles[0], [ask(other, 1)] if infos else [ask(other, 1), ask(other, 2)])
    for handle in handles[:infos]:
        c.info(handle)
    c.validate(handles[1], [ask(s, 1), ask(s, 2)])
    for _ in range(3):
        for handle in handles:
            c.data(handle)
    return scenario


KEYS_OF_SMB3 = ['SMB3 encrypts', '-o ntlmssp.nt_password:', '-o kerberos.file:']
SAID = {    # by each export: a bundled capture or how it is made, options, words of what is said
    'ntlm': ('tcp-ntlm', [], ['not decoded: 104; ', 'sealed with NTLM', '-o ntlmssp.nt_password:']),
    'kerberos': ('smb3-kerberos', [], ['sealed with Kerberos', '-o kerberos.file:', 'keytab']),
    'wrong key': ('tcp-ntlm', ['-o', 'ntlmssp.nt_password:wrong'], ['ntlmssp.nt_password', 'key given', 'does not fit']),
    # Wireshark shows the plugin nothing of it; the key may be either kind
    'smb3': ('smb3-encrypted', [], KEYS_OF_SMB3), 'smb3 with kerberos': ('smb3-encrypted-kerberos', [], KEYS_OF_SMB3),
    'no call': (small, ['--disable-protocol', 'dcerpc'], ['no call of PerflibV2']),
    # a blank column without a word would be taken for a counter that stands still
    'untyped': (untyped, [], ['values of a counter or type that is not known: 6; ', 'pcq.names_file']),
    'assumed': (assumed, [], ['values that are assumed: 6; ', 'pcq.expert.order_assumed']),
    'both assumed': (lambda: assumed(infos=0), [], ['values that are assumed: 12; ']),
    'whole': (small, [], None),
}


@pytest.mark.parametrize('name', SAID)
def test_what_is_left_out_is_said(tshark, tmp_path, name, passes):
    make, options, words = SAID[name]
    capture = TOP / 'test' / 'pcaps' / (make + '.pcap') if isinstance(make, str) else make().write(tmp_path / 'scenario.pcap')
    for form in 'csv', 'objects', 'long':
        lines = said(tshark, tmp_path, capture, form, *options, *passes)
        if form == 'objects' and name in ('no call', 'smb3', 'smb3 with kerberos'):
            continue    # without a call the export of objects is not asked
        assert len(lines) == bool(words)
        assert all(word in lines[0] for word in words or ()), (form, lines)


@pytest.mark.parametrize('form', ['csv', 'long', 'objects'])
@pytest.mark.parametrize('name, kinds', [
    ('27-total-size', ['malformed responses', dict(long='values of a counter or type that is not known')]),
    ('08-short-stubs', ['malformed responses'])])
def test_damaged_answers_are_said(tshark, tmp_path, form, name, kinds):
    """Each answer that does not add up, and each without its request."""
    lines = said(tshark, tmp_path, TOP / 'test' / 'pcaps' / 'plain' / ('bad-%s.pcap' % name), form)
    kinds = [k.get(form, 'values that are not in the CSV') if isinstance(k, dict) else k for k in kinds]
    assert [x.split('pcq: ')[1].split(':')[0] for x in lines] == kinds


@pytest.mark.parametrize('name, words', [('tcp-ntlm', ['taught no names', 'sealed with NTLM', 'ntlmssp.nt_password']),
                                         ('empty', ['taught no names'])])
def test_names_that_are_not_there(tshark, tmp_path, name, words):
    """An error as ever, and why: the key that is missing, or a capture without a packet."""
    capture = TOP / 'test' / 'pcaps' / (name + '.pcap') if name != 'empty' else Scenario().write(tmp_path / 'scenario.pcap')
    status, said = failing(tshark, '-q', '-r', capture, '-z', 'pcq,names,%s' % (tmp_path / 'names'))
    assert status == 1 and all(w in said for w in words), said
    assert not (tmp_path / 'names').exists()


def test_each_has_its_filter(tshark, tmp_path):
    """The same statistic more than once in one run."""
    scenario, first, second = two_queries()
    scenario.write(tmp_path / 'scenario.pcap')
    asked = [x for form in ('csv', 'long') for n in (0, 1, 2)
             for x in ('-z', 'pcq,%s,%s,pcq.query.number == %d' % (form, tmp_path / ('%s%d' % (form, n)), n))]
    tshark.run('-q', '-r', tmp_path / 'scenario.pcap', *asked, '-z', 'pcq,csv,%s' % (tmp_path / 'all'))
    for n, answers in enumerate((first, second), 1):
        assert compare_pdh((tmp_path / ('csv%d' % n)).read_bytes().decode(), answers) == 3
        rows = long_rows((tmp_path / ('long%d' % n)).read_bytes().decode())
        assert [r['query'] for r in rows] == [str(n)] * 3
    assert (tmp_path / 'csv0').read_bytes() == b'"(PDH-CSV 4.0) (UTC)(0)"\r\n' and long_rows((tmp_path / 'long0').read_bytes().decode()) == []
    assert compare_pdh((tmp_path / 'all').read_bytes().decode(), first) == 3
    assert {p.name for p in tmp_path.iterdir()} == {*(form + n for form in ('csv', 'long') for n in '012'), 'all', 'all-query-2', 'scenario.pcap'}


# --- Files --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('form', ['csv', 'long', 'names'])
def test_what_cannot_be_written(tshark, tmp_path, form):
    """It is said; what was asked for beside it is there all the same."""
    capture = small().write(tmp_path / 'scenario.pcap')
    full = [] if TSHARK.endswith('.exe') else [('/dev/full', 'No space left on device')]  # Windows has no /dev
    for target, reason in [(tmp_path / 'no' / 'such.csv', 'No such file or directory'), *full]:
        done = tshark.start('-q', '-r', capture, '-z', 'pcq,%s,%s' % (form, target), '-z', 'io,phs')
        assert done.returncode == 1 and re.search('cannot write %s: .*%s' % (target, reason), done.stderr.decode())
        assert b'Protocol Hierarchy' in done.stdout


@pytest.mark.parametrize('how', ['closed', pytest.param('full', marks=pytest.mark.skipif(TSHARK.endswith('.exe'), reason='Windows has no such limit'))])
@pytest.mark.parametrize('form', ['csv', 'names', 'summary'])
def test_a_folder_that_takes_nothing(tshark, tmp_path, form, how):
    """Its rights, or the disk, here a limit of a file's size: the old file stays, even if it could be written itself, and nothing beside it."""
    capture, folder = whole_session().write(tmp_path / 'scenario.pcap'), tmp_path / how
    folder.mkdir()
    (folder / 'there.json').write_text('mine')
    folder.chmod(0o555 if how == 'closed' else 0o755)
    limit = 'trap "" XFSZ; ulimit -f 0; exec "$@"' if how == 'full' else 'exec "$@"'
    for name in 'there.json', 'new.json':
        done = subprocess.run(['bash', '-c', limit, '-', TSHARK, '-q', '-r', capture, '-z', 'pcq,%s,%s' % (form, folder / name)],
                              env=tshark.env, stderr=subprocess.PIPE, timeout=60)
        reason = 'Permission denied' if how == 'closed' else 'File too large'
        assert done.returncode == 1 and re.search('cannot write %s: .*%s' % (folder / name, reason), done.stderr.decode())
    folder.chmod(0o755)
    assert [(p.name, p.read_text()) for p in folder.iterdir()] == [('there.json', 'mine')]


@pytest.mark.parametrize('form, shell', [('csv', '(trap "" PIPE; exec %s) | head -c 0; exit ${PIPESTATUS[0]}'), *(
    [] if TSHARK.endswith('.exe') else [('csv', '%s >/dev/full'), ('long', '%s >/dev/full'), ('names', '%s >&-')])])
def test_an_output_that_goes_away(tshark, tmp_path, form, shell):
    """Standard output that is full or closed; a pipe that nobody reads is no failure of ours (on Windows, whose output goes through a
    pipe, behind which nothing is seen, it may be)."""
    whole_session().write(tmp_path / 'scenario.pcap')
    command = shell % ("%s -q -r %s -z pcq,%s,-" % (TSHARK, tmp_path / 'scenario.pcap', form))
    done = subprocess.run(['bash', '-c', command], env=tshark.env, stderr=subprocess.PIPE, timeout=60)
    failed = done.returncode == 1 and b'cannot write standard output: ' in done.stderr
    assert failed if 'head' not in shell else TSHARK.endswith('.exe') or done.returncode == 0 and b'cannot write' not in done.stderr, done


@pytest.mark.parametrize('form', ['csv', 'long'])
def test_a_file_is_replaced_whole(tshark, tmp_path, export, form):
    """Rights come from the umask, nothing else is left in the folder; of a wrong filter nothing at all."""
    scenario = small()
    text = export(scenario, form)
    (tmp_path / 'out.csv').write_text('old')
    status, said = failing(tshark, '-q', '-r', tmp_path / 'scenario.pcap', '-z', 'pcq,%s,%s,no such filter' % (form, tmp_path / 'out.csv'))
    assert status != 0 and said and (tmp_path / 'out.csv').read_text() == 'old'
    assert export(scenario, form) == text
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / 'out.csv').stat().st_mode & 0o777 == 0o666 & ~umask
    assert sorted(os.listdir(tmp_path)) == ['out.csv', 'scenario.pcap']


def test_captures_are_not_overwritten(tshark, tmp_path):
    """Whoever forgets the file's name and gives the capture's twice: of all kinds, compressed, damaged."""
    capture = tmp_path / 'scenario.pcap'
    small().write(capture)
    data = capture.read_bytes()
    for name, there in {'cut.pcap': data[:12], 'cut.nanoseconds': b'\x4d\x3c\xb2\xa1' + data[4:60], 'scenario.pcap.gz': gzip.compress(data),
                        'cut.pcapng': b'\n\r\r\n\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0'}.items():
        (tmp_path / name).write_bytes(there)
    for kind in 'pcapng', 'snoop', 'netmon2', 'ngsniffer', 'lanalyzer':
        subprocess.run(['editcap', '-F', kind, capture, tmp_path / ('whole.' + kind)], check=True)
    there = sorted(tmp_path.iterdir())
    assert len(there) > 8
    before = [p.read_bytes() for p in there]
    for i, target in enumerate(there):
        for form in ('csv', 'long', 'names') if target == capture else ('csv',):
            status, said = failing(tshark, '-q', '-r', capture, '-z', 'pcq,%s,%s' % (form, target))
            assert status == 1 and 'cannot write %s: what is there is no text; is it a capture?' % target in said, target
    assert [p.read_bytes() for p in there] == before and there == sorted(tmp_path.iterdir())
