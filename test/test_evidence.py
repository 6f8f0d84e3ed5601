# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,evidence`: each thing that is taken for true of Windows is counted by itself, and nothing that is anybody's is said."""

import re
import struct

import ledger
import pytest

from conftest import TOP
from gen.hkpd_block import Counter as Column
from gen.hkpd_block import Instance as Row
from gen.hkpd_block import Object
from gen.hkpd_scene import Talk
from gen.model import TYPES
from gen.scene import Scene, tcp_line
from gen.story_script import NONE, Damaging, Script, Times, ask, counter, learn, multiple, single
from gen.stubs import DATA, ENUMERATE, INFO, INSTANCES, REG_INFO
from test_real_captures import KEYS, key

EVIDENCE = TOP / 'test' / 'evidence'
LEDGER = ledger.rows(TOP)
IDS = [row.id for row in LEDGER]
RESPONSE = 20       # bytes of NDR before lpData


def rows_of(text):
    """{id: (held, did not, first frame)}"""
    return {m[4]: tuple(map(int, m.groups()[:3])) for m in re.finditer(r'^ *(\d+) +(\d+) +(\d+)  (\w+): ', text, re.M)}


@pytest.fixture
def evidence(tshark, tmp_path):
    """evidence(scene or path, options) -> its text"""
    def get(what, *args):
        path = what.write(tmp_path / 'a.pcap') if isinstance(what, Scene) else what
        return tshark.run('-q', '-r', path, '-z', 'pcq,evidence', *args)[0]
    return get


def test_the_page_is_that_of_the_ledger():
    assert len(IDS) == len(set(IDS)) > 30 and all(all(row[:4]) for row in LEDGER)
    assert (TOP / 'docs' / 'evidence.md').read_text('utf-8') == ledger.page(TOP)


# --- One after the other is false ------------------------------------------------------------------------------------

THINGS = counter(1, 'PERF_COUNTER_LARGE_DELTA', 'Things', lambda at, k: 10 ** 6 * k + 7 * at.number)
SMALL = counter(2, 'PERF_COUNTER_RAWCOUNT', 'Small', lambda at, k: k + at.number)
MORE = counter(3, 'PERF_COUNTER_LARGE_RAWCOUNT', 'More', lambda at, k: k)


def usual(alter=lambda opnum, kind, stub: stub, counters=(THINGS, SMALL, MORE), instances=('a', 'b'), info=True, ndr64=False,
          **options):
    """A client that learns, asks with every kind of wildcard and for what is not there, and samples four times."""
    s = multiple('Set', *counters, instances=instances)
    scene = Scene()
    sets = sorted([s, single('Other', SMALL)], key=lambda x: x.guid, reverse=True)
    line = Damaging(tcp_line(scene, Script(sets, **options), ndr64=ndr64), alter)
    client = line.client()
    client.enumerate()
    client.instances(s.guid)
    learn(client, s)
    handle = client.open()
    client.validate(handle, [ask(s, 1, 'a'), ask(s, 1, '*'), ask(s, NONE, '*'), ask(s, 1, 'gone')])
    if info:
        client.info(handle)
    for _ in range(4):
        client.data(handle)
    return scene


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


FALSE = {
    'PROBE': dict(alter=other_status),
    'PROBE_SIZE': dict(alter=probed_again()),
    'IDS_UNIQUE': dict(alter=of_code(1, lambda d: d.__setitem__(slice(80, 128), d[32:80]))),
    'IDENTIFIER': dict(alter=in_data(INFO, lambda d: put(d, 20, 'I', 44))),
    'HEADER': dict(alter=in_data(DATA, lambda d: put(d, 48 + 4, 'I', 9))),
    'BLOCK': dict(alter=in_data(DATA, lambda d: put(d, block(d, 2) + 8, 'I', struct.unpack_from('<I', d, block(d, 2) + 8)[0] - 4))),
    'BLOCK_TYPE': dict(alter=in_data(INFO, lambda d: put(d, 40, 'H', ord('*')))),
    'IDS_NOT_PADDED': dict(alter=in_data(DATA, pad_ids)),
    'VALUE_PADDED': dict(alter=in_data(DATA, lambda d: put(d, values_of_all(d) + 16 + 16 + 4, 'I', 12))),
    'INSTANCE': dict(alter=in_data(DATA, lambda d: put(d, values_of_all(d), 'I', 12))),
    'INSTANCE_END': dict(alter=in_data(DATA, lambda d: put(d, values_of_all(d) + 10, '3H', 0x61, 0x61, 0x61))),
    'NDR': dict(ndr64=True),
    'INFO_FIRST': dict(info=False),
    'REGISTRATION': dict(alter=of_code(1, lambda d: put(d, 24, 'I', 2))),
    'RELATIONS': dict(alter=of_code(1, lambda d: put(d, 32 + 24, 'I', 77))),
    'STRING_BASE': dict(alter=of_code(3, lambda d: put(d, 12, 'I', 1 << 20))),
    'STRING_END': dict(alter=of_code(2, lambda d: d.__setitem__(slice(None), b'S\0' * (len(d) // 2)))),
    'INSTANCE_LIST': dict(alter=in_data(INSTANCES, lambda d: put(d, 0, 'I', 12))),
    'INDEX': dict(alter=in_data(INFO, lambda d: put(d, 32, 'I', 3))),
    'ADDED_ORDER': dict(order=lambda query: [1, 0, 2, 3]),
    'TOTAL': dict(alter=in_data(DATA, lambda d: put(d, 0, 'I', len(d) + 8))),
    'ERROR_NO_DATA': dict(alter=in_data(DATA, lambda d: put(d, block(d, 3), 'I', 3))),
    'VALUE_SIZE': dict(counters=(THINGS, counter(2, 'PERF_COUNTER_TEXT', 'Small', lambda at, k: 'text'), MORE)),
    'VALUE_TYPE': dict(counters=(THINGS, counter(2, 'PERF_COUNTER_RAWCOUNT', 'Small', lambda at, k: k, width=8), MORE)),
    'INSTANCE_UNIQUE': dict(instances=[(0, 'a', 0), (0, 'a', 1)]),
    'INSTANCE_ORDER': dict(instances=lambda number: [(0, 'a', 0), (1, 'b', 1)][::(-1) ** number]),
    'SYSTEM_TIME': dict(alter=in_data(DATA, lambda d: put(d, 46, 'H', 999))),
    'FREQUENCY': dict(alter=in_data(DATA, lambda d: put(d, 24, 'Q', 1000), 3)),
    'CLOCKS': dict(clock=Times([(10 ** 10 + n * 2 * 10 ** 7, 134351767437550592 + n * 10 ** 7) for n in range(9)])),
}


def differences(text, usual_text):
    """The ids that did not hold here, and did there."""
    mine, others = rows_of(text), rows_of(usual_text)
    return {i for i in IDS if mine[i][1] > 0 and others[i][1] == 0}


@pytest.fixture(scope='module')
def all_true(tshark, tmp_path_factory):
    path = usual().write(tmp_path_factory.mktemp('usual') / 'a.pcap')
    return tshark.run('-q', '-r', path, '-z', 'pcq,evidence')[0]


def test_what_holds_is_counted(all_true):
    rows = rows_of(all_true)
    assert list(rows) == IDS
    assert {i for i in IDS if rows[i][1] > 0} == {'SEALED'}
    assert {i for i in IDS if rows[i] == (0, 0, 0)} == {i for i in IDS if i.startswith('HKPD_')}


@pytest.mark.parametrize('row', FALSE)
def test_one_is_false(evidence, all_true, row):
    scene = usual(**FALSE[row])
    text = evidence(scene)
    assert differences(text, all_true) == {row}
    assert rows_of(text)[row][2] in scene.frames or rows_of(text)[row][2] <= len(scene.capture.frames)


def performance_data(unique=-1, width=4, code_page=0, change=None, **how):
    scene = Scene()
    rows = lambda at: [Row('a', unique), Row('b', unique)]
    columns = [Column(6, 'Things', TYPES['PERF_COUNTER_RAWCOUNT'], lambda at, k: k, width)]
    objects = [Object(230, 'Process', columns, rows, code_page, 'cp1252' if code_page else 'utf-16')]
    talk = Talk(scene, objects=objects, **how)
    talk.open()
    talk.titles()
    talk.sample()
    talk.sample()
    if change:
        change(talk)
    return scene


@pytest.mark.parametrize('row, how', [
    (None, {}), ('HKPD_NO_ID', dict(unique=7)), ('HKPD_TYPE', dict(width=8)), ('HKPD_TOTAL', dict(samba=True)),
    ('HKPD_WIDE', dict(code_page=1252)), ('HKPD_ROOM', dict(change=lambda talk: talk.ask('Global', None, room=0, size=5000)))])
def test_performance_data(evidence, row, how):
    rows = rows_of(evidence(performance_data(**how)))
    assert {i for i in IDS if rows[i][1] > 0} == ({row} if row else set())
    assert {i for i in IDS if rows[i][0] > 0} >= {'HKPD_OBJECT'}


# --- What it says ----------------------------------------------------------------------------------------------------

TEXTS = ['pcq.machine', 'pcq.counterset.name', 'pcq.counter.name', 'pcq.instance.name', 'pcq.provider.name', 'pcq.path',
         'pcq.counterset.guid', 'pcq.handle', 'pcq.data.system_time', 'pcq.value.text', 'hkpd.key', 'hkpd.system_name',
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


def test_a_file(evidence, tshark, tmp_path):
    scene = usual()
    text = evidence(scene)
    tshark.run('-q', '-r', tmp_path / 'a.pcap', '-z', 'pcq,evidence,%s' % (tmp_path / 'e.txt'))
    assert (tmp_path / 'e.txt').read_text('utf-8') == text


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
