# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,summary`: its first line names what is wrong with the monitoring, and who did it."""

import json
import re
import struct

import pytest

from faulty import FAULTY, and_then, snapped, until
from conftest import TOP
from gen.hostile import ROOM, Pcq, block, identifier, instance, instances, values
from gen.scenario import SECOND, Scenario, tcp_line
from gen.scripted import ALL, Server, ask, begin, counter, learn, memory, run, single, capture_talk
from gen.stubs import DATA
from gen.wires import RST
from series import table
from test_calls import without
from healthy import HEALTHY
from network import Network, ends, gone, polls

KEY = ('-o', 'ntlmssp.nt_password:Lab-Passw0rd')
PCAPS = TOP / 'test' / 'pcaps'


@pytest.fixture
def summary(tshark, tmp_path):
    """summary(scenario, its scenario or path) -> (lines of the text, the JSON)"""
    def get(what, *args):
        if callable(what):
            network = Network()
            what(network)
            what = network.scenario
        capture, out = what if not isinstance(what, Scenario) else what.write(tmp_path / 'scenario.pcap'), tmp_path / 'summary.json'
        text, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,summary', '-z', 'pcq,summary,%s' % out, *args)
        return text.splitlines(), json.loads(out.read_text('utf-8'))
    return get


def things(value=lambda at, k: at.number, kind='PERF_COUNTER_RAWCOUNT'):
    return single('Small', counter(1, kind, 'Things', value))


def test_all_is_well(summary):
    """One line, and a word for scripts."""
    s = things()
    lines, found = summary(capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1)], 5))))
    first, line = lines
    assert first == 'No problems found: 1 monitor, 5 samples'
    assert re.fullmatch(r'192\.0\.2\.10 to SRV01: 5 samples, longest gap \d\.\d ms, frame \d+, answered in '
                        r'\d+\.\d ms \(slowest \d+\.\d ms, frame \d+\), (query|handle) 1', line)
    assert found['healthy'] is True and found['notes'] == []
    monitor, = found['monitors']
    assert monitor['healthy'] and monitor['samples'] == 5 and monitor['findings'] == []


@pytest.mark.parametrize('name, options, words', [
    ('plain/access-denied', (), r'with errors, first ERROR_ACCESS_DENIED \(5 times\): .*Performance Monitor Users'),
    # a server without texts in a language, sets without instances are well; a registration that is damaged is not
    ('plain/browse-sorts-of-sets', (), r'^.*EnumerateCounterSetInstances of 192\.0\.2\.10 with ERROR_WMI_INVALID_REGINFO: '),
    ('plain/refusals', (), r' with errors, first ERROR_WMI_GUID_NOT_FOUND .*provider gone'),
    ('tcp-ntlm', (), r'sealed: refusals and errors are not visible\nrequests and responses not decoded: .*sealed with NTLM'),
    ('tcp-ntlm', ('-o', 'ntlmssp.nt_password:wrong'), r'sealed: refusals and errors are not visible\nrequests and responses not decoded: .*does not fit'),
    ('smb3-encrypted', (), r'^SMB3 encrypts packets, and no key opens them: frame 13, '),
    ('smb3-ntlm', KEY, r'^LABDC returns ERROR_NO_DATA for \\Processor Information\(0,7\)\\Processor Frequency to 127\.0\.0\.1: since ')])
def test_captures(summary, name, options, words):
    lines, found = summary(PCAPS / (name + '.pcap'), *options)
    assert re.search(words, '\n'.join(lines), re.S), lines
    assert len(lines[0]) <= 120 and found['healthy'] is (False if name.startswith('plain/') or name == 'smb3-ntlm' else None)


def test_a_capture_of_nothing(summary, tmp_path):
    scenario = Scenario()
    tcp_line(scenario, Server([things()]))
    lines, found = summary(scenario)
    assert 'No call of PerflibV2' in lines[0] and found == {'healthy': None, 'notes': lines, 'monitors': []}


@pytest.mark.parametrize('known', [0, 2, 3])
def test_names_that_were_read_before_the_capture(summary, known):
    """Nothing is known of a capture most of whose values have no type; half of them do not matter."""
    s, other = things(), single('Other', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', lambda at, k: at.number))
    scenario = capture_talk(Server([s, other]), lambda c: (learn(c, s), known and run(c, [ask(s, 1)], known), run(c, [ask(other, 1)], 2)))
    lines, found = summary(scenario)
    lacks = 'Most values have no result (2 of 2): their counters, or the types of these, are not known'
    assert (lines[0], found['healthy'], found['notes']) == ((lacks, None, [lacks]) if known == 0 else ('No problems found: 2 monitors, %d samples' % (2 + known), True, []))
    assert len(lines) == (3 if known else 2)


def test_a_client_that_reads_names_alone(summary):
    """It is said what it does; whether all is well is not known."""
    lines, found = summary(polls(lambda m: m.open(), lambda m: m.close(), mode='hkpd'))
    assert lines == ['192.0.2.10 to 192.0.2.20: no samples: it reads lists of names, and asks for no value'] and found['healthy'] is None


def test_two_at_a_time_are_one_monitor(summary):
    """Two open queries of one client for the same counters."""
    s = things()
    scenario, c = begin(Server([s]), s)
    first, second = c.open(), c.open()
    for h in first, second:
        c.validate(h, [ask(s, 1)])
    for _ in range(3):
        c.data(first, 9999)
        c.data(second, 9999)
    lines, _ = summary(scenario)
    assert lines[0] == 'No problems found: 1 monitor, 6 samples' and ', query 1 and 1 more' in lines[1]


def test_each_empty_block_has_its_own_row(tshark, tmp_path):
    network = Network()
    polls(8, asked=lambda m, p: [ask(p, n, '*') for n in (1, 2)], **until(5))(network)
    rows = table(tshark, network.capture.write(tmp_path / 'a.pcap'), 'pcq,refusals')
    assert len({r['Path'] for r in rows}) == 2 and [(r['Error'], r['Count']) for r in rows] == [('no instances', '3')] * 2


NO_SAMPLES = 'no response with counter data is here or passes the filter'


@pytest.mark.parametrize('scenario, words', [
    *((FAULTY[name].play, NO_SAMPLES) for name in ('open-denied', 'open-faults', 'all-counters-refused', 'requests-alone', 'probes-from-the-start')),
    (and_then(polls(8, sets=[memory()]), snapped(160)), 'requests and responses not decoded: %d'), (polls(lambda m: m.open()), NO_SAMPLES),
    (polls(lambda m: m.reach()), NO_SAMPLES)])
def test_what_is_empty_says_why(tshark, tmp_path, scenario, words):
    """Each table has it as a row, and with each file it is on standard error."""
    network = Network()
    scenario(network)
    words = words.replace('%d', str(len(network.since)))
    files = [x for kind in ('csv', 'long') for x in ('-z', 'pcq,%s,%s' % (kind, tmp_path / kind))]
    shown, err = tshark.run('-q', '-r', network.capture.write(tmp_path / 'a.pcap'), '-z', 'pcq,queries', '-z', 'pcq,refusals', '-z', 'pcq,counters', *files)
    assert re.findall(r'^(%s) +\|' % re.escape(words), shown, re.M) == [words] * 3 and words.split(':')[0] in err


@pytest.mark.parametrize('key', [KEY, ()], ids=['key', 'no-key'])
@pytest.mark.parametrize('lost', [('response', (DATA,)), ('response', range(8)), (None, (DATA,))], ids=['answers-with-data', 'all-answers', 'all-samples'])
def test_why_there_are_no_samples(summary, tmp_path, lost, key):
    """What is sealed asked for data or not; that a query was opened is seen, whether it was not cannot be."""
    messages = json.loads((PCAPS / 'smb3-kerberos.expect.json').read_text())['messages']
    way, opnums = lost
    gone = {m['frame'] for m in messages if m['opnum'] in opnums and way in (None, m['direction'])}
    path = without(PCAPS / 'smb3-kerberos.pcap', tmp_path / 'lost.pcap', gone)
    keys = [x.format(pcaps=PCAPS) for k in json.loads((PCAPS / 'keys.json').read_text())['smb3-kerberos.pcap'] for x in ('-o', k)]
    lines, found = summary(path, *(keys if key else ()))
    lines = [re.sub(', logon .*', '', line) for line in lines]
    said = [line for line in lines if ': no samples: ' in line]
    assert len(said) == 1 and 'no answer with data was captured' in said[0] and not found['healthy'], lines


@pytest.mark.parametrize('mode, how, samples', [
    ('poller', dict(denies={DATA: (5, ALL)}), 0), ('poller', dict(denies={DATA: (5, [3, 4])}), 6), ('connects', dict(faults={DATA: (1726, [3, 4])}), 6)])
def test_a_poller_that_fails_is_one_monitor(summary, mode, how, samples):
    """Also where it gets no sample, or not each time."""
    _, found = summary(polls(8, mode=mode, **how))
    one, = found['monitors']
    assert (one['queries'], one['samples']) == (8, samples)


@pytest.mark.parametrize('name', ['client-late-tcp', 'request-resent-tcp', 'requests-lost', 'server-hangs-tcp', 'server-restarted-tcp',
                                  'all-counters-refused', 'open-denied', 'data-denied-to-a-poller', 'syn-refused', 'plain-tcp'])
def test_as_a_table(tshark, tmp_path, name):
    """The same findings with their figures, worst first, then the monitor: what a window shows, too."""
    network = Network()
    {**FAULTY, **HEALTHY}[name].play(network)
    path = network.capture.write(tmp_path / 'a.pcap')
    rows = [row for row in table(tshark, path, 'pcq,monitors', '-z', 'pcq,summary,%s' % (tmp_path / 's.json')) if row['Server'] is not None]
    found, = json.loads((tmp_path / 's.json').read_text('utf-8'))['monitors']
    findings, accounts = rows[:len(found['findings'])], [row['Finding'].strip() for row in rows[len(found['findings']):]]
    assert all(f['text'].startswith(r['Finding'].partition('. ')[2]) for r, f in zip(findings, found['findings'], strict=True))
    assert [(int(r['Count']), int(r['First frame']), r['Filter']) for r in findings] == [
        (f['count'], f['since']['frame'], f['filter']) for f in found['findings']]
    assert all(r['Details'] in f['text'] for r, f in zip(rows, found['findings']))
    assert [bool(re.match(r'%d\. 192\.0\.2\.10 to (SRV01|192\.0\.2\.20): (%d|no) samples' % (len(rows), found['samples']), a))
            for a in accounts] == [True] * (name != 'syn-refused') and ('handle' in found) == (name not in ('syn-refused', 'open-denied'))
    assert {r['Client'] for r in rows} == {'192.0.2.10'}


def test_an_answer_that_was_not_captured_but_acknowledged(summary, passes):
    """The last call was answered: the client acknowledges what the server sent (tcp.analysis.ack_lost_segment)."""
    def answer_lost(m):
        m.ask_alone()
        m.tcp.skip(1, bytes(500))
        for _ in range(5):
            m.network.wait(3)
            m.tcp.ack(0)
    lines, _ = summary(polls(5, answer_lost, gone), *passes)
    assert not any('does not answer' in line for line in lines), lines


def test_a_server_that_ends_what_is_open(summary, passes):
    """The server's port sends the RST while a query is open: `broken`, also where both have one address."""
    _, found = summary(polls(5, ends(RST), client='127.0.0.1', server=('SRV01', '127.0.0.1')), *passes)
    assert [f['kind'] for m in found['monitors'] for f in m['findings']] == ['broken'] and found['healthy'] is False


def test_one_question_after_the_other(summary, passes):
    """A client asks for one object, 0.1 s later for another one, and so each second: ten samples of either in ten seconds. Neither of them
    comes each 0.1 s."""
    def two_questions(m):
        for n in range(20):
            m.name = ('2', '238')[n % 2]
            m.sample(only=[int(m.name)], wait=(.1, .9)[n % 2])
    _, found = summary(polls(two_questions, mode='hkpd'), *passes)
    assert found['monitors'] and all(m['interval'] is None or m['interval'] > .4 for m in found['monitors'])


def test_many_calls_at_once(summary, tmp_path):
    """1,100 requests wait before the first is answered, and all are."""
    p = Pcq()
    p.open()
    p.change([identifier(1)])
    first, tcp = p.rpc.call_id, p.rpc.transport
    for i in range(1100):
        tcp.to_server(p.rpc.request_pdus(6, p.handle + struct.pack('<I', ROOM), call_id=first + i))
    for i in range(1100):
        p.capture.now += SECOND // 100
        tcp.to_client(p.rpc.response_pdus(p.counter_data(block(4, instances([instance('a') + values(1)]))), call_id=first + i))
    lines, _ = summary(p.capture.write(tmp_path / 'a.pcap'))
    assert 'does not answer' not in '\n'.join(lines) and '1100 samples' in '\n'.join(lines)


def test_a_name_begins_no_line(summary, tmp_path):
    """Its line feed is shown as an escape."""
    p = Pcq()
    p.open('\\\\SRV\nNo problems found: 9 monitors')
    p.change([identifier(1)])
    p.call(6, p.handle + struct.pack('<I', ROOM), p.returned(b'', status=5))
    lines, _ = summary(p.capture.write(tmp_path / 'a.pcap'))
    assert lines[0].startswith(r'SRV\nNo problems found') and [x for x in lines if x.startswith('No problems')] == []
