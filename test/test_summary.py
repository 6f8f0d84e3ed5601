# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,summary`: its first line names what is wrong with the monitoring, and who did it."""

import json
import re

import pytest

from conftest import TOP
from gen.scene import Scene, tcp_line
from gen.story_script import Damaging, Script, Times, answers, ask, counter, learn, multiple, run, single, story
from gen.stubs import DATA
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
    ([1, 1, 1, 1, 4, 1, 1], [.1] * 7, 'late because the client asked late'),
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


def test_a_server_that_began_again(summary):
    s = things()
    clock = Times([(5 * 10 ** 11, 134351767437550592), (5 * 10 ** 11 + 10 ** 7, 134351767447550592), (10 ** 7, 134351767457550592),
                   (2 * 10 ** 7, 134351767467550592)])
    lines, found = summary(story(Script([s], clock=clock), lambda c: (learn(c, s), run(c, [ask(s, 1)], 4))))
    assert "the server's clock began again" in lines[0] and not found['healthy']


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


def test_json_on_standard_output(tshark):
    out, _ = tshark.run('-q', '-r', PCAPS / 'smb3-ntlm.pcap', '-z', 'pcq,summary,json', *KEY)
    assert json.loads(out)['monitors'][0]['samples'] == 10
