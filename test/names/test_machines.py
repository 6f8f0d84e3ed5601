# SPDX-License-Identifier: GPL-2.0-or-later
"""Which machine an answer is of: an address and port are one's as long as no name says otherwise. Of machines that share them neither
has what the other calls its counters."""

import re
import struct

import pytest

from gen import hkpd_stubs
from gen.hkpd_block import Counter, Object
from gen.hkpd_scene import Talk
from gen.model import TYPES
from gen.pcap import Pipe, Rpc
from gen.scene import Scene, tcp_line
from gen.story import Server, ask, counter, learn, multiple, run, unseen
from learned import read
from series import long_rows, table

RAW = 'PERF_COUNTER_RAWCOUNT'


def fruit(name, value, number=1):
    """A set of one GUID whose counter each machine calls otherwise."""
    return multiple('Set', counter(number, RAW, name, lambda at, k: value), instances=['a'])


def query(line, called, s, told=True, **how):
    c = line.client('\\\\' + called.lstrip('\\'))
    if told:
        learn(c, s)
    return run(c, [ask(s, 1, 'a')], **how)


def talk_of(scene, name, port, told, **how):
    """A connection that opens HKEY_PERFORMANCE_DATA, its counter `told`."""
    objects = [Object(5000, 'Set', [Counter(5002, told, TYPES[RAW], lambda at, k: 1, 4)])]
    handles = how.pop('handles', port)
    talk = Talk(scene, objects=objects, system=name, client_port=port, **how)
    talk.handles = handles
    talk.open()
    return talk


def shown(tshark, scene, tmp_path, passes=(), assumed='0'):
    """[(server, counterset, counter)] of the values"""
    rows = long_rows(tshark.run('-q', '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0])
    assert {r['assumed'] for r in rows} <= set(assumed)
    return [(r['server'], r['counterset'], r['counter']) for r in rows]


def counters(*args):
    return [counter for *_, counter in shown(*args)]


# --- Names -----------------------------------------------------------------------------------------------------------

ONE = [('SRV01', 'srv01'), ('SRV01', 'srv01.example.com'), ('srv01.example.com.', 'SRV01'), ('srv01.', 'SRV01'),
       ('M\xdcNCHEN', 'm\xfcnchen'), ('srv01.example.com', 'SRV01.EXAMPLE.COM'), ('10.0.0.5', '10.0.0.5')]
TWO = [('ONE', 'TWO'), ('10.0.0.5', '10.0.0.6'), ('10.0.0.5', '10'), ('srv01.a.example', 'srv01.b.example'), ('SRV01', 'SRV011'),
       ('2001:db8::1', '2001:db8::2'), ('::ffff:10.0.0.5', '::ffff:10.0.0.6'), ('10.0.0.5', 'SRV01'),
       ('fe80--1.ipv6-literal.net', 'fe80--2.ipv6-literal.net'), ('stra\xdfe', 'strasse'), ('SRV01', 'SRV01-A.example.com')]


def test_what_clients_call_it(tshark, tmp_path, passes):
    """The second was asked for names before the capture began: it has those of the first if it is the same machine."""
    scene = Scene()
    for place, names in enumerate(ONE + TWO, 30):
        for i, (name, s) in enumerate(zip(names, (fruit('Apples', 1), fruit('Nuts', 2)))):
            line = tcp_line(scene, Server([s], handles=[bytes([i + 1]) * 20]), server='192.0.2.%d' % place, client_port=50001 + i)
            query(line, name, s, told=i == 0, samples=1)
    named = counters(tshark, scene, tmp_path, passes)
    assert dict(zip(ONE + TWO, zip(named[::2], named[1::2]))) == {**dict.fromkeys(ONE, ('Apples', 'Apples')), **dict.fromkeys(TWO, ('Apples', '#1'))}


@pytest.mark.parametrize('names, system', [(('ONE', 'TWO'), ''), (('ONE', 'one.example.com'), ''), (('ONE', '192.0.2.20'), 'ONE')])
def test_the_tree_of_a_pipe(tshark, tmp_path, names, system, passes):
    """Nothing but `\\\\ONE\\IPC$` tells the two apart: their blocks have no name, and their sessions one number. Who calls itself alike is
    one by its address, too."""
    scene = Scene()
    one, two = [talk_of(scene, system, 50001 + i, 'Apples', smb=True, called=name) for i, name in enumerate(names)]
    one.titles()
    one.rpc.transport.smb.connect('\\\\FILES\\data', 9)     # a share, which changes nothing
    one.rpc.transport.smb.tree = 7
    for talk in one, two, talk_of(scene, system, 50003, 'Apples', transport=Pipe(one.rpc.transport.smb, file_id=0xF11E0002)):
        talk.sample()
    assert counters(tshark, scene, tmp_path, passes) == ['Apples', 'Apples' if names[1] != 'TWO' else '#5002', 'Apples']


def challenge(computer, number):
    """NTLM's, in SPNEGO's wrapping or not: [MS-NLMP] 2.2.1.2."""
    name = computer.encode('utf-16-le')
    info = struct.pack('<HH', 2, 6) + 'LAB'.encode('utf-16-le') + struct.pack('<HH', 1, len(name)) + name + bytes(4)
    return b'NTLMSSP\0' + struct.pack('<IHHIIQQHHI', 2, 0, 0, 56, 0x628A8215, number, 0, len(info), len(info), 56) + bytes(8) + info


def ticket(host):
    """A request that holds one (RFC 4120 5.3): realm, and the service that it is for."""
    def der(tag, *parts):
        body = b''.join(parts)
        return bytes([tag, len(body)]) + body
    parts = [der(0x1B, x.encode()) for x in ('host', host)]
    name = der(0x30, der(0xA0, der(2, b'\3')), der(0xA1, der(0x30, *parts)))
    return der(0x30, der(0xA0, der(2, b'\5')), der(0xA1, der(2, b'\x0e')),
               der(0x61, der(0x30, der(0xA0, der(2, b'\5')), der(0xA1, der(0x1B, b'LAB.TEST')), der(0xA2, name))))


def logging_on(client=b'', server=b''):
    class Logon(Rpc):
        tokens = client, server
    return Logon


@pytest.mark.parametrize('hosts', [('ONE', 'TWO'), ('ONE', 'ONE')])
@pytest.mark.parametrize('logon', [lambda x, n: logging_on(server=challenge(x, n)), lambda x, n: logging_on(server=b'\xa1\x81\xa0' + challenge(x, n)),
                                   lambda x, n: logging_on(client=ticket(x.lower() + '.lab.test'))], ids=['ntlm', 'spnego', 'kerberos'])
def test_whom_clients_log_on_to(tshark, tmp_path, logon, hosts, passes):
    """They call both by the address that two sites gave to theirs."""
    scene = Scene()
    for i, (host, s) in enumerate(zip(hosts, (fruit('Apples', 1), fruit('Nuts', 2)))):
        line = tcp_line(scene, Server([s], handles=[bytes([i + 1]) * 20]), client_port=50001 + i, protocol=logon(host, i))
        query(line, '10.0.0.5', s, told=i == 0, samples=1)
    place = '10.0.0.5' + ' (192.0.2.20:49671 (2))' * (hosts[0] != hosts[1])
    assert shown(tshark, scene, tmp_path, passes)[1][::2] == (place, 'Apples' if hosts[0] == hosts[1] else '#1')
    rows = table(tshark, tmp_path / 'a.pcap', 'pcq,counters', *passes)
    assert len([r for r in rows if r['Counter'].startswith('\\\\')]) == len(set(hosts))


# Of each client: what it calls the server @ whom it logs on to; + it asks for names, - not; what it is shown : with -2
SEVERAL = {
    'a first label of two': 'srv01.a.example+Apples srv01-Apples:#1 srv01.b.example+Nuts srv01-#1',
    'a first label of two beside another': 'mail+Pears srv01.a.example+Apples srv01-Apples:#1 srv01.b.example+Nuts srv01-#1',
    'who is called by his address': '192.0.2.20+Apples 192.0.2.20-Apples 192.0.2.20-Apples',
    'who is called by it, and by a name': '192.0.2.20@ONE+Apples one.lab.test-Apples 192.0.2.20-Apples',
    'that beside a name tells nothing': '192.0.2.20+Apples 192.0.2.20-Apples:#1 ONE+Nuts 192.0.2.20-#1',
    'that beside two': '192.0.2.20+Apples 192.0.2.20-Apples:#1 ONE+Nuts TWO+Nuts 192.0.2.20-#1',
    'his address, his name and who he says he is': '192.0.2.20@ONE+Apples ONE@ONE-Apples one-Apples 192.0.2.20@TWO-#1 192.0.2.20-#1',
    'who is called by it is not the one before': 'ALPHA-#1 192.0.2.20@BETA-#1:Nuts BETA+Nuts',
    'who says he is his first 15 characters': 'performanceserver+Apples 192.0.2.20@PERFORMANCESERV-Apples',
    'a logon before the call that names it': '@TWO-#1:Nuts ONE+Apples TWO@TWO+Nuts @TWO-Nuts',
}


@pytest.mark.parametrize('calls', SEVERAL.values(), ids=SEVERAL)
def test_several(tshark, tmp_path, calls, passes):
    scene, told = Scene(), []
    for i, (name, host, asks, once, twice) in enumerate(re.findall(r'([\w.]*)@?(\w*)([+-])([^ :]+):?(\S*)', calls), 1):
        s = fruit(once if asks == '+' else 'Plums', i)
        line = tcp_line(scene, Server([s], handles=[bytes([i]) * 20]), client_port=50000 + i, protocol=logging_on(server=host and challenge(host, i)))
        query(line, name, s, asks == '+', samples=1)
        told.append(twice if passes and twice else once)
    assert counters(tshark, scene, tmp_path, passes, '01' if '@' in calls else '0') == told


# --- SystemName ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('order', ['otoot', 'ottoo', 'tooot', 'totot', 'OToot'])
def test_titles_before_the_first_block(tshark, tmp_path, order, passes):
    """Which machine's titles they are shows its block, and whose handle, where both gave out the same. `order`: whose call
    it is, of ONE and TWO; in capitals a header without objects comes before them, as Windows XP answers a size probe."""
    scene = Scene()
    talks = {'o': talk_of(scene, 'ONE', 50001, 'Apples', handles=0)}
    scene.capture.now += 2 * 10 ** 6        # at once one would be a copy of the other
    talks['t'] = talk_of(scene, 'TWO', 50002, 'Nuts', handles=0)
    for x in order[:2]:
        if x.isupper():
            header = talks[x.lower()].block([]).record.data
            header[20:24] = bytes(4)
            talks[x.lower()].ask('Global', bytes(header), status=hkpd_stubs.MORE_DATA)
        talks[x.lower()].titles()
    for x in order[2:]:
        talks[x].sample()
    names = {'o': ('ONE', 'Set', 'Apples'), 't': ('TWO', 'Set', 'Nuts')}
    told = [names[x] for x in order[2:]]
    for i, x in enumerate(order[2:]):
        if not passes and order[1] in 'ot' and order[1] not in order[2:3 + i]:       # it contradicts him, and nobody knows yet that it is another
            told[i] = (names[x][0], 'Set', '#5002')
    assert shown(tshark, scene, tmp_path, passes) == told
    rows = long_rows(tshark.run('-q', '-r', tmp_path / 'a.pcap', '-z', 'pcq,long,-', *passes)[0])
    assert [r['query'] for r in rows] == [str(1 + 'ot'.index(x)) for x in order[2:]]


def test_titles_of_another_connection(tshark, tmp_path, passes):
    """As long as there is one machine, who told them does not count; a title that is told anew on a connection of which nobody knows yet
    whose it is makes both doubtful until its block comes. Fewer titles tell those that they have again."""
    scene = Scene()
    one = talk_of(scene, 'ONE', 50001, 'Apples')
    other = talk_of(scene, 'ONE', 50002, 'Apples')
    one.titles(pairs={5000: 'Set', 5002: 'Apples', 5004: 'More'})
    one.sample()
    other.titles()
    one.sample()
    other.titles(pairs={5000: 'Set', 5002: 'Pears'})
    one.sample()
    other.sample()
    one.sample()
    rows = long_rows(tshark.run('-q', '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0])
    said = [row['counter'] + '?' * int(row['assumed']) for row in rows]      # between both titles it is marked
    assert said == (['Apples', 'Apples?', 'Pears', 'Pears', 'Pears'] if passes else ['Apples', 'Apples', '#5002', 'Pears', 'Pears'])


@pytest.mark.parametrize('order, size', [('oot', 0), ('otooo', 0), ('toooo', 0), ('ottoo', 0), ('odo', 3), ('odo', 4), ('odo', 6)])
def test_one_connection_with_two_names(tshark, tmp_path, order, size, passes):
    """It is to one machine: either of both names is wrong, and no block makes a second machine. What the first block says goes. A damaged name
    says nothing."""
    def damage(b):
        b.record.data[80:84] = struct.pack('<I', size)
    scene = Scene()
    talk = talk_of(scene, 'ONE', 50001, 'Apples')
    talk.titles()
    for x in order:
        talk.system = {'t': 'TWO'}.get(x, 'ONE')
        talk.sample(change=damage if x == 'd' else None)
    rows = long_rows(tshark.run('-q', '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0])
    known = len(order) if passes or size else order.index('to' if order[0] == 't' else 'ot') + 1
    assert [r['assumed'] for r in rows] == ['1' if passes and not size else '0'] * known + ['1'] * (len(order) - known)
    assert {(r['query'], r['counter']) for r in rows} == {('1', 'Apples')} and rows[-1]['server'] == ('TWO' if order[0] == 't' else 'ONE')


@pytest.mark.parametrize('order', ['12', '21'])
def test_titles_of_one_with_a_tree_alone(tshark, tmp_path, order, passes):
    """Whom a client logs on to and what a server says itself differ: two machines, whoever of them told first."""
    scene = Scene()
    one, three = talk_of(scene, 'ONE', 50001, 'Apples'), talk_of(scene, 'THREE', 50003, 'Pears')
    two = talk_of(scene, '', 50002, 'Nuts', smb=True, called='TWO')
    for x in order:
        (one if x == '1' else two).titles()
    for talk in (one, two):
        talk.sample()
    three.titles()
    for talk in (three, one, two):
        talk.sample()
    assert counters(tshark, scene, tmp_path, passes) == ['Apples', 'Nuts', 'Pears', 'Apples', 'Nuts']


# --- Who says nothing ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('is_lost', [False, True])
def test_a_connection_without_a_name(tshark, tmp_path, is_lost, passes):
    """It is to the machine whose handle it uses, also where of that one's connection an answer alone came first. Where the handle was opened before
    the capture nobody knows, and its values have no names."""
    scene, used = Scene(), []
    for i, (name, s) in enumerate((('ONE', fruit('Apples', 1)), ('TWO', fruit('Nuts', 2)))):
        server = Server([s], handles=[bytes([i + 1]) * 20, bytes([i + 3]) * 20])
        handle = query(tcp_line(scene, server, client_port=50001 + i), name, s, samples=0, close=False)
        before = unseen(server, name)
        old = before.open()
        before.validate(old, [ask(s, 1, 'a')])
        used.append((server, handle, old))
    for i, (server, handle, old) in enumerate(used):
        tcp_line(scene, server, client_port=50011 + i).client().data(handle, 999)
        c = tcp_line(scene, server, client_port=50021 + i).client()
        c.info(old)
        c.data(old, 999)
    if is_lost:         # what TWO was asked first
        frames = scene.capture.frames
        del frames[next(i for i, (_, f) in enumerate(frames) if len(f) > 54 and f[34:36] == b'\xc3\x52' and f[54 + 2] == 0)]
    rows = shown(tshark, scene, tmp_path, passes, '01' if is_lost else '0')     # it may have been ONE's list
    assert [(server, counter) for server, _, counter in rows[::2]] == [('ONE', 'Apples'), ('TWO', 'Nuts')]
    assert [counter for *_, counter in rows[1::2]] == ['#1'] * 2
    frames = read(tshark, scene, tmp_path, two_pass=bool(passes))
    assert [bool(f.all('pcq.expert.systems')) for f in frames.values() if f.all('pcq.block')] == [is_lost, True] * 2


@pytest.mark.parametrize('opens', [False, True])
def test_whose_query_goes_on(tshark, tmp_path, opens):
    """Two machines gave out one handle. Where a connection of which nobody knows whose it is uses it, neither client stopped. That it is given
    out once more is no use."""
    scene = Scene()
    for i, name in enumerate(('ONE', 'TWO')):
        server = Server([fruit('Apples', i)], handles=[b'1' * 20] * 2)
        query(tcp_line(scene, server, client_port=50001 + i), name, server.sets[0], samples=5, close=False)
    scene.capture.now += 10 ** 8
    c = tcp_line(scene, server, client_port=50003).client('')
    c.open() if opens else c.data(b'1' * 20, 999)
    for session in len(scene.capture.frames) - 1, 999:      # -M: the capture is forgotten before its last packet
        out, _ = tshark.run('-q', '-M', session, '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,summary')
        assert ('stopped asking' in out) is opens


@pytest.mark.parametrize('way', ['cut', 'lost', 'answer alone', 'read'])
def test_the_call_that_names_it_is_not_read(tshark, tmp_path, way, passes):
    """There may be a second machine of whom nobody knows: its values have the names of the first, marked, and what it tells is its own."""
    scene, s = Scene(), fruit('Nuts', 2)
    line, talks = tcp_line(scene, Server([s], handles=[b'2' * 20]), client_port=50002), [talk_of(scene, 'ONE', 50003, 'Pears'), talk_of(scene, 'TWO', 50004, 'Beans')]
    talks[1].titles()
    first = len(scene.capture.frames)
    talks[1].sample()
    query(tcp_line(scene, Server([fruit('Apples', 1)])), 'ONE', fruit('Apples', 1))
    query(line, 'ONE' if way == 'read' else 'TWO', s, told=False, samples=1)
    talks[0].sample()
    frames = scene.capture.frames
    opening = next(i for i, (_, f) in reversed(list(enumerate(frames))) if f[54 + 2:54 + 3] == b'\0' and f[54 + 22:54 + 24] == b'\3\0')
    if way != 'read':
        scene.capture.snap(first + 2, 120)
    if way == 'cut':
        scene.capture.snap(opening + 1, 54 + 30)
    elif way != 'read':
        del frames[opening:opening + 1 + (way == 'lost')]
    rows = [r for r in long_rows(tshark.run('-q', '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,long,-', *passes)[0]) if r['server'] != 'TWO']
    assert [(r['counter'], r['assumed']) for r in rows] == [('Apples', '0')] * 2 + [('Apples', str(int(way != 'read'))), ('#5002', '0')]


@pytest.mark.parametrize('server, shown_two', [('192.0.2.20', '#1'), ('192.0.2.20:49671', '#1'), ('*', 'Apples')])
def test_a_names_file_means_one_of_them(tshark, tmp_path, server, shown_two, passes):
    """Of which machine of its address it is nobody knows, but for one for all."""
    (tmp_path / 'names').write_text('# pcq names 1\nserver\t%s\nname\t{%s}\t1\ten\tApples\n' % (server, fruit('Apples', 1).guid))
    scene = Scene()
    for i, (name, s) in enumerate((('ONE', fruit('Apples', 1)), ('TWO', fruit('Nuts', 2)))):
        query(tcp_line(scene, Server([s], handles=[bytes([i + 1]) * 20]), client_port=50001 + i), name, s, told=False, samples=1)
    named = counters(tshark, scene, tmp_path, [*passes, '-o', 'pcq.names_file:%s' % (tmp_path / 'names')])
    assert named == [shown_two if passes else 'Apples', shown_two]


def test_a_names_file_has_none_of_them(tshark, tmp_path):
    """It tells machines by address and port."""
    scene = Scene()
    for i, (name, s) in enumerate((('ONE', fruit('Apples', 1)), ('TWO', fruit('Nuts', 2)))):
        query(tcp_line(scene, Server([s]), client_port=50001 + i), name, s)
    s = fruit('Pears', 3)
    query(tcp_line(scene, Server([s]), client_port=50003, server='192.0.2.21'), 'THREE', s)
    tshark.run('-q', '-r', scene.write(tmp_path / 'a.pcap'), '-z', 'pcq,names,%s' % (tmp_path / 'names'))
    lines = (tmp_path / 'names').read_text().splitlines()
    assert [x for x in lines if x.startswith('server')] == ['server\t192.0.2.21']
    assert lines[-1] == '# left out: names of 2 machines that share an address and port'
