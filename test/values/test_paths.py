# SPDX-License-Identifier: GPL-2.0-or-later
"""Which identifier a block belongs to, and the path that each value gets."""


import pytest

from gen import buffers, client, model, stubs
from gen.buffers import NONE
from gen.model import ENGLISH
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, answers, ask, counter, gauge, learn, multiple, run, single, capture_talk, unseen
from gen.stubs import INFO, VALIDATE, Ndr
from learned import ASSUMED, compare_paths, paths, read, truth

MODES = pytest.mark.parametrize('info', [True, False], ids=['with-info', 'without-info'])


# --- which block is whose -------------------------------------------------------------------------------------------

# As asked, done and shown, step by step: +1a adds counter 1 of instance a (. is all counters, * all instances), -1a removes it, i is
# QueryCounterInfo, d a sample; a call behind ~ is not captured, before ! its answer is cut, before ^ it is lost, before % it is a fault, before & out of memory, before $ invalid; ~ alone opens the query.
# Each sample is named right ('+'), marked as assumed ('?'; '/': but for blocks of another type, which are nobody's), or nobody's ('-') on one pass and, where that is another thing, on two. Blocks
# stand as they were added, or turned around: then names that are assumed are others'.
LONG_SCENARIOS = {
    'an old index does not hold after a change': (True, '+1a,2a i d +3a d', '+?'),
    'nor where there are as many counters as before': (True, '+1a,2a i d -1a +3a d', '+?'),
    'info after the sample tells of it on the second pass': (True, '+1a,2a,3a d i d', '?+', '++'),
    'info without the additions names all counters': (True, '~ ~+1a,.*,2* i d d', '++'),
    'what is added behind it stands behind it': (False, '~ ~+1a,.* i +2* d -.* d', '??'),
    'so it does where something came and went before': (False, '~ +3b ~-3b ~+1a,.* i +2* d -.* d', '??'),
    'an addition to a query that began before has not all the blocks': (False, '~ ~+1a,2a +3a d ~-1a,2a d', '--'),
    'a block that cannot be its identifiers, of one counter': (False, '+1a i ~-1a ~+.* d', '-'),
    'a block that cannot be its identifiers, of one instance': (False, '+1a i ~-1a ~+1* d', '-'),
    'a block that cannot be its identifiers, of all instances': (False, '+1* i ~-1* ~+1a d', '-'),
    'damage to what info tells': (True, '+1a,2a i d +3a i! d -1a i d', '+?+'),
    'damage to an addition': (True, '+1a,2a i d +3a! d -1a d', '+--'),
    'damage to a removal': (True, '+1a,2a i d +3a d -1a! d', '+?-'),
    'damaged changes that leave as many': (False, '+1a +2a! -1a! d', '-'),
    'a change without an answer, with as many blocks': (True, '+1a,2a,3a i d -2a +4a^ d i d', '+?+'),
    'a change without an answer, and another behind it': (True, '+1a,2a,3a i d -2a +4a^ -3a d i d', '+?+'),
    'a change that ended in a fault did nothing, unless the blocks tell': (True, '+1a,2a i -1a% d ~-1a d i d', '+-+', '+++'),
    'changes that ended out of memory may be done, none of others': (True, '+1a,2a,3a i d +77b$ +77b$ d -2a& +4a& d i d', '++-+', '++++'),
    'an answer with other blocks ends what was known': (True, '+1a,2a,3a i d ~-2a d ~+4a d i d', '+--+', '+-++'),
    'a change that undoes or repeats one that was not seen': (True, '+1a,2a i d ~+4a -4a d i d ~-2a +2a d i d ~+4a +4a d i d', '+++++-+', '+++++++'),
    'what is left alone is certain': (False, '+1a,.* d -1a d +3b d +77b d', '?+??'),
    'the first of three that is left alone is certain': (False, '+1a,2a,3a -2a,3a d', '+'),
    'a refused counter has no block': (False, '+77a,1a,78* d d', '++'),
    'a counter in another\'s place': (False, '+1a d d -1a +2a d d -2a +3a d d -3a +1a d d', '++++++++'),
    'a counter of all instances in another\'s place': (False, '+1* d d -1* +2* d d -2* +3* d d -3* +1* d d', '++++++++'),
    'each has a type of its own': (False, '+1a,.a,2*,.* d d', '??'),
    'each has a type of its own, in another order': (True, '+1a,.a,2*,.* d d', '--'),
    'two types': (False, '+4*,.b d d', '??'),
    'two types, in another order': (True, '+4*,.b d d', '--'),
    'two of a kind': (False, '+1a,2a d d', '??'),
    'two of a kind, in another order': (True, '+1a,2a d d', '??'),
    'one of a kind among three': (False, '+.*,3*,1* d d', '??'),
    'one of a kind among three, in another order': (True, '+.*,3*,1* d d', '//'),
    'one of two fails': (False, '+1a,2x d d', '??'),
    'one of two fails, in another order': (True, '+1a,2x d d', '??'),
    'an error among them': (False, '+1x,.*,3* d d', '??'),
    'an error among them, in another order': (True, '+1x,.*,3* d d', '//'),
}


def play(scenario, place, is_turned, steps):
    """One of these on a server of its own -> [(frame, paths)] of its samples"""
    s, how, first = gauge(), [''], len(scenario.frames)
    server = Server([s], order=(lambda q: range(len(q.identifiers))[::-1]) if is_turned else None)

    def alter(opnum, kind, stub):
        return {'!': stub[:-9], '^': None, '&': stub[:-4] + b'\x0e\0\0\0', '$': stub[:-4] + b'W\0\0\0'}.get(how[0], stub) if kind == 'response' else stub
    c = tcp_line(scenario, server, server='192.0.2.%d' % place, client_port=50000 + place, alters=alter).client()
    hidden, words = unseen(server), steps.split()
    learn(c, s)
    h = (hidden if words[0] == '~' else c).open()
    for word in words[words[0] == '~':]:
        caller, what, how[0] = hidden if word[0] == '~' else c, word.strip('~!^%&$'), word[-1]
        if what == 'i':
            caller.call(INFO, stubs.request(INFO, hQuery=h, dwInSize=9999))
        elif what == 'd':
            caller.data(h, 9999)
        else:
            named = [ask(s, NONE if x[:-1] == '.' else int(x[:-1]), x[-1]) for x in what[1:].split(',')]
            request = stubs.request(VALIDATE, hQuery=h, lpData=buffers.identifiers(named), dwAdd=int(what[0] == '+'))
            if how[0] == '%':
                c.line.request(VALIDATE, request)
                c.line.rpc.fault(0x6F7)
            else:
                caller.call(VALIDATE, request)
    # szMachine was in the request that opened the query: the address stands for it
    machine = '\\\\192.0.2.%d' % place if words[0] == '~' else '\\\\SRV01'
    return [(n, [p.replace('\\\\SRV01', machine) for p in truth(m)]) for n, m in answers(scenario) if n > max([0, *list(scenario.frames)[:first]])]


def test_which_block_is_whose(tshark, tmp_path, two_pass):
    """Nobody reads a wrong name without a warning, and what is certain has none."""
    scenario = Scenario()
    told = {case: play(scenario, place, *LONG_SCENARIOS[case][:2]) for place, case in enumerate(LONG_SCENARIOS, 30)}
    frames, said = read(tshark, scenario, tmp_path, two_pass=two_pass), {}
    for case, samples in told.items():
        is_turned, said[case] = LONG_SCENARIOS[case][0], ''
        for number, right in samples:
            shown, is_assumed = paths(frames[number]), ASSUMED in frames[number].experts
            assert len(shown) == len(right) > 0
            is_named = None not in shown if is_assumed and is_turned else shown == right
            said[case] += ('?' if is_assumed else '+') if is_named else '-' if not any(shown) else '/' if is_assumed and is_turned else 'false'
    assert said == {case: marks[-1 if two_pass else 0] for case, (_, _, *marks) in LONG_SCENARIOS.items()}


# --- what a path looks like -----------------------------------------------------------------------------------------

def test_the_notation(tshark, tmp_path, two_pass):
    """PDH notation written out for each shape of a query; the one file of expectations that no model computed."""
    one_only = single('System Things', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Up Time', [5]),
                      counter(2, 'PERF_COUNTER_RAWCOUNT', None, [6]))
    many = multiple('Lanes', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Cars/sec', [5]), counter(2, 'PERF_COUNTER_RAWCOUNT', None, [6]),
                    instances=[(4, 'left', 0), (4, 'left', 0), (9, 'right', 1), (5, 'left', 2)])
    stranger = multiple('not browsed', counter(1, 'PERF_COUNTER_RAWCOUNT', 'not browsed', [1]), instances=['x', 'x'])
    asked = [ask(one_only, 1), ask(one_only, NONE), ask(many, 1, 'left'), ask(many, NONE, 'right'), ask(many, 1, '*'),
             ask(many, NONE, '*'), ask(stranger, 1, '*'), ask(many, 1, 'r*', instance_id=9)]
    scenario = capture_talk(Server([one_only, many, stranger]), lambda c: (learn(c, one_only, many), run(c, asked, 1)))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    lanes = '\\\\SRV01\\Lanes'
    unknown = '\\\\SRV01\\{%s}' % stranger.guid
    assert paths(frames[answers(scenario)[0][0]]) == [
        '\\\\SRV01\\System Things\\Up Time',
        '\\\\SRV01\\System Things\\Up Time', '\\\\SRV01\\System Things\\#2',
        lanes + '(left)\\Cars/sec',
        lanes + '(right)\\Cars/sec', lanes + '(right)\\#2',
        lanes + '(left)\\Cars/sec', lanes + '(left#1)\\Cars/sec', lanes + '(right)\\Cars/sec', lanes + '(left#2)\\Cars/sec',
        lanes + '(left)\\Cars/sec', lanes + '(left)\\#2', lanes + '(left#1)\\Cars/sec', lanes + '(left#1)\\#2',
        lanes + '(right)\\Cars/sec', lanes + '(right)\\#2', lanes + '(left#2)\\Cars/sec', lanes + '(left#2)\\#2',
        unknown + '(x)\\#1', unknown + '(x#1)\\#1',
        lanes + '(right)\\Cars/sec']


@pytest.mark.parametrize('machine, shown', [
    ('\\\\SRV01', 'SRV01'), ('SRV01', 'SRV01'), ('\\\\srv.example.com', 'srv.example.com'), ('\\\\10.1.2.3', '10.1.2.3'),
    ('\\\\[2001:db8::1]', '[2001:db8::1]'), ('', '192.0.2.20'), ('', '2001:db8::20'), ('\\\\', '192.0.2.20'), ('\\\\Ω-сервер', 'Ω-сервер')])
def test_the_server(tshark, tmp_path, machine, shown, monkeypatch):
    """szMachine without its backslashes, or the server's address where it is empty, or has no terminator."""
    s, whole = gauge(count=1), Ndr.machine
    scenario = Scenario()
    c = tcp_line(scenario, Server([s]), v6=shown == '2001:db8::20').client(machine)
    learn(c, s)
    if not machine:
        monkeypatch.setattr(Ndr, 'machine', lambda stub, name: whole(stub, '\\\\SRV01X', terminate=False))
    run(c, [ask(s, 1, 'a')], 1)
    frames = read(tshark, scenario, tmp_path)
    assert paths(frames[answers(scenario)[0][0]]) == ['\\\\%s\\Set(a)\\Counter 1' % shown]


@MODES
def test_single_instance_sets_have_no_parentheses(tshark, tmp_path, info):
    """Without a name in the identifier, with an empty one, which [MS-PCQ] 2.2.4.6 also has, and with that of the only
    instance, as .NET's example has it."""
    s = single('Alone', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Two', [2]))
    asked = [[ask(s, 1, name), ask(s, NONE, name)] for name in (None, '', 'Alone Instance')]
    for names, which in zip(('none', 'empty', 'one'), asked):
        scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, which, 1, info)))
        frames = read(tshark, scenario, tmp_path)
        alone = '\\\\SRV01\\Alone\\'
        assert paths(frames[answers(scenario)[0][0]]) == [alone + 'One', alone + 'One', alone + 'Two'], names


def test_parentheses_of_sets_of_unknown_kind(tshark, tmp_path):
    """Nothing was browsed: an identifier without a name is that of a single-instance set."""
    alone, many = single('Alone', counter(1, 'PERF_COUNTER_RAWCOUNT', 'x', [1])), gauge(count=1)
    scenario = capture_talk(Server([alone, many]), lambda c: run(c, [ask(alone, 1), ask(many, 1, 'b')], 1))
    frames = read(tshark, scenario, tmp_path)
    assert paths(frames[answers(scenario)[0][0]]) == ['\\\\SRV01\\{%s}\\#1' % alone.guid, '\\\\SRV01\\{%s}(b)\\#1' % many.guid]


ODD = ['', ' ', '_Total', 'a' * 1023, '\U0001F98A\U0001F6A2', 'CJK 性能', '\u202eleft', 'a(b)c', 'a\\b', 'a/b#1', '*not a star',
       '?', 'per%cent %s %n', '"quoted"', '<xml>&amp;', 'é', 'é', '#7', '{guid}', 'nul\u2400', 'line\u2028end']


def test_odd_characters(tshark, tmp_path):
    """Names of instances, sets and counters as they are, of any length and script, with no meaning given to any of it."""
    counters = [counter(i, 'PERF_COUNTER_RAWCOUNT', n, [i]) for i, n in enumerate(
        ['% Time', 'a\\b(c)', '\U0001F697' * 511, '#1', '{x}', '<b>', 'tab\there', 'bell\x07'])]
    s = multiple('Spuren (\U0001F6A6) 100% \\ "x"', *counters, instances=ODD)
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*'), ask(s, 3, '*')], 1)))
    frames = read(tshark, scenario, tmp_path)
    compare_paths(frames, scenario)


def test_long_names(tshark, tmp_path):
    """65,000 characters of a counter's name, and as many of a set's: a path shows 1,024 of each."""
    s = multiple('S' * 65000, counter(1, 'PERF_COUNTER_RAWCOUNT', 'n' * 65000, [1]), instances=['i' * 32000])
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 1)))
    frames = read(tshark, scenario, tmp_path)
    path, = paths(frames[answers(scenario)[0][0]])
    assert path == '\\\\SRV01\\%s…(%s…)\\%s…' % ('S' * 1024, 'i' * 1024, 'n' * 1024)


def test_lone_surrogates(tshark, tmp_path):
    """Half a character is shown as U+FFFD, and the path still stands."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'x\udc00y', [1]), instances=['c\ud83d', 'b'])
    s.names[ENGLISH] = 'Set \ud800'
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, '*')], 1)))
    frames = read(tshark, scenario, tmp_path)
    for path, instance in zip(paths(frames[answers(scenario)[0][0]]), ('c\ufffd', 'b')):
        # for a damaged name what is known for certain may stand instead
        assert path in ['\\\\SRV01\\%s(%s)\\%s' % (x, instance, y) for x in ('Set \ufffd', '{%s}' % s.guid)
                        for y in ('x\ufffdy', '#1')]


def test_a_path_for_each_value_and_where(tshark, tmp_path):
    """pcq.path is in its pcq.counter_data, generated, once; the label of the structure has it too."""
    server = Server(model.countersets(), clock=model.Clock())
    scenario = capture_talk(server, lambda c: client.whole(c, server.sets))
    frames = read(tshark, scenario, tmp_path)
    for number, _ in answers(scenario):
        values = frames[number].values
        assert len(frames[number].all('pcq.path')) == len(values) > 0
        for x in values:
            field, = x.own('pcq.path')
            assert field.size == 0
            assert len(field.show) > 60 or not field.show.isprintable() or field.show in x.label


def test_filters_find_paths(tshark, tmp_path):
    """A display filter by path or value finds the frame, with no tree asked for."""
    s = gauge()
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, NONE, '*')], 2)))
    path = scenario.write(tmp_path / 'x.pcap')
    numbers = [str(n) for n, _ in answers(scenario)]
    for text in (r'pcq.path == "\\\\SRV01\\Set(b)\\Counter 4"', 'pcq.path contains "Counter 4"', 'pcq.cooked == 41',
                 'pcq.cooked.none == 0 || pcq.cooked > 40'):
        assert [r[0] for r in tshark.fields(path, ['frame.number'], '-Y', text)] == numbers, text
    assert tshark.fields(path, ['frame.number'], '-Y', 'pcq.path contains "Counter 5"') == []
