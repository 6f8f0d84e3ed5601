# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that were not captured: a removal and an addition between two samples, so that as many blocks as before come. What was
known is assumed from the last request of that connection on, until QueryCounterInfo tells."""

import pytest

from gen.scene import Scene, smb_line, tcp_line
from gen.story import NONE, Server, answers, ask, counter, learn, multiple, unseen
from learned import read
from test_sound import ASSUMED, backward, gauge, paths, three_counters, truth

ACK = 0x10
OFF = ('-o', 'tcp.analyze_sequence_numbers:FALSE')


def swap(line, model, handle, s):
    """Counter 2 goes and counter 4 comes, unseen: two calls of the connection."""
    hidden = unseen(model)
    hidden.validate(handle, [ask(s, 2, 'a')], add=False)
    hidden.validate(handle, [ask(s, 4, 'a')])
    line.rpc.call_id += 2
    tcp = line.rpc.transport
    tcp = getattr(tcp, 'smb', tcp)
    tcp = getattr(tcp, 'tcp', tcp)
    tcp.seq[0] += 500
    tcp.seq[1] += 500 - 2 * 24            # an answer has no handle and no dwAdd
    return tcp


WAYS = {
    'next-request': (tcp_line, {}, lambda tcp: None, ()),
    'acknowledged-first': (tcp_line, {}, lambda tcp: tcp.segment(0, b'', ACK), ()),
    'acknowledged-by-the-server': (tcp_line, {}, lambda tcp: tcp.segment(1, b'', ACK), ()),
    'request-in-two-segments': (tcp_line, dict(mss=40), lambda tcp: None, ()),
    'smb': (smb_line, {}, lambda tcp: tcp.segment(0, b'', ACK), ()),
    'answer-alone': (tcp_line, dict(loses=lambda opnum, kind, n: kind == 'request' and n == 2), lambda tcp: None, ()),
    'without-analysis': (tcp_line, {}, lambda tcp: tcp.segment(0, b'', ACK), OFF),
}


@pytest.mark.parametrize('way', WAYS)
def test_two_calls_that_are_missing(tshark, tmp_path, way, two_pass):
    make, how, between, options = WAYS[way]
    s = gauge()
    model, scene = Server([s], order=backward), Scene()
    line = make(scene, model, **how)
    c = line.client()
    h = three_counters(c, s)
    c.data(h, 9999)
    between(swap(line, model, h, s))
    c.data(h, 9999)
    c.data(h, 9999)
    c.info(h)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, *options, two_pass=two_pass)
    read_ones = [(number, message) for number, message in answers(scene) if way != 'answer-alone' or frames[number].values]
    said = [ASSUMED in frames[number].experts for number, _ in read_ones]
    right = [paths(frames[number]) == truth(message) for number, message in read_ones]
    # a later look knows what QueryCounterInfo told behind the samples
    assert said == [False, False, *[not two_pass] * (1 + (way != 'answer-alone')), False] and right == [two_pass or not x for x in said]


@pytest.mark.parametrize('last, following', [(2 ** 32 - 2, 1), (7, 7), (7, 3)], ids=['wraps', 'repeats', 'goes-back'])
def test_numbers_that_do_not_go_on(tshark, tmp_path, last, following, two_pass):
    """Where segments are missing and a client counts in another way, any number of calls may be."""
    s = gauge()
    model, scene = Server([s], order=backward), Scene()
    line = tcp_line(scene, model)
    h = three_counters(c := line.client(), s)
    line.rpc.call_id = last
    c.data(h, 9999)
    swap(line, model, h, s)
    line.rpc.call_id = following
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    assert [ASSUMED in frames[number].experts for number, _ in answers(scene)] == [False, False, True]


# what a query holds, (set, counter, instances) in order; other sets number their counters otherwise, and those of 3 have four bytes
TELLING = {'type': ['1a', '2b', '.a'], 'pattern': ['1a*', '2b*', '1a*'], 'counters': ['.*', '5.*'], 'size': ['1a', '3a', '2a'],
           'another': ['1a', '2b'], 'another order': ['1a', '2a'], 'many': ['1a', '3a', '2a'] + ['2x%d' % i for i in range(260)]}


@pytest.mark.parametrize('what', TELLING)
@pytest.mark.parametrize('info', [True, False])
def test_what_is_contradicted_was_assumed(tshark, tmp_path, what, info, two_pass):
    """The first counter goes and comes back, or another does, on a way that the capture does not have. What QueryCounterInfo tells then is
    something else than was known; or those behind it go and come, too, so that it tells the same, but blocks of the sample between cannot be
    those: all since the last certain moment was assumed. Of so many blocks the second sample says it."""
    other = multiple('Other', counter(5, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Five', [1]))

    def asks(*which):
        return [ask(other if x[0] == '5' else s, *((NONE, x.strip('5.')) if '.' in x else (int(x[0]), x[1:]))) for x in which]
    s = multiple('Set', *[counter(i, 'PERF_COUNTER_' + 'LARGE_' * (i < 3) + 'RAWCOUNT', 'No. %d' % i, [1]) for i in (1, 2, 3)])
    model, scene, held, is_other = Server([s, other]), Scene(), asks(*TELLING[what]), what.startswith('another')
    c, hidden = tcp_line(scene, model).client(), unseen(model)
    learn(c, s, other)
    h, samples = c.query(held, info=info or is_other), range(1 + (what == 'many'))
    for out, back in ([], []), (held[:1], asks('2a') if what == 'another' else held[:1]), ([] if is_other else held[1:],) * 2:
        hidden.validate(h, out, add=False)
        hidden.validate(h, back)
        [c.data(h, 9999) for _ in samples]
    c.info(h)
    [c.data(h, 9999) for _ in samples]
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    said = [ASSUMED in frames[number].experts for number, _ in answers(scene)][samples[-1]::len(samples)]
    assert said == [two_pass, *[two_pass or not is_other] * 2, False] if info or is_other or two_pass else not said[-1]
    assert paths(frames[answers(scene)[-1][0]]) == truth(answers(scene)[-1][1])
