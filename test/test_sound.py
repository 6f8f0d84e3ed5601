# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a capture is incomplete: what it does not prove is not said, or said to be assumed."""

import pytest

from gen import buffers, stubs
from gen.buffers import NONE
from gen.scene import Scene, tcp_line
from gen.story_script import Damaging, Script, answers, ask, counter, learn, multiple
from gen.stubs import VALIDATE
from learned import cooked, one, read

ASSUMED = 'pcq.expert.order_assumed'

PASSES = pytest.mark.parametrize('two_pass', [False, True], ids=['one-pass', 'two-pass'])


def gauge(count=4, kind='PERF_COUNTER_RAWCOUNT', **more):
    return multiple('Set', *[counter(i, kind, 'Counter %d' % i, lambda at, k, i=i: 10 * i + k)
                             for i in range(1, count + 1)], **more)


def backward(query):
    return list(range(len(query.identifiers)))[::-1]


def paths(frame):
    return [one(x, 'pcq.path') for x in frame.values]


def truth(message):
    return [v['path'] for v in message.record['values']]


def lossy(scene, server, *lost):
    """A client of whose calls the PDUs (opnum, kind, which of them) are not in the capture."""
    seen = {}

    def alter(opnum, kind, stub):
        which = seen[opnum, kind] = seen.get((opnum, kind), -1) + 1
        return None if (opnum, kind, which) in lost else stub
    return Damaging(tcp_line(scene, server), alter).client()


# --- changes whose answer is missing --------------------------------------------------------------------------------


@PASSES
def test_an_unanswered_change_ends_what_was_known(tshark, tmp_path, two_pass):
    """One counter is removed, another added, whose answer is missing: as many blocks as before, and none is known."""
    s = gauge()
    server, scene = Script([s], order=backward), Scene()
    c = lossy(scene, server, (VALIDATE, 'response', 2))
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, i, 'a') for i in (1, 2, 3)])
    c.info(h)
    c.data(h, 9999)
    c.validate(h, [ask(s, 2, 'a')], add=False)
    c.validate(h, [ask(s, 4, 'a')])
    c.data(h, 9999)
    c.info(h)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (first, a), (second, _), (third, b) = answers(scene)
    assert paths(frames[first]) == truth(a) and paths(frames[third]) == truth(b)
    assert paths(frames[second]) == [None] * 3


@PASSES
def test_a_change_is_not_known_until_it_is_answered(tshark, tmp_path, two_pass):
    """Two connections share a handle: an answer between request and response of a change is of nobody knows which time;
    one that the server refused leaves everything as it was."""
    s = gauge()
    server, scene = Script([s], order=backward), Scene()
    line = tcp_line(scene, server)
    c, other = line.client(), tcp_line(scene, server, client_port=50009).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, i, 'a') for i in (1, 2)])
    c.info(h)

    def change(identifier, add):
        stub = stubs.request(VALIDATE, hQuery=h, lpData=buffers.identifiers([identifier]), dwAdd=int(add))
        _, answer, record = server.handle(VALIDATE, bytes(stub))
        line.request(VALIDATE, stub, record['request'], record)
        other.data(h, 9999)
        line.response(VALIDATE, answer, record['response'], record)
        other.data(h, 9999)
    change(ask(s, 77, 'a'), True)       # refused: there is no such counter
    change(ask(s, 1, 'a'), False)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (asked, _), (refused, a), (removing, _), (removed, b) = answers(scene)
    assert paths(frames[asked]) == [None] * 2 and paths(frames[removing]) == [None]
    assert paths(frames[refused]) == truth(a) and paths(frames[removed]) == truth(b)


@PASSES
def test_an_index_of_other_counters_tells_nothing(tshark, tmp_path, two_pass):
    """A whole change is missing: the answer has fewer blocks than QueryCounterInfo said."""
    s = gauge()
    server, scene = Script([s], order=backward), Scene()
    c = lossy(scene, server, (VALIDATE, 'request', 1), (VALIDATE, 'response', 1))
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, i, 'a') for i in (1, 2, 3)])
    c.info(h)
    c.data(h, 9999)
    c.validate(h, [ask(s, 3, 'a')], add=False)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (first, message), (second, _) = answers(scene)
    assert paths(frames[first]) == truth(message)
    assert paths(frames[second]) == [None] * 2


@PASSES
def test_an_assignment_belongs_to_its_time(tshark, tmp_path, two_pass):
    """Before and after a change the blocks have the same types, and each is the only one that its identifier fits."""
    s = gauge()
    server = Script([s], order=lambda q: sorted(range(len(q.identifiers)), key=lambda i: q.identifiers[i].name == '*'))
    scene = Scene()
    c = tcp_line(scene, server).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, 1, 'a'), ask(s, 2, '*')])
    c.data(h, 9999)
    c.validate(h, [ask(s, 1, 'a')], add=False)
    c.validate(h, [ask(s, 3, 'a')])
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    for number, message in answers(scene):
        assert sorted(paths(frames[number])) == sorted(truth(message))


# --- what refutes a guess -------------------------------------------------------------------------------------------


def told(frame):
    """[(path, result, reason)]"""
    return [(one(x, 'pcq.path'), *cooked(x)) for x in frame.values]


REFUTED, BEFORE_ASSUMED, REPEATED = 21, 22, 23


@PASSES
def test_a_known_size_refutes_the_order(tshark, tmp_path, two_pass):
    """Without QueryCounterInfo: a value of 4 bytes is no counter of 8, and the others stay assumed."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Long', lambda at, k: 1000 + 7 * at.number),
                 counter(2, 'PERF_COUNTER_COUNTER', 'Short', lambda at, k: 500 + at.number),
                 counter(3, 'PERF_COUNTER_BULK_COUNT', 'Other', lambda at, k: 90 * at.number),
                 counter(4, 'PERF_COUNTER_COUNTER', 'Last', lambda at, k: 5 * at.number))
    server, scene = Script([s], order=lambda q: [1, 0, 2, 3]), Scene()
    c = tcp_line(scene, server).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, i, 'a') for i in (1, 2, 3, 4)])
    for _ in range(2):
        c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (_, _), (number, message) = answers(scene)
    shown, right = told(frames[number]), message.record['values']
    assert shown[:2] == [(None, None, REFUTED)] * 2
    assert [x[0] for x in shown[2:]] == truth(message)[2:]
    assert shown[2][1] == pytest.approx(right[2]['cooked'])
    assert ASSUMED in frames[number].experts
    assert all('(order assumed)' in b.label for b in frames[number].all('pcq.block')[2:])


@PASSES
def test_a_base_falls_with_its_counter(tshark, tmp_path, two_pass):
    """Average, base, a gauge, turned round: the gauge's size refutes the average, whose base has the right size."""
    s = multiple('Set', counter(1, 'PERF_AVERAGE_BULK', 'Average', lambda at, k: 6 * at.number, base=2),
                 counter(2, 'PERF_AVERAGE_BASE', None, lambda at, k: 2 * at.number),
                 counter(3, 'PERF_COUNTER_RAWCOUNT', 'Gauge', lambda at, k: 3))
    server, scene = Script([s], order=backward), Scene()
    c = tcp_line(scene, server).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, i, 'a') for i in (1, 2, 3)])
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (number, _), = answers(scene)
    assert told(frames[number]) == [(None, None, REFUTED)] * 3
    assert ASSUMED not in frames[number].experts


@PASSES
def test_a_counter_that_the_set_does_not_have(tshark, tmp_path, two_pass):
    """Two whole sets in the other order: the ids in the block are none of the set's."""
    sets = [multiple(name, *[counter(i, 'PERF_COUNTER_RAWCOUNT', '%s %d' % (name, i), lambda at, k: 1) for i in ids])
            for name, ids in (('One', (1, 2)), ('Two', (5, 6)))]
    server, scene = Script(sets, order=backward), Scene()
    c = tcp_line(scene, server).client()
    learn(c, *sets)
    h = c.open()
    c.validate(h, [ask(s, NONE, '*') for s in sets])
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (number, message), = answers(scene)
    assert told(frames[number]) == [(None, None, REFUTED)] * len(truth(message))


@PASSES
def test_what_is_certain_is_not_marked(tshark, tmp_path, two_pass):
    """One block is the only one of its type, two others are alike: those two are assumed."""
    s = gauge()
    server, scene = Script([s]), Scene()
    c = tcp_line(scene, server).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, 1, 'a'), ask(s, 2, '*'), ask(s, 3, 'a')])
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (number, message), = answers(scene)
    assert paths(frames[number]) == truth(message)
    assert ['(order assumed)' in b.label for b in frames[number].all('pcq.block')] == [True, False, True]


@PASSES
def test_nothing_is_calculated_from_an_assumption(tshark, tmp_path, two_pass):
    """The sample before had two blocks of a kind, this one has one: it is certain, what it was before is not."""
    s = gauge(kind='PERF_COUNTER_DELTA')
    server, scene = Script([s], order=backward), Scene()
    c = tcp_line(scene, server).client()
    learn(c, s)
    h = c.open()
    c.validate(h, [ask(s, i, 'a') for i in (1, 2)])
    c.data(h, 9999)
    c.validate(h, [ask(s, 2, 'a')], add=False)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    (_, _), (number, message) = answers(scene)
    assert told(frames[number]) == [(truth(message)[0], None, BEFORE_ASSUMED)]
    assert ASSUMED not in frames[number].experts
