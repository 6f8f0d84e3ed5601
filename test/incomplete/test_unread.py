# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that nobody reads: cut short when captured, not put together, sealed, or seen by their answers alone. The headers of their PDUs say
what was called; what they may have changed is marked."""

import itertools
import struct

import pytest

from gen import stubs
from gen.hkpd_block import Counter, Instance, Object
from gen.hkpd_scenario import Talk
from gen.model import TYPES
from gen.pcap import Pipe, Rpc, Smb2, Tcp
from gen.scenario import Line, Scenario, smb_line, tcp_line
from gen.scripted import Server, answers, ask, backward, gauge, learn, unseen
from learned import marks, paths, read, truth
from series import long_rows
from test_sound import three_counters


def cut(size, requests=True, answers_too=True, flags=range(256), opnum=None):
    def do(scenario, first):
        for number, (when, frame) in enumerate(scenario.capture.frames[first - 1:], first):
            is_request = frame[36:38] in (b'\xc2\x07', b'\x01\xbd')     # to port 49671 or 445
            if (requests if is_request else answers_too) and frame[57] in flags:
                scenario.capture.snap(number, size)
                scenario.capture.frames[number - 1] = when, frame[:76] + bytes([frame[76] if opnum is None else opnum]) + frame[77:]
    return do


def off(name):
    return '-o', name + ':FALSE'


# line, connection of the calls that are not read, what the capture does to them, options
WAYS = {
    'cut': (tcp_line, {}, cut(100), ()),
    'cut-in-writes': (lambda *a, **how: smb_line(*a, transceive=False, **how), {}, cut(256), ()),
    'no-operation': (tcp_line, {}, cut(9999, answers_too=False, opnum=0x87), ()),
    'answers-cut': (tcp_line, {}, cut(100, requests=False), ()),
    'segments-apart': (tcp_line, dict(mss=200), cut(9999), off('tcp.desegment_tcp_streams')),
    'pdus-apart': (tcp_line, dict(mss=200), cut(9999), off('dcerpc.desegment_dcerpc')),
    'fragments-apart': (tcp_line, dict(max_frag=200), cut(9999), off('dcerpc.reassemble_dcerpc')),
    'fragments-apart-in-a-pipe': (smb_line, dict(max_frag=200), cut(9999), off('dcerpc.reassemble_dcerpc')),
}


def told_and_looked_at(make=tcp_line, **how):
    """-> scenario, line, client, set, handle: three counters, told by QueryCounterInfo, and a sample"""
    s, scenario = gauge(), Scenario()
    line = make(scenario, Server([s], order=backward), **how)
    c = line.client()
    return scenario, line, c, s, three_counters(c, s)


def swap(c, s, h, room=4):
    """Counter 2 goes and 4 comes, in calls that are long."""
    padding = [ask(s, i, 'a' * 20) for i in range(50, 50 + room)]
    c.validate(h, [ask(s, 2, 'a'), *padding], add=False)
    c.validate(h, [ask(s, 4, 'a'), *padding])


@pytest.mark.parametrize('way', WAYS)
def test_two_changes_that_are_not_read(tshark, tmp_path, way, two_pass):
    make, how, capture, options = WAYS[way]
    scenario, line, c, s, h = told_and_looked_at(make, **how)
    c.data(h, 9999)
    first = len(scenario.capture.frames) + 1
    swap(c, s, h)
    capture(scenario, first)
    c.data(h, 9999)
    c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, *options, two_pass=two_pass)
    assert marks(frames, scenario).replace('-', '?') == '++??'


def test_the_first_request_loses_its_last_fragment(tshark, tmp_path):
    """Its answer is the server's all the same: what is told behind it another client's samples have."""
    scenario, s = Scenario(), gauge()
    line = tcp_line(scenario, Server([s]), max_frag=60, mss=60)
    first = len(scenario.capture.frames)
    line.client().reg_info(s.guid, 9, 0, 2000)
    del scenario.capture.frames[first + 1]
    learn(line.client(), s)
    other = tcp_line(scenario, line.model, client='192.0.2.9').client()
    other.data(other.query([ask(s, 1, 'a')]), 9999)
    assert marks(read(tshark, scenario, tmp_path), scenario) == '+'


FRAGMENTS = {'twice': lambda a, b, *more: [a, b, b, *more], 'missing': lambda a, b, *more: [a, *more],
             'first twice': lambda a, *more: [a, a, *more],
             'as sent, with one hint': lambda a, *more: [a, *(p[:16] + bytes(4) + p[20:] for p in more)],
             'as sent, with more room': lambda *all: [p[:16] + struct.pack('<I', struct.unpack_from('<I', p, 16)[0] // 16 * 16 + 32) + p[20:] for p in all]}


@pytest.mark.parametrize('way', FRAGMENTS)
@pytest.mark.parametrize('protocol', ['pcq', 'hkpd'])
def test_fragments_that_do_not_fit(tshark, tmp_path, protocol, way, passes):
    """What was put together of them is marked, or left out; whole answers before and behind are certain, and so is a hint that is no size."""
    scenario, names = Scenario(), [chr(97 + i) for i in range(26)]
    transport, how = Tcp(scenario.capture), dict(max_frag=312)      # as many bytes as whole instances have
    if protocol == 'hkpd':
        one = Counter(5002, None, TYPES['PERF_COUNTER_LARGE_RAWCOUNT'], lambda at, k: k)
        talk = Talk(scenario, [Object(5000, None, [one], lambda at: [Instance(x) for x in names])], transport=transport, **how)
        rpc, sample = talk.rpc, talk.sample
        talk.open()
    else:
        rpc, s = Rpc(transport, **how), gauge(instances=names)
        rpc.bind()
        c = Line(scenario, rpc, Server([s])).client()
        h = c.query([ask(s, 1, '*'), ask(s, 2, '*')])
        sample = lambda: c.data(h, 9999)
    sample()
    stock = rpc.fragments
    rpc.fragments = lambda *what: of if len(of := stock(*what)) < 3 else FRAGMENTS[way](*of)
    sample()
    rpc.fragments = stock
    sample()
    out, _ = tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)
    certain = [len(list(some)) for _, some in itertools.groupby((r for r in long_rows(out) if r['assumed'] == '0'), lambda r: r['frame'])]
    assert certain == [26 if protocol == 'hkpd' else 52] * (3 if 'sent' in way else 2)


def test_two_requests_at_once_in_a_pipe(tshark, tmp_path):
    """Each answer is read in parts behind both, and is whole."""
    scenario, s = Scenario(), gauge(instances=[chr(97 + i) for i in range(26)])
    line = Line(scenario, Rpc(Pipe(Smb2(Tcp(scenario.capture, 445)), read_size=300, transceive=False)), Server([s]))
    line.rpc.bind()
    h, answer = line.client().query([ask(s, 1, '*')]), line.rpc.transport.to_client
    line.rpc.transport.to_client = lambda pdus, whole: [answer([x]) for x in pdus][-1]
    line.together([(stubs.DATA, dict(hQuery=h, dwInSize=9999))] * 2)
    assert [r['assumed'] for r in long_rows(tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-')[0])] == ['0'] * 52


def test_an_answer_that_is_cut_is_an_answer(tshark, tmp_path):
    """Each of four answers is there, and was cut short."""
    scenario, _, c, _, h = told_and_looked_at()
    first = len(scenario.capture.frames) + 1
    for _ in range(4):
        c.data(h, 9999)
    cut(100, requests=False)(scenario, first)
    _, err = tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,csv,-')
    assert 'requests and responses not decoded: 4' in err


@pytest.mark.parametrize('connections', [2, 3])
@pytest.mark.parametrize('way', ['lost', 'late'])
def test_connections_in_turn(tshark, tmp_path, connections, way, two_pass):
    """One query, asked on several connections in turn each second. Either one call of the last of them is not in the capture:
    the packet states the gap, and nobody is blamed; or the client was late once."""
    scenario, line, c, s, h = told_and_looked_at()
    lines = [line] + [tcp_line(scenario, line.model, client_port=50008 + i) for i in range(1, connections)]
    model, when = line.model, 2 * connections
    for n in range(6 * connections):
        scenario.capture.now += 10 ** 6
        which = lines[n % connections]
        if n // connections == 4 and n % connections == connections - 1:
            if way == 'lost':
                unseen(model).data(h, 9999)
                which.rpc.call_id += 1
                which.rpc.transport.seq = [x + 100 for x in which.rpc.transport.seq]
                continue
            model.clock.tick()
            scenario.capture.now += 10 ** 6
            when = len(scenario.capture.frames) + 2
        which.client().data(h, 9999)
    path = scenario.write(tmp_path / 'a.pcap')
    found = tshark.fields(path, ['frame.number', '_ws.expert.message'], '-Y', 'pcq.expert.late', *['-2'] * two_pass)
    assert all(text.startswith('Late sample: 2.0') for _, text in found) and (way != 'late' or [int(f) for f, _ in found] == [when])
    assert ('asked_late' in tshark.run('-q', '-r', path, '-z', 'pcq,summary,json')[0]) == (way == 'late')


def one_is_missing(c, s, h):
    unseen(c.line.model).validate(h, [ask(s, 2, 'a')], add=False)


def request_is_cut(c, s, h):
    first = len(c.line.scenario.capture.frames) + 1
    swap(c, s, h, 0)
    cut(100)(c.line.scenario, first)


@pytest.mark.parametrize('change, said', [(one_is_missing, '+--+'), (request_is_cut, '+??+')])
def test_a_change_that_is_missing(tshark, tmp_path, change, said, two_pass):
    """One that was not captured shows by the number of blocks, those that were cut by their headers, until QueryCounterInfo tells."""
    scenario, _, c, s, h = told_and_looked_at()
    change(c, s, h)
    c.data(h, 9999)
    c.data(h, 9999)
    c.info(h)
    c.data(h, 9999)
    later = said.replace('-', '+') if two_pass else said     # what it tells holds from the first answer with as many blocks on
    assert marks(read(tshark, scenario, tmp_path, two_pass=two_pass), scenario) == later


@pytest.mark.parametrize('info', [True, False])
def test_an_addition_whose_response_is_missing(tshark, tmp_path, info, two_pass):
    """Blocks as many as were asked for are taken for its; what QueryCounterInfo tells before them is not doubted."""
    s, scenario = gauge(), Scenario()
    c = tcp_line(scenario, Server([s]), loses=lambda opnum, kind, _: (opnum, kind) == (stubs.VALIDATE, 'response')).client()
    learn(c, s)
    h = c.query([ask(s, i, 'a') for i in (1, 2, 3)], info=info)
    c.data(h, 9999)
    c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert marks(frames, scenario) == ('++' if info else '??')
    assert [paths(frames[n]) for n, _ in answers(scenario)] == [truth(m) for _, m in answers(scenario)]


def test_what_is_contradicted_was_assumed(tshark, tmp_path, two_pass):
    """As many blocks as before, of other counters: QueryCounterInfo tells it. Earlier answers are marked where that is known."""
    scenario, line, c, s, h = told_and_looked_at()
    swap(unseen(line.model), s, h, 0)
    c.info(h)
    c.data(h, 9999)
    assert marks(read(tshark, scenario, tmp_path, two_pass=two_pass), scenario) == ('?+' if two_pass else '++')


@pytest.mark.parametrize('names, info', [('ba', False), ('ab', True)], ids=['each beside another', 'in another order'])
def test_other_counters_of_the_same_parts(tshark, tmp_path, names, info, two_pass):
    """Sets, ids and names are those of before: QueryCounterInfo, asked for twice, tells it. Samples from before it keep what it told then."""
    scenario, s = Scenario(), gauge()
    line = tcp_line(scenario, Server([s]))
    c = line.client()
    learn(c, s)
    before, after = [ask(s, 1, 'a'), ask(s, 2, 'b')], [ask(s, 2, names[1]), ask(s, 1, names[0])]
    h = c.query(before, info=info)
    c.data(h, 9999)
    missing = unseen(line.model)
    missing.validate(h, before, add=False)
    missing.validate(h, after)
    c.info(h)
    c.info(h)
    c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert marks(frames, scenario)[1:] == '+'
    told = answers(scenario)[not info:]
    assert [paths(frames[n]) for n, _ in told] == [truth(m) for _, m in told]
