# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a finding stands, how often, and what is said once there are many: the field that is wrong is the one that is selected."""

from gen import buffers
from gen.damage import FILETIME, GOOD_BLOCK, GUID, STAMP, Bench, raw
from gen.hkpd_block import Counter, Object
from gen.hkpd_scenario import Talk
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, answers, ask, counter, learn, multiple, single, capture_talk
from gen.stubs import DATA, INFO, INSTANCES, OPEN, VALIDATE
from learned import Frames, read, read_texts
from test_hkpd_bad_input import put


def experts(frame):
    """[(finding, field that it stands at, what that shows, message)] in order"""
    out, below = [], {child.element: at for at in frame.walk() for child in at.children}
    for box in frame.all('_ws.expert'):
        at, message = below[box.element], box.own('_ws.expert.message')[0].label
        out += [(x.name.removeprefix('pcq.expert.'), at.name, at.show, message) for x in box.children if x.name.startswith('pcq.expert.')]
    return out


def test_each_at_the_structure_that_is_wrong(tshark, tmp_path):
    b, wanted = Bench(), []

    def data(block, *places, behind=GOOD_BLOCK, **how):
        """Where the findings on this answer stand"""
        b.both(DATA, buffers.data_buffer([*GOOD_BLOCK, block, *behind], STAMP, FILETIME, **how))
        wanted.append(list(places))
    data(buffers.block(1, buffers.counter_data(1, data_size=100)), ('size', 'pcq.counter_data'))
    data(buffers.block(9, buffers.counter_data(1)), ('block_type', 'pcq.block'))
    data(buffers.block(1, buffers.counter_data(1), size=4096), ('count', 'pcq.data_header'), ('size', 'pcq.block'), ('size', 'pcq.block'),
         ('order_assumed', 'pcq.data'))
    data(buffers.single_block(1), ('length', 'pcq.data_header'), total=7)
    odd = buffers.instance(1, 'a', size=12)
    data(buffers.block(4, buffers.multi_instances(len(odd) + 16, 1).add(odd).add(buffers.counter_data(1))), ('count', 'pcq.data_header'),
         ('size', 'pcq.instance'), count=9)
    data(buffers.block(2), ('size', 'pcq.block'), behind=())      # ends in front of its counters, with the data
    data(buffers.single_block(1), ('time', 'pcq.data.perf_freq'), freq=0)
    b.reg(10, buffers.string_buffer([(1, 'one'), (2, 'two')], offsets={1: 4096}))
    scenario = b.scenario
    frames = read(tshark, scenario, tmp_path)
    numbers = [n for n, there in sorted(scenario.frames.items()) if (there[0].opnum, there[0].kind) == (DATA, 'response')]
    assert [[x[:2] for x in experts(frames[n])] for n in numbers] == wanted
    shown = tshark.info(tmp_path / 'scenario.pcap', '-Y', 'pcq.instance || pcq.expert.string_offset').values()      # as without their trees
    assert ['[Malformed Packet]' in x for x in shown] == [True, True], shown


def test_a_hundred_are_said_and_the_others_counted(tshark, tmp_path):
    b = Bench()
    for count in (100, 101, 130):
        r = buffers.counterset_reg_info(GUID, count, 2)
        for i in range(count):
            r.add(buffers.counter_reg_info(i, 0xFFFFFFFF))
        b.reg(1, r)
    frames = read(tshark, b.scenario, tmp_path)
    said = [experts(frames[n]) for n, there in sorted(b.scenario.frames.items()) if there[0].kind == 'response']
    assert [[x[0] for x in there] for there in said] == [['counter_type'] * 100] + [['counter_type'] * 100 + ['not_shown']] * 2
    assert [there[-1][3] for there in said[1:]] == ['Message: %d more findings are not shown' % n for n in (1, 30)]


def test_who_asks_for_findings_alone_gets_them(tshark, tmp_path):
    """By the statistic, Wireshark's own field or a finding's: nobody looks at the structures that they stand in."""
    b = Bench()
    b.both(DATA, buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME, freq=0))
    talk = Talk(b.scenario, [Object(2, 'System', [Counter(10, 'Things', 0x10000, lambda at, k: 1, 4, scale=11)])], client_port=50009)
    talk.open()
    talk.sample()
    path = b.scenario.write(tmp_path / 'a.pcap')
    for passes in [], ['-2']:
        out, _ = tshark.run('-q', '-r', path, '-z', 'expert', *passes)
        assert 'PerfFreq is 0' in out and 'DefaultScale is 11' in out, out
    for wanted in '_ws.expert.message contains "PerfFreq is 0"', 'pcq.expert.time', '_ws.expert.group && pcq.expert.time':
        assert len(tshark.info(path, '-Y', wanted)) == 1, wanted


def test_a_validation_whose_request_ends_too_soon(tshark, tmp_path):
    """Whether counters were added or removed is not known: they were accepted."""
    s = single('Small', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', [1]))
    said = []
    for lost in (0, 4):         # dwAdd
        scenario = Scenario()
        c = tcp_line(scenario, Server([s]), alters=lambda opnum, kind, stub: stub[:len(stub) - lost] if (
            opnum, kind) == (VALIDATE, 'request') else stub).client()
        c.validate(c.open(), [ask(s, 1)])
        said.append([x for x in tshark.info(scenario.write(tmp_path / 'a.pcap')).values() if 'ValidateCounters response' in x][0])
    assert '1 added' in said[0] and '1 accepted' in said[1], said


def test_what_is_left_behind_the_last(tshark, tmp_path):
    b, wanted = Bench(), []
    for opnum, make, more, finding in (
            (INSTANCES, lambda: buffers.instances([(1, 'one'), (7, 'seven')]), 1, ['1 bytes are left behind the last instance']),
            (INFO, lambda: buffers.identifiers([dict(guid=GUID, counter_id=1)]), 39, [
                '39 bytes are too few for a PERF_COUNTER_IDENTIFIER', '39 bytes are left behind the last identifier'])):
        b.both(opnum, make())
        b.both(opnum, make().add(raw(more)))
        wanted += [[], finding]
    frames = read(tshark, b.scenario, tmp_path)
    numbers = [n for n, there in sorted(b.scenario.frames.items()) if there[0].kind == 'response' and there[0].opnum != OPEN]
    assert [[x[3].removeprefix('Message: ') for x in experts(frames[n])] for n in numbers] == wanted


def test_ndr64_may_end_with_padding(tshark, tmp_path):
    """To 8 bytes, where NDR has it to 4; what is longer is no padding."""
    said = []
    for ndr64, more in ((False, 3), (False, 4), (True, 7), (True, 8)):
        b = Bench(ndr64=ndr64)
        b.ask(INSTANCES)
        b.answer(INSTANCES, stub=bytes(b.response(INSTANCES, data=buffers.instances([(1, 'one')]), in_size=8192)) + bytes(more))
        said.append([x[0] for x in experts(read(tshark, b.scenario, tmp_path)[max(b.scenario.frames)])])
    assert said == [[], ['trailing_bytes'], [], ['trailing_bytes']]


def test_an_instance_that_ends_nowhere_has_its_id(tshark, tmp_path):
    b = Bench()
    b.both(INSTANCES, buffers.instances([(1, 'one')]).add(buffers.instance(4711, 'endless', size=0)))
    rows = buffers.instance(1, 'one').add(buffers.counter_data(5)).add(buffers.instance(4711, 'endless', size=0))
    b.both(DATA, buffers.data_buffer([buffers.block(4, buffers.multi_instances(len(rows), 2).add(rows))], STAMP, FILETIME))
    frames = read(tshark, b.scenario, tmp_path)
    lists = [f for _, f in sorted(frames.items()) if f.all('pcq.instance.id')]
    assert [(f.numbers('pcq.instance.size'), f.numbers('pcq.instance.id')) for f in lists] == [([16, 0], [1, 4711])] * 2


def sampled_and_changed(s, samples, asked, *changes):
    """changes: (does it add them, identifiers), before one sample more"""
    def talk(c):
        h = c.query(asked)
        for _ in range(samples):
            c.data(h, 1 << 20)
        for add, those in changes:
            c.validate(h, those, add=add)
        c.info(h)
        c.data(h, 1 << 20)
    return capture_talk(Server([s]), lambda c: (learn(c, s), talk(c)))


def test_a_failure_is_news_where_it_begins_and_where_it_ends(tshark, tmp_path):
    """Not in the answers between, and not once the counter was removed; another error is news."""
    states = [(), ('b',), ('b',), ('b', 'c'), ('c',), (), ('c',), ('c',)]
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]),
                 instances=lambda n: [x for x in 'abc' if x not in states[min(n, len(states) - 1)]])
    scenario = sampled_and_changed(s, len(states) - 1, [ask(s, 1, x) for x in 'abc'], (False, [ask(s, 1, 'c')]))
    for passes in [], ['-2']:
        frames = read(tshark, scenario, tmp_path, *passes)
        said = [[x[3].removeprefix('Message: ') for x in experts(frames[n])] for n, _ in answers(scenario)]
        fails, again = 'Fails: \\Set(%s)\\One: no data now (ERROR_NO_DATA)', 'Has values again: \\Set(%s)\\One'
        assert said == [[], [fails % 'b'], [], [fails % 'c'], [again % 'b'], [again % 'c'], [fails % 'c'], []]
        assert all(x[1] == 'pcq.block' for n, _ in answers(scenario) for x in experts(frames[n]))


def test_a_failure_of_an_unknown_counter_is_news_once(tshark, tmp_path):
    b, fails, again = Bench(), 'Message: Fails: block %d: no data now (ERROR_NO_DATA)', 'Message: Has values again: block %d'
    for n, failed in enumerate((2, 2, 1)):
        b.both(DATA, buffers.data_buffer([buffers.error_block(232)] * failed + list(GOOD_BLOCK) * (3 - failed), STAMP + n, FILETIME))
    said = [[x[3] for x in experts(f)] for _, f in sorted(read(tshark, b.scenario, tmp_path).items()) if f.all('pcq.block')]
    assert said == [[fails % 0, fails % 1], [], [again % 1]]


def test_what_is_not_delivered_is_news_where_it_begins_and_where_it_ends(tshark, tmp_path):
    """Not in the answers between, not where some of what fits is there, nor once it was removed, nor where there never was any."""
    states = ['ab', 'a', '', '', 'b', '', '']
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]), instances=lambda n: list(states[min(n, len(states) - 1)]))
    scenario = sampled_and_changed(s, len(states) - 1, [ask(s, 1, '*')], (False, [ask(s, 1, '*')]), (True, [ask(s, 1, 'x*')]))
    for passes in [], ['-2']:
        frames = read(tshark, scenario, tmp_path, *passes)
        said = [[x[::3] for x in experts(frames[n])] for n, _ in answers(scenario)]
        lacks, again = (('not_delivered', 'Message: %s: \\Set(%%s)\\One' % x) for x in ('Not delivered', 'Delivered again'))
        lacks, again = lambda x, m=lacks: [(m[0], m[1] % x)], lambda x, m=again: [(m[0], m[1] % x)]
        assert said == [[], [], lacks('*'), [], again('*'), lacks('*'), []]


def test_objects_asked_for_by_index_that_are_not_there(tshark, tmp_path):
    """Where that begins and where it ends in the answers to one question; what is asked for by a word, or was not asked for, is not missed."""
    scenario = Scenario()
    both = [Object(n, None, [Counter(n + 1, None, 0x10000, lambda at, k: 7, 4)]) for n in (230, 238)]
    talk = Talk(scenario, both)
    talk.open()
    asked = [('230 238', None), ('230 238', [238]), ('230 238', [238]), ('Global', []), (' 230 238', None),
             ('238', [230]), ('7 238', None), ('238', None), ('Costly', []), ('238 230', [238]), ('238 230', None)]
    numbers = []
    for name, only in asked:
        talk.sample(name, only, change=put((), 'objects', 2) if name == '238 230' and only else None)      # not sound
        numbers.append(max(scenario.frames))
    path = scenario.write(tmp_path / 'scenario.pcap')
    for passes in [], ['-2']:
        frames = Frames(read_texts(tshark, path, *passes, shown='hkpd')[0])
        said = [[x[3] for x in experts(frames[n]) if x[0] == 'not_delivered'] for n in numbers]
        assert said == [[], ['Message: Not delivered: Process (230)'], [], [], ['Message: Delivered again: Process (230)'],
                        ['Message: Not delivered: Processor (238)'], ['Message: Not delivered: #7'], ['Message: Delivered again: Processor (238)'], [], [], []]


def test_each_refused_counter_is_a_finding(tshark, tmp_path):
    """By its path, where it was to be added; that it cannot be removed is none."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1]))

    def talk(c):
        h = c.query([ask(s, 1, 'a'), ask(s, 7, 'a'), ask(s, 8, 'b')], info=False)
        c.validate(h, [ask(s, 1, 'b')], add=False)
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), talk(c)))
    frames = read(tshark, scenario, tmp_path)
    said = [experts(frames[n]) for n, there in sorted(scenario.frames.items()) if (there[0].opnum, there[0].kind) == (VALIDATE, 'response')]
    assert [[(x[0], x[1], x[3]) for x in there] for there in said] == [[
        ('counter_refused', 'pcq.data', 'Message: Refused: \\Set(%s)\\#%d: ERROR_WMI_ITEMID_NOT_FOUND' % x)
        for x in (('a', 7), ('b', 8))], []]
