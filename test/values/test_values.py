# SPDX-License-Identifier: GPL-2.0-or-later
"""pcq.cooked: every type in every place, two samples that do not match, and each reason for there being no value."""

import itertools

import pytest

from gen.buffers import NONE
from gen.scenario import Scenario, smb_line, tcp_line
from gen.scripted import Server, Times, answers, ask, counter, frames_of, learn, multiple, run, seconds, single, capture_talk, unseen, whole_session
from gen.every_type import UNDECIDED, every_type, spread, together
from gen.stubs import DATA
from learned import by_path, close_to, compare_paths, compare_values, cooked, one, read

# plugin/perf/calculate.h
FIRST_SAMPLE, BASE_TYPE, NO_FORMULA, UNKNOWN_TYPE, NOT_COMPARABLE = 1, 12, 13, 14, 40
TYPE_NOT_LEARNED, COUNTER_NOT_KNOWN, SAMPLE_DROPPED, SIZE, DAMAGED = range(15, 20)


@pytest.fixture
def told(tshark, tmp_path):
    """told(server, talk) -> (Scenario, frames)"""
    def tell(server, talk, *args, two_pass=False, line=tcp_line, **options):
        scenario = capture_talk(server, talk, line=line, **options)
        return scenario, read(tshark, scenario, tmp_path, *args, two_pass=two_pass)
    return tell


# --- every type -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('line, options', [(tcp_line, {}), (tcp_line, dict(order='>', ndr64=True)), (smb_line, {})],
                         ids=['tcp', 'tcp-big-endian-ndr64', 'smb'])
def test_a_whole_session(tshark, tmp_path, line, options):
    """The model's own sets: refused counters, odd names, instances that come and go, other widths, a removal."""
    frames = read(tshark, scenario := whole_session(line, **options), tmp_path)
    compare_paths(frames, scenario)
    assert compare_values(frames, scenario, UNDECIDED) > 300


@pytest.mark.parametrize('shape, helpers, wide', [
    *[(value, helper, False) for value, helper in ((1, 1), (1, 6), (2, 2), (2, 4), (4, 1), (4, 4), (6, 2), (6, 6))], (1, 1, True), (6, 6, True)])
def test_every_type_in_every_shape(told, shape, helpers, wide):
    """Values in blocks of one dwType, some of 8 bytes all, their base, time, frequency and multi counters in blocks of another, or in the same."""
    types = every_type(wide)
    in_one_block = shape == helpers and shape in (2, 6)
    asked, shown = together(types, shape) if in_one_block else spread(types, shape, helpers)
    server = Server([types], shows=shown, clock=seconds(9))

    def talk(c):
        learn(c, types)
        run(c, asked, 3)
    scenario, frames = told(server, talk)
    compare_paths(frames, scenario)
    # of 40 types 31 have a formula, and 7 of these need one sample only; 3 of the 8 helpers are plain numbers
    assert compare_values(frames, scenario, UNDECIDED) == 3 * (3 * (7 + 3) + 2 * 24)


# --- two samples ----------------------------------------------------------------------------------------------------

def test_previous_and_interval(told, two_pass):
    """Which frame a calculation started from, and the seconds between by the server's clock, once for a buffer."""
    s = single('One', counter(1, 'PERF_COUNTER_BULK_COUNT', 'Rate', lambda at, k: 100 * at.number))
    times = [(10 ** 9, 10 ** 17), (10 ** 9 + 3 * 10 ** 7 + 5, 10 ** 17 + 7), (10 ** 9 + 9 * 10 ** 7, 10 ** 17 + 9)]
    server = Server([s], clock=Times(times))
    scenario, frames = told(server, lambda c: (learn(c, s), run(c, [ask(s, 1)], 3)), two_pass=two_pass)
    rows = [(n, frames[n]) for n, _ in answers(scenario)]
    assert rows[0][1].all('pcq.sample.previous') == rows[0][1].all('pcq.sample.interval') == []
    for (before, _), (_, frame), seconds_between in zip(rows, rows[1:], (3.0000005, 5.9999995)):
        previous, interval = frame.all('pcq.sample.previous'), frame.all('pcq.sample.interval')
        assert [int(x.show) for x in previous] == [before] and previous[0].size == 0
        assert [float(x.show) for x in interval] == [close_to(seconds_between)] and interval[0].size == 0


def moving(rows, *counters):
    """Instances that are others in each sample: rows is a list of [(id, name, place)]."""
    counters = counters or (counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Delta', lambda at, k: 1000 * k + at.number * (k + 1)),
                            counter(2, 'PERF_AVERAGE_BULK', 'Average', lambda at, k: 5 * at.number * (k + 2), base=3),
                            counter(3, 'PERF_AVERAGE_BASE', None, lambda at, k: at.number * (k + 1)))
    return multiple('Moving', *counters, instances=lambda n: rows[min(n, len(rows) - 1)])


# Two of each name, and two names that are told by their digests: in both samples the first of a name stands first.
PAIRS = [[(7, name, 2 * i), (7, name, 2 * i + 1)] for i, name in enumerate([*map(str, range(20)), 'x' * 1100 + 'y', 'x' * 1100 + 'z'])]


@pytest.mark.parametrize('shape', [4, 6])
@pytest.mark.parametrize('rows', [
    [[(1, 'a', 0), (2, 'b', 1), (3, 'c', 2)], [(3, 'c', 2), (1, 'a', 0), (2, 'b', 1)]],
    [[(1, 'a', 0), (2, 'b', 1), (3, 'c', 2)], [(2, 'b', 1)], [(1, 'a', 0), (2, 'b', 1), (4, 'd', 3)]],
    [[], [(1, 'a', 0)], [(1, 'a', 0)], []],
    [[(7, 'same', 0), (7, 'same', 1), (7, 'same', 2)], [(7, 'same', 0), (7, 'same', 1), (7, 'same', 2), (8, 'other', 3)]],
    [sum(PAIRS, []), sum(PAIRS[::-1], [])],
    [[(1, 'a', 0), (1, 'A', 1)], [(1, 'A', 1), (1, 'a', 0)]],
    [[(1, '', 0), (1, ' ', 1)], [(1, ' ', 1), (1, '', 0)]],
], ids=['reordered', 'gone-and-new', 'none-then-one', 'equal', 'pairs', 'case', 'empty'])
def test_instances_come_go_and_move(told, shape, rows):
    s = moving(rows)
    asked = [ask(s, NONE, '*')] if shape == 6 else [ask(s, i, '*') for i in (3, 2, 1)]
    scenario, frames = told(Server([s]), lambda c: (learn(c, s), run(c, asked, len(rows) + 1)))
    compare_values(frames, scenario)
    # the paths say #1 for the second of equal names, whatever the ids
    compare_paths(frames, scenario)


# --- no value, and why ----------------------------------------------------------------------------------------------

def test_types_without_a_value(told):
    kinds = {'PERF_COUNTER_NODATA': NO_FORMULA, 'PERF_COUNTER_HISTOGRAM_TYPE': NO_FORMULA, 'PERF_SAMPLE_BASE': BASE_TYPE,
             'PERF_AVERAGE_BASE': BASE_TYPE, 'PERF_RAW_BASE': BASE_TYPE, 'PERF_LARGE_RAW_BASE': BASE_TYPE,
             'PERF_COUNTER_MULTI_BASE': BASE_TYPE}
    rows = [counter(i, kind, kind, [0, 1]) for i, kind in enumerate(kinds)]
    rows += [counter(50, 0x7BCDE900, 'unknown', [0, 1]), counter(51, 'PERF_COUNTER_RAWCOUNT', 'short', [b'\1\2\3'] * 2),
             counter(52, 'PERF_COUNTER_BULK_COUNT', 'long', [b'\1' * 12] * 2),
             counter(53, 'PERF_COUNTER_RAWCOUNT', 'nothing', [b''] * 2),
             counter(54, 'PERF_COUNTER_TEXT', 'text', ['some', '\u4142\u4344\u4546']),
             counter(55, 0x40030503, 'the other large raw base', [0, 1], width=8)]
    s = single('Nothing', *rows)
    scenario, frames = told(Server([s]), lambda c: (learn(c, s), run(c, [ask(s)])))
    values = {k.rpartition('\\')[2]: v for k, v in by_path(frames[answers(scenario)[1][0]]).items()}
    for kind, why in {**kinds, 'unknown': UNKNOWN_TYPE, 'short': SIZE, 'long': SIZE, 'nothing': SIZE}.items():
        assert values[kind] == (None, why), kind
    assert values['text'] == (None, None), 'neither field for text'
    assert frames[answers(scenario)[1][0]].show_of('pcq.value.text') == ['\u4142\u4344\u4546'], 'its bytes are letters of ASCII, too'
    assert values['the other large raw base'] == (None, BASE_TYPE)


def test_reasons_when_nothing_is_known(told):
    """No registration was captured, then not even which counters were added."""
    s = multiple('Unknown Set', counter(1, 'PERF_COUNTER_BULK_COUNT', 'x', [1, 2]))
    server = Server([s])
    scenario, frames = told(server, lambda c: run(c, [ask(s, 1, 'a'), ask(s, NONE, 'a')]))
    assert len(answers(scenario)) == 2
    for n, _ in answers(scenario):
        assert [cooked(x) for x in frames[n].values] == [(None, TYPE_NOT_LEARNED)] * 2

    def talk(c):
        learn(c, s)
        hidden = unseen(server)
        h = hidden.query([ask(s, 1, 'a'), ask(s, 1, '*')], info=False)
        c.data(h, 65536)
    scenario, frames = told(server, talk)
    assert len(answers(scenario)) == 1
    for n, _ in answers(scenario):
        assert [cooked(x) for x in frames[n].values] == [(None, COUNTER_NOT_KNOWN)] * 3


# --- damage, and memory ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize('damage', ['rubbish', 'short', 'counts', 'missing', 'status'])
def test_a_damaged_answer_is_no_sample(tshark, tmp_path, damage):
    """Nothing is compared with it, and the next answer is compared with the last sound one."""
    s = single('One', counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Delta', lambda at, k: at.number ** 2))
    scenario = Scenario()
    count = itertools.count()

    def alter(opnum, kind, stub):
        if (opnum, kind) != (DATA, 'response') or next(count) != 1:
            return stub
        return {'rubbish': bytes((x * 7 + i * 31) & 0xFF for i, x in enumerate(stub)), 'short': stub[:-20],
                'counts': stub[:16] + b'\xF0' + stub[17:], 'missing': None,
                'status': stub[:-4] + b'\5\0\0\0'}[damage]
    c = tcp_line(scenario, Server([s]), alters=alter).client()
    learn(c, s)
    run(c, [ask(s, 1)], 4)
    frames = read(tshark, scenario, tmp_path)
    rows = frames_of(scenario, DATA, 'response')
    good = [n for n, m in rows if m.fields]
    assert len(good) == 3 and len(rows) == 3 + (damage != 'missing')
    for n, m in rows:
        if not m.fields:
            assert not [x for x in frames[n].values if cooked(x)[0] is not None]
            assert not frames[n].all('pcq.sample.previous')
    assert [cooked(frames[n].values[0]) for n in good] == [(None, FIRST_SAMPLE), (4.0, None), (5.0, None)]
    assert [frames[n].numbers('pcq.sample.previous') for n in good] == [[], good[:1], good[1:2]]


@pytest.mark.parametrize('damaged, lost', [(1, [(None, FIRST_SAMPLE), (None, NOT_COMPARABLE), (5.0, None)]), (0, [(None, NOT_COMPARABLE), (3.0, None), (5.0, None)])])
def test_a_damaged_block_is_no_sample_and_the_others_are(tshark, tmp_path, damaged, lost, two_pass):
    """Only its own values have no result, and those of the next answer's block, which has nothing to be compared with: the reason is
    the damage."""
    sets = [single(name, counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Delta', lambda at, k: at.number ** 2)) for name in ('One', 'Two')]
    scenario, count = Scenario(), itertools.count()

    def alter(opnum, kind, stub):
        if (opnum, kind) != (DATA, 'response') or next(count) != damaged:
            return stub
        second = 20 + 48 + 32 + 16
        return stub[:second] + b'\xFF' * 4 + stub[second + 4:]     # dwDataSize
    c = tcp_line(scenario, Server(sets), alters=alter).client()
    learn(c, *sets)
    run(c, [ask(s, 1) for s in sets], 4)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    rows = [frames[n] for n, m in frames_of(scenario, DATA, 'response')]
    assert len(rows) == 4 and 'pcq.expert.size' in [x.name for x in rows[damaged].walk()]
    results = [{one(v, 'pcq.path'): cooked(v) for v in row.values if one(v, 'pcq.path')} for row in rows]
    sound, = results[damaged]
    other, = set(results[3]) - {sound}
    assert [r[sound] for r in results] == [(None, FIRST_SAMPLE), (1.0, None), (3.0, None), (5.0, None)]
    assert [r[other] for r in results if other in r] == lost


def big_scenario(samples=4):
    """Samples of 420 KiB each, whose instances change places: they have nothing in common that need not be kept."""
    people = [(i, 'person %05d ' % i + 'x' * 1000, i) for i in range(210)]
    s = multiple('Crowd', counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Steps', lambda at, k: k * at.number),
                 instances=lambda number: people[number:] + people[:number])
    return s, capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], samples)), max_frag=5840)


def test_dropped_samples_say_so(tshark, tmp_path, two_pass):
    """With 1 MiB for samples of 420 KiB each, only the newest two are there at the end of the first pass."""
    s, scenario = big_scenario()
    frames = read(tshark, scenario, tmp_path, '-o', 'pcq.sample_limit:1', '-Y', 'pcq.status || pcq.counter_data', two_pass=two_pass)
    rows = [n for n, _ in answers(scenario)]
    reasons = [{cooked(x)[1] for x in frames[n].values} for n in rows]
    assert 2 * 420 * 1024 < 1 << 20 < 3 * 420 * 1024 < 3 * max(len(m.stub) for _, m in answers(scenario))
    assert all(len(frames[n].values) == 210 for n in rows)
    # while the first pass goes on, the sample before is always still there
    assert reasons == ([{FIRST_SAMPLE}, {None}, {None}, {None}] if not two_pass else
                       [{FIRST_SAMPLE}, {SAMPLE_DROPPED}, {SAMPLE_DROPPED}, {None}])
    last = frames[rows[-1]].values
    assert sorted(cooked(x)[0] for x in last) == [float(k) for k in range(210)]
