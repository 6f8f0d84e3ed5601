# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,report` and its window: the data in the page, against series worked out from the generator and the verdict as `-z pcq,summary` has it. test/browser has what a browser makes of them."""

import itertools
import json
import re
import subprocess
from collections import Counter

import pytest

from conftest import TOP
from faulty import FAULTY
from gen import stubs
from gen.scenario import Scenario
from gen.scripted import Server, ask, begin, counter, frames_of, learn, multiple, run, capture_talk, whole_session
from series import series, table, unit_of
from healthy import HEALTHY
from network import Network

WITHOUT_VALUES = 'failed', 'malformed', 'no answer', 'not captured', 'without data'
HOSTILE = '</script><img src=x onerror=alert(1)>'


def page_data(page):
    """The data of a page, in which no "<" may stand: it could be markup."""
    text, = re.findall(r'<script id="data" type="application/json"[^>]*>([^<]*)</script>', page)
    return json.loads(text)


@pytest.fixture
def report(tshark, tmp_path):
    """report(scenario, …) -> the page"""
    def get(scenario, *args):
        capture, out = tmp_path / 'scenario.pcap', tmp_path / 'report.html'
        scenario.write(capture)
        tshark.run('-q', '-r', capture, *scenario.options, '-z', 'pcq,report,%s' % out, *args)
        return out.read_text()
    return get


def lines_of(scenario):
    """{path: [(seconds, result, unit)]} of values that have one"""
    out = {}
    for answer in series(scenario):
        for path in dict.fromkeys(v.path for v in answer.values if not v.is_text):
            cooked, kind = next((v.cooked, v.type) for v in answer.values if v.path == path)
            if cooked is not None:
                out.setdefault(path, []).append((answer.at.timestamp(), cooked, unit_of(kind)))
    return out


def is_near(a, b):
    """All digits but the last, which may be rounded on the way."""
    return abs(a - b) <= 1e-15 * abs(b) + 1e-300


def clocks_of(data):
    return [[data['begin'] + at / 1000 for at in itertools.accumulate(steps)] for steps in data['clocks']]


def test_each_result_is_a_point(report, passes):
    """With all its digits; a sample of the query without one is a gap. Each list of times is there once."""
    scenario = whole_session()
    data = page_data(report(scenario, *passes))
    lines, clocks, expected = {row[0]: row for row in data['series']}, clocks_of(data), lines_of(scenario)
    assert (data['last_frame'], data['values']) == (max(scenario.frames), sum(map(len, expected.values())))
    assert set(lines) == set(expected) and len(expected) > 10 and len({tuple(c) for c in data['clocks']}) == len(clocks)
    for path, points in expected.items():
        _, unit, count, low, mean, high, last, _, clock, values, _ = lines[path]
        numbers, at = [number for _, number, _ in points], clocks[clock]
        assert {unit} == {kind for *_, kind in points} and count == len(points) == sum(v is not None for v in values) and len(at) == len(values), path
        assert at == sorted(at) and all(abs(a - b) < 0.0006 for a, (b, *_) in zip([a for a, v in zip(at, values) if v is not None], points)), path
        assert all(is_near(a, b) for a, b in zip([v for v in values if v is not None], numbers)) and is_near(last, numbers[-1]), path
        assert is_near(low, min(numbers)) and is_near(high, max(numbers)) and is_near(mean, sum(numbers) / len(numbers)), path


def test_gaps(report):
    """An instance is gone for two samples, and comes back; of another query's samples nothing is a gap, nor is a size probe."""
    gone = multiple('Gone', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', lambda at, k: 10 * at.number + k),
                    instances=lambda number: [(0, 'always', 0)] + [(1, 'at times', 1)] * (number not in (2, 3)))
    other = multiple('Other', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', lambda at, k: 7), instances=('a',))

    def talk(c):
        learn(c, gone, other)
        run(c, [ask(gone, 1, '*')], 6)
        handle = run(c, [ask(other, 1, '*')], 2, close=False)
        for room in 9, 9999:
            c.data(handle, room)
    data = page_data(report(capture_talk(Server([gone, other]), talk)))
    values = {row[0].split('\\')[3]: row[9] for row in data['series']}
    assert values == {'Gone(always)': [0, 10, 20, 30, 40, 50], 'Gone(at times)': [1, 11, None, 41, 51], 'Other(a)': [7, 7, 7]}


def test_what_is_assumed(tshark, tmp_path, report):
    """No id tells two instances of one name apart: their lines say how many results are a guess, which proves no instance that began again."""
    rows = [[('svc', (20, 7000)[n < 3] + n), ('svc', 100 + n), ('a', (n, 1000 + 10 * n)[n < 3])] for n in range(6)]
    s = multiple('Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Work/sec', lambda at, k: rows[min(at.number, 5)][k][1]),
                 instances=lambda number: [(i, name, i) for i, (name, _) in enumerate(rows[0])])
    data = page_data(report(capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 6)))))
    assert [(row[0][7:].split('\\')[1], row[2], row[7]) for row in data['series']] == [('Set(svc)', 4, 4), ('Set(svc#1)', 5, 5), ('Set(a)', 4, 0)]
    assert [row[10] for row in data["series"]] == [[0, 2, 3], [0], []]
    assert [row['Resets'] for row in table(tshark, tmp_path / 'scenario.pcap', 'pcq,counters') if row['Unit']] == ['0', '0', '1']


def test_names_stay_text(report):
    """Of a server that calls its things as a page's markup."""
    hostile = multiple(HOSTILE, counter(1, 'PERF_COUNTER_RAWCOUNT', HOSTILE, lambda at, k: at.number), instances=(HOSTILE,))
    page = report(capture_talk(Server([hostile]), lambda c: (learn(c, hostile), run(c, [ask(hostile, 1, '*')], 3))))
    assert page_data(page)['series'][0][0].count(HOSTILE) == 3
    assert HOSTILE not in page


def page_of(tshark, folder, scenario, *args):
    network, out = Network(), folder / 'report.html'
    scenario.play(network)
    tshark.run('-q', '-r', network.capture.write(folder / 'scenario.pcap'), *scenario.options, '-z', 'pcq,report,%s' % out, *args)
    return page_data(out.read_text())


def test_the_page_lists_what_pcq_refusals_does(tshark, report, tmp_path):
    scenario = whole_session()
    missing = page_data(report(scenario))['missing']
    rows = [list(row.values()) for row in table(tshark, tmp_path / 'scenario.pcap', 'pcq,refusals', *scenario.options)]
    assert {row[1] for row in rows} > {'no instances', 'ERROR_NO_DATA'}
    assert [[path, error, str(times), str(frame), words] for path, error, times, frame, words in missing] == [[*row[:4], row[6]] for row in rows]


@pytest.mark.parametrize('name, error, lacking', [('delivered-at-first', 'no instances', 1), ('two-objects-never-delivered', 'not delivered', 2),
                                                  ('object-gone', 'not delivered', 1)])
def test_an_object_or_set_that_is_not_delivered_is_listed(tshark, tmp_path, name, error, lacking):
    """Each has a row: how often, and where first, as the verdict has it."""
    data = page_of(tshark, tmp_path, FAULTY[name])
    finding, = (f for monitor in data['verdict']['monitors'] for f in monitor['findings'] if f['kind'] == 'not_delivered')
    rows = data['missing']
    assert [row[1] for row in rows] == [error] * lacking and '(assumed)' not in str(rows) and any(row[0].split('\\')[-1] in finding['text'] for row in rows)
    assert all((times, frame) == (finding['count'], finding['since']['frame']) for _, _, times, frame, _ in rows)


def test_who_does_not_seal_is_told_so(tshark, tmp_path):
    """Rights would not help him."""
    row, = page_of(tshark, tmp_path, HEALTHY['then-signed-and-denied'])['missing']
    assert 'RPC_C_AUTHN_LEVEL_PKT_PRIVACY' in row[4], row


def marks_of(data):
    """[{name of a mark: calls} of each line of time]"""
    lines = [Counter() for _ in data['timelines']]
    for line, (_, marks) in zip(lines, data['timelines']):
        assert [mark[0] for mark in marks] == sorted(mark[0] for mark in marks)
        for _, kind, _, _, calls in marks:
            line[data['kinds'][kind]] += calls
    return lines


def test_a_set_that_is_empty_now_and_then_has_no_instances_then(tshark, tmp_path):
    data = page_of(tshark, tmp_path, HEALTHY['empty-now-and-then-tcp'])
    monitor, = data['verdict']['monitors']
    assert [row[1] for row in data['missing']] == ['no instances'] and marks_of(data) == [{'answered': monitor['samples']}] and monitor['samples'] > 5
    assert data['thinned'] == data['roomless'] == 0


def test_times_of_calls(report):
    """A mark has the time from its request, if there is one. The last request may be answered later: no mark. Frames need not be in the order of
    their times: here the first calls are not, nor the third sample's request and response."""
    s, sent = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', [5]), instances='a'), iter([1, 1, 1, 0, 1, 1, 1, 0])
    scenario, c = begin(Server([s]), s, alters=lambda opnum, kind, stub: stub if opnum != stubs.DATA or next(sent) else None)
    run(c, [ask(s, 1, '*')], 4, close=False)
    times, calls, asked = [at for at, _ in scenario.capture.frames], sorted(scenario.frames), [n for n, _ in frames_of(scenario, stubs.DATA, 'request')]
    for number, later in (*zip(calls, (20, -10, 30, -20, 40)), (asked[2], 1.5)):
        times[number - 1] += int(later * 1000)
    scenario.capture.frames = [(at, frame) for at, (_, frame) in zip(times, scenario.capture.frames)]
    data, (first, last) = page_data(report(scenario)), [one([times[n - 1] for n in calls]) for one in (min, max)]
    assert (round(data['begin'] * 10 ** 6), round(data['seconds'] * 10 ** 6)) == (first, last - first)
    marks = [(data['kinds'][kind], frame, took, calls) for _, kind, frame, took, calls in data['timelines'][0][1]]
    assert marks == [('answered', asked[0] + 1, 1000, 1), ('no answer', asked[1], -1, 1), ('answered', asked[2] + 1, -1, 1)]


def test_a_mark_is_of_a_part_of_the_time(report):
    """A thousandth, here 0.1 s: the first of its worst calls is shown. The first 50 monitors have marks."""
    sets = [multiple('Set %d' % n, counter(1, 'PERF_COUNTER_RAWCOUNT', 'Size', [5]), instances='a') for n in range(51)]
    sent = itertools.chain([1, 1, 1, 0, 1, 0], itertools.repeat(1))
    scenario, c = begin(Server(sets), *sets, alters=lambda opnum, kind, stub: stub if opnum != stubs.DATA or next(sent) else None)
    handle = run(c, [ask(sets[0], 1, 'a')], 3, close=False)
    for wait in .15, 99:
        scenario.capture.now += int(wait * 10 ** 6)
        c.data(handle, 9999)
    for s in sets[1:]:
        run(c, [ask(s, 1, 'a')], 1)
    data = page_data(report(scenario))
    asked = [n for n, _ in frames_of(scenario, stubs.DATA, 'request')]
    assert [(data['kinds'][kind], frame, calls) for _, kind, frame, _, calls in data['timelines'][0][1]] == [
        ('no answer', asked[1], 3), ('answered', asked[3] + 1, 1), ('answered', asked[4] + 1, 1)]
    assert (len(data['timelines']), len(data['verdict']['monitors'])) == (50, 51)


@pytest.mark.parametrize('name, mark, count', [
    ('client-late-tcp', 'late', 1), ('server-late-sealed', 'slow', 1), ('server-slow-tcp', 'slow', 10), ('server-late-hkpd', 'slow', 1),
    ('answers-lost-tcp', 'not captured', 3), ('answers-lost-hkpd', 'not captured', 3), ('server-restarted-tcp', 'restarted', 1),
    ('data-not-found', 'failed', 8), ('open-denied', 'failed', 1), ('server-busy-tcp', 'failed', 1), ('nonsense-1', 'malformed', 8), ('server-hangs-tcp', 'no answer', 1)])
def test_line_of_time(tshark, tmp_path, name, mark, count):
    """Of a monitor that is broken: it has these marks, no others, and a sample has one; the verdict is there as it is. Lines break at each
    sample without values."""
    data = page_of(tshark, tmp_path, FAULTY[name], '-z', 'pcq,summary,%s' % (tmp_path / 'said.json'))
    assert data['verdict'] == json.loads((tmp_path / 'said.json').read_text())
    marks = sum(marks_of(data), Counter())
    assert count <= marks[mark] <= count + 2 and set(marks) <= {'answered', mark}, marks
    assert sum(marks[one] for one in ('answered', 'late', 'slow', 'restarted')) == sum(monitor['samples'] for monitor in data['verdict']['monitors'])
    assert len(data['findings']) == sum(len(monitor['findings']) for monitor in data['verdict']['monitors'])
    lacking = [data['begin'] + at[0] / 1000 for _, at_all in data['timelines'] for at in at_all if data['kinds'][at[1]] in WITHOUT_VALUES]
    for row in data['series']:
        points = list(zip(clocks_of(data)[row[8]], row[9]))
        values = [at for at, value in points if value is not None]
        breaks = [span for span in zip(values, values[1:]) if any(span[0] < at < span[1] for at in lacking)]
        gaps = [at for at, value in points if value is None]
        assert len(gaps) == len(breaks) and all(span[0] < at < span[1] for at, span in zip(gaps, breaks)), row[0]


@pytest.mark.parametrize('name, marks', [('hkpd-plain', [{'answered': 5, 'malformed': 1, 'failed': 2}, {'answered': 1}]), ('tcp-ntlm', [{'answered': 4}])])
def test_marks_of_captures(tshark, tmp_path, name, marks):
    """Requests in fragments, and two questions of one key: each is a monitor. Sealed calls without a key."""
    out = tmp_path / 'report.html'
    tshark.run('-q', '-r', TOP / 'test' / 'pcaps' / (name + '.pcap'), '-z', 'pcq,report,%s' % out)
    data, is_sealed = page_data(out.read_text()), name == 'tcp-ntlm'
    assert marks_of(data) == marks and [monitor['sealed'] for monitor in data['verdict']['monitors']] == [is_sealed] * len(marks)
    assert (data['notes'], data['series'] == []) == (['requests and responses not decoded: 104'] if is_sealed else [], is_sealed)


def test_findings_in_plain_words(tshark, tmp_path):
    """Who, what, since and until when: for readers who have no Wireshark."""
    data = page_of(tshark, tmp_path, FAULTY['server-slow-tcp'])
    finding, = data['findings']
    assert finding['who'] == 'Server SRV01' and finding['kind'] == 'slow' and finding['count'] > 5
    slow = [mark for mark in data['timelines'][0][1] if data['kinds'][mark[1]] == 'slow']
    assert [finding['since'], finding['until']] == [[slow[i][0], slow[i][2]] for i in (0, -1)]
    rows = re.findall(r'X\([A-Z_]+, ("[^"]*", "[^"]*"), (?:\\\s+)?("[^"]*")\)', (TOP / 'plugin' / 'verdict' / 'evidence.h').read_text())
    texts = [text for row in rows for text in re.findall(r'"([^"]*)"', row[0] + row[1])]
    assert len(texts) > 50 and not [text for text in texts if re.search(r'-z |docs/|-o |Expert Information', text)]


@pytest.mark.parametrize('name, who, what', [
    ('syn-unanswered', 'Network to 192.0.2.20', 'Server not reachable, port 445'), ('syn-refused', 'Server 192.0.2.20', 'Connection refused, port 445'),
    ('open-denied', 'Server SRV01', 'Calls failed'), ('client-late-tcp', 'Client 192.0.2.10', 'Late polls'), ('answers-lost-tcp', 'Capture', 'Packets missing'),
    ('two-objects-never-delivered', 'Server SRV01', 'Counters not delivered, first Process (230)')])
def test_who_and_what(tshark, tmp_path, name, who, what):
    finding, = page_of(tshark, tmp_path, FAULTY[name])['findings']
    assert (finding['who'], finding['what']) == (who, what)


def test_of_nothing(report):
    """Where nothing tells the cause, what it may be stands there."""
    data = page_data(report(Scenario()))
    assert (data['first_frame'], data['timelines'], data['verdict']['monitors']) == (0, [], [])
    assert [note[:14] for note in data['notes']] == ['no call of Per']


def test_of_a_wireshark_window(tshark, tmp_path):
    """Its line says where the page is: in the folder of downloads, where the user has one; else in the user's home."""
    capture, out, home, scenario = tmp_path / 'scenario.pcap', tmp_path / 'report.html', tmp_path / 'home', whole_session()
    scenario.write(capture)
    (home / '.config').mkdir(parents=True)
    (home / 'there').mkdir()
    for folder in home, home / 'there':
        (home / '.config' / 'user-dirs.dirs').write_text('XDG_DOWNLOAD_DIR="$HOME/there"\n' if folder != home else '')
        done = tshark.start('-q', '-r', capture, *scenario.options, '-z', 'pcq,page', '-z', 'pcq,report,%s' % out, env=dict(tshark.env, HOME=str(home)))
        path, = re.findall(r'^(/.*\.html) ', done.stdout.decode(), re.M)
        page, = folder.glob('*.html')
        assert path == str(page) and page_data(page.read_text()) == page_data(out.read_text())


@pytest.mark.parametrize('how', [['-q', '-r', 'FILE'], ['-nqrFILE'], ['-q', '-r', '-']])
def test_the_page_names_the_capture(tshark, tmp_path, how):
    """On Linux tshark's command line has it; of a pipe there is none."""
    capture, out = TOP / 'test' / 'pcaps' / 'hkpd-plain.pcap', tmp_path / 'report.html'
    with capture.open('rb') as stream:
        words = [word.replace('FILE', str(capture)) for word in how]
        subprocess.run(['tshark', *words, '-z', 'pcq,report,%s' % out, '-z', 'pcq,page'], env=dict(tshark.env, HOME=str(tmp_path)), stdin=stream, check=True)
    name = '' if '-' in how else 'hkpd-plain.pcap'
    assert page_data(out.read_text())['file'] == name and (tmp_path / ((name or 'counters') + '.html')).exists()


def test_what_a_browser_may_do(report):
    page = report(whole_session())
    policy, = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    nonce, = set(re.findall(r"'nonce-([^']*)'", policy))
    assert len(nonce) >= 16 and policy.startswith("default-src 'none'; ") and 'unsafe' not in policy
    assert all('nonce="%s"' % nonce in tag for tag in re.findall(r'<(?:script|style)\b[^>]*>', page))
    assert not re.search(r'\b(?:src|href)=', page.split('<script id="data"')[0])
    assert nonce not in report(whole_session()), 'it is another each time'
