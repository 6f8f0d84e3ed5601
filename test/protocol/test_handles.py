# SPDX-License-Identifier: GPL-2.0-or-later
"""Query handles: where each life of one begins and ends, and what it holds at each moment."""

import pytest

from gen import buffers, stubs
from gen.scenario import Scenario, smb_line, tcp_line
from gen.scripted import Server, answers, ask, begin, counter, frames_of, learn, multiple, run, capture_talk, unseen
from gen.stubs import CLOSE, DATA, OPEN
from learned import by_path, cooked, read
from test_calls import SAME, plain

ZERO = '00' * 20


def handle_of(message):
    return next((f.value for f in message.fields if f.name == 'pcq.handle'), None)


def shown_frames(item):
    """(opened_in, closed_in) of the one handle of a frame; fields of the handle, generated"""
    handle, = [x for x in item.all('pcq.handle') if x.size]
    opened, closed = item.all('pcq.handle.opened_in'), item.all('pcq.handle.closed_in')
    for found in (opened, closed):
        assert len(found) <= 1 and all(x.size == 0 for x in found)
        assert all(x in list(handle.walk()) for x in found), 'it belongs to the handle'
    return tuple(int(found[0].show) if found else None for found in (opened, closed))


def check(frames, expected, two_pass):
    """expected: {frame: (opened_in, closed_in)}; the frame that opens or closes may point to itself or not.

    On one pass a close is only known behind it.
    """
    for number, (opened, closed) in expected.items():
        got_opened, got_closed = shown_frames(frames[number])
        assert got_opened in ((opened, None) if number == opened else (opened,)), (number, got_opened, opened)
        may = {closed, None} if number == closed else {closed} if two_pass or (closed or number) < number else {None}
        assert got_closed in may, (number, got_closed, closed)


def lives(scenario):
    """{frame: (opened_in, closed_in)} from the model's side: a life lasts from a good open to the close."""
    now, out = {}, {}
    for number, m in sorted(((n, m) for n, ms in scenario.frames.items() for m in ms), key=lambda row: row[0]):
        key = handle_of(m)
        if key in (None, ZERO):
            continue
        if m.opnum == OPEN and m.status == 0:
            now[key] = [number, None, []]
        life = now.setdefault(key, [None, None, []])
        life[2].append(number)
        if m.opnum == CLOSE and m.kind == 'request':
            life[1] = number
        for n in life[2]:
            out[n] = (life[0], life[1])
        if life[1] == number:
            now.pop(key)
    return out


# --- a life ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('line, options', [(tcp_line, {}), (tcp_line, dict(order='>')), (tcp_line, dict(ndr64=True)),
                                           (smb_line, {})], ids=['tcp', 'big-endian', 'ndr64', 'smb'])
def test_every_packet_with_a_handle(tshark, tmp_path, line, options, two_pass):
    """All of opnums 3 to 7, several handles open at once, one of them since before the capture."""
    s = plain()
    server = Server([s])
    before = unseen(server).open()

    def talk(c):
        c.data(before)
        c.close(before)
        handles = [c.open() for _ in range(4)]
        for h in handles:
            c.validate(h, [ask(s, 1)])
        for h in handles[::-1]:
            c.info(h)
            c.data(h)
        c.validate(handles[0], [ask(s, 1)], add=False)
        for h in handles[:3]:
            c.close(h)
        c.data(handles[3])
    scenario = capture_talk(server, talk, line=line, **options)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    expected = lives(scenario)
    assert len(expected) == 33 and {(o is None, c is None) for o, c in expected.values()} == {(True, False), (False, True), (False, False)}
    check(frames, expected, two_pass)


def test_reused_after_close(tshark, tmp_path, two_pass):
    """The server deals out the same bytes again: another handle, with another number, other counters and no samples yet."""
    s = plain()
    scenario, c = begin(Server([s], handles=[SAME] * 3), s)
    run(c, [ask(s, 1)])
    run(c, [ask(s, 2)])
    run(c, [ask(s, 1)], close=False)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert len({handle_of(m) for ms in scenario.frames.values() for m in ms} - {None, ZERO}) == 1
    check(frames, lives(scenario), two_pass)
    asked = [n for n, _ in frames_of(scenario, OPEN, 'request')] * (not two_pass)      # whose handle is not known yet
    numbers = [frames[n].numbers('pcq.query.number') for n, (m,) in sorted(scenario.frames.items()) if m.opnum in range(3, 8) and n not in asked]
    assert numbers == sorted(numbers) and {x for x, in numbers} == {1, 2, 3}
    values = [[cooked(x) for x in frames[n].values] for n, _ in answers(scenario)]
    assert values == [[(None, 1)], [(1.0, None)], [(7.0, None)], [(7.0, None)], [(None, 1)], [(9.0, None)]]
    assert [frames[n].numbers('pcq.sample.previous') == [] for n, _ in answers(scenario)] == [True, False] * 3
    assert not [f for f in frames.values() if 'pcq.expert.handle_closed' in f.experts]


def test_used_after_close(tshark, tmp_path, two_pass):
    """A finding says so, also where a second close follows; the server answers with a fault. Data are of another handle, of which nothing is known."""
    s = plain()
    scenario, c = begin(Server([s]), s)
    h = run(c, [ask(s, 1)], 0)
    for opnum in DATA, CLOSE:
        c.line.call(opnum, stubs.request(opnum, hQuery=h, **dict(dwInSize=9) if opnum == DATA else {}))
    again = c.line.request(DATA, stubs.request(DATA, hQuery=h, dwInSize=99))
    told = c.line.response(DATA, stubs.response(DATA, data=buffers.data_buffer([buffers.single_block(7)], 1, 1), in_size=99))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    closed = [n for n, f in frames.items() if 'pcq.expert.handle_closed' in f.experts]
    assert closed == [frames_of(scenario, DATA, 'request')[0][0], frames_of(scenario, CLOSE, 'request')[1][0], again]
    assert frames[told].numbers('pcq.query.number') == [2] and frames[told].values and not frames[told].all('pcq.path')


@pytest.mark.parametrize('damage', ['short', 'status', 'null'])
def test_a_bad_open_opens_nothing(tshark, tmp_path, damage, two_pass):
    """An answer to OpenQueryHandle that is cut, an error, or an empty handle."""
    s = plain()
    scenario = Scenario()

    def alter(opnum, kind, stub):
        if (opnum, kind) == (OPEN, 'response'):
            return {'short': stub[:18], 'status': stub[:20] + b'\x05\0\0\0', 'null': bytes(20) + stub[20:]}[damage]
        return stub
    c = tcp_line(scenario, Server([s]), alters=alter).client()
    h = run(c, [ask(s, 1)])
    assert h != bytes(20)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    for n, _ in frames_of(scenario, DATA, 'request'):
        assert shown_frames(frames[n])[0] is None and frames[n].numbers('pcq.query.number') == [1], 'confirmed by ValidateCounters'
    (opened, _), = frames_of(scenario, OPEN, 'response')
    assert not frames[opened].all('pcq.query.number') and not frames[opened].all('pcq.handle.opened_in')


# --- what a query holds ---------------------------------------------------------------------------------------------

def test_what_it_holds_at_that_moment(tshark, tmp_path, two_pass):
    """Values have the paths of the counters that were held then; refused ones are none."""
    s = multiple('Set', *[counter(i, 'PERF_COUNTER_RAWCOUNT', 'Counter %d' % i, [i]) for i in range(1, 5)])
    server = Server([s])
    moments = []

    def talk(c):
        learn(c, s)
        h = c.open()
        for add, asked, expected in (
                (True, [ask(s, 1, 'a')], ['Counter 1']),
                (True, [ask(s, 2, 'a'), ask(s, 999, 'a'), ask(s, 1, 'a')], ['Counter 1', 'Counter 2']),
                (True, [ask(s, 999, 'a')], ['Counter 1', 'Counter 2']),
                (False, [ask(s, 1, 'a'), ask(s, 3, 'a')], ['Counter 2']),
                (True, [ask(s, 3, '*'), ask(s, 4, 'b')], ['Counter 2', 'Counter 3', 'Counter 4']),
                (True, [ask(s, 1, 'a')], ['Counter 1', 'Counter 2', 'Counter 3', 'Counter 4']),
                # one each of two that were added one behind the other
                (False, [ask(s, 2, 'a'), ask(s, 3, '*')], ['Counter 1', 'Counter 4'])):
            c.validate(h, asked, add)
            c.data(h, 9999)
            moments.append(expected)
    scenario = capture_talk(server, talk)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    held = [sorted({path.rpartition('\\')[2] for path in by_path(frames[number])}) for number, _ in answers(scenario)]
    assert held == moments
