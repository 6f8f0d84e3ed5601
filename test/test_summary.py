# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,summary`: its first line names what is wrong with the monitoring, and who did it."""

import contextlib
import json
import re
import struct

import pytest

from conftest import TOP
from gen import stubs, troubles
from gen.client import SERVER, Fault
from gen.hkpd_block import Counter as Number
from gen.hkpd_block import Instance as Row
from gen.hkpd_block import Object
from gen.hkpd_scene import Talk
from gen.model import TYPES
from gen.pcap import Pipe, Rpc, SealedRpc, Smb2, Tcp
from gen.scene import Line, Scene, smb_line, tcp_line
from gen.story_script import NONE, Damaging, Script, Times, answers, ask, counter, learn, multiple, run, single, story
from gen.stubs import DATA, ENUMERATE, INFO, OPEN, REG_INFO, VALIDATE, request
from gen.troubles import ROOM, SECOND, Clock, Server, Wire, again, bind_refused, leaves, memory, monitor, poller, processors, samples, silent
from gen.troubles import smb_refused, until
from gen.troubles import without_calls, without_samples
from series import table
from test_calls import without
from test_overlap import Call
from test_statistics import paced

KEY = ('-o', 'ntlmssp.nt_password:Lab-Passw0rd')
PCAPS = TOP / 'test' / 'pcaps'
PASSES = pytest.mark.parametrize('passes', [(), ('-2',)], ids=['one-pass', 'two-pass'])


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
    'registry-denied-before': (lambda: troubles.registry_denied(opens=False, opnum=2), 'The capture: access denied to other calls of winreg'),
    'browsing-alone': (lambda: monitor(count=0, opens=False), 'The capture: no query was opened: all calls that were read ask for'),
    'bind-refused': (lambda: bind_refused(False), 'The capture: the server refused the bind'),
    'bind-nak': (lambda: bind_refused(True), 'The capture: the server refused the bind'),
    'nobody-listens': (lambda: troubles.unheard(0x14), 'The capture: the server did not let the client connect'),
    'firewall': (lambda: troubles.unheard(None), 'The capture: the server did not answer: a firewall'),
    'logon-failed': (lambda: smb_refused(1, 0xc000006d), 'The capture: the logon failed'),
    'pipe-denied': (lambda: smb_refused(5, 0xc0000022), 'The capture: access denied to a pipe'),
    'pipe-not-there': (lambda: smb_refused(5, 0xc0000034), 'The capture: a pipe is not there: if it is winreg, the service Remote'),
    **{'%s-%s' % (way, name): (lambda opnum=opnum, way=way: until(opnum, way), 'first %s: %s (%s' % (name, error, RIGHTS))
       for opnum, name in STAGES.items() for way, error in (('denies', 'ERROR_ACCESS_DENIED'), ('faults', 'nca_s_fault_access_denied'))},
}


@pytest.mark.parametrize('name', TROUBLES)
def test_the_first_line_names_the_cause(summary, name):
    make, words = TROUBLES[name]
    lines, found = summary(make())
    assert words in lines[0]
    assert found['healthy'] is (name == 'types-not-captured')      # the monitor is well, the capture is not


def files(command, status, share='\\\\SRV01\\DATA'):
    """A file server's usual traffic: desktop.ini is not there, a folder or a share may not be read."""
    scene = Scene()
    smb, name = Smb2(Tcp(scene.capture, 445, 50002)), 'desktop.ini'.encode('utf-16-le')
    path, error = share.encode('utf-16-le'), struct.pack('<HBBIB', 9, 0, 0, 0, 0)
    smb.tree = 0
    smb.ask(3, struct.pack('<HHHH', 9, 0, 72, len(path)) + path)
    smb.answer(3, error if command == 3 else struct.pack('<HBBIII', 16, 1, 0, 0x30, 0, 0x1F01FF), status if command == 3 else 0, tree=9)
    smb.tree = 9
    if command == 5:
        smb.ask(5, struct.pack('<HBBIQQIIIIIHHII', 57, 0, 0, 2, 0, 0, 0x12019F, 0, 3, 1, 0, 120, len(name), 0, 0) + name)
        smb.answer(5, error, status)
    return scene


def another_interface():
    """svcctl, which has nothing to do with winreg, says no."""
    scene = Scene()
    rpc = Rpc(Tcp(scene.capture), ('367abb81-9844-35f1-ad32-98f038001003', 2))
    rpc.bind()
    rpc.request(15, bytes(44))
    rpc.fault(5)
    return scene


def syn_sent_twice():
    scene = Scene()
    Smb2(Tcp(scene.capture, 445, 50002))
    when, frame = scene.capture.frames[0]
    scene.capture.frames.insert(1, (when + 500, frame))
    return scene


@pytest.mark.parametrize('make, words', [
    (lambda: files(5, 0xc0000034), 'a pipe is not there'),
    (lambda: files(5, 0xc0000022), 'access denied to a pipe'),
    (lambda: files(3, 0xc0000022), 'IPC$ was not given'),
    (another_interface, 'no rights on'),
    (syn_sent_twice, 'the server did not answer'),
], ids=['file-that-is-not-there', 'file-without-rights', 'another-share', 'another-interface', 'syn-that-was-answered'])
def test_traffic_that_has_nothing_to_do_with_it(summary, make, words):
    """No pipe and no winreg was asked for, IPC$ was given, and the server answered the second SYN: Remote Registry may well run."""
    lines, _ = summary(make())
    assert words not in '\n'.join(lines)


@pytest.mark.parametrize('how, loses', [(dict(denies={DATA: (1450, range(1, 99, 2))}), False), (dict(faults={DATA: (1726, range(1, 99, 2))}), False),
                                        ({}, True)], ids=['error', 'fault', 'lost'])
def test_a_size_probe_before_each_call_that_fails(summary, how, loses):
    """The client asks how much room is needed, and offers that much. It is the server that fails then (or the capture lost its answers)."""
    wire = dict(loses=lambda opnum, kind, n: loses and opnum == DATA and kind == 'response' and n % 2 == 1)
    scene, s = Scene(), troubles.memory()
    c = troubles.Wire(tcp_line(scene, troubles.Server([s], scene, **how)), **wire).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s)])
    for _ in range(4):
        with contextlib.suppress(Fault):
            c.data(h)
        scene.capture.now += troubles.SECOND
    lines, _ = summary(scene)
    assert 'less room' not in '\n'.join(lines)


class Moves(troubles.Clock):
    """From the sixth sample on ticks are of another length: a virtual machine went to another host."""

    def now(self):
        at = super().now()
        return at if at.number < 5 else at._replace(stamp=at.stamp * 24000000 // at.freq, freq=24000000)


def test_a_frequency_that_changes(summary):
    """Ticks of the one are none of the other: the samples are a second apart by the time of 100 ns, and each counts as much."""
    scene, s = Scene(), troubles.memory()
    server = troubles.Server([s], scene)
    server.clock = Moves(scene.capture)
    troubles.samples(tcp_line(scene, server).client(), scene, [ask(s)], s, count=10)
    lines, found = summary(scene)
    assert found['healthy'] and re.search(r': 10 samples, each 1\.00\d s, none late', lines[0]), lines


EMPTY = 'pcq,queries', 'pcq,refusals', 'pcq,counters'


@pytest.mark.parametrize('name, words, tables', [
    ('denies-OpenQueryHandle', 'no query was opened; calls that failed: 1', EMPTY),
    ('faults-EnumerateCounterSet', 'no query was opened; calls that failed: 1', EMPTY),
    ('denies-ValidateCounters', 'calls that failed: 1', EMPTY),
    ('registry-denied', 'HKEY_PERFORMANCE_DATA was not opened; calls that failed: 3', EMPTY),
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


def goes_on(count=10, line=tcp_line, **server):
    """A client that asks each second whatever it is answered."""
    scene, s = Scene(), memory()
    c = Wire(line(scene, Server([s], scene, **server))).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s)])
    c.info(h)
    for _ in range(count):
        with contextlib.suppress(Fault):
            c.data(h, ROOM)
        scene.capture.now += SECOND
    c.close(h)
    return scene


def registry_that_fails():
    scene = Scene()
    talk = Talk(scene, [Object(2, 'System', [Number(3, 'Things', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 7, 4)])])
    talk.clock = Clock(scene.capture)
    talk.open()
    talk.titles()
    for n in range(10):
        talk.ask('2', None, status=1450) if n == 5 else talk.sample('2')
        scene.capture.now += SECOND
    talk.close()
    return scene


def never_answered(connects=False, wait=30):
    """The server hangs: a request in time has no answer. Half a minute later the client gives it up, and asks again."""
    scene, s = Scene(), memory()
    server = Server([s], scene)
    line = tcp_line(scene, server)
    c = line.client()
    h = samples(c, scene, [ask(s)], s, count=5, close=False)
    line.request(DATA, bytes(stubs.request(DATA, hQuery=h, dwInSize=ROOM)))
    line.rpc.call_id += 1
    scene.capture.now += wait * SECOND
    if connects:
        line.rpc.transport.segment(0, b'', 0x14)
        samples(tcp_line(scene, server, client_port=50077).client(), scene, [ask(s)], s, count=6)
        return scene
    for _ in range(5):
        c.data(h, ROOM)
        scene.capture.now += SECOND
    c.close(h)
    return scene


def answer_out_of_order():
    """All of it was captured, the first two segments of one answer in the other order, which Wireshark by default does not put right."""
    scene, s = Scene(), processors(tuple('instance %d' % i for i in range(60)))
    line = tcp_line(scene, Server([s], scene))
    c, tcp = line.client(), line.rpc.transport
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, NONE, '*')])
    c.info(h)
    for n in range(9):
        if n == 4:
            tcp.to_client = lambda pdus: Tcp.to_client(tcp, pdus, order=[1, 0, *range(2, -(-len(b''.join(pdus)) // tcp.mss))])
        c.data(h, ROOM)
        tcp.to_client = lambda pdus: Tcp.to_client(tcp, pdus)
        scene.capture.now += SECOND
    c.close(h)
    return scene


def an_answer_cut_short():
    """By the snapshot length: one answer is larger than the others."""
    scene, s = Scene(), processors(lambda n: ('a', 'b') if n != 5 else tuple('instance %d' % i for i in range(8)))
    samples(tcp_line(scene, Server([s], scene)).client(), scene, [ask(s, NONE, '*')], s, count=10)
    for number, (_, frame) in enumerate(scene.capture.frames, 1):
        if len(frame) > 480:
            scene.capture.snap(number, 480)
    assert len(scene.capture.cut) == 1
    return scene


def sealed(*args, **how):
    return tcp_line(*args, protocol=SealedRpc, **how)


IN_TIME = {
    'error': lambda: goes_on(denies={DATA: (1450, [5])}),
    'fault': lambda: goes_on(faults={DATA: (1723, [5])}),
    'registry': registry_that_fails,
    'poller': lambda: poller(denies={DATA: (5, [4])}),
    'sealed-error': lambda: goes_on(line=sealed, denies={DATA: (1450, [5])}),
    'sealed-fault': lambda: goes_on(line=sealed, faults={DATA: (1723, [5])}),
    'never-answered': never_answered,
    'never-answered-and-connected-again': lambda: never_answered(connects=True),
    'answer-out-of-order': answer_out_of_order,
    'answer-cut-short': an_answer_cut_short,
    'answer-not-captured': lambda: monitor(wire=without_samples(5, kinds=['response']), count=10),
}


@PASSES
@pytest.mark.parametrize('name', IN_TIME)
def test_a_request_in_time_that_brought_no_sample(tshark, summary, tmp_path, name, passes):
    """The client asked a second after the sample before; its request is in the capture. The server failed it, answered with a fault,
    or not at all (or the answer cannot be read). The next sample's long interval is that failure's: nobody asked late."""
    lines, found = summary(IN_TIME[name](), *passes)
    kinds = [f['kind'] for m in found['monitors'] for f in m['findings']]
    assert 'asked_late' not in kinds and ('unanswered' in kinds) == name.startswith('never')
    rows = [r for r in table(tshark, tmp_path / 'scene.pcap', 'pcq,queries', *passes) if r['Server'] is not None]
    assert {r['Late asked'] for r in rows} == {'0'}


@PASSES
def test_a_call_that_was_not_captured(tshark, tmp_path, passes):
    """A request in time and its answer were lost by the capture, which their acknowledgements and the call's number prove. Expert
    Information says nothing of the next sample."""
    capture = monitor(wire=without_samples(5), count=10).write(tmp_path / 'scene.pcap')
    out, _ = tshark.run('-r', capture, *passes, '-V', '-O', 'pcq', '-Y', 'pcq.expert.late')
    assert 'sked late' not in out


@PASSES
def test_an_answer_that_was_not_captured_but_acknowledged(summary, passes):
    """The last call was answered: the client acknowledges what the server sent (tcp.analysis.ack_lost_segment). "Never answered" is false."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene))
    h = samples(line.client(), scene, [ask(s)], s, count=5, close=False)
    request = bytes(stubs.request(DATA, hQuery=h, dwInSize=ROOM))
    line.request(DATA, request)
    line.rpc.transport.skip(1, b''.join(line.rpc.response_pdus(line.model.handle(DATA, request, 6)[1])))
    for _ in range(5):
        scene.capture.now += 3 * SECOND
        line.rpc.transport.segment(0, b'', 0x10)
    lines, _ = summary(scene, *passes)
    assert not any('never answered' in line for line in lines)


def by_order():
    """Without QueryCounterInfo. The server's blocks come the other way round: of the three \\Set(a)\\First fails where a is not there, and
    \\Set(b)\\Second goes back in the fifth sample."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'First', lambda at, k: 10 + at.number),
                 counter(2, 'PERF_COUNTER_LARGE_DELTA', 'Second', lambda at, k: 900 - at.number),
                 instances=lambda n: ('a', 'b') if n not in (2, 3) else ('b',))
    asked = [ask(s, 1, 'a'), ask(s, 2, 'b'), ask(s, 1, 'b')]
    return story(Script([s], order=lambda query: [2, 1, 0]), lambda c: (learn(c, s), run(c, asked, 6, info=False)))


@PASSES
def test_what_failed_and_began_again_is_assumed_too(tshark, summary, tmp_path, passes):
    """That \\Set(b)\\First failed is false: each sentence that names it says that it is assumed. Nothing is said to have begun again."""
    lines, found = summary(by_order(), *passes)
    sentences = lines + [f['text'] for m in found['monitors'] for f in m['findings']]
    sentences += [r['First of them'] for r in table(tshark, tmp_path / 'scene.pcap', 'pcq,monitors', *passes) if r['First of them']]
    named = [x for x in sentences if ' ERROR_NO_DATA' in x]
    assert len(named) == 3 and all('Set(b)\\First (assumed): ERROR' in x for x in named)
    assert not any('began again' in x for x in sentences)


def namesakes(protocol):
    """Two svc. Behind the second sample the first of them ends, the other goes on in its place, and a new one begins. What each counts
    only grows."""
    counts = [[5000, 10], [5010, 20], [27, 3], [37, 10], [47, 17]]
    value = lambda at, k: counts[min(at.number, 4)][k]
    if protocol == 'pcq':
        s = multiple('Process', counter(6, 'PERF_COUNTER_LARGE_DELTA', 'Delta', value), instances=[(0, 'svc', 0), (0, 'svc', 1)])
        return story(Script([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*')], 5)))
    scene = Scene()
    talk = Talk(scene, [Object(230, 'Process', [Number(6, 'Delta', TYPES['PERF_COUNTER_LARGE_DELTA'], value)],
                               lambda at: [Row('svc'), Row('svc')])])
    talk.clock = Clock(scene.capture)
    talk.open()
    talk.titles()
    for _ in range(5):
        talk.sample('230')
        scene.capture.now += SECOND
    talk.close()
    return scene


@PASSES
@pytest.mark.parametrize('protocol', ['pcq', 'hkpd'])
def test_one_of_two_of_a_name_ends_and_another_begins(summary, protocol, passes):
    """No value began again: that the two are compared by their places is assumed (-z pcq,long says so). A server where a svchost ends
    is healthy ("What is only assumed is not wrong")."""
    _, found = summary(namesakes(protocol), *passes)
    assert [f['kind'] for m in found['monitors'] for f in m['findings']] == ['assumed'] and found['healthy'] is True


@PASSES
def test_who_browsed_before_it_sampled_opened_a_query(summary, passes):
    """The server has no names in French, or a provider that is broken (4211), which one call of the monitor's connection finds out. Behind it
    the same connection opens a query and samples it: "no samples: no query was opened" is false of this client and this server."""
    scene, s = Scene(), memory()
    c = tcp_line(scene, Server([s], scene)).client()
    c.reg_info(s.guid, 5, 0x40C, in_size=999)
    samples(c, scene, [ask(s)], s, count=6)
    lines, found = summary(scene, *passes)
    assert 'no query was opened' not in '\n'.join(lines)
    assert [(m['samples'], [f['kind'] for f in m['findings']]) for m in found['monitors']] == [(6, ['call_failed'])]


@PASSES
def test_two_clients_that_are_denied(summary, passes):
    """Each once; what the second was told is not the first one's."""
    scene, s = Scene(), memory()
    server = Server([s], scene, denies={OPEN: (5, range(99))})
    for n in range(2):
        c = tcp_line(scene, server, client='192.0.2.%d' % (10 + n), client_port=50001 + n).client()
        c.open()
    _, found = summary(scene, *passes)
    assert sorted((m['client'], [f['count'] for f in m['findings']]) for m in found['monitors']) == [
        ('192.0.2.10', [1]), ('192.0.2.11', [1])]


def two_queries_of_a_connection():
    """One is closed; then the server ends the connection, while the other is open."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene))
    c = line.client()
    samples(c, scene, [ask(s)], s, count=6, close=False)
    samples(c, scene, [ask(s, 1)], s, count=1, teach=False)
    line.rpc.transport.segment(1, b'', 0x14)
    return scene


def two_pipes_of_a_connection():
    scene, s = Scene(), memory()
    server, tcp = Server([s], scene), Tcp(scene.capture, 445, 50002)
    smb, clients = Smb2(tcp), []
    for i in range(2):
        rpc = Rpc(Pipe(smb, file_id=0xF11E0001 + i))
        rpc.bind()
        clients.append(Line(scene, rpc, server).client())
    learn(clients[0], s)
    handles = [c.open() for c in clients]
    for i, (c, h) in enumerate(zip(clients, handles)):
        c.validate(h, [ask(s, i + 1)])
        c.info(h)
    for _ in range(6):
        for c, h in zip(clients, handles):
            c.data(h, ROOM)
        scene.capture.now += SECOND
    clients[1].close(handles[1])
    tcp.segment(1, b'', 0x14)
    return scene


@PASSES
@pytest.mark.parametrize('make', [two_queries_of_a_connection, two_pipes_of_a_connection,
                                  lambda: troubles.broken_off(0x14, client='127.0.0.1', server='127.0.0.1')],
                         ids=['two-queries', 'two-pipes', 'one-address'])
def test_a_server_that_ends_what_is_open(summary, make, passes):
    """The server's port sends the RST while a query is open: `broken`, as docs/statistics.md has it, and not healthy."""
    _, found = summary(make(), *passes)
    assert [f['kind'] for m in found['monitors'] for f in m['findings']] == ['broken'] and found['healthy'] is False


@PASSES
@pytest.mark.parametrize('flags, side', [(0x11, 1), (0x10, 0)], ids=['the-server-ends-the-idle-connection', 'the-capture-goes-on'])
def test_a_client_that_closes_its_pipe(summary, flags, side, passes):
    """It ends without CloseQueryHandle; its system closes the pipe (SMB2 CLOSE), with which the server forgets the query. Nothing
    is open any more, and nobody broke anything off; the same over TCP (FIN) is healthy."""
    scene, s = Scene(), memory()
    line = smb_line(scene, Server([s], scene))
    samples(line.client(), scene, [ask(s)], s, close=False)
    line.rpc.transport.close()
    scene.capture.now += 20 * SECOND
    line.rpc.transport.smb.tcp.segment(side, b'', flags)
    lines, found = summary(scene, *passes)
    assert len(lines) == 1 and found['healthy'] is True


def twice(scene):
    """Each frame again, 3 microseconds later: a mirrored port."""
    scene.capture.frames = [(when + more, frame) for when, frame in scene.capture.frames for more in (0, 3)]
    return scene


@PASSES
def test_packets_that_were_captured_twice_were_not_sent_again(summary, passes):
    """Same bytes, same IP identification: the network neither lost nor delayed anything; the client was late."""
    _, found = summary(twice(monitor(pauses={4: 5})), *passes)
    assert [f['kind'] for m in found['monitors'] for f in m['findings']] == ['asked_late']


@PASSES
@pytest.mark.parametrize('close', [True, False], ids=['closed', 'left-open'])
def test_a_cluster_node_that_runs_longer_takes_over(tshark, summary, tmp_path, close, passes):
    """Both nodes were asked each second (by the capture's clock, and by PerfTime100NSec). The other node was started 30,000 s earlier,
    and PerfTimeStamp counts from there: no client slept for eight hours. (A node that was started later is 'restarted, or another one'.)"""
    scene, s = Scene(), memory()
    first = Server([s], scene)
    samples(tcp_line(scene, first).client(), scene, [ask(s)], s, count=6, close=close)
    other = Server([s], scene, boot=first.clock.boot - 30000 * SECOND)
    samples(tcp_line(scene, other, client_port=50077).client(), scene, [ask(s)], s, count=6)
    _, found = summary(scene, *passes)
    rows = [r for r in table(tshark, tmp_path / 'scene.pcap', 'pcq,queries', *passes) if r['Server'] is not None]
    assert found['healthy'] is True
    assert all(float(r['Longest (s)']) < 2 and r['Late asked'] == '0' for r in rows)


@PASSES
def test_one_question_after_the_other(summary, passes):
    """A client asks for one object, 0.1 s later for another one, and so each second: ten samples of either in ten seconds. Neither of them
    comes each 0.1 s."""
    scene = Scene()
    objects = [Object(i, 'Object %d' % i, [Number(i + 1, 'Counter %d' % i, TYPES['PERF_COUNTER_DELTA'], lambda at, k: 7 * at.number, 4)])
               for i in (2, 4)]
    talk = Talk(scene, objects)
    talk.clock = Clock(scene.capture)
    talk.open()
    talk.titles()
    for _ in range(10):
        talk.sample('2', [2])
        scene.capture.now += SECOND // 10
        talk.sample('4', [4])
        scene.capture.now += 9 * SECOND // 10
    talk.close()
    _, found = summary(scene, *passes)
    assert all(m['interval'] is None or m['interval'] > .4 for m in found['monitors'])


@PASSES
def test_one_of_two_calls_at_once_is_not_answered(summary, passes):
    """The second call has its answer, the first has none for a minute. The client waits: it did not stop to ask."""
    scene, s = Scene(), memory()
    line = tcp_line(scene, Server([s], scene))
    h = samples(line.client(), scene, [ask(s)], s, count=6, close=False)
    first, second = [Call(line, DATA, hQuery=h, dwInSize=ROOM) for _ in range(2)]
    second.do().answer()
    for _ in range(20):
        scene.capture.now += 3 * SECOND
        line.rpc.transport.segment(0, b'', 0x10)
    _, found = summary(scene, *passes)
    assert [f['kind'] for m in found['monitors'] for f in m['findings']] == ['unanswered']
