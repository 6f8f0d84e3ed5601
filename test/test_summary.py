# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,summary`: its first line names what is wrong with the monitoring, and who did it."""

import json
import re

import pytest

from conftest import TOP
from gen import troubles
from gen.scene import Scene, tcp_line
from gen.story_script import Damaging, Script, Times, answers, ask, counter, learn, multiple, run, single, story
from gen.client import SERVER
from gen.stubs import DATA, ENUMERATE, INFO, OPEN, REG_INFO, VALIDATE, request
from gen.troubles import again, bind_refused, leaves, monitor, poller, processors, silent, smb_refused, until
from gen.troubles import without_calls, without_samples
from series import table
from test_calls import without
from test_statistics import paced

KEY = ('-o', 'ntlmssp.nt_password:Lab-Passw0rd')
PCAPS = TOP / 'test' / 'pcaps'


@pytest.fixture
def summary(tshark, tmp_path):
    """summary(scene or path) -> (lines of the text, the JSON)"""
    def get(what, *args):
        capture = what if not isinstance(what, Scene) else what.write(tmp_path / 'scene.pcap')
        text, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,summary', *args)
        out = tmp_path / 'summary.json'
        tshark.run('-q', '-r', capture, '-z', 'pcq,summary,%s' % out, *args)
        return text.splitlines(), json.loads(out.read_text('utf-8'))
    return get


def things(value=lambda at, k: at.number, kind='PERF_COUNTER_RAWCOUNT'):
    return single('Small', counter(1, kind, 'Things', value))


def test_all_is_well(summary):
    """One line, and a word for scripts."""
    s = things()
    lines, found = summary(story(Script([s]), lambda c: (learn(c, s), run(c, [ask(s, 1)], 5))))
    line, = lines
    assert re.fullmatch(r'192\.0\.2\.10 to SRV01 \(192\.0\.2\.20\): 5 samples, each 1\.00\d s, none late, answered in '
                        r'\d+\.\d ms \(slowest \d+\.\d ms, frame \d+\)', line)
    assert found['healthy'] is True and found['notes'] == []
    monitor, = found['monitors']
    assert monitor['healthy'] and monitor['samples'] == 5 and monitor['findings'] == []


@pytest.mark.parametrize('pauses, takes, words', [
    ([1, 1, 1, 1, 4, 1, 1], [.1] * 7, 'late because the client, or the network before the capture, asked late, first 4.101 s after'),
    ([1] * 7, [.1, .1, .1, .1, 2.6, .1, .1], 'late because the server, or the network behind the capture, answered late')])
def test_who_is_late(summary, pauses, takes, words):
    lines, found = summary(paced(pauses, takes))
    assert words in lines[0] and 'frame.number == ' in lines[0] and not found['healthy']
    assert found['monitors'][0]['findings'][0]['count'] == 1


@pytest.mark.parametrize('name, options, words', [
    ('plain/access-denied', (), r'calls failed, first .*ERROR_ACCESS_DENIED .*Performance Monitor Users'),
    ('plain/refusals', (), r'calls failed, first .*ERROR_WMI_GUID_NOT_FOUND \(provider gone'),
    ('tcp-ntlm', (), r'^The capture: requests and responses not read: .*sealed with NTLM'),
    ('tcp-ntlm', ('-o', 'ntlmssp.nt_password:wrong'), r'^The capture: requests and responses not read: .*does not fit'),
    ('smb3-encrypted', (), r'^The capture: SMB3 encrypts the calls, and no key opens them'),
    ('smb3-ntlm', KEY, r'values not given, first \\\\LABDC\\Processor Information\(0,7\)\\Processor Frequency: ERROR_NO_DATA')])
def test_captures(summary, name, options, words):
    lines, found = summary(PCAPS / (name + '.pcap'), *options)
    assert re.search(words, lines[0]), lines[0]
    assert found['healthy'] is False


def test_browsing_finds_nothing_wrong(summary):
    """A server without texts in a language, sets without instances; a registration that is damaged is wrong."""
    lines, _ = summary(PCAPS / 'plain' / 'browse-sorts-of-sets.pcap')
    assert '1 call failed, first EnumerateCounterSetInstances: ERROR_WMI_INVALID_REGINFO' in lines[0]


def test_a_counter_that_is_refused(summary):
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]))
    lines, found = summary(story(Script([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, 'a'), ask(s, 77, 'a')], 4))))
    assert re.search(r': 1 counter refused, first \\\\SRV01\\Set\(a\)\\#77: ERROR_WMI_ITEMID_NOT_FOUND', lines[0])
    assert lines[0].endswith('pcq.expert.counter_refused')
    assert '4 samples' in lines[1] and not found['healthy']


def test_a_counter_that_began_again(summary):
    s = things(lambda at, k: [100, 200, 10, 110][min(at.number, 3)], 'PERF_COUNTER_BULK_COUNT')
    lines, found = summary(story(Script([s]), lambda c: (learn(c, s), run(c, [ask(s, 1)], 4))))
    assert r'1 value began again (value went backwards), first \\SRV01\Small\Things' in lines[0]
    assert [f['kind'] for f in found['monitors'][0]['findings']] == ['reset']


def test_values_of_assumed_counters(summary):
    """Which block is whose only QueryCounterInfo says, and it was lost."""
    lines, found = summary(monitor(wire=without_calls(INFO)))
    assert any(r'16 values of an assumed counter or instance, first \\SRV01\Memory\Available MBytes; ' in line for line in lines)
    assert [f['count'] for f in found['monitors'][0]['findings'] if f['kind'] == 'assumed'] == [16]


def test_twice_a_second(summary):
    lines, found = summary(monitor(pauses={n: .499 for n in range(9)}))
    assert re.search(r': 8 samples, each 50\d\.0 ms, none late', lines[0]) and found['healthy']


def test_one_sample(summary):
    lines, found = summary(monitor(count=1))
    assert re.search(r': 1 sample, answered in \d', lines[0]) and found['healthy']


def test_both_are_late(summary):
    lines, found = summary(monitor(count=12, pauses={4: 5}, wire=dict(before={8: 4})))
    assert re.search(r': 12 samples, each 1\.00\d s, 2 late', '\n'.join(lines)) and not found['healthy']


def test_a_server_that_began_again(summary):
    s = things()
    clock = Times([(5 * 10 ** 11, 134351767437550592), (5 * 10 ** 11 + 10 ** 7, 134351767447550592), (10 ** 7, 134351767457550592),
                   (2 * 10 ** 7, 134351767467550592)])
    lines, found = summary(story(Script([s], clock=clock), lambda c: (learn(c, s), run(c, [ask(s, 1)], 4))))
    assert '1 restart of the server, or another one answers: its clock began again' in lines[0] and not found['healthy']


def test_answers_that_are_missing(summary):
    s = things()
    scene = Scene()
    c = Damaging(tcp_line(scene, Script([s])), lambda opnum, kind, stub: None if (opnum, kind) == (DATA, 'response') else stub,
                 loses=True).client()
    learn(c, s)
    run(c, [ask(s, 1)], 4)
    lines, found = summary(scene)
    assert 'calls without a captured response: 4' in lines[0] and not found['healthy']


def test_a_capture_of_nothing(summary, tmp_path):
    scene = Scene()
    tcp_line(scene, Script([things()]))
    lines, found = summary(scene)
    assert 'no call of PerflibV2' in lines[0] and found == {'healthy': False, 'notes': found['notes'], 'monitors': []}


def test_a_query_for_each_sample(summary):
    """Pollers that open and close a query each time are one monitor, with an interval."""
    s = things()
    lines, found = summary(story(Script([s]), lambda c: (learn(c, s), [run(c, [ask(s, 1)], 1) for _ in range(6)])))
    line, = lines
    assert re.search(r': 6 samples, each 1\.00\d s, none late, .*, in 6 queries one after the other$', line)
    assert found['healthy'] and found['monitors'][0]['queries'] == 6


def test_two_at_a_time_are_two(summary):
    """Two open queries for the same counters."""
    s = things()
    scene = Scene()
    c = tcp_line(scene, Script([s])).client()
    learn(c, s)
    first, second = c.open(), c.open()
    for h in first, second:
        c.validate(h, [ask(s, 1)])
    for _ in range(3):
        c.data(first, 9999)
        c.data(second, 9999)
    lines, found = summary(scene)
    assert len(lines) == 2 and all('3 samples' in line for line in lines)


def test_the_worst_first(summary):
    """Of two monitors, the one that is denied, then the one with a refused counter."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]))
    scene = Scene()
    model = Script([s])
    a, b = (tcp_line(scene, model, client_port=50001 + i, client='192.0.2.%d' % (10 + i)).client() for i in range(2))
    learn(a, s)
    run(a, [ask(s, 1, 'a')], 3)
    run(b, [ask(s, 1, 'a'), ask(s, 77, 'a')], 3)
    lines, _ = summary(scene)
    assert lines[0].startswith('192.0.2.11 to ') and 'refused' in lines[0]
    assert lines[-1].startswith('192.0.2.10 to ') and '3 samples' in lines[-1]


@pytest.mark.parametrize('name', troubles.HEALTHY)
def test_a_healthy_monitor_is_one_line(summary, name):
    lines, found = summary(troubles.HEALTHY[name]())
    line, = lines
    assert re.search(r': [58] samples, each 1\.0\d\d s, none late, answered in [12]\.0 ms', line) and found['healthy'] is True


A, B = r'\\SRV01\Processor(a)', r'\\SRV01\Processor(b)'
RIGHTS = 'no rights'
ASKED = 'late because the client, or the network before the capture, asked late'
ANSWERED = 'late because the server, or the network behind the capture, answered late'
NOT_CAPTURED = 'tell of packets that were not captured'
STAGES = {ENUMERATE: 'EnumerateCounterSet', REG_INFO: 'QueryCounterSetRegistrationInfo', OPEN: 'OpenQueryHandle',
          VALIDATE: 'ValidateCounters', INFO: 'QueryCounterInfo', DATA: 'QueryCounterData'}


def numbers(*counters):
    return lambda s: [ask(s, c) for c in counters]


# scene, what its first line says
TROUBLES = {
    'late-client': (lambda: monitor(pauses={4: 5}), '1 sample ' + ASKED + ', first 5.002 s after the one before'),
    'late-server': (lambda: monitor(wire=dict(before={4: 4})), '1 sample ' + ANSWERED),
    'late-answer': (lambda: monitor(wire=dict(behind={4: 4})), '1 sample ' + ANSWERED),
    'slower-and-slower': (lambda: monitor(wire=dict(before={n: 3 for n in range(4, 8)})), '4 samples ' + ANSWERED),
    'delayed-network': (troubles.resent, '4 packets resent: the network lost or delayed them'),
    'refused-counter': (lambda: monitor(asked=numbers(1, 77)), r'1 counter refused, first \\SRV01\Memory\#77: ERROR_WMI_ITEMID_'),
    'all-refused': (lambda: monitor(asked=numbers(77, 78)), '2 counters refused'),
    'refused-for-rights': (lambda: monitor(server=dict(refuses=5), asked=numbers(1)),
                           r'1 counter refused, first \\SRV01\Memory\Available MBytes: ERROR_ACCESS_DENIED (no rights'),
    'instance-gone': (lambda: monitor([processors(leaves(1))], lambda s: [ask(s, 2, 'a'), ask(s, 2, 'b')]),
                      '4 values not given, first ' + B + r'\Work: ERROR_NO_DATA'),
    'provider-gone': (lambda: monitor([processors(leaves(0))], lambda s: [ask(s, 2, 'a'), ask(s, 2, 'b')]),
                      '8 values not given, first ' + A + r'\Work: ERROR_NO_DATA'),
    'all-instances-gone': (lambda: monitor([processors(leaves(0))], lambda s: [ask(s, 2, '*')]), '4 samples without a value'),
    'provider-gone-for-the-call': (lambda: monitor(server=dict(denies={DATA: (4200, range(4, 1000))})),
                                   '4 calls failed, first QueryCounterData: ERROR_WMI_GUID_NOT_FOUND (provider gone'),
    'provider-ended': (lambda: monitor(server=dict(faults={DATA: (1726, [4])})), 'ERROR_RPC_S_CALL_FAILED (provider gone'),
    'no-memory': (lambda: monitor(server=dict(denies={DATA: (1450, [3])})), 'ERROR_NO_SYSTEM_RESOURCES (the server is short'),
    'too-little-room': (lambda: monitor(room=8), 'no samples: each time the client offers less room than the server needs'),
    'server-restart': (lambda: again(restarts=True), '1 restart of the server'),
    'server-restart-after-close': (lambda: again(restarts=True, close=True), '1 restart of the server'),
    'client-restart': (again, '1 sample ' + ASKED + ', first 41.0'),
    'client-restart-after-close': (lambda: again(close=True), '1 sample ' + ASKED + ', first 41.0'),
    'handle-forgotten': (troubles.forgotten, 'nca_s_fault_context_mismatch (the server does not know this handle: it was restarted'),
    'reset-by-the-server': (lambda: troubles.broken_off(0x14), '1 connection ended by the server, or on the way, while a query was open; '),
    'ended-by-the-server': (lambda: troubles.broken_off(0x11), '1 connection ended by the server, or on the way, while a query was open; '),
    'reset-and-connected-again': (lambda: troubles.broken_off(0x14, True), '1 connection ended by the server, or on the way'),
    'open-not-answered': (lambda: troubles.asked_in_vain(OPEN, request(OPEN, szMachine=SERVER)),
                          'The capture: calls without a captured response: 1; the server did not answer, or'),
    'opened-alone': (lambda: monitor(count=0, close=False), 'no samples: a query was opened, and no answer has its counter data'),
    'server-busy': (lambda: monitor(server=dict(faults={DATA: (1723, [4])})), 'ERROR_RPC_S_SERVER_TOO_BUSY (the server has too much to do'),
    'error-without-a-meaning': (lambda: monitor(server=dict(denies={DATA: (1392, [4])})), 'QueryCounterData: ERROR_FILE_CORRUPT; '),
    'server-hangs': (lambda: silent(True), '1 call never answered, first QueryCounterData, asked 60.0 s before the capture ends'),
    'client-stops': (lambda: silent(False), '1 query left open that the client does not ask any more, first 61.0 s before'),
    'cut-answers': (lambda: troubles.snapped(160), 'The capture: frames were cut short: capture without a snapshot length; '),
    'all-cut': (lambda: troubles.snapped(96), 'The capture: frames were cut short: capture without a snapshot length; '),
    'lost-answers': (lambda: monitor(wire=without_samples(3, 5, 6, kinds=['response'])), 'calls without a captured response: 3'),
    'lost-requests': (lambda: monitor(wire=without_samples(3, 5, 6, kinds=['request'])), NOT_CAPTURED),
    'lost-samples': (lambda: monitor(wire=without_samples(3, 5)), NOT_CAPTURED),
    'lost-beginning': (lambda: monitor(wire=without_calls(REG_INFO, OPEN, VALIDATE, INFO)), NOT_CAPTURED),
    'types-not-captured': (lambda: monitor(teach=False), '16 values without a result: their types were asked for before'),
    'requests-alone': (lambda: monitor(wire=without_calls(kinds=['response'])), 'go another way than the capture'),
    'answers-alone': (lambda: monitor(wire=without_calls(kinds=['request'])), 'bind or requests were not captured'),
    'from-the-middle': (troubles.from_the_middle, 'bind or requests were not captured'),
    'poller-late': (lambda: poller(pauses={5: 6}), '1 sample ' + ASKED),
    'poller-answered-late': (lambda: poller(before={5: 6}), '1 sample ' + ANSWERED),
    'poller-that-closes-nothing-late': (lambda: poller(closes=False, pauses={5: 6}), '1 sample ' + ASKED),
    'poller-refused': (lambda: poller(asked=numbers(1, 77)), '1 counter refused'),
    'poller-denied': (lambda: poller(denies={DATA: (5, range(99))}), '8 calls failed, first QueryCounterData: ERROR_ACCESS_DENIED'),
    'poller-denied-now-and-then': (lambda: poller(denies={DATA: (5, [3, 4])}), '2 calls failed, first QueryCounterData: ERROR_ACCESS_DENIED'),
    'poller-without-a-provider': (lambda: poller(connects=True, faults={DATA: (1726, [3, 4])}),
                                  '2 calls failed, first QueryCounterData: ERROR_RPC_S_CALL_FAILED (provider gone'),
    'poller-instance-gone': (lambda: poller(what=lambda: processors(leaves(1)), asked=lambda s: [ask(s, 2, 'a'), ask(s, 2, 'b')]),
                             '4 values not given, first ' + B + r'\Work: ERROR_NO_DATA'),
    'poller-lost': (lambda: poller(connects=True, loses=[3]), '2 frames ' + NOT_CAPTURED),
    'registry-denied': (lambda: troubles.registry_denied(opens=False), 'first OpenHKPD: ERROR_ACCESS_DENIED (no rights'),
    'registry-query-denied': (lambda: troubles.registry_denied(opens=True), 'first QueryValue: ERROR_ACCESS_DENIED (no rights'),
    'registry-denied-before': (lambda: troubles.registry_denied(opens=False, opnum=2), 'The capture: access denied to other calls'),
    'browsing-alone': (lambda: monitor(count=0, opens=False), 'The capture: no query was opened: all calls that were read ask for'),
    'bind-refused': (lambda: bind_refused(False), 'The capture: the server refused the bind'),
    'bind-nak': (lambda: bind_refused(True), 'The capture: the server refused the bind'),
    'nobody-listens': (lambda: troubles.unheard(0x14), 'The capture: the server did not let the client connect'),
    'firewall': (lambda: troubles.unheard(None), 'The capture: the server did not answer: a firewall'),
    'logon-failed': (lambda: smb_refused(1, 0xc000006d), 'The capture: the logon failed'),
    'pipe-denied': (lambda: smb_refused(5, 0xc0000022), 'The capture: access denied to a pipe'),
    'pipe-not-there': (lambda: smb_refused(5, 0xc0000034), 'The capture: a pipe is not there: the service Remote Registry'),
    **{'%s-%s' % (way, name): (lambda opnum=opnum, way=way: until(opnum, way), 'first %s: %s (%s' % (name, error, RIGHTS))
       for opnum, name in STAGES.items() for way, error in (('denies', 'ERROR_ACCESS_DENIED'), ('faults', 'nca_s_fault_access_denied'))},
}


@pytest.mark.parametrize('name', TROUBLES)
def test_the_first_line_names_the_cause(summary, name):
    make, words = TROUBLES[name]
    lines, found = summary(make())
    assert words in lines[0]
    assert found['healthy'] is (name == 'types-not-captured')      # the monitor is well, the capture is not


EMPTY = 'pcq,queries', 'pcq,refusals', 'pcq,counters'


@pytest.mark.parametrize('name, words, tables', [
    ('denies-OpenQueryHandle', 'no query was opened; calls that failed: 1', EMPTY),
    ('faults-EnumerateCounterSet', 'no query was opened; calls that failed: 1', EMPTY),
    ('denies-ValidateCounters', 'calls that failed: 1', EMPTY),
    ('registry-denied', 'no query was opened; calls that failed: 3', EMPTY),
    ('all-refused', 'answers without data: 8', EMPTY),
    ('requests-alone', 'calls without a captured response: 19', EMPTY),
    ('cut-answers', 'calls without a captured response: 9', EMPTY),
    ('too-little-room', 'no samples, but size probes: 8', EMPTY),
    ('opened-alone', 'a query was opened, and no answer has its counter data', EMPTY),
    ('browsing-alone', 'no query was opened: only names and types were asked for', EMPTY),
    ('open-not-answered', 'calls without a captured response: 1', EMPTY)])
def test_what_is_empty_says_why(tshark, tmp_path, name, words, tables):
    """Each table has it as a row, and with each file it is on standard error."""
    path = TROUBLES[name][0]().write(tmp_path / 'a.pcap')
    for statistic in tables:
        assert words in [list(row.values())[0].strip() for row in table(tshark, path, statistic)], statistic
    for kind in 'csv', 'long':
        _, err = tshark.run('-q', '-r', path, '-z', 'pcq,%s,%s' % (kind, tmp_path / kind))
        assert words.split(':')[0] in err, kind


def test_who_is_not_answered_is_not_said_to_open_nothing(summary):
    lines, _ = summary(TROUBLES['requests-alone'][0]())
    # since 4.2 Wireshark takes what acknowledges answers for a sign of lost packets, which is a line of its own
    assert [line.endswith(': no samples: no answer to its calls was captured') for line in lines].count(True) == 1


@pytest.mark.parametrize('key', [KEY, ()], ids=['key', 'no-key'])
@pytest.mark.parametrize('lost, words', [
    (('response', (DATA,)), 'no answer with counter data was captured'), (('response', range(8)), 'no answer to its calls was captured'),
    ((None, (DATA,)), 'no answer with counter data was captured')], ids=['answers-with-data', 'all-answers', 'all-samples'])
def test_why_there_are_no_samples(summary, tmp_path, lost, words, key):
    """What is sealed asked for data or not; that a query was opened is seen, whether it was not cannot be."""
    messages = json.loads((PCAPS / 'smb3-kerberos.expect.json').read_text())['messages']
    way, opnums = lost
    gone = {m['frame'] for m in messages if m['opnum'] in opnums and way in (None, m['direction'])}
    path = without(PCAPS / 'smb3-kerberos.pcap', tmp_path / 'lost.pcap', gone)
    keys = [x.format(pcaps=PCAPS) for k in json.loads((PCAPS / 'keys.json').read_text())['smb3-kerberos.pcap'] for x in ('-o', k)]
    lines, found = summary(path, *(keys if key else ()))
    said = [line for line in lines if ': no samples: ' in line]
    assert len(said) == 1 and words in said[0] or key and 'a query was opened, and no answer has its counter data' in said[0], lines
    assert not found['healthy'] and 'no query was opened' not in '\n'.join(lines)


def test_a_client_that_ends_its_connection_is_well(summary):
    for flags in 0x11, 0x14:
        lines, found = summary(troubles.broken_off(flags, side=0))
        assert len(lines) == 1 and found['healthy']


@pytest.mark.parametrize('name, samples', [('poller-denied', 0), ('poller-denied-now-and-then', 6), ('poller-without-a-provider', 6), ('poller-lost', 7)])
def test_a_poller_that_fails_is_one_monitor(summary, name, samples):
    """Also where it gets no sample, or not each time."""
    _, found = summary(TROUBLES[name][0]())
    one, = found['monitors']
    assert (one['queries'], one['samples']) == (8, samples)


def test_json_has_what_the_lines_have(summary):
    _, found = summary(TROUBLES['cut-answers'][0]())
    assert found['notes'][0].startswith('frames were cut short') and found['notes'][0].endswith('frame.cap_len < frame.len')
    _, found = summary(TROUBLES['client-restart'][0]())
    monitor_found, = found['monitors']
    assert monitor_found['queries'] == 2 and monitor_found['samples'] == 10
    assert [f['kind'] for f in monitor_found['findings']] == ['asked_late']


@pytest.mark.parametrize('name', ['late-client', 'delayed-network', 'lost-requests', 'client-stops', 'server-hangs', 'server-restart',
                                  'all-refused', 'denies-OpenQueryHandle', 'poller-that-closes-nothing-late', 'healthy'])
def test_as_a_table(tshark, tmp_path, name):
    """The same findings with their figures, worst first, then the monitor: what a window shows, too."""
    path = (TROUBLES[name][0] if name in TROUBLES else monitor)().write(tmp_path / 'a.pcap')
    rows = [row for row in table(tshark, path, 'pcq,monitors') if row['Server'] is not None]
    tshark.run('-q', '-r', path, '-z', 'pcq,summary,%s' % (tmp_path / 's.json'))
    found, = json.loads((tmp_path / 's.json').read_text('utf-8'))['monitors']
    *findings, last = [row['Finding'].strip() for row in rows]
    assert findings == ['%d. %s' % (n, f['kind'].replace('_', ' ')) for n, f in enumerate(found['findings'], 1)]
    assert [(int(r['Times']), int(r['First frame'])) for r in rows[:-1]] == [(f['count'], f['frame']) for f in found['findings']]
    assert all(r['First of them'] in f['text'] for r, f in zip(rows, found['findings']))
    assert last == '%d. %s' % (len(rows), 'all is well' if found['healthy'] else 'samples')
    assert int(rows[-1]['Times']) == found['samples'] and {r['Client'] for r in rows} == {'192.0.2.10'}
    for column, key in ('Interval (s)', 'interval'), ('Response (s)', 'response'):
        assert rows[-1][column] == ('' if found[key] is None else '%.6f' % found[key])


def test_json_on_standard_output(tshark):
    out, _ = tshark.run('-q', '-r', PCAPS / 'smb3-ntlm.pcap', '-z', 'pcq,summary,json', *KEY)
    assert json.loads(out)['monitors'][0]['samples'] == 10
