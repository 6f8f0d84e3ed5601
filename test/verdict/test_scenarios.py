# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,summary` of monitors that are broken and of such as are well: who, what, since which frame, how often, and what the filter finds."""

import json
import pathlib
import re
import time
from typing import NamedTuple

import pytest

import kinds
from faulty import CROWDED, FAR, FAULTY, RUNGS, Faulty, first_of_two
from test_books import balance, look
from healthy import QUIET, HEALTHY, Healthy, clock_set, crowd, groups
from network import Network, bad, leaves, pause, polls

TOP = pathlib.Path(__file__).parents[2]
MOST = 120      # characters of the first line


class Said(NamedTuple):
    network: object
    path: str
    lines: list
    json: dict
    options: tuple
    lacks: dict         # {frame: what its packet says to be lacking, or to be there again}
    late: list          # what packets say of being late or slow

    @property
    def findings(self):
        return kinds.of(self.json)


@pytest.fixture(scope='session')
def said(tshark, tmp_path_factory):
    """said(name, scenario) -> what is said of it, in one pass as in two, when all that its packets hold is shown or said to be left out"""
    folder, known = tmp_path_factory.mktemp('scenarios'), {}

    def get(name, scenario):
        if name in known:
            return known[name]
        network = Network()
        scenario.play(network)
        path, out = network.capture.write(folder / (name + '.pcap')), folder / (name + '.json')
        text, _ = tshark.run('-q', '-r', path, *scenario.options, '-z', 'pcq,summary', '-z', 'pcq,summary,%s' % out)
        looked = look(tshark, path, scenario.options, folder)
        assert looked.text.startswith(text) and looked.summary == json.loads(out.read_text('utf-8')) and all('handle' not in m or m['queries'] for m in looked.summary['monitors'])
        balance(looked)
        if {m.get('handle', '')[:6] for m in looked.summary['monitors']} == {'handle'}:     # HKEY_PERFORMANCE_DATA has none
            assert not re.search(r'\bquer|QueryCounter', text), text
        lacks = {int(n): text for n, _, _, lacking, text in looked.tree if lacking}
        late = [text for *_, text in looked.tree if re.search('Late sample|Slow response', text)]
        return known.setdefault(name, Said(network, path, text.splitlines(), looked.summary, scenario.options, lacks, late))
    return get


def subject(party, scenario):
    """How a line begins that blames somebody; that calls are not sealed the server says, which denies them."""
    party = 'server' if scenario.kind == 'not_sealed' else party
    return {'client': re.escape(scenario.by), 'server': '|'.join(map(re.escape, scenario.at)), 'capture': 'The capture'}.get(party, '')


def is_named(line, party, kind, scenario, frames, network):
    """Does the line say who, what, since when?"""
    frame = re.search(r'\bframes? (\d+)\b', line)
    return (re.match(subject(party, scenario), line) and re.search(kinds.KINDS[kind][1], line) and frame and int(frame[1]) in frames and
            (kind in kinds.UNTIMED or time.strftime('%H:%M:%S', time.gmtime(network.time(int(frame[1])))) in line) and
            (party != 'network' or any(name in line for name in scenario.at)))


@pytest.mark.parametrize('name', FAULTY)
def test_faulty(tshark, said, name):
    scenario = FAULTY[name]
    found = said(name, scenario)
    names, parties = kinds.KINDS[scenario.kind][0], {scenario.party} if isinstance(scenario.party, str) else set(scenario.party)
    those = [f for f in found.findings if f['kind'] in names and f['party'] in parties]
    others = {f['kind'] for f in found.findings if f not in those} - kinds.NOTES
    assert len(those) == 1 and others <= {k for x in scenario.also for k in kinds.KINDS.get(x, [[x]])[0]}, (found.lines, found.findings)
    finding = those[0]
    assert finding['party'] in parties and finding['since']['frame'] in found.network.since, (finding, found.network.since)
    assert scenario.count is None or finding['count'] in (scenario.count if isinstance(scenario.count, tuple) else [scenario.count]), finding
    assert found.json['healthy'] in scenario.healthy
    assert any(scenario.says in x for x in [finding['text'], *found.lines]) and '[' not in finding['text'], (scenario.says, found.lines)
    line = finding['text'].partition('; ')[0] if finding['kind'] in kinds.NOTES else found.lines[0]
    assert len(line) <= MOST and any(x == line for x in found.lines) and is_named(line, finding['party'], scenario.kind, scenario, found.network.since, found.network), (line, finding)
    for one in found.findings:      # those beside it, too
        if not one['filter']:       # too many to be listed
            assert one['count'] > 200
            continue
        shown = [int(n) for n, in tshark.fields(found.path, ['frame.number'], '-2', '-Y', one['filter'], *found.options)]
        assert len(shown) == one['count'] > 0 and shown[0] == one['since']['frame'] and one['filter'].count(',') < 200, (one, shown)
        assert one['until'] is None or one['until']['frame'] == shown[-1], (one, shown)
        assert one['since']['time'][17:23] == '%06.3f' % (found.network.capture.frames[shown[0] - 1][0] // 1000 % 60000 / 1000), one
        said_times = re.search(r' \((\d+) times\)', one['text'])
        assert not said_times or int(said_times[1]) == one['count'], one
        clocks = [time.strftime('%H:%M:%S', time.gmtime(found.network.time(n))) for n in (shown[0], shown[-1])]
        since = '%s%s, frame %d' % ('since ' * (len(shown) > 1), clocks[0], shown[0])
        both = '%s, frames %d to %d' % (' to '.join(dict.fromkeys(clocks)), shown[0], shown[-1])
        brief = re.sub(r'frames (\d+).*', r'frame \1', both)   # where there is no room
        assert any(x in one['text'] for x in ([since] if one['until'] is None or len(shown) == 1 else [both, brief])) or one['kind'] == 'lost', one


@pytest.mark.parametrize('name', [n for n in FAULTY if FAULTY[n].kind == 'not_delivered'])
def test_packets_say_the_same(said, name):
    """What is not delivered: the packet where it begins for good, and the verdict."""
    found = said(name, FAULTY[name])
    finding, = (f for f in found.findings if f['kind'] == 'not_delivered')
    begins = [n for n, text in found.lacks.items() if 'Not delivered: ' in text]
    assert begins and begins[-1] == finding['since']['frame'], (begins, finding)


@pytest.mark.parametrize('name', HEALTHY)
def test_healthy(said, name):
    scenario = HEALTHY[name]
    found = said(name, scenario)
    # a packet states what is true of the past: where one does, the line does not say otherwise
    assert bool(found.lacks) == scenario.lacks and not (found.late and any('none late' in line for line in found.lines)), found.late
    assert {f['kind'] for f in found.findings} <= kinds.NOTES and found.json['healthy'] is scenario.healthy, (found.lines, found.findings)
    monitors, sealed = len(found.json['monitors']), scenario.healthy is None
    assert monitors in scenario.lines and (found.findings or len(found.lines) - any('go back' in x for x in found.lines) in (monitors + 1, monitors + sealed)), found.lines
    samples = sum(m['samples'] for m in found.json['monitors'])
    assert sealed or re.fullmatch('No problems found: %d monitors?, %d samples?' % (monitors, samples), found.lines[0]), found.lines
    assert not sealed or any('sealed: refusals and errors are not visible' in line for line in found.lines), found.lines
    assert len(found.lines[0]) <= MOST, found.lines


@pytest.mark.parametrize('name', QUIET)
def test_nothing_to_do_with_it(said, name):
    found = said(name, QUIET[name])
    assert found.findings == found.json['monitors'] == [] and found.json['healthy'] is None, (found.lines, found.findings)
    assert len(found.lines) == 1 and len(found.lines[0]) <= MOST, found.lines


def test_fragments_of_which_a_segment_ends_with_eight_bytes(said):
    """Wireshark does not put them together: their server is not silent."""
    found = said('odd-fragments', Healthy(polls(8, mss=1072, **crowd(lambda n: ['p%d' % i for i in range(120)]))))
    assert not found.findings, found.lines


def test_what_waits_as_times_go_back(said):
    found = said('waits-as-times-go-back', Healthy(clock_set(-3600, 'tcp', lambda m: m.ask_alone())))
    assert not found.findings and found.json['healthy'] is None, found.lines


@pytest.mark.parametrize('name, late', [
    *((lost, (0, 0)) for lost in ('samples-lost', 'requests-lost', 'answers-lost-tcp')), ('client-late-tcp', (1, 0)), ('client-late-old-loss-tcp', (1, 0)),
    ('server-late-tcp', (0, 1))])
def test_who_is_late_is_counted(said, name, late):
    """What is lost makes nobody late."""
    found = said(name, FAULTY[name])
    assert [(m['late_asked'], m['late_answered']) for m in found.json['monitors']] == [late] and re.findall(r', (\d+ (?:late|slow))', found.lines[-1]) == (
        ['1 late'] * late[0] + ['1 slow'] * late[1]), found.lines


def test_an_interval_is_said_where_there_is_one(said):
    """Of pairs no time between two samples is the usual one; where a gap is long, or no interval is known, the line has the longest one."""
    scenarios = {'even': polls(20), 'few': polls(8), 'some-missing': polls(8, pause(5), 8, pause(3), 8), 'in-pairs': groups(), 'late': polls(8, pause(5), 8), 'stops': polls(20, pause(60), leaves()), 'in-turn': polls(lambda m: first_of_two(m, .3), mode='sealed')}
    found = {name: said('every-' + name, Faulty(play, '', '')) for name, play in scenarios.items()}
    lines = {name: x.lines[-2 if name == 'in-turn' else -1] for name, x in found.items()}     # the key is behind
    assert [name for name, line in lines.items() if ' every 1.00' in line] == ['even', 'some-missing', 'late', 'stops'], lines
    assert [name for name, line in lines.items() if 'none late' in line] == ['even', 'stops'], lines
    assert [name for name, line in lines.items() if ', none in the last 61.0' in line] == ['stops'], lines
    assert [name for name, line in lines.items() if re.search(r'longest gap [0-9.]+ m?s, frame \d+', line)] == ['few', 'some-missing', 'in-pairs', 'late', 'in-turn'], lines
    assert ' s, frame %d, ' % found['late'].findings[0]['since']['frame'] in lines['late'], lines


def test_the_date_stands_where_a_capture_has_two(said):
    """Names need the room more."""
    def before_midnight(play):
        return lambda w: (w.wait(86388 - w.capture.now // 10 ** 6 % 86400), play(w))
    line = said('midnight', Faulty(before_midnight(polls(8, bad(takes=4.2), 8)), 'slow', 'server')).lines[0]
    assert re.search(r' 2026-09-(29 23|30 00):\d\d:\d\d, frame \d+$', line), line
    line = said('away-at-midnight', Faulty(before_midnight(FAULTY['syn-unanswered-for-a-while'].play), 'unreachable', 'network')).lines[0]
    assert line.startswith('SRV01 does not answer 192.0.2.10 on port 445 (a firewall, or no such machine): 00:'), line


@pytest.mark.parametrize('kind', CROWDED)
def test_a_line_has_room_for_who_what_and_when(said, kind):
    """Whatever their names and paths: ends of these are left out, nothing else that a line is for."""
    found = said('crowded-' + kind, Faulty(CROWDED[kind], kind, ()))
    assert set(kinds.KINDS.get(kind, [[kind]])[0]) & {f['kind'] for f in found.findings}, (kind, found.findings)
    assert {len(x) for x in found.lines if re.match(r'\S+ to \S+: ', x)} == {MOST}, found.lines      # and no more than that is left out
    for one in found.findings:
        frame, says = one['since']['frame'], '|'.join(says for names, says in kinds.KINDS.values() if one['kind'] in names)
        line = next(x for x in found.lines if one['text'].startswith(x))
        assert len(line) <= MOST and re.search(r'\bframes? %d\b' % frame, line) and re.search(says, line), (line, one)
        assert one['kind'] in kinds.UNTIMED or time.strftime('%H:%M:%S', time.gmtime(found.network.time(frame))) in line, line
        assert one['party'] == 'capture' or any(name[:14] in line for name in (FAR['server'][0], FAR['client'])), line


@pytest.mark.parametrize('name', [n for n in FAULTY if 'sealed' in n])
def test_keys_come_last(said, name):
    """What is at fault is said first, the key behind it."""
    lines = said(name, FAULTY[name]).lines
    at = [n for n, line in enumerate(lines) if re.search('nt_password|keytab', line)]
    assert at and at[0] > 0 and at == list(range(at[0], len(lines))), lines


def test_sealed_samples_of_a_key(tshark, said):
    """Lists of names are none of them; their bytes are those that a key would show."""
    found, plain = said('plain-sealed-hkpd', HEALTHY['plain-sealed-hkpd']), said('plain-hkpd', HEALTHY['plain-hkpd'])
    sealed, read = found.json['monitors'][0], plain.json['monitors'][0]
    assert sealed['samples'] == read['samples'] == 8 and 0 <= sealed['bytes_per_sample'] - read['bytes_per_sample'] < 4
    assert sealed['interval'] == read['interval'] == 1 and sealed['sealed'] and not read['sealed']
    assert said('three-sealed-hkpd', Healthy(polls(3, mode='sealed-hkpd'))).json['monitors'][0]['samples'] == 3


def test_each_status_has_its_own_sentence(said):
    """An account that is locked is none that is disabled."""
    names = [n for n in RUNGS if n.startswith('logon-')]
    texts = {n: re.sub(r'[.:]\d+|frame \d+', '', said(n, FAULTY[n]).findings[0]['text']) for n in names}
    assert len(set(texts.values())) == len(names) > 10, texts
    assert [[n for n in names if word in texts[n]] for word in ('guest', 'SMB signing', 'STATUS_INTERNAL_ERROR', '(Kerberos error 60)')] == [
        ['logon-guest'], ['logon-signing-required'], ['logon-of-no-row'], ['logon-kerberos-60']], texts


def test_the_list_of_statuses_is_documented():
    source = (TOP / 'plugin' / 'verdict' / 'steps.c').read_text('utf-8')
    rows = re.findall(r'"((?:STATUS|KDC|KRB)_\w+)", \w+, \w+,\s+"([^"]+)"', source)
    page = (TOP / 'docs' / 'symptoms.md').read_text('utf-8')
    assert len(rows) > 30 and [row for row in rows if '%s: %s' % row not in page] == []
