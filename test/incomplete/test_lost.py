# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that were not captured, or that nobody could read. What they leave unknown is not said, or marked; polls leave nothing unknown."""

import random

import pytest

from gen.scene import Scene, tcp_line
from gen.story import Server, answers, ask, learn, multiple, unseen
from gen.stubs import DATA, VALIDATE
from learned import read
from series import long_rows
from test_sound import ASSUMED, backward, gauge, lossy, paths, three_counters, truth


def marks(frames, scene):
    """For each sample: named as it is ('+'), marked ('?'), or without names ('-')."""
    shown = [(frames[number], message) for number, message in answers(scene)]
    return ''.join('?' if ASSUMED in f.experts else '-' if not any(paths(f)) else '+' if paths(f) == truth(m) else 'false' for f, m in shown)


def one_is_missing(c, s, h):
    unseen(c.line.model).validate(h, [ask(s, 2, 'a')], add=False)


def request_is_cut(c, s, h):
    first = len(c.line.scene.capture.frames) + 1
    c.validate(h, [ask(s, 2, 'a')], add=False)
    c.validate(h, [ask(s, 4, 'a')])
    for number in range(first, len(c.line.scene.capture.frames) + 1):
        c.line.scene.capture.snap(number, 100)


@pytest.mark.parametrize('change, said', [(one_is_missing, '+--+'), (request_is_cut, '+??+')])
def test_a_change_that_is_missing(tshark, tmp_path, change, said, two_pass):
    """One that was not captured shows by the number of blocks, those that were cut by their headers, until QueryCounterInfo tells."""
    s, scene = gauge(), Scene()
    c = tcp_line(scene, Server([s], order=backward)).client()
    h = three_counters(c, s)
    change(c, s, h)
    c.data(h, 9999)
    c.data(h, 9999)
    c.info(h)
    c.data(h, 9999)
    later = said.replace('-', '+') if two_pass else said     # what it tells holds from the first answer with as many blocks on
    assert marks(read(tshark, scene, tmp_path, two_pass=two_pass), scene) == later


@pytest.mark.parametrize('info', [True, False])
def test_an_addition_whose_response_is_missing(tshark, tmp_path, info, two_pass):
    """Blocks as many as were asked for are taken for its; what QueryCounterInfo tells before them is not doubted."""
    s, scene = gauge(), Scene()
    c = lossy(scene, Server([s]), (VALIDATE, 'response', 0))
    learn(c, s)
    h = c.query([ask(s, i, 'a') for i in (1, 2, 3)], info=info)
    c.data(h, 9999)
    c.data(h, 9999)
    frames = read(tshark, scene, tmp_path, two_pass=two_pass)
    assert marks(frames, scene) == ('++' if info else '??')
    assert [paths(frames[n]) for n, _ in answers(scene)] == [truth(m) for _, m in answers(scene)]


def test_what_is_contradicted_was_assumed(tshark, tmp_path, two_pass):
    """As many blocks as before, of other counters: QueryCounterInfo tells it. Earlier answers are marked where that is known."""
    s, scene = gauge(), Scene()
    c = tcp_line(scene, Server([s], order=backward)).client()
    h = three_counters(c, s)
    hidden = unseen(c.line.model)
    hidden.validate(h, [ask(s, 2, 'a')], add=False)
    hidden.validate(h, [ask(s, 4, 'a')])
    c.info(h)
    c.data(h, 9999)
    assert marks(read(tshark, scene, tmp_path, two_pass=two_pass), scene) == ('?+' if two_pass else '++')


@pytest.mark.parametrize('info', [True, False])
@pytest.mark.parametrize('share, burst', [(1, 1), (3, 1), (5, 1), (3, 3)])
def test_polls_that_are_missing_leave_no_doubt(tshark, tmp_path, share, burst, info, passes):
    """So many of 100 polls, request and response, at random: no row is marked, each has its name, and a result but for the first."""
    s, scene, pick = multiple('Set', *gauge(3).counters), Scene(), random.Random(share * 10 + burst)
    lost = {n + i for n in range(2, 300) if pick.random() < share / 100 / burst for i in range(burst)}
    c = tcp_line(scene, Server([s]), loses=lambda opnum, kind, n: opnum == DATA and n in lost).client()
    learn(c, s)
    h = c.query([ask(s, i, 'a') for i in ((1, 2, 3) if info else (1,))], info=info)
    for _ in range(300):
        c.data(h, 9999)
    rows = long_rows(tshark.run('-q', '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0])
    assert len(rows) == (300 - len(lost & set(range(300)))) * (3 if info else 1) and lost
    assert {(r['assumed'], r['counter'][:7]) for r in rows} == {('0', 'Counter')}
