# SPDX-License-Identifier: GPL-2.0-or-later
"""What both protocols say of a call: whose handle it carries, what is wrong with it, whether it is noise."""

import json
import struct
import uuid

import pytest

import test_hkpd as registry
from conftest import TOP
from gen import buffers, hkpd_scenario, hkpd_stubs, model, stubs
from gen.pcap import PERFLIB, WINREG, Capture
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, answers, ask, begin, counter, frames_of, learn, multiple, run, single, capture_talk, taught_in
from gen.stubs import CLOSE, DATA, ENUMERATE, INFO, INSTANCES, OPEN, REG_INFO, VALIDATE
from learned import read, read_file

PCAPS = TOP / 'test' / 'pcaps'
NTLM = '-o', 'ntlmssp.nt_password:Lab-Passw0rd'
SAME = bytes(4) + bytes(range(0x41, 0x51))


def plain():
    return single('One', counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Delta', lambda at, k: at.number ** 2),
                  counter(2, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k: 7))


def info_of(tshark, scenario, folder, *args):
    scenario.write(folder / 'info.pcap')
    return tshark.info(folder / 'info.pcap', *args)


def experts(frame, prefix='pcq'):
    return [x.name.split('.')[-1] for x in frame.walk() if x.name.startswith(prefix + '.expert.')]


# --- numbers of handles ---------------------------------------------------------------------------------------------

def test_a_handle_that_was_never_valid_has_no_number(tshark, tmp_path, two_pass):
    """A made-up handle and its refusal, then a real one."""
    s = plain()
    scenario = Scenario()
    line = tcp_line(scenario, Server([s]))
    for h in (SAME, bytes(20)):
        line.request(DATA, stubs.request(DATA, hQuery=h, dwInSize=999))
        line.response(DATA, stubs.response(DATA, status=6, in_size=999))
    h = line.client().open()
    frames = read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert not [n for n, m in frames_of(scenario, DATA, 'request') + frames_of(scenario, DATA, 'response')
                if frames[n].all('pcq.query.number')]
    assert frames[frames_of(scenario, OPEN, 'response')[0][0]].numbers('pcq.query.number') == [1], h


def test_calls_in_datagrams_are_none_of_ours(tshark, tmp_path):
    """Wireshark's record of such a call ends with its packet."""
    capture = Capture()
    for (interface, version), request in (PERFLIB, stubs.request(OPEN, szMachine='S')), (WINREG, hkpd_stubs.open_root()):
        for kind, stub in (0, bytes(request)), (2, bytes(hkpd_stubs.handle_back(SAME))):
            rpc = struct.pack('<4B4s16s16s16s3I5H2x', 4, kind, 32, 0, b'\x10', bytes(16), uuid.UUID(interface).bytes_le, SAME, 0, version, 0, 3, 0, 0, len(stub), 0)
            ends = struct.pack('>3H2x', *(50001, 1026)[::1 - kind], 88 + len(stub))
            capture.add(bytes(12) + struct.pack('>BBHHHHBBH8s', 8, 0, 0x4500, 108 + len(stub), 1, 0, 64, 17, 0, bytes([10, 0, 0, 1] * 2)) + ends + rpc + stub)
    rows = tshark.fields(capture.write(tmp_path / 'a.pcap'), ['dcerpc.opnum', 'pcq.machine', 'pcq.handle', 'hkpd.handle.number'])
    assert rows == [['3', '', '', '']] * 4


def test_keys_have_numbers_of_their_own(tshark, tmp_path, two_pass):
    scenario = hkpd_scenario.Scenario()
    talk = hkpd_scenario.Talk(scenario)
    talk.open(hkpd_stubs.OPEN_HKLM)
    talk.ask('ProductName', 'Model\0'.encode('utf-16-le'), kind=1)
    expected = []
    for n in (1, 2):
        expected += [(x, n) for x in talk.open()[1:] + talk.sample() + talk.close()]
    frames = registry.read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert {n: f.numbers('hkpd.handle.number') for n, f in frames.items() if f.all('hkpd.handle.number')} == {
        n: [number] for n, number in expected}


# --- a handle that lives on -----------------------------------------------------------------------------------------


def test_a_closed_key_that_answers_with_data_is_a_new_handle(tshark, tmp_path, two_pass):
    """The request says that its handle was closed, and keeps its number on each look; the response has the next."""
    scenario, talk = hkpd_scenario.begin_talk()
    talk.sample()
    talk.close()
    talk.samples.clear()        # nothing is compared across the two
    late = talk.sample() + talk.sample() + talk.ask('Global', None, status=5)
    frames = registry.read(tshark, scenario, tmp_path, two_pass=two_pass)
    assert [frames[n].numbers('hkpd.handle.number') for n in late] == [[1]] + [[2]] * 5
    assert ['handle_closed' in experts(frames[n]) for n in late] == [True] + [False] * 5
    assert registry.compare_values(frames, scenario) > 20


# --- noise ----------------------------------------------------------------------------------------------------------

def without(source, target, dropped):
    """The capture without some frames."""
    capture = Capture.of_file(source)
    capture.frames = [frame for number, frame in enumerate(capture.frames, 1) if number not in dropped]
    capture.write(target)
    return target


@pytest.mark.parametrize('direction, which', [('request', 7), ('response', 0)])
def test_everything_behind_a_lost_packet_is_noise(tshark, tmp_path, direction, which):
    """NTLM's key stream is off from there on, in one direction. Nothing of it is shown as if it were true, or teaches anything: of noise
    answers there are no names, no handle, no sample."""
    messages = json.loads((PCAPS / 'tcp-ntlm.expect.json').read_text())['messages']
    sent = [m['frame'] for m in messages if m['direction'] == direction]
    path = without(PCAPS / 'tcp-ntlm.pcap', tmp_path / 'lost.pcap', {sent[which]})
    info, frames = tshark.info(path, *NTLM), read_file(tshark, path, *NTLM, two_pass=True)
    later = [n - 1 for n in sent[which + 1:]]
    assert len(later) > 40
    for number in later:
        assert info[number].endswith(' %s, [Probably not decrypted correctly]' % direction), 'that, and no more'
        assert experts(frames[number]).count('not_decrypted') == 1
        shown = {x.name for x in frames[number].walk() if x.name.startswith('pcq.') and x.size}
        assert shown <= {'pcq.noise'}, shown
    taught = [n for n, f in frames.items() if f.all('pcq.learned_in') or f.all('pcq.query.number') or f.values]
    assert (taught == []) == (direction == 'response')
    lost = Capture.of_file(path)  # and one whose request says that more of it follows
    lost.frames = [(time, frame[:69] + b'\1' + frame[70:] if n == 13 else frame) for n, (time, frame) in enumerate(lost.frames)]
    lost.write(path)
    assert len(tshark.info(path, *NTLM)) == len(info)


def test_noise_of_the_registry(tshark, tmp_path):
    """What the stock dissector would show as if it were true. These are counted."""
    path = without(PCAPS / 'hkpd-sealed.pcap', tmp_path / 'lost.pcap', {48})
    noise = [x for x in tshark.info(path, *NTLM).values() if x.endswith(' response, [Probably not decrypted correctly]')]
    assert [x.split()[0] for x in noise] == ['QueryValue'] * 8 + ['CloseKey']
    assert 'not decoded: 9; Its decryption failed' in tshark.run('-q', '-r', path, *NTLM, '-z', 'pcq,summary')[0]


# --- findings of a call ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize('opnum, in_size, rtn_size, found', [
    (DATA, 1000, 96, True), (INFO, 1000, 40, True), (INSTANCES, 1000, 24, True), (REG_INFO, 100, 24, True),
    (DATA, 0, 96, False), (DATA, 1000, 0, True), (DATA, 0, 0, False), (INSTANCES, 1000, 0, False), (ENUMERATE, 5, 3, True),
    (ENUMERATE, 0, 3, False)])
def test_success_without_data(tshark, tmp_path, opnum, in_size, rtn_size, found):
    """lpData is empty though there was room and *pdwRtnSize says that there is something."""
    scenario = Scenario()
    line = tcp_line(scenario)
    named = dict(szMachine='S', CounterSetGuid='01010101-0101-0101-0101-010101010101')
    more = {DATA: dict(hQuery=SAME), INFO: dict(hQuery=SAME), REG_INFO: dict(named, RequestCode=1, RequestLCID=0), INSTANCES: named,
            ENUMERATE: dict(szMachine='S')}[opnum]
    line.request(opnum, stubs.request(opnum, dwInSize=in_size, **more))
    frame = line.response(opnum, stubs.response(opnum, data=[] if opnum == ENUMERATE else b'', in_size=in_size, rtn_size=rtn_size))
    frames = read(tshark, scenario, tmp_path)
    assert experts(frames[frame]) == (['no_data'] if found else [])


def test_an_empty_handle_is_no_damage(tshark, tmp_path):
    """A well-formed close of nothing, and what a server says of no query."""
    scenario = Scenario()
    line = tcp_line(scenario)
    line.request(INFO, stubs.request(INFO, hQuery=bytes(20), dwInSize=99))
    line.response(INFO, stubs.response(INFO, data=buffers.identifiers([dict(guid=str(model.NAMESPACE))]), in_size=99))
    asked = line.request(CLOSE, stubs.request(CLOSE, hQuery=bytes(20)))
    line.response(CLOSE, stubs.response(CLOSE, status=6, handle=bytes(20)))
    frames = read(tshark, scenario, tmp_path)
    info = info_of(tshark, scenario, tmp_path)
    assert experts(frames[asked]) == ['handle_null']
    assert info[asked] == 'CloseQueryHandle request'
    assert info[asked + 1] == 'CloseQueryHandle response, ERROR_INVALID_HANDLE'


# --- the registry ---------------------------------------------------------------------------------------------------

def test_success_of_the_registry_without_performance_data(tshark, tmp_path):
    scenario, talk = hkpd_scenario.begin_talk(titles=False)
    expected = {}
    for data, found in ((b'', 'no_data'), (None, 'no_data'), (b'PE', 'not_performance_data'),
                        (b'P\0E\0R\0X\0' + bytes(200), 'not_performance_data')):
        expected[talk.ask('Global', data)[1]] = [found]
    asked, silent = talk.ask('Global', None, room=0, size=606)
    end = talk.call(hkpd_stubs.ENUM_VALUE, hkpd_stubs.enum_value(talk.handle, 9), hkpd_stubs.enum_answer('', None, 259))[1]    # no more items
    expected[silent] = expected[end] = []
    frames = registry.read(tshark, scenario, tmp_path)
    info = info_of(tshark, scenario, tmp_path)
    assert {n: experts(frames[n]) for n in expected} == expected
    assert 'handle 1, Global, size probe: needs 606 bytes' in info[silent]
    assert [n for n, words in expected.items() if 'no PERF_DATA_BLOCK' in info[n]] == list(expected)[2:4]


def test_the_length_is_that_of_the_data(tshark, tmp_path):
    scenario, talk = hkpd_scenario.begin_talk(titles=False)
    right = talk.sample()[1]
    b = talk.block()
    stub = bytearray(bytes(hkpd_stubs.answer(b.record)))
    # *lpcbLen stands before the status, *lpcbData before its own referent
    struct.pack_into('<I', stub, len(stub) - 8, len(bytes(b.record)) - 4)
    talk.line.request(hkpd_stubs.QUERY_VALUE, hkpd_stubs.query(talk.handle, 'Global'))
    wrong = talk.line.response(hkpd_stubs.QUERY_VALUE, bytes(stub), [])
    frames = registry.read(tshark, scenario, tmp_path)
    assert experts(frames[right]) == [] and experts(frames[wrong]) == ['length']
    assert len(frames[wrong].all('pcq.cooked')) > 10, 'a length costs no sample'


SIGNATURE = b'P\0E\0R\0F\0'


def values_of(talk):
    """A value that begins as a PERF_DATA_BLOCK, a whole block, and an ordinary one."""
    return [talk.ask('Blob', SIGNATURE + bytes(range(92)))[1], talk.ask('Whole', talk.block().record)[1],
            talk.ask('Name', 'x\0'.encode('utf-16-le'), kind=1)[1]]


@pytest.mark.parametrize('root', ['OPEN_HKLM', 'key'])
def test_another_keys_handle_is_never_ours(tshark, tmp_path, root, two_pass):
    """Its opening was captured: whatever its values look like, they are the stock dissector's."""
    scenario = hkpd_scenario.Scenario()
    talk = hkpd_scenario.Talk(scenario)
    talk.open(hkpd_stubs.OPEN_HKLM)
    if root == 'key':
        talk.open_key('SOFTWARE\\Vendor')
    values_of(talk)
    path = scenario.write(tmp_path / 'a.pcap')
    args = ['-2'] if two_pass else []
    assert registry.pdml(tshark, path, *args) == registry.pdml(tshark, path, *args, plugin=False)


def test_a_handle_of_which_nothing_is_known_needs_a_name_and_a_block_that_adds_up(tshark, tmp_path):
    scenario = hkpd_scenario.Scenario()
    talk = hkpd_scenario.Talk(scenario)
    talk.handle = talk.new_handle()
    others = values_of(talk) + [talk.ask('Global', SIGNATURE + bytes(range(92)))[1]]
    ours = talk.sample()[1]
    frames = registry.read(tshark, scenario, tmp_path)
    assert not [n for n in others if frames[n].all('hkpd') or not frames[n].all('winreg.winreg_QueryValue.data')]
    assert frames[ours].all('hkpd.data_block')


# --- names where ids stand alone ------------------------------------------------------------------------------------

def test_names_beside_guids_and_ids(tshark, tmp_path):
    """Requests and answers of opnums 1 and 2, and the counter id of RequestCode 2."""
    s = multiple('Known Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Known Counter', [1, 1]))
    scenario, c = begin(Server([s]))
    learn(c, s, codes=(9, 10))
    c.reg_info(s.guid, 1)
    c.reg_info(s.guid, 2, 1)
    c.instances(s.guid)
    c.enumerate()
    frames = read(tshark, scenario, tmp_path, two_pass=True)
    listed = frames_of(scenario, ENUMERATE, 'response')[-1][0]
    assert [x.label for x in frames[listed].all('pcq.counterset.guid')] == ['Counterset GUID: %s (Known Set)' % s.guid]
    taught = taught_in(scenario, 9, s.guid)
    for opnum in (REG_INFO, INSTANCES):
        for number, m in frames_of(scenario, opnum, 'request') + frames_of(scenario, opnum, 'response'):
            if number <= taught:
                continue
            names = [x for x in frames[number].all('pcq.counterset.name') if x.size == 0]
            assert names and names[0].show == 'Known Set', number
            assert names[0].after().name == 'pcq.learned_in' and names[0].after().show == str(taught)
    ids = [frames[n] for n, m in frames_of(scenario, REG_INFO, 'request') if m.record['parameters']['RequestCode'] == 2]
    assert ids and all('Known Counter' in f.show_of('pcq.counter.name') for f in ids)
    assert sum(', counter 1 Known Counter, ' in x for x in info_of(tshark, scenario, tmp_path).values()) == 2, 'request and response'


# --- the Info column ------------------------------------------------------------------------------------------------

def test_what_validation_asks_and_answers(tshark, tmp_path):
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1, 1]), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Two', [1, 1]))
    scenario, c = begin(Server([s]), s)
    h = c.query([ask(s, 1, 'a'), ask(s, 2, 'a'), ask(s, 1, 'b')], info=False)
    c.validate(h, [ask(s, 2, 'b')])
    c.validate(h, [ask(s, 99, 'a')])
    c.validate(h, [ask(s, 2, 'b')], add=False)
    info = info_of(tshark, scenario, tmp_path)
    asked = [info[n] for n, m in frames_of(scenario, VALIDATE, 'request')]
    told = [info[n] for n, m in frames_of(scenario, VALIDATE, 'response')]
    assert asked[:3] == ['ValidateCounters request, query 1, add 3: \\Set(a)\\One, 2 more',
                     'ValidateCounters request, query 1, add 1: \\Set(b)\\Two',
                     'ValidateCounters request, query 1, add 1: \\Set(a)\\#99']
    assert told[:2] == ['ValidateCounters response, query 1, 3 added: \\Set(a)\\One, 2 more',
                        'ValidateCounters response, query 1, 1 added: \\Set(b)\\Two']
    assert '1 refused: \\Set(a)\\#99 (ERROR_' in told[2] and '1 removed' in told[3]


def test_the_status_in_a_request_means_nothing(tshark, tmp_path):
    """Whatever a client leaves there is no verdict."""
    s = plain()
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, status=4200), ask(s, 99, status=4200)], 0)))
    frames = read(tshark, scenario, tmp_path)
    frame, answer = (frames[frames_of(scenario, VALIDATE, kind)[0][0]] for kind in ('request', 'response'))
    assert [['ERROR' in x.label for x in f.identifiers] for f in (frame, answer)] == [[False, False], [False, True]]
    assert [x.label for x in frame.all('pcq.identifier.status')] == ['Status: 4200 (without meaning here)'] * 2


def test_probes_say_what_they_are_about(tshark, tmp_path):
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1, 1]))
    scenario, c = begin(Server([s]), s)
    c.reg_info(s.guid, 3, 0x407)
    c.instances(s.guid)
    h = c.query([ask(s, 1, 'a')], info=False)
    c.data(h)
    info = info_of(tshark, scenario, tmp_path)
    probes = [info[n] for opnum in (REG_INFO, INSTANCES, DATA) for n, m in frames_of(scenario, opnum, 'response') if m.status == 8]
    assert 'QueryCounterSetRegistrationInfo response, Set, COUNTERSET_NAME_STRING, de-DE, size probe: needs 8 bytes' in probes
    assert [p for p in probes if p.startswith('EnumerateCounterSetInstances response, Set, size probe: needs ')]
    assert [p for p in probes if p.startswith('QueryCounterData response, query 1, size probe: needs ')]
    assert len(probes) >= 6 and all('size probe: needs ' in p and 'MEMORY' not in p for p in probes)


def test_long_names_are_cut_in_the_info_column(tshark, tmp_path):
    """With all bytes of each character."""
    s = multiple('\xe4' * 300, counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1, 1]), instances=('i' * 200,))
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1, 'i' * 200)])))
    info = info_of(tshark, scenario, tmp_path)
    assert max(len(text) for text in info.values()) < 400 and not any('\ufffd' in text for text in info.values())
    assert any('Info response, ' + '\xe4' * 80 + '\u2026, ' in text for text in info.values())
    for number, m in answers(scenario):
        assert '\u2026 = 1' in info[number], info[number]


def test_failed_blocks_are_counted_and_an_assumed_order_is_marked(tshark, tmp_path):
    """No QueryCounterInfo: whose a block is follows from the order. A block without its instance fails. The answer comes twice, then with a block more."""
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1, 1]), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Two', [2, 2]))
    scenario, c = begin(Server([s]), s)
    h = run(c, [ask(s, 1, 'a'), ask(s, 2, 'b'), ask(s, 2, 'gone')], info=False, close=False)
    for stub in answers(scenario)[-1][1].stub, stubs.response(DATA, data=buffers.data_buffer([buffers.single_block(7)] * 4, 1, 1)):
        c.line.rpc.call_id -= 1
        repeated = c.line.response(DATA, stub)
    c.validate(h, [ask(s, 1, 'a'), ask(s, 2, 'b')], add=False)
    c.data(h, 9999)
    info = info_of(tshark, scenario, tmp_path)
    found = tshark.info(scenario.write(tmp_path / 'a.pcap'), '-Y', 'pcq.expert.block_failed')       # who looks for findings reads the same
    assert found and found == {n: info[n] for n in found}
    assert 'query 1: 1 failed: \\Set(gone)\\Two (ERROR_NO_DATA) (1 block, ' in info[answers(scenario)[-1][0]]
    assert [len(f.show_of('pcq.path')) for n, f in read(tshark, scenario, tmp_path).items() if n == repeated] == [3]
    for number, m in answers(scenario)[:2]:
        assert 'query 1: \\Set(a)\\One = 1 (assumed), 1 more value; 1 failed: \\Set(gone)\\Two (ERROR_NO_DATA, assumed) (3 blocks, ' in info[number] and 'Malformed' not in info[number]
