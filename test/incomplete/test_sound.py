# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a capture is incomplete: what it does not prove is not said, or said to be assumed."""

import re
import struct

import pytest

from gen import hostile
from gen.buffers import NONE
from gen.pcap import Capture
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, Times, answers, ask, backward, begin, counter, frames_of, gauge, learn, multiple, run, single, capture_talk
from gen.stubs import DATA, INFO, VALIDATE
from learned import ASSUMED, close_to, cooked, one, paths, read, read_file, truth


def three_counters(c, s):
    """A query that is told whose its blocks are, and a look at them."""
    learn(c, s)
    h = c.query([ask(s, i, 'a') for i in (1, 2, 3)])
    c.data(h, 9999)
    return h


# --- sizes and guesses ----------------------------------------------------------------------------------------------

def told(frame):
    """[(path, result, reason)]"""
    return [(one(x, 'pcq.path'), *cooked(x)) for x in frame.values]


NOT_COMPARED, REPEATED, TOO_SHORT, CLOCK_BACK = 40, 23, 25, 30


def test_a_number_that_is_shorter_than_its_type_has_no_result(tshark, tmp_path, two_pass):
    """Four bytes cannot be a number of eight, wherever its name is from; eight for a type of four are what some providers
    send, and calculate. No name is lost by it."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Long', lambda at, k: 1000 + 7 * at.number),
                 counter(2, 'PERF_COUNTER_COUNTER', 'Short', lambda at, k: 500 + at.number))
    scenario, c = begin(Server([s], order=backward), s)
    h = c.query([ask(s, i, 'a') for i in (1, 2)], info=False)
    for _ in range(2):
        c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    (number, message) = answers(scenario)[1]
    long, short = (v.cooked for v in reversed(message.record['values']))     # what each counter is
    assert [p.rsplit('\\')[-1] for p, _, _ in told(frames[number])] == ['Long', 'Short']
    assert told(frames[number])[0][1:] == (None, TOO_SHORT)
    assert told(frames[number])[1][1:] == (pytest.approx(long), None)
    assert ASSUMED in frames[number].experts


class Widths(Server):
    """Values of so many bytes, sample by sample: {counter id: sizes}"""

    def __init__(self, sets, widths):
        super().__init__(sets)
        self.widths = widths

    def _block(self, i, at):
        for c in self.find(i.guid).counters:
            c.width = self.widths[c.id][at.number]
        return super()._block(i, at)


OTHER_SIZE = 36


def test_a_number_of_another_size_than_before_is_not_compared(tshark, tmp_path, two_pass):
    """Nor is one whose base has another. What has one size in both samples is compared."""
    grows = lambda step: lambda at, k: 1000 + step * at.number
    s = multiple('Set', counter(2, 'PERF_COUNTER_COUNTER', 'Short', grows(5)), counter(1, 'PERF_COUNTER_BULK_COUNT', 'Long', grows(7)),
                 counter(3, 'PERF_AVERAGE_BULK', 'Average', grows(9), base=4), counter(4, 'PERF_AVERAGE_BASE', None, grows(3)))
    server = Widths([s], {1: [8, 4, 8, 8, 8], 2: [8, 8, 4, 4, 8], 3: [8] * 5, 4: [4, 4, 8, 8, 4]})
    frames = read(tshark, scenario := capture_talk(server, lambda c: (learn(c, s), run(c, [ask(s, NONE, 'a')], 5))), tmp_path, two_pass=two_pass)
    shown = [[(cooked(x)[0] is not None, cooked(x)[1], '(assumed)' in x.label) for x in frames[n].values[:3]] for n, _ in answers(scenario)[1:]]
    yes, no = (True, None, False), (False, OTHER_SIZE, False)
    assert shown == [[yes, (False, TOO_SHORT, False), yes], [no, no, no], [yes, yes, yes], [no, yes, no]]


MULTI_COUNTERS, FIRST_SIZE, FIRST_TYPE = 48 + 32 + 16, 48 + 8, 48 + 4      # behind the header, a block of one value, the header of the second; its dwSize, dwType


def said(which, at, old, new):
    """A change of a number of the sample of that number, counted from 1."""
    samples = []

    def change(opnum, kind, stub):
        samples.extend([stub] if (opnum, kind) == (DATA, 'response') else [])
        if (opnum, kind) != (DATA, 'response') or len(samples) != which:
            return stub
        place = 20 + at     # lpData begins there in the stub
        assert stub[place:place + 4] == struct.pack('<I', old)
        return stub[:place] + struct.pack('<I', new) + stub[place + 4:]
    return change


WHOLE = [('(a)\\Counter 1', '10', '0'), ('(b)\\Counter 1', '11', '0'), ('(b)\\Counter 2', '21', '0')]


@pytest.mark.parametrize('number', [2, 4, 2 ** 32 - 1])
def test_a_number_of_blocks_that_is_not_so_ends_nothing(tshark, tmp_path, number, two_pass):
    """Only one that all of the answer bears out shows that a change was missed: later answers have their names, and are certain."""
    s, scenario = gauge(), Scenario()
    c = tcp_line(scenario, Server([s], order=backward), alters=said(2, 4, 3, number)).client()
    h = three_counters(c, s)
    for _ in range(3):
        c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    others = [(paths(frames[n]) == truth(m), ASSUMED in frames[n].experts) for n, m in answers(scenario)]
    assert others == [(True, False)] * 3


@pytest.mark.parametrize('at, old, new, why', [(4, 2, 1, NOT_COMPARED), (64, 8, 7, OTHER_SIZE)])
def test_what_the_damaged_answer_before_had_is_nothing_new(tshark, tmp_path, at, old, new, why, two_pass):
    """A number of blocks that leaves one out, and one of a value's bytes."""
    s = multiple('Set', *(counter(n, 'PERF_COUNTER_BULK_COUNT', 'Things', lambda at, k: 100 * at.number) for n in (1, 2)))
    scenario, c = begin(Server([s]), s, alters=said(2, at, old, new))
    run(c, [ask(s, n, 'a') for n in (1, 2)], 3)
    assert told(read(tshark, scenario, tmp_path, two_pass=two_pass)[answers(scenario)[-1][0]])[0][1:] == (None, why)


def test_a_value_of_a_malformed_block_has_no_result(tshark, tmp_path):
    """Two instances of which three are said to be there"""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', lambda at, k: 22))
    scenario, c = begin(Server([s]), s, alters=said(2, 68, 2, 3))
    run(c, [ask(s, 1, '*')])
    frame, = (f for n, f in read(tshark, scenario, tmp_path).items() if f.values and n not in dict(answers(scenario)))
    assert [cooked(v)[0] for v in frame.values] == [None] * 2


# What the blocks of an answer ask for, by their types; whose each is said to be: a counter, "?" where that is assumed
ASSIGNED = {
    'an-instance-for-a-pattern': ([(0, 'a*')], [1], '0'),
    'order-of-others-that-do-not-fit': ([(0, 'a'), (1, '*')], [1, 1], '0?-'),
    'one-of-a-kind-among-others': ([(0, 'a'), (NONE, 'a'), (NONE, 'b')], [2, 1, 2], '--*?'),
    'in-order-where-each-fits-one-alone': ([(0, 'a'), (NONE, 'a')], [1, 2], '0?*?'),
    'one-of-a-kind-that-its-set-does-not-have': ([(3, 'a'), (NONE, 'a'), (NONE, 'b')], [2, 1, 2], '--*?'),
    'two-alike': ([(0, 'a'), (1, 'a')], [1, 1], '0?1?'),
    'one-of-unknown-type': ([(0, '*')], [5], '-'),
    'a-type-beyond-the-last': ([(NONE, '*'), (1, 'a')], [7, 1], '-1?'),
}


def typed_block(kind):
    value = hostile.values(1)
    return hostile.block(kind, {1: value, 2: hostile.ids(1) + value}.get(kind, b''))


def test_whose_each_block_is(tshark, tmp_path):
    """Each way on a connection of its own."""
    capture, frames = Capture(), {}
    for i, (way, (asked, types, _)) in enumerate(ASSIGNED.items()):
        p = hostile.Pcq(capture, server='192.0.2.%d' % (40 + i))
        p.registration(9, hostile.utf16('Set'))
        p.counters(range(3))
        p.open()
        p.change([hostile.identifier(*x) for x in asked])
        frames[way] = p.data(*map(typed_block, types))
    got = read_file(tshark, capture.write(tmp_path / 'a.pcap'))

    def said_of(b):
        whose = re.search(r'\\#?(\d+|\*)( \(assumed\))?[,:]', b.label)
        return whose[1] + ('?' if whose[2] else '') if whose else '-'
    said = {way: ''.join(map(said_of, got[f].all('pcq.block'))) for way, f in frames.items()}
    assert said == {way: marks for way, (_, _, marks) in ASSIGNED.items()}
    assert all((ASSUMED in got[f].experts) == ('?' in said[way]) for way, f in frames.items())


def test_nothing_is_calculated_from_an_assumption(tshark, tmp_path, two_pass):
    """The sample before had two blocks of a kind, this one has one: it is certain, what it was before is not."""
    s = gauge(kind='PERF_COUNTER_DELTA')
    scenario, c = begin(Server([s], order=backward), s)
    h = c.query([ask(s, i, 'a') for i in (1, 2)], info=False)
    c.data(h, 9999)
    c.validate(h, [ask(s, 2, 'a')], add=False)
    c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    (_, _), (number, message) = answers(scenario)
    assert told(frames[number]) == [(truth(message)[0], None, NOT_COMPARED)]
    assert ASSUMED not in frames[number].experts


# --- whose a verdict is ---------------------------------------------------------------------------------------------


def test_identifiers_and_failed_blocks_have_their_path(tshark, tmp_path, two_pass):
    """Refused ones too, by the rules of values' paths; in requests, responses and QueryCounterInfo."""
    many, alone = gauge(2), single('Alone', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Only', [5]))
    scenario, c = begin(Server([many, alone]), many, alone)
    h = c.open()
    asked = [ask(many, 1, 'a'), ask(many, 2, 'gone'), ask(many, 9, 'a'), ask(alone, 1, 'whatever'), ask(many, NONE, '*'),
             dict(guid='00000000-0000-0000-0000-0000000000aa', counter_id=3)]
    c.validate(h, asked)
    c.info(h)
    c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    expected = [r'\\SRV01\Set(a)\Counter 1', r'\\SRV01\Set(gone)\Counter 2', r'\\SRV01\Set(a)\#9', r'\\SRV01\Alone\Only',
                r'\\SRV01\Set(*)\*', r'\\SRV01\{00000000-0000-0000-0000-0000000000aa}\#3']
    for kind in ('request', 'response'):
        (number, message), = frames_of(scenario, VALIDATE, kind)
        assert [one(x, 'pcq.identifier.path') for x in frames[number].identifiers] == expected
    verdicts = [x.own('pcq.identifier.status')[0].show for x in frames[number].identifiers]
    assert [v != '0' for v in verdicts] == [False, False, True, False, False, True]
    (number, _), = answers(scenario, INFO)
    assert {one(x, 'pcq.identifier.path') for x in frames[number].identifiers} == {expected[i] for i in (0, 1, 3, 4)}
    (number, _), = answers(scenario)
    blocks = {b.own('pcq.block.status')[0].show: one(b, 'pcq.identifier.path') for b in frames[number].all('pcq.block')}
    assert blocks.pop('0') is None and set(blocks.values()) == {expected[1]}


def test_refusals_stand_first_in_the_info_column_and_failures_behind_the_value(tshark, tmp_path):
    """The first refused counter with its error, in the response and in an answer; a size probe is no failure in words."""
    s = gauge(2)
    scenario, c = begin(Server([s]), s)
    h = c.query([ask(s, 1, 'a'), ask(s, 9, 'a'), ask(s, 2, 'gone')], info=False)
    c.validate(h, [ask(s, 1, 'b')], add=False)
    c.info(h)
    c.data(h)
    info = tshark.info(scenario.write(tmp_path / 'x.pcap'))
    added, removed = [info[n] for n, _ in frames_of(scenario, VALIDATE, 'response')]
    assert 'response, 1 refused: \\Set(a)\\#9 (ERROR_WMI_ITEMID_NOT_FOUND), query 1, 2 added' in added
    assert '1 refused to be removed: \\Set(b)\\Counter 1 (' in removed
    (number, _), = answers(scenario)
    assert re.search(r'response, query 1: \\Set\(a\)\\Counter 1 = \S+; 1 failed: \\Set\(gone\)\\Counter 2 \(ERROR_', info[number])
    probes = [info[n] for n, m in frames_of(scenario, DATA, 'response') if m.status == 8]
    assert probes and all('size probe: needs ' in p and 'ERROR' not in p for p in probes)


# --- clocks that are off --------------------------------------------------------------------------------------------


def test_clocks_that_jump(tshark, tmp_path):
    """The server's clock goes back, then ahead by a day, the capturing machine's the other way: an interval is the server's, none
    is negative, and nothing is calculated with one of 0."""
    day, second, start = 86400, 10 ** 7, 13 * 10 ** 16
    s = single('Clocks', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: 100 * at.number),
               counter(2, 'PERF_COUNTER_DELTA', 'Delta', lambda at, k: 100 * at.number))
    times = Times([(10 ** 12 + at * second, start + at * second) for at in (0, 1, -50, -49, day)])
    scenario, c = begin(Server([s], clock=times), s)
    h = c.query([ask(s)])
    for jump in (0, day, 0, -day, -day):
        scenario.capture.now += jump * 10 ** 6
        c.data(h, 9999)
    frames = read(tshark, scenario, tmp_path)
    shown = [frames[n] for n, _ in answers(scenario)]
    intervals = [x.show for frame in shown for x in frame.all('pcq.sample.interval')]
    assert [float(x) for x in intervals] == [1, 0, 1, day + 49]
    none = (None, CLOCK_BACK)
    assert [cooked(f.values[0]) for f in shown[1:]] == [(100, None), none, (100, None), (close_to(100 / (day + 49)), None)]
    assert [cooked(f.values[1]) for f in shown[1:]] == [(100, None)] * 4


@pytest.mark.parametrize('ticks, others', [(100, 0), (-40, 0), (0, 100)])
def test_clocks_that_contradict_each_other(tshark, tmp_path, ticks, others):
    """One is off in one sample: which is wrong nobody knows, and there is no rate. By 0.1 s or 1 % they are read and slewed apart."""
    second = 10 ** 7
    s = single('Clocks', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: 100 * at.number),
               counter(2, 'PERF_COUNTER_DELTA', 'Delta', lambda at, k: 100 * at.number))
    times = Times([(10 ** 12 + (60 * n + (n == 3) * ticks) * second + {1: 6, 5: 10}.get(n, 0) * 10 ** 6,
                    13 * 10 ** 16 + (60 * n + (n == 3) * others) * second) for n in range(6)])
    scenario, c = begin(Server([s], clock=times), s)
    run(c, [ask(s)], 6)
    rate, delta = zip(*((cooked(x)[1] for x in read(tshark, scenario, tmp_path)[n].values) for n, _ in answers(scenario)[1:]))
    assert rate == (None, None, 38, 38 if ticks < 0 else CLOCK_BACK if ticks else None, 38) and set(delta) == {None}
