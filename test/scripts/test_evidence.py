# SPDX-License-Identifier: GPL-2.0-or-later
"""script/evidence.lua: each thing that is taken for true of Windows is counted by itself, and nothing that is anybody's is said."""

import re
import struct

import ledger
import pytest

from conftest import TOP
from gen.hkpd_block import Counter as Column
from gen.hkpd_block import Instance as Row
from gen.hkpd_block import Object
from gen.hkpd_scenario import Talk
from gen.model import TYPES
from gen.scenario import Scenario, tcp_line
from gen.scripted import NONE, Server, Times, ask, counter, frames_of, learn, multiple, single, unseen
from gen.stubs import DATA, ENUMERATE, INFO, INSTANCES, REG_INFO
from test_real_captures import KEYS, key

EVIDENCE = TOP / 'test' / 'evidence'
LEDGER = ledger.rows(TOP)
IDS = [row.id for row in LEDGER]
RESPONSE = 20       # bytes of NDR before lpData


def rows_of(text):
    """{id: (held, did not, first frame)}"""
    return {m[4]: tuple(map(int, m.groups()[:3])) for m in re.finditer(r'^ *(\d+) +(\d+) +(\d+)  (\w+): ', text, re.M)}


@pytest.fixture(scope='module')
def evidence(tshark, tmp_path_factory):
    """evidence(scenario or path, options) -> its text"""
    capture = tmp_path_factory.mktemp('evidence') / 'a.pcap'

    def get(what, *args):
        path = what.write(capture) if isinstance(what, Scenario) else what
        out, err = tshark.run('-q', '-r', path, *args, '-X', 'lua_script:%s' % (TOP / 'script' / 'evidence.lua'))
        assert err == ''
        return out
    return get


def test_the_page_is_that_of_the_ledger():
    assert len(IDS) == len(set(IDS)) > 30 and all(all(row[:4]) for row in LEDGER)
    assert (TOP / 'docs' / 'developers' / 'evidence.md').read_text('utf-8') == ledger.page(TOP)


# --- One after the other is false ------------------------------------------------------------------------------------

THINGS = counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Things', lambda at, k: 10 ** 6 * k + 7 * at.number)
SMALL = counter(2, 'PERF_COUNTER_RAWCOUNT', 'Small', lambda at, k: k + at.number)
MORE = counter(3, 'PERF_COUNTER_LARGE_RAWCOUNT', 'More', lambda at, k: k)


def usual(alter=lambda opnum, kind, stub: stub, counters=(THINGS, SMALL, MORE), instances=('a', 'b'), info=True, ndr64=False,
          **options):
    """A client that learns, asks with every kind of wildcard and for what is not there, and samples four times."""
    s = multiple('Set', *counters, instances=instances)
    scenario = Scenario()
    sets = sorted([s, single('Other', SMALL)], key=lambda x: x.guid, reverse=True)
    line = tcp_line(scenario, Server(sets, **options), ndr64=ndr64, alters=alter)
    client = line.client()
    client.enumerate()
    client.instances(s.guid)
    learn(client, s)
    handle = client.query([ask(s, 1, 'a'), ask(s, 1, '*'), ask(s, NONE, '*'), ask(s, 1, 'gone')], info=False)
    if info:
        client.info(handle)
    for _ in range(4):
        client.data(handle)
    return scenario


def in_data(opnum, change, number=None):
    """alter() of what operation `opnum` returns: of all its answers, or the one of this number."""
    seen = [0]

    def alter(op, kind, stub):
        if (op, kind) != (opnum, 'response') or len(stub) <= RESPONSE + 8:
            return stub
        seen[0] += 1
        if number not in (None, seen[0]):
            return stub
        data = bytearray(stub)
        size, = struct.unpack_from('<I', data, 16)
        part = data[RESPONSE:RESPONSE + size * (16 if opnum == ENUMERATE else 1)]
        change(part)
        data[RESPONSE:RESPONSE + len(part)] = part
        return bytes(data)
    return alter


def put(data, at, fmt, *values):
    struct.pack_into('<' + fmt, data, at, *values)


def block(data, number):
    """Where a block begins."""
    at = 48
    for _ in range(number):
        at += (struct.unpack_from('<I', data, at + 8)[0] + 7) // 8 * 8
    return at


def of_code(number, change):
    """In the answer with data that has this number among those of learn()."""
    return in_data(REG_INFO, change, number)


def pad_ids(data):
    """Of the block of all counters: what stands behind the ids moves to a multiple of 8."""
    at = block(data, 2)
    size, = struct.unpack_from('<I', data, at + 8)
    ids, = struct.unpack_from('<I', data, at + 16)
    end = at + (size + 7) // 8 * 8
    data[at + 16 + ids:end] = bytes(4) + data[at + 16 + ids:end - 4]
    put(data, at + 8, 'I', end - at)
    put(data, at + 16, 'I', ids + 4)


def values_of_all(data):
    """Where the first instance of the block of all counters begins."""
    at = block(data, 2) + 16
    return at + struct.unpack_from('<I', data, at)[0] + 8


def other_status(opnum, kind, stub):
    return stub[:-4] + struct.pack('<I', 234) if kind == 'response' and stub[-4:] == struct.pack('<I', 8) else stub


def probed_again():
    probes = []

    def alter(opnum, kind, stub):
        if (opnum, kind) != (INFO, 'response'):
            return stub
        probes.append(stub)
        return probes[0]
    return alter


# How often each is true of the usual session, the operation and which of its responses is the first: ten probes, and four answers of
# four blocks: one value, one of each of two instances, three of each of two, and an error. Then how often it is false of the session
# that this makes, and which response shows that first, where that is another one.
ROWS = {
    'PROBE': (10, ENUMERATE, 0, 10, dict(alter=other_status)),
    'PROBE_SIZE': (5, INFO, 1, 1, dict(alter=probed_again())),
    'INFO_FIRST': (1, DATA, 1, 1, dict(info=False)),
    'REGISTRATION': (1, REG_INFO, 1, 1, dict(alter=of_code(1, lambda d: put(d, 24, 'I', 2)))),
    'IDS_UNIQUE': (1, REG_INFO, 1, 1, dict(alter=of_code(1, lambda d: d.__setitem__(slice(80, 128), d[32:80])))),
    'RELATIONS': (1, REG_INFO, 1, 1, dict(alter=of_code(1, lambda d: put(d, 32 + 24, 'I', 77)))),
    'STRING_BASE': (1, REG_INFO, 5, 1, dict(alter=of_code(3, lambda d: put(d, 12, 'I', 1 << 20)))),
    'STRING_END': (2, REG_INFO, 3, 1, dict(alter=of_code(2, lambda d: d.__setitem__(slice(None), b'S\0' * (len(d) // 2))))),
    'INSTANCE_LIST': (2, INSTANCES, 1, 1, dict(alter=in_data(INSTANCES, lambda d: put(d, 0, 'I', 12)))),
    'IDENTIFIER': (4, INFO, 1, 1, dict(alter=in_data(INFO, lambda d: put(d, 20, 'I', 44)))),
    'INDEX': (1, INFO, 1, 1, dict(alter=in_data(INFO, lambda d: put(d, 32, 'I', 3)))),
    'ADDED_ORDER': (1, INFO, 1, 1, dict(order=lambda query: [1, 0, 2, 3])),
    'TOTAL': (4, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, 0, 'I', len(d) + 8)))),
    'HEADER': (4, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, 48 + 4, 'I', 9)))),
    'BLOCK': (16, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, block(d, 2) + 8, 'I', struct.unpack_from('<I', d, block(d, 2) + 8)[0] - 4)))),
    'BLOCK_TYPE': (12, DATA, 1, 4, dict(alter=in_data(INFO, lambda d: put(d, 40, 'H', ord('*'))))),
    'ERROR_BLOCK': (4, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, block(d, 3) + 8, 'I', 24)))),
    'ERROR_NO_DATA': (4, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, block(d, 3), 'I', 3)))),
    'IDS_NOT_PADDED': (4, DATA, 1, 4, dict(alter=in_data(DATA, pad_ids))),
    'VALUE_PADDED': (36, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, values_of_all(d) + 16 + 16 + 4, 'I', 12)))),
    'VALUE_SIZE': (36, DATA, 1, 8, dict(counters=(THINGS, counter(2, 'PERF_COUNTER_TEXT', 'Small', lambda at, k: 'text'), MORE))),
    'VALUE_TYPE': (36, DATA, 1, 8, dict(counters=(THINGS, counter(2, 'PERF_COUNTER_RAWCOUNT', 'Small', lambda at, k: k, width=8), MORE))),
    'INSTANCE': (16, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, values_of_all(d), 'I', 12)))),
    'INSTANCE_END': (16, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, values_of_all(d) + 10, '3H', 0x61, 0x61, 0x61)))),
    'INSTANCE_UNIQUE': (8, DATA, 1, 8, dict(instances=[(0, 'a', 0), (0, 'a', 1)])),
    'INSTANCE_ORDER': (6, DATA, 3, 6, dict(instances=lambda number: [(0, 'a', 0), (1, 'b', 1)][::(-1) ** number])),
    'SYSTEM_TIME': (4, DATA, 1, 4, dict(alter=in_data(DATA, lambda d: put(d, 46, 'H', 999)))),
    'FREQUENCY': (3, DATA, 3, 2, dict(alter=in_data(DATA, lambda d: put(d, 24, 'Q', 1000), 3)), 5),
    'CLOCKS': (3, DATA, 3, 3, dict(clock=Times([(10 ** 10 + n * 2 * 10 ** 7, 134351767437550592 + n * 10 ** 7) for n in range(9)]))),
}


def response(scenario, opnum, number):
    return frames_of(scenario, opnum, 'response')[number][0]


def requests(scenario):
    return [n for n, ms in scenario.frames.items() for m in ms if m.kind == 'request']


@pytest.fixture(scope='module')
def all_true(evidence):
    return evidence(usual())


def test_what_holds_is_counted(evidence):
    """Each as often as it stands in the session, and where first. 12 of 22 requests have an array, by which NDR is told."""
    scenario = usual()
    rows = rows_of(evidence(scenario))
    expected = {i: (0, 0, 0) for i in IDS}
    expected |= {i: (held, 0, response(scenario, opnum, number)) for i, (held, opnum, number, *_) in ROWS.items()}
    expected |= {'SEALED': (0, 22, requests(scenario)[0]), 'NDR': (12, 0, requests(scenario)[0])}
    assert list(rows) == IDS and rows == expected


@pytest.mark.parametrize('row', ROWS)
def test_one_is_false(evidence, all_true, row):
    """It alone, as often as it is, and where it is first."""
    _, opnum, number, times, how, *other = ROWS[row]
    scenario, number = usual(**how), other[0] if other else number
    rows, others = rows_of(evidence(scenario)), rows_of(all_true)
    assert {i for i in IDS if rows[i][1] > 0 and others[i][1] == 0} == {row}
    assert rows[row][1:] == (times, response(scenario, opnum, number))


def test_ndr64(evidence):
    scenario = usual(ndr64=True)
    rows = rows_of(evidence(scenario))
    assert rows['NDR'] == (0, 12, requests(scenario)[0])
    assert {i for i in IDS if rows[i][1] > 0} == {'NDR', 'SEALED'}


def test_sealed_calls(evidence):
    """With its key, and without: nothing is known then but how many they are."""
    path = TOP / 'test' / 'pcaps' / 'smb3-ntlm.pcap'
    rows = rows_of(evidence(path, *key('smb3-ntlm.pcap')))
    assert rows['SEALED'] == (58, 0, 22)
    # names and helps of sets, a provider's name: 7; tables of counters' names and helps: 5
    assert rows['STRING_END'][:2] == (12, 0) and rows['STRING_BASE'][:2] == (5, 0)
    text = evidence(path)
    assert set(rows_of(text).values()) == {(0, 0, 0)} and 'not read: sealed or noise: 116\n' in text


# --- What counts for or against nothing ------------------------------------------------------------------------------

def session(talk, alter=lambda opnum, kind, stub: stub):
    """talk(client, set, server) with a server that has one set."""
    s = multiple('Set', SMALL, instances=['a', 'b'])
    scenario, server = Scenario(), Server([s])
    talk(tcp_line(scenario, server, alters=alter).client(), s, server)
    return scenario


def without_info(client):
    """A query whose client may have asked for its blocks before the capture, or has not."""
    def talk(c, s, server):
        h = client(c, server).open()
        c.validate(h, [ask(s, NONE, '*')])
        c.data(h)
    return talk


@pytest.mark.parametrize('talk, alter, expected', [
    (without_info(lambda c, server: c), None, {'INFO_FIRST': (0, 1)}),
    (without_info(lambda c, server: unseen(server)), None, {'INFO_FIRST': (0, 0)}),
    # the status is what was cut
    (lambda c, s, server: c.enumerate(0), lambda opnum, kind, stub: stub[:-4] if kind == 'response' else stub, {'PROBE': (0, 0, 0)})],
    ids=['info-not-asked-for', 'opened-before', 'cut'])
def test_what_says_nothing(evidence, talk, alter, expected):
    """It counts neither for nor against."""
    (row, counts), = expected.items()
    assert rows_of(evidence(session(talk, *([alter] if alter else []))))[row][:len(counts)] == counts


def test_a_response_that_comes_twice(evidence, tmp_path):
    scenario = Scenario()
    line = tcp_line(scenario, Server([multiple('Set', SMALL)]))
    line.client().enumerate(0)
    rpc, (_, m) = line.rpc, frames_of(scenario, ENUMERATE, 'response')[0]
    rpc.transport.to_client(rpc.response_pdus(m.stub, call_id=rpc.call_id - 1), whole=True)
    text = evidence(scenario)
    assert rows_of(text)['PROBE'][:2] == (1, 0) and 'repeated: 1\n' in text


def longer(b):
    """The block ends 4 bytes behind its only object, which says so."""
    b.record.data += bytes(4)
    for at in 20, b.places[230, 'object']:
        put(b.record.data, at, 'I', struct.unpack_from('<I', b.record.data, at)[0] + 4)


def performance_data(unique=-1, width=4, code_page=0, change=None, damage=None, **how):
    scenario = Scenario()
    rows = lambda at: [Row('a', unique), Row('b', unique)]
    columns = [Column(6, 'Things', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: k, width)]
    objects = [Object(230, 'Process', columns, rows, code_page, 'cp1252' if code_page else 'utf-16')]
    talk = Talk(scenario, objects=objects, **how)
    talk.open()
    talk.titles()
    talk.sample(change=damage)
    talk.sample(change=damage)
    if change:
        change(talk)
    return scenario


@pytest.mark.parametrize('row, times, how', [
    (None, 0, {}), ('HKPD_NO_ID', 4, dict(unique=7)), ('HKPD_TYPE', 2, dict(width=8)), ('HKPD_TOTAL', 2, dict(samba=True)),
    ('HKPD_WIDE', 2, dict(code_page=1252)), ('HKPD_OBJECT', 2, dict(damage=longer)),
    ('HKPD_ROOM', 1, dict(change=lambda talk: talk.ask('Global', None, room=1000, size=5000)))])
def test_performance_data(evidence, row, times, how):
    """Two answers of one object with two instances and one counter; frames 7 to 9 open the key and ask for titles."""
    text = evidence(performance_data(**how))
    held = {'HKPD_TOTAL': 2, 'HKPD_OBJECT': 2, 'HKPD_WIDE': 2, 'HKPD_NO_ID': 4, 'HKPD_TYPE': 2, 'HKPD_ROOM': 0}
    expected = {i: (0, times, 15 if i == 'HKPD_ROOM' else 11) if i == row else (n, 0, 11 if n else 0) for i, n in held.items()}
    assert {i: r for i, r in rows_of(text).items() if i.startswith('HKPD_')} == expected
    assert {r for i, r in rows_of(text).items() if not i.startswith('HKPD_')} == {(0, 0, 0)}


# --- What it says ----------------------------------------------------------------------------------------------------

TEXTS = ['pcq.machine', 'pcq.counterset.name', 'pcq.counter.name', 'pcq.instance.name', 'pcq.provider.name', 'pcq.path',
         'pcq.counterset.guid', 'pcq.handle', 'pcq.data.system_time', 'pcq.value.text', 'hkpd.system_name',
         'hkpd.instance.name', 'hkpd.title.text', 'pcq.path', 'pcq.value.text', 'hkpd.handle', 'ntlmssp.auth.username',
         'ntlmssp.auth.hostname', 'ntlmssp.auth.domain', 'smb2.filename', 'smb2.tree', 'kerberos.CNameString', 'ip.addr',
         'eth.addr', 'frame.time_epoch']
NUMBERS = ['pcq.value', 'pcq.data.perf_time_stamp', 'pcq.cooked']
CAPTURES = sorted(KEYS) + sorted('plain/' + p.name for p in (TOP / 'test' / 'pcaps' / 'plain').glob('*.pcap'))
LINE = re.compile(r'''What\ a\ capture\ says .* | numbers\ of\ frames\ alone: .* | | \ +held\ +did\ not\ .*
    | not\ read:\ sealed\ or\ noise:\ \d+ | repeated:\ \d+ | fault\ 0x[0-9a-f]{8}:\ \d+ | RequestCode\ +\d+:\ \d+
    | (PerflibV2|winreg)\ (operation|status)\ +\d+:\ \d+ | dw(Type|Status)\ +\d+:\ \d+ | finding\ (pcq|hkpd)\.expert\.\w+:\ \d+
    | \ *\d+\ +\d+\ +\d+\ \ (%s):\ .*''' % '|'.join('%s' % i for i in IDS), re.X)


@pytest.mark.parametrize('name', CAPTURES)
def test_it_gives_nothing_away(evidence, tshark, all_true, name):
    path = TOP / 'test' / 'pcaps' / name
    options = key(name) if name in KEYS else []
    text = evidence(path, *options)
    for line in text.splitlines():
        assert LINE.fullmatch(line), line
    boilerplate = '\n'.join(IDS + [row.sentence for row in LEDGER]) + all_true.split('\n\n')[0]
    said = re.sub(r': \d+$', '', text, flags=re.M)
    shown = tshark.fields(path, TEXTS + NUMBERS, '-E', 'occurrence=a', '-E', 'aggregator=|', *options)
    texts = {t for row in shown for cell in row for t in cell.split('|') if len(t) >= 4} - {'winreg'}
    assert not [t for t in texts if t in said and t not in boilerplate and not re.fullmatch(r'[\d.]+', t)]
    numbers = set(re.findall(r'\d{6,}', text))
    assert not numbers & {t.split('.')[0] for t in texts}


# --- What was given --------------------------------------------------------------------------------------------------

def test_no_row_claims_what_no_file_says():
    """The first line of a file names the system."""
    files = {}
    for path in sorted(EVIDENCE.glob('*.txt')):
        system, text = path.read_text('utf-8').split('\n', 1)
        files.setdefault(system.removeprefix('# '), []).append(rows_of(text))
    assert len(files) >= 2
    for row in LEDGER:
        for system in filter(None, row.seen.split(', ')):
            assert system in files and not system.startswith('model'), row
            counts = [f.get(row.id, (0, 0, 0)) for f in files[system]]
            assert sum(c[0] for c in counts) > 0 and not any(c[1] for c in counts), row
