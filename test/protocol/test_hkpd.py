# SPDX-License-Identifier: GPL-2.0-or-later
"""HKEY_PERFORMANCE_DATA inside winreg: every field of every answer, names, paths and calculated values, and that the
rest of the registry stays as Wireshark shows it."""

import dataclasses
import functools
import re

import pytest

import learned
from conftest import FRAME, TOP, Shown, compare_places, same
from gen import hkpd_stubs as stubs
from gen.hkpd_block import Counter, Instance, Object, rows_of, titles
from gen.hkpd_scenario import Talk, answers, begin_talk, built_in, every_type, machine, names_of, session
from gen.model import TYPES, Clock
from gen.scenario import Scenario
from learned import one
from series import long_rows

WIRE = frozenset('hkpd.' + name for name in '''
    data_block little_endian version revision total_size header_size num_objects default_object system_time perf_time
    perf_freq perf_time_100ns system_name_size system_name_offset system_name
    object object.total_size object.definition_size object.header_size object.index object.help_index
    object.detail_level object.num_counters object.default_counter object.num_instances object.code_page
    object.perf_time object.perf_freq
    counter_definition definition.size counter.index counter.help_index counter.default_scale detail_level counter.type
    counter.size counter.offset instance instance.size instance.parent_object_index instance.parent_instance
    instance.unique_id instance.name_offset instance.name_size instance.name counter_block counter_block.size
    counter_data value value.text value.raw title title.index title.text'''.split())
REPRESENTATIONS = {'ndr': {}, 'ndr64': dict(ndr64=True), 'big-endian': dict(order='>'),
                   'big-endian-ndr64': dict(order='>', ndr64=True), 'smb': dict(smb=True),
                   'big-endian-block': dict(block_order='>'), 'samba': dict(samba=True, fill=0xA5),
                   'no-system-name': dict(system=''), 'backslashes': dict(system='\\\\SRV01'), 'fragments': dict(max_frag=400)}
compare_values = functools.partial(learned.compare_values, paths=True)


def read(*args, **how):
    return learned.read(*args, name='hkpd', shown='dcerpc winreg hkpd ' + FRAME, **how)


def wire_of_winreg(frame):
    """{field: what it shows} of winreg's own"""
    shown = {}
    for x in frame.walk():
        if x.name.startswith('winreg.'):
            shown.setdefault(x.name, []).append(x.show)
    return shown


def wire(item):
    return [Shown(e.get('name'), e.get('show') or '', e.get('unmaskedvalue') or e.get('value') or '',
                  int(e.get('pos') or 0), int(e.get('size') or 0), e.get('showname') or '')
            for e in item.element.iter() if e.get('name') in WIRE and int(e.get('size') or 0) > 0]


def experts(item):
    """Names of the plugin's experts, and 'malformed' where Wireshark says so."""
    return {x.name.split('.expert.')[-1].removeprefix('_ws.') for x in item.walk()
            if x.name.startswith(('hkpd.expert.', 'pcq.expert.')) or x.name == '_ws.malformed'}


def compare_fields(frames, scenario):
    """Each response shows exactly the fields that its stub has, over exactly their bytes."""
    for number, messages in scenario.frames.items():
        shown = wire(frames[number])
        for message in messages:
            expected = [f for f in message.fields if f.name in WIRE and f.length > 0]
            names = [f.name for f in expected]
            got, shown = shown[:len(names)], shown[len(names):]
            assert [s.name for s in got] == names, 'frame %d' % number
            for s, f in zip(got, expected):
                assert same(s, f) or f.name == 'pcq.value.raw' and s.show.replace(':', '') == f.value, (
                    'frame %d' % number, s, f)
            if expected:
                whole = scenario.capture.frames[number - 1][1]
                compare_places([s._replace(value=message.stub[f.offset:f.offset + f.length].hex())
                                if f.name == 'hkpd.title.index' else s for s, f in zip(got, expected)],
                               expected, message, whole, 'frame %d' % number)
        assert not shown, 'frame %d: too many: %s' % (number, shown[:4])


def no_experts(frames, scenario):
    assert scenario.frames
    for number in scenario.frames:
        assert not experts(frames[number]), 'frame %d' % number


# --- Fields, paths and values

@pytest.mark.parametrize('how', REPRESENTATIONS)
def test_every_field_path_and_value(tshark, tmp_path, how):
    scenario = session(**REPRESENTATIONS[how])
    frames = read(tshark, scenario, tmp_path)
    compare_fields(frames, scenario)
    assert compare_values(frames, scenario) > 60
    no_experts(frames, scenario)


def test_nodes_name_what_they_hold(tshark, tmp_path):
    """What a line of the tree says before it is opened."""
    scenario = session(samples=1)
    frame = read(tshark, scenario, tmp_path)[answers(scenario)[0][0]]
    labels = {name: [x.label for x in frame.all('hkpd.' + name)] for name in (
        'data_block', 'object', 'counter_definition', 'instance', 'counter_block')}
    at = Clock().now()
    rows = [(o, rows_of(o, at)) for o in machine()]
    what = {-1: '', -2: ', without values', -3: ', without values'}
    count = sum(len(r) * len(o.counters) for o, r in rows)
    assert labels['data_block'] == ['Performance data of SRV01: %d objects, %d values' % (len(rows), count)]
    assert labels['object'] == ['Object: %s (%d), %d counters%s' % (
        o.name, o.index, len(o.counters), what[-1 if o.instances is None else o.instances] if not callable(o.instances)
        else ', %d instances' % len(r)) for o, r in rows]
    assert [x.split(',')[0] for x in labels['counter_definition']] == [
        'Counter definition: %s (%d)' % (c.name or 'name not known', c.index) for o, _ in rows for c in o.counters]
    numbers = [(k, x) for o, r in rows for k, x in enumerate(r) if x]
    assert [x.split(':')[0] for x in labels['instance']] == ['Instance %d' % k for k, _ in numbers]
    assert all(x.name in label for label, (_, x) in zip(labels['instance'], numbers))
    assert labels['counter_block'] == ['Counter block: %d values' % len(o.counters) for o, r in rows for _ in r]


@pytest.mark.parametrize('how', [{}, dict(block_order='>')], ids=['little', 'big'])
def test_every_counter_type(tshark, tmp_path, how):
    scenario = session(objects=[every_type()], samples=3, **how)
    frames = read(tshark, scenario, tmp_path)
    compare_fields(frames, scenario)
    assert compare_values(frames, scenario) > 70
    no_experts(frames, scenario)


# --- Names

@pytest.mark.parametrize('first', [True, False], ids=['before', 'after'])
def test_titles_before_and_after_the_samples(tshark, tmp_path, first, two_pass):
    """Titles that come later are known when a frame is looked at again, and then are said to be from later."""
    scenario = session(titles_first=first, samples=2)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    if first or two_pass:
        compare_values(frames, scenario)
    learned = {x.show for number, _ in answers(scenario) for x in frames[number].all('pcq.learned_in')}
    lists = [str(n) for n, messages in scenario.frames.items() for m in messages
             if any(f.name == 'hkpd.title' for f in m.fields)]
    assert learned == ({lists[0]} if first else {lists[0]} if two_pass else set())


def test_built_in_indexes_and_numbers_for_the_rest(tshark, tmp_path):
    """Marked as such, and no frame taught them."""
    scenario = Scenario()
    talk = Talk(scenario, known=False)
    talk.names = built_in(machine())
    talk.open()
    talk.sample()
    frames = read(tshark, scenario, tmp_path)
    compare_values(frames, scenario)
    frame = frames[answers(scenario)[0][0]]
    assert frame.show_of('hkpd.object.name') == ['System', 'Thread', 'Process', 'PhysicalDisk', 'Processor']
    names = frame.all('hkpd.object.name') + frame.all('hkpd.counter.name')
    assert len(names) == 16 and all('(built-in list)' in x.label for x in names) and not frame.show_of('pcq.learned_in')


@pytest.mark.parametrize('own, samba', [({4: 'Heap Space'}, False), ({}, True), ({6: '% Processor Time'}, False)])
def test_built_in_titles_are_those_of_windows_alone(tshark, tmp_path, own, samba):
    """Neither where the server's own titles contradict one of them, nor where it counts a block's bytes as Samba does."""
    scenario = Scenario()
    talk = Talk(scenario, known=False, samba=samba)
    talk.names = {**(built_in(machine()) if 6 in own else {}), **own}
    talk.open()
    if own:
        talk.titles(pairs=own)
    talk.sample()
    compare_values(read(tshark, scenario, tmp_path), scenario)


ENGLISH = names_of(machine())
GERMAN = {i: n + ' (Z\xe4hler)' for i, n in ENGLISH.items()}
LISTS = {    # lists of titles in turn, and what the names are then: the lower ten bits of a locale are its language ([MS-LCID] 2.1), 9 is English
    'English goes first': ([('Counter 007', GERMAN), ('Counter 009', ENGLISH)], ENGLISH),
    'no English': ([('counter 007', GERMAN)], GERMAN),
    'America': ([('Counter 409', ENGLISH), ('Counter 007', GERMAN)], ENGLISH),
    'Britain': ([('Counter 007', GERMAN), ('Counter 809', ENGLISH)], ENGLISH),
    'Ireland': ([('Counter 2009', ENGLISH), ('Counter 407', GERMAN)], ENGLISH),
    'more than 32 bits': ([('Counter 100000009', {2: 'Wrong', 238: 'Wrong'}), ('Counter 009', ENGLISH)], ENGLISH),
    'help texts': ([('Help 009', ENGLISH)], built_in(machine())),
    'of an unknown language': ([('Counter', GERMAN), ('Counter 009', ENGLISH)], ENGLISH),
    # Samba sends its titles so: the value's name decides
    'as binary': ([('Counter 009', ENGLISH, stubs.REG_BINARY)], ENGLISH),
}


@pytest.mark.parametrize('lists', LISTS)
def test_whose_titles_count(tshark, tmp_path, lists):
    told, names = LISTS[lists]
    scenario, talk = begin_talk(known=False, titles=False)
    for name, pairs, *kind in told:
        shown = talk.titles(name, pairs, *kind)[1]
    talk.names = names
    number = talk.sample()[1]
    frames = read(tshark, scenario, tmp_path)
    compare_values(frames, scenario)
    assert frames[shown].all('hkpd.title.text')
    if names == ENGLISH:    # a name says its language where that is another
        assert {x.label for x in frames[number].all('hkpd.object.name')} == {'Name: ' + o.name for o in talk.objects}


@pytest.mark.parametrize('opnum, key', [(stubs.OPEN_TEXT, 'Counters'), (stubs.OPEN_HKLM, 'Counter'), (stubs.OPEN_HKLM, None)],
                         ids=['text', 'perflib', 'enumerated'])
def test_titles_of_other_keys(tshark, tmp_path, opnum, key):
    """HKEY_PERFORMANCE_TEXT has them, and Perflib\\009 below HKEY_LOCAL_MACHINE, which are not followed: there the value's name and its bytes tell."""
    talk = Talk(Scenario())
    talk.open(opnum)
    if opnum == stubs.OPEN_HKLM:
        talk.open_key('SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009')
    pairs = titles([(1, '1847')] + sorted(names_of(talk.objects).items()))
    shown = talk.titles(key)[1] if key else talk.call(stubs.ENUM_VALUE, stubs.enum_value(talk.handle, 0), stubs.enum_answer('Counter', pairs))[1]
    talk.open()
    talk.sample()
    frames = read(tshark, talk.scenario, tmp_path)
    compare_fields(frames, talk.scenario)
    compare_values(frames, talk.scenario)
    assert frames[shown].all('hkpd.title') and not frames[shown].all('hkpd.handle')


def test_an_index_of_more_than_32_bits_is_no_object(tshark, tmp_path):
    """2 ** 32 + 238 is not 238, Processor."""
    scenario, talk = begin_talk()
    asked, number = talk.ask('%d' % (2 ** 32 + 238), talk.block(talk.objects[:1]).record)
    talk.ask('4294967534 2', talk.block(talk.objects[:1]).record)
    path = scenario.write(tmp_path / 'a.pcap')
    info = tshark.info(path)
    # Wireshark 4.6 itself adds the value's name behind it
    assert info[asked].startswith('QueryValue request, handle 1, 4294967534, buffer size: 65536 bytes') and 'handle 1, 4294967534: ' in info[number]
    assert 'hkpd.expert.not_delivered' not in tshark.run('-r', path, '-V')[0] and not tshark.fields(path, ['frame.number'], '-Y', 'pcq.expert.not_delivered')


def test_an_index_that_is_another_object_by_now(tshark, tmp_path, passes):
    """lodctr /R gave 5000 to another object, and the type of one of its counters shows it: the titles of both are assumed from then on, on a
    second look everywhere. A counter's base, and the same title in another object, have types of their own."""
    def two(kind):
        return [Object(i, 'Set %d' % i, [Counter(5102, 'One', TYPES[k], lambda at, n: at.number, 4), Counter(5102, None, TYPES['PERF_RAW_BASE'], lambda at, n: 9, 4),
                                         Counter(5104, 'Two', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, n: 7, 4)])
                for i, k in ((5000, kind), (5050, 'PERF_RAW_FRACTION'))]
    scenario, talk = begin_talk(two('PERF_COUNTER_RAWCOUNT'))
    talk.sample()
    talk.objects = two('PERF_COUNTER_COUNTER')
    talk.sample()
    rows = long_rows(tshark.run('-q', '-r', scenario.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0])
    assert ''.join(r['assumed'] for r in rows) == ('111110' if passes else '000000') + '111110'


def test_the_names_file_of_titles(tshark, tmp_path):
    """Text 1 is the highest index and no title; help texts are none either."""
    scenario = session(samples=1)
    scenario.write(tmp_path / 'a.pcap')
    tshark.run('-q', '-r', tmp_path / 'a.pcap', '-z', 'pcq,names,%s' % (tmp_path / 'names'))
    lines = [line.split('\t') for line in (tmp_path / 'names').read_text().splitlines()]
    assert {int(f[1]): f[3] for f in lines if f[0] == 'title'} == names_of(machine())


@pytest.mark.parametrize('owner, shown', [('192.0.2.20', ['Mine', '#4000']), ('*', ['Mine', 'Mine'])])
def test_titles_of_a_names_file_belong_to_its_server(tshark, tmp_path, owner, shown):
    """Indexes differ from machine to machine; who wants them for all says so."""
    (tmp_path / 'names').write_text('# pcq names 1\nserver\t%s\ntitle\t4000\ten\tMine\n' % owner)
    scenario, sets = Scenario(), []
    for n, server in enumerate(('192.0.2.20', '192.0.2.21')):
        talk = Talk(scenario, [Object(4000, None, [Counter(4000, None, TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: 1, 4)])],
                    known=False, server=server, client_port=50010 + n)
        talk.open()
        sets.append(talk.sample()[1])
    frames = read(tshark, scenario, tmp_path, '-o', 'pcq.names_file:%s' % (tmp_path / 'names'))
    assert [frames[n].show_of('pcq.path') for n in sets] == [['\\\\SRV01\\%s\\%s' % (x, x)] for x in shown]


# --- Samples

def test_each_question_has_its_own_sample_before(tshark, tmp_path, two_pass):
    """And so has each handle. Spaces at the ends of a question mean nothing."""
    scenario, talk = begin_talk()
    asked = [talk.sample(name, only=set(map(int, name.split())))[1] for name in ('2 238', '230', '2 238 ', '238', '230')]
    scenario.frames[asked[2]] = [m._replace(record={}) for m in scenario.frames[asked[2]]]       # the model takes it for another question
    first = talk.handle
    talk.open()
    for handle in (talk.handle, first, talk.handle):
        talk.sample('238', only={238}, handle=handle)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    compare_values(frames, scenario)
    before = [{one(o, 'pcq.sample.previous') for o in frames[n].all('hkpd.object')} for n in asked]
    assert before == [{None}, {None}, {str(asked[0])}, {None}, {str(asked[1])}]
    assert all(float(one(o, 'pcq.sample.interval')) > 0 for o in frames[asked[2]].all('hkpd.object'))


def test_a_counter_of_another_type_is_another_counter(tshark, tmp_path):
    """The provider was replaced: the index is the same, what is behind it is not. Then it has one more."""
    scenario, talk = begin_talk(titles=False)
    numbers = []
    for kinds in ['BULK_COUNT'], ['100NS_QUEUELEN_TYPE'], ['100NS_QUEUELEN_TYPE'], ['100NS_QUEUELEN_TYPE', 'BULK_COUNT']:
        talk.objects = [Object(2, 'System', [Counter(10 + 2 * i, 'Things', TYPES['PERF_COUNTER_' + x], lambda at, k: 1000 * at.number)
                                             for i, x in enumerate(kinds)])]
        numbers.append(talk.sample()[1])
    frames = read(tshark, scenario, tmp_path)
    assert [len(frames[n].all('pcq.cooked')) for n in numbers] == [0, 0, 1, 1]
    out, _ = tshark.run('-q', '-r', tmp_path / 'hkpd.pcap', '-z', 'pcq,counters')
    assert re.search(r'repeated paths\): 3\b', out), 'a row has values of one type'
    for number, reason in (numbers[1], 'cannot be compared with the sample before'), (numbers[3], 'counter is new'):
        why, = frames[number].all('pcq.cooked.none')
        assert reason in why.label, why.label


def test_an_object_that_loses_its_instances(tshark, tmp_path):
    """What had instances is not what has none, nor the other way round."""
    scenario, talk = begin_talk(titles=False)
    numbers = []
    rate = Counter(10, 'Things', TYPES['PERF_COUNTER_BULK_COUNT'], lambda at, k: 1000 * at.number)
    for instances in (lambda at: [Instance('a')], None, None, lambda at: [Instance('a')]):
        talk.objects = [Object(2, 'System', [rate], instances)]
        numbers.append(talk.sample()[1])
    frames = read(tshark, scenario, tmp_path)
    assert compare_values(frames, scenario, paths=False) == 1
    why = [[x.label for x in frames[n].all('pcq.cooked.none')] for n in numbers]
    assert ['instance is new' in x for x, in (why[1], why[3])] == [True, True] and why[2] == []


@pytest.mark.parametrize('status', [2, 5, 0xDEADBEEF])
def test_a_block_that_failed_is_no_sample(tshark, tmp_path, status):
    scenario, talk = begin_talk()
    talk.sample()
    failed = talk.sample(status=status)[1]
    talk.sample()
    frames = read(tshark, scenario, tmp_path)
    compare_fields(frames, scenario)
    compare_values(frames, scenario)
    assert experts(frames[failed]) == {'call_failed'}


@pytest.mark.parametrize('some', [False, True], ids=['all', 'some'])
def test_definitions_alone_are_no_sample(tshark, tmp_path, some, two_pass):
    """MetadataGlobal, or objects of which only the definitions came: what is compared is the answer before it."""
    scenario, talk = begin_talk()
    talk.sample()
    whole = talk.objects
    bare = {230, 238} if some else {o.index for o in whole}
    talk.objects = [dataclasses.replace(o, instances=-3 if o.instances is None else -2) if o.index in bare else o for o in whole]
    b = talk.block()
    b.objects = [index for index in b.objects if index not in bare]
    talk.ask('MetadataGlobal', b.record, record={'values': talk.meanings(b, True, talk.handle, 'MetadataGlobal')})
    talk.clock.tick()
    talk.objects = whole
    talk.sample()
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    compare_values(frames, scenario)


# --- The conversation

@pytest.mark.parametrize('lost', [0, 1])
def test_the_life_of_a_handle(tshark, tmp_path, lost, two_pass):
    """What is asked of it when it is closed is the monitor's, as is the failure. It may have had a life before, its closing lost."""
    scenario = Scenario()
    talk = Talk(scenario)
    for talk.handles in [0] * lost + [0]:
        _, opened = talk.open()
    used = talk.sample()
    closed, _ = talk.close()
    asked = talk.line.request(stubs.QUERY_VALUE, stubs.query(talk.handle, 'Global'))
    failed = talk.rpc.fault(0x1C00001A)
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert experts(frames[asked]) == {'handle_closed'} and experts(frames[failed]) == {'call_failed'}
    for number in (*used, closed, asked):
        assert frames[number].show_of('hkpd.handle.opened_in') == [str(opened)]
        assert frames[number].show_of('hkpd.handle.closed_in') == [str(closed)] * (two_pass or number > closed)       # with the response
    for number in (*used, asked):
        assert frames[number].show_of('hkpd.value_name') == ['Global']


def second(talk, record):
    """One more response to the call before. -> its frame"""
    talk.rpc.call_id -= 1
    return talk.rpc.response(bytes(stubs.answer(record)))


def test_a_second_response_is_no_sample(tshark, tmp_path, two_pass):
    """Nothing is calculated for it, whose it is is assumed, and the next answer is compared with the first response."""
    scenario, talk = begin_talk()
    again = []
    for _ in range(3):
        b = talk.block(at=talk.clock.at(talk.clock.number + 7))
        talk.sample()
        again.append(second(talk, b.record))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    shown = {number: frames[number] for number in scenario.frames}
    assert compare_values(shown, scenario) > 40
    for number in again:
        assert experts(frames[number]) == {'second_response', 'order_assumed'}
        there = frames[number].all('pcq.counter_data')
        assert len(there) > 20 and all('(assumed)' in x.label for x in there)
        assert not frames[number].all('pcq.sample.previous')
        assert [x for x in there if one(x, 'pcq.path').endswith('Read Operations/sec')
                and one(x, 'pcq.cooked') is None and one(x, 'pcq.cooked.none')]


@pytest.mark.parametrize('ndr64', [False, True])
def test_the_data_of_a_request_is_never_a_block(tshark, tmp_path, ndr64):
    scenario, talk = begin_talk(ndr64=ndr64, titles=False)
    for sent in (bytes(talk.block().record), b'\x20' * 65536):
        talk.sample(sent=sent, room=65536)
    frames = read(tshark, scenario, tmp_path)
    compare_fields(frames, scenario)
    no_experts(frames, scenario)


WINREG_FIELDS = ['winreg.winreg_%s' % x for x in (
    'String.name_len', 'String.name_size', 'QueryValue.value_name', 'QueryValue.type', 'QueryValue.data_size',
    'QueryValue.data_length')]


@pytest.mark.parametrize('ndr64', [False, True])
def test_a_request_with_much_data_has_the_fields_that_one_with_little_has(tshark, tmp_path, ndr64):
    """Of whichever NDR; without NDR64 all that winreg itself shows, but for the items that are one byte each."""
    scenario, talk = begin_talk(ndr64=ndr64, titles=False)
    numbers = [talk.ask('Counter 009', None, status=2, sent=b' ' * size)[0] for size in (1, 5000)]
    frames = read(tshark, scenario, tmp_path)
    few, many = (wire_of_winreg(frames[n]) for n in numbers)
    assert [set(frames[n].show_of('hkpd.sent_data')[0].split(':')) for n in numbers] == [{'20'}] * 2
    assert all(len(x[name]) == 1 for x in (few, many) for name in WINREG_FIELDS)
    assert {n: many[n] for n in WINREG_FIELDS[:4]} == {n: few[n] for n in WINREG_FIELDS[:4]}
    assert many[WINREG_FIELDS[0]] == ['24'] and many[WINREG_FIELDS[4]] == ['65536'] and many[WINREG_FIELDS[5]] == ['5000']
    if not ndr64:
        stock = wire_of_winreg(read(tshark, scenario, tmp_path, '-o', 'hkpd.decode:FALSE')[numbers[1]])
        assert {k: v for k, v in many.items() if 'QueryValue.data' not in k} == {
            k: v for k, v in stock.items() if 'QueryValue.data' not in k}


@pytest.mark.parametrize('ndr64', [False, True])
def test_a_handle_whose_opening_was_not_captured(tshark, tmp_path, ndr64, two_pass):
    scenario = Scenario()
    talk = Talk(scenario, ndr64=ndr64)
    talk.handle = talk.new_handle()
    talk.titles()
    for _ in range(3):
        talk.sample('238 2 230 232 234 4500')
    empty = talk.sample('238', only={238}, handle=bytes(20))
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    compare_fields(frames, scenario)
    assert compare_values(frames, scenario) > 40
    assert [f for f in frames.values() if f.all('hkpd.handle.number')] and not [n for n in empty if frames[n].all('hkpd.handle.number')]


@pytest.mark.parametrize('lost', [28, 60])
def test_a_request_without_its_last_counts_is_still_read(tshark, tmp_path, lost):
    """nmap leaves out the actual count: handle and name come before that. Within the name the handle alone is known."""
    scenario, talk = begin_talk()
    for _ in range(2):
        b = talk.block()
        stub = bytes(stubs.query(talk.handle, 'Global'))[:-lost]
        asked = talk.line.request(stubs.QUERY_VALUE, stub)
        talk.line.response(stubs.QUERY_VALUE, stubs.answer(b.record),
                           record={'values': talk.meanings(b, True, talk.handle, 'Global')})
        talk.clock.tick()
    frames = read(tshark, scenario, tmp_path)
    compare_fields(frames, scenario)
    assert compare_values(frames, scenario) > 20
    assert tshark.info(scenario.write(tmp_path / 'a.pcap'))[asked].endswith('[Malformed Packet]')


def test_info(tshark, tmp_path):
    scenario, talk = begin_talk()
    small, more = talk.ask('Global', bytes(8), 234, room=1000)
    _, told = talk.ask('Global', bytes(8), 234, room=1000, size=5000)
    _, empty = talk.ask('Global', None, 234, room=0)
    _, listed = talk.titles(pairs={2: 'System'}, size=5000)
    asked, first = talk.sample()
    talk.sample('238', only={238})
    _, second = talk.sample('238', only={238})
    scenario.write(tmp_path / 'a.pcap')
    info = tshark.info(tmp_path / 'a.pcap')
    assert info[small].startswith('QueryValue request, handle 1, Global, buffer size: 1000 bytes')
    assert info[more].endswith('handle 1, Global, size probe: needs more')     # no "Error: "
    assert info[told].endswith('handle 1, Global, size probe: needs 5000 bytes')
    assert info[empty].endswith('handle 1, Global, size probe: needs more')
    assert info[listed].endswith('handle 1, Counter 009, 2 titles, 34 bytes')
    assert 'Global, buffer size: 65536 bytes' in info[asked]
    values = len(dict(answers(scenario))[first].record['values'])
    assert re.search(r'handle 1, Global: \\System\\File Read Operations/sec = .*, %d more values \(9 objects, \d+ bytes\)$' % (
        values - 1), info[first]), info[first]
    path, _, _, cooked = next(v for v in dict(answers(scenario))[second].record['values'] if '(_Total)' in v[0])
    assert '%s = %.1f %%, 5 more' % (path[len('\\\\SRV01'):], cooked) in info[second]


# --- The rest of the registry stays as it is

def ordinary():
    """Calls of the remote registry that have nothing to do with performance, in one capture."""
    scenario = Scenario('ordinary')
    for n, how in enumerate((dict(), dict(order='>'))):
        talk = Talk(scenario, client_port=51000 + n, **how)
        talk.open(stubs.OPEN_HKLM)
        talk.open_key('SYSTEM\\CurrentControlSet')
        talk.ask('ProductName', 'Model\0'.encode('utf-16-le'), kind=1)
        talk.ask('Counter', b'\1\0\0\0', kind=4)
        talk.ask('Counter 009', bytes(4), kind=4)
        talk.ask('Help', 'one\0two\0\0'.encode('utf-16-le'), kind=7)
        talk.ask('Global', b'PERFORMANCE', sent=b'PERF')
        talk.ask('none', None, 2)
        talk.ask(None, bytes(300), 234, room=20)
        talk.call(stubs.ENUM_VALUE, stubs.enum_value(talk.handle, 3),
                  stubs.enum_answer('Path', 'C:\\\0'.encode('utf-16-le'), kind=1))
        talk.close()
    talk = Talk(scenario, client_port=51002, ndr64=True)     # where Wireshark 4.0 and 4.4 look for the name in a wrong place
    talk.open(stubs.OPEN_HKLM)
    talk.ask('ProductName', b'')
    return scenario


def pdml(tshark, path, *args, plugin=True):
    return re.sub(r'<pdml .*?>', '', columns(tshark, path, '-T', 'pdml', *args, plugin=plugin).decode())


def columns(tshark, path, *args, plugin=True):
    env = {name: value for name, value in tshark.env.items() if not name.startswith('WIRESHARK_ABORT')}
    env |= {} if plugin else dict(WIRESHARK_PLUGIN_DIR=str(TOP / 'test'))
    done = tshark.start('-r', path, *args, env=env)
    assert done.returncode == 0
    return done.stdout


def test_ordinary_calls_are_dissected_as_without_the_plugin(tshark, tmp_path, two_pass):
    path = ordinary().write(tmp_path / 'a.pcap')
    args = ['-2'] if two_pass else []
    assert pdml(tshark, path, *args) == pdml(tshark, path, *args, plugin=False)
    assert columns(tshark, path, *args) == columns(tshark, path, *args, plugin=False)


@pytest.mark.parametrize('off', [['-o', 'hkpd.decode:FALSE'], ['--disable-protocol', 'hkpd']], ids=['preference', 'protocol'])
def test_switched_off_it_is_as_without_the_plugin(tshark, tmp_path, off):
    path = session(samples=2).write(tmp_path / 'a.pcap')
    assert pdml(tshark, path, *off) == pdml(tshark, path, plugin=False)
    assert columns(tshark, path, *off) == columns(tshark, path, plugin=False)
    assert pdml(tshark, path) != pdml(tshark, path, plugin=False)


def test_response_times_stay(tshark, tmp_path):
    path = session(samples=3).write(tmp_path / 'a.pcap')
    out, err = tshark.run('-r', path, '-q', '-z', 'dcerpc,srt,338cd001-2244-31f1-aaaa-900038001003,1.0')
    assert re.search(r'QueryValue +5 ', out), out
    assert 'have same' not in err and 'have the same' not in err
