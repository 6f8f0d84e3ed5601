# SPDX-License-Identifier: GPL-2.0-or-later
"""perf/timing against the same rule in Python: what is usual, which gaps are late, from where on a response is slow."""

import ctypes
import os
import pathlib
import random
import statistics
import subprocess
from typing import NamedTuple

import pytest

TOP = pathlib.Path(__file__).parents[2]


class Row(NamedTuple):
    """A request for counter data. sent: its repetition, where it was a size probe; answered 0: never; clock 0: not known; open: sealed queries
    that are open, of which nothing tells which is asked"""
    when: float
    sent: float
    answered: float
    clock: float = 0
    query: int = 1
    open: int = 1
    date: float = 0


def is_long(seconds, usual, factor=1.5):
    return seconds > factor * usual and seconds >= usual + .05


def is_even(gaps, usual):
    return len(gaps) >= 8 and sum(is_long(g, usual) for g in gaps) <= max(1, .1 * len(gaps))


def befores(rows):
    """Of each request the place of the one before it of its query, or as many before as are open; None: there is none."""
    latest, out = {}, []
    for n, r in enumerate(rows):
        out.append(latest.get(r.query) if r.open == 1 else n - r.open if n >= r.open else None)
        latest[r.query] = n
    return out


def pairs_of(befores):
    """Places of each request and the one before, for a first one the last of a query that has ended."""
    ended, pairs = [], []
    for n, before in enumerate(befores):
        before = ended.pop() if before is None and ended else before
        if before is not None:
            pairs.append((before, n))
        if n not in befores:
            ended.append(n)
    return pairs


def expected(rows):
    """-> usual, is even, slow from, longest, jitter, [(before, request, is late)]"""
    pairs = pairs_of(befores(rows))
    usual = statistics.median(rows[b].when - rows[a].when for a, b in pairs) if pairs else 0
    if any(r.open > 1 for r in rows):
        pairs = [(n, n + 1) for n in range(len(rows) - 1)]
    gaps = [rows[b].when - rows[a].when for a, b in pairs]
    even, chain, chains = is_even(gaps, usual), {}, {}          # queries that are open at once are judged apart
    for (a, b), gap in zip(pairs, gaps):
        chain[b] = chain.setdefault(a, a)
        chains.setdefault(chain[b], []).append(gap)
    usuals = {n: max(usual, statistics.median(c)) for n, c in chains.items()}
    evens = {n: is_even(c, usuals[n]) or (even and not is_long(usuals[n], usual)) for n, c in chains.items()}
    waits = sorted(r.answered - r.sent for r in rows if r.answered)
    slow = min(5, max(4 * (waits[len(waits) // 4] if waits else 0) + .1, min(1, usual / 2) if len(gaps) >= 3 else 1))
    firsts, out = [n for n, before in enumerate(befores(rows)) if before is None], []
    for (a, b), gap in zip(pairs, gaps):
        one, two = rows[a], rows[b]
        across = one.query != two.query
        own = usuals[chain[b]]
        late = evens[chain[b]] and is_long(gap, own, 3 if across else 1.5) and one.answered and is_long(gap - (one.answered - one.when), own)
        late = late and (across or a not in firsts)
        late = late and not (one.clock and two.clock > one.clock and not is_long(two.clock - one.clock, own))
        out.append((a, b, bool(late)))
    even = even and not any(is_long(u, usual) for u in usuals.values())
    return usual, even, slow, max(gaps, default=None), statistics.median(abs(g - usual) for g in gaps) if gaps else 0, out


class Request(ctypes.Structure):
    _fields_ = [(n, ctypes.c_double) for n in ('when', 'sent', 'answered', 'clock', 'date')] + \
        [('call', ctypes.c_void_p), ('query', ctypes.c_uint32), ('before', ctypes.c_uint32), ('in_turn', ctypes.c_bool), ('no_data', ctypes.c_bool)]


class Gap(ctypes.Structure):
    _fields_ = [('before', ctypes.c_uint32), ('request', ctypes.c_uint32), ('previous', ctypes.c_uint32), ('seconds', ctypes.c_double), ('usual', ctypes.c_double), ('is_across', ctypes.c_bool), ('is_late', ctypes.c_bool),
                ('is_other_clock', ctypes.c_bool)]


class Verdict(ctypes.Structure):
    _fields_ = [(n, ctypes.c_double) for n in ('usual', 'quartile', 'slow_from', 'jitter')] + \
        [('num_gaps', ctypes.c_uint32), ('longest', ctypes.c_uint32), ('is_even', ctypes.c_bool)]


@pytest.fixture(scope='module')
def judge(tmp_path_factory):
    library = tmp_path_factory.mktemp('timing') / 'timing.so'
    perf = TOP / 'plugin' / 'perf'
    subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', '-I', TOP / 'plugin', '-o', library, perf / 'timing.c', perf / 'summary.c', '-lm'],
                   check=True)
    call = ctypes.CDLL(str(library)).timing_judge
    call.restype = Verdict

    def get(rows):
        gaps = (Gap * (len(rows) + 1))()
        requests = [(*r[:4], r.date, None, r.query, 0xFFFFFFFF if before is None else before, r.open > 1) for r, before in zip(rows, befores(rows))]
        v = call((Request * len(rows))(*requests), ctypes.c_uint32(len(rows)), gaps)
        get.others = [g.request for g in gaps[:v.num_gaps] if g.is_other_clock]
        return v.usual, v.is_even, v.slow_from, gaps[v.longest].seconds if v.num_gaps else None, v.jitter, \
            [(g.before, g.request, g.is_late) for g in gaps[:v.num_gaps]]
    return get


def poll(count, each=1, at=1000, query=1, takes=.01, **gaps):
    """gaps: n5=3.0 makes the gap behind the request of that number so long"""
    rows = []
    for n in range(count):
        rows.append(Row(at, at, at + takes, query=query))
        at += gaps.get('n%d' % n, each)
    return rows


def change(rows, n, **how):
    return [*rows[:n], rows[n]._replace(**how), *rows[n + 1:]]


LATE = poll(20, n8=6)
TABLE = {                                       # name: (requests, places of those that are late)
    'nothing': ([], []),
    'one': (poll(1), []),
    'in time': (poll(20), []),
    'late': (LATE, [9]),
    'the first gap': (poll(20, n0=6), []),
    'waited for the response': (change(LATE, 8, answered=LATE[8].when + 5), []),
    'never answered': (change(LATE, 8, answered=0), []),
    'in time by the server': ([r._replace(clock=50 + n) for n, r in enumerate(LATE)], []),
    'late by the server': ([r._replace(clock=r.when - 900) for r in LATE], [9]),
    'other query': (poll(10) + poll(10, at=1012, query=2), []),
    'other query, much later': (poll(10) + poll(10, at=1015, query=2), [10]),
    'queries side by side': (sorted(poll(10, 30) + poll(10, 30, at=1010, query=2)), []),
    'two intervals': (sorted(poll(300) + poll(20, 15, at=1000.5, query=2)), []),
    'late beside another interval': (sorted(poll(60, n8=6) + poll(20, 5, at=1000.5, query=2)), [12]),
    'queries in turn': (sorted(r._replace(open=2) for r in poll(10) + poll(10, at=1000.3)), []),
}


@pytest.mark.parametrize('name', TABLE)
def test_rows(judge, name):
    rows, late = TABLE[name]
    found = judge(rows)
    assert [b for _, b, is_late in found[-1] if is_late] == late
    for one, other in zip(found, expected(rows)):
        assert one == pytest.approx(other) if isinstance(one, float) else one == other


@pytest.mark.parametrize('up, other, date, at, found', [(900, 20, 0, 1012, [10]), (900, 912, 0, 1012, []), (900, 20, 20 - 912, 1012, []), (900, 0, 0, 1012, []),
                                                        (900, 912, 300, 1312, []), (900, 1300, 0, 1012, [10])])
def test_other_clock(judge, up, other, date, at, found):
    """Between two queries the server's clock moves otherwise than the capture's, and than its own time of day."""
    first = [r._replace(clock=up + n, date=n) for n, r in enumerate(poll(10))]
    second = [r._replace(clock=other and other + n, date=12 + date + n) for n, r in enumerate(poll(10, at=at, query=2))]
    judge(change(first, 9, clock=0) + second)
    assert judge.others == found


@pytest.mark.parametrize('seed', range(20))
def test_random_plans(judge, seed):
    dice = random.Random(seed)
    for _ in range(20):
        each, count, stalls = dice.choice([.1, 1, 10, 300]), dice.randrange(1, 200), dice.choice([0, .02, .1, .2])
        rows, at, query = [], 1000, 0
        for _ in range(count):
            query += dice.random() < .05
            takes, lag = dice.choice([.003, .01, .2 * each, 6]), dice.choice([0, 0, .02])
            rows.append(Row(at, at + lag, dice.choice([0, *4 * [at + lag + takes]]), dice.choice([0, at - 900]), dice.randrange(max(0, query - 1), query + 1),
                            dice.randrange(1, 3) if seed % 4 == 0 else 1))
            at += each * dice.uniform(.8, 1.2) * (dice.uniform(1, 20) if dice.random() < stalls else 1)
        for one, other in zip(judge(rows), expected(rows)):
            assert one == pytest.approx(other) if isinstance(one, float) else one == other
