# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed calls without the right key: the packet says which key opens them, where it goes, and whether one was tried."""

import json
import random
import re
import struct
from collections import Counter
from xml.etree import ElementTree

import pytest

from conftest import TOP
from gen.pcap import NDR, NDR64, WINREG, Capture, Rpc, SealedRpc
from gen.scenario import Line, Scenario, tcp_line
from gen.scripted import Server, ask, counter, learn, multiple, run
from gen.stubs import DATA, INFO, request, response
from gen.wires import ACCEPTED, bind
from series import rows_of_table, table
from test_calls import without

PCAPS = TOP / 'test' / 'pcaps'
KEYS = {name: [k.format(pcaps=PCAPS) for k in keys] for name, keys in json.loads((PCAPS / 'keys.json').read_text()).items()}
WRONG_PASSWORD = ['-o', 'ntlmssp.nt_password:wrong']
WRONG_KEYTAB = ['-o', 'kerberos.decrypt:TRUE', '-o', 'kerberos.file:%s' % (PCAPS / 'smb3-kerberos.keytab')]

NTLM = ['smb3-ntlm', 'tcp-ntlm', 'tcp-bigendian', 'tcp-mixed-endian', 'two-clients', 'handle-life', 'smb2-impacket']
KERBEROS = ['tcp-kerberos', 'smb3-kerberos']
SEALED = NTLM + KERBEROS + ['big-answer']


def test_a_key_that_fits_where_wireshark_gives_up(tshark):
    """Wireshark 4.0 makes a malformed packet of the requests that open a key, and had decrypted them: nothing is said of the key."""
    rows = tshark.fields(PCAPS / 'hkpd-sealed.pcap', ['frame.number'], *with_key('hkpd-sealed'), '-Y', 'pcq.expert.sealed || pcq.expert.key_does_not_fit')
    assert rows == []


def with_key(name):
    return [x for k in KEYS[name + '.pcap'] for x in ('-o', k)]


def told(tshark, name, *args):
    """[(frame, findings, Info, message)] of the calls of PerflibV2"""
    rows = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', '_ws.expert', '_ws.col.Info', '_ws.expert.message',
                                                    'pcq.expert.sealed', 'pcq.expert.key_does_not_fit'],
                         '-Y', 'pcq && dcerpc.pkt_type != 3', *args)
    return [(int(n), 'sealed' * bool(sealed) + 'does not fit' * bool(unfit), info, message)
            for n, _, info, message, sealed, unfit in rows]


@pytest.mark.parametrize('name', NTLM + KERBEROS)
def test_no_key(tshark, name):
    """Every sealed call names what opens it, within the 80 characters that a window has room for, and Info says so."""
    place = 'KRB5 preferences, keytab file' if name in KERBEROS else 'NTLMSSP preferences, NT Password'
    calls = told(tshark, name)
    assert len(calls) > 10
    for frame, finding, info, message in calls:
        assert finding == 'sealed' and info.endswith('Kerberos, no key' if name in KERBEROS else 'NTLM, no key'), (frame, finding, info)
        assert set(('keytab kerberos.file KRB5 kerberos.SNameString' if name in KERBEROS else
                    'password ntlmssp.nt_password NTLMSSP').split()) <= set(re.findall(r'[\w.]+', message)), message
        assert place in ('[Expert Info (Note/Decryption): ' + message)[:80]
    out, _ = tshark.run('-r', PCAPS / (name + '.pcap'), '-o', 'gui.column.format:"Severity","%a"')
    assert out.split().count('Note') > 10


@pytest.mark.parametrize('name, args', [(n, WRONG_PASSWORD) for n in NTLM[:3]] + [('tcp-kerberos', WRONG_KEYTAB)])
def test_a_key_that_does_not_fit(tshark, name, args):
    """Told apart from no key at all."""
    calls = told(tshark, name, *args)
    assert len(calls) > 10
    for frame, finding, info, message in calls:
        assert finding == 'does not fit' and 'the key given does not fit' in info, (frame, finding, info)
        assert ('ntlmssp.nt_password' if args is WRONG_PASSWORD else 'kerberos.file') in message


def test_kerberos_and_the_other_kind_of_key(tshark):
    """A password opens no Kerberos: that is no key. A keytab with the account's key does open NTLM."""
    assert {f for _, f, _, _ in told(tshark, 'tcp-kerberos', *WRONG_PASSWORD)} == {'sealed'}
    assert {f for _, f, _, _ in told(tshark, 'tcp-ntlm', *WRONG_KEYTAB)} == {''}
    rows = tshark.fields(PCAPS / 'tcp-ntlm.pcap', ['pcq.status'], '-Y', 'pcq.data_header', *WRONG_KEYTAB)
    assert rows and {s for s, in rows} == {'0'}


def test_a_keytab_is_a_key_for_ntlm_too(tshark, tmp_path):
    """One that does not fit is not called none; one that nobody uses is said to be unused, and why."""
    empty = tmp_path / 'other.keytab'
    empty.write_bytes(b'\x05\x02')
    file = ['-o', 'kerberos.file:%s' % empty]
    for name, protocol in (('tcp-ntlm', 'NTLM'), ('tcp-kerberos', 'Kerberos')):
        for args, finding, words in ((['-o', 'kerberos.decrypt:TRUE'] + file, 'does not fit', 'the key given does not fit'),
                                     (file, 'does not fit', 'kerberos.decrypt is off'),
                                     (['-o', 'kerberos.decrypt:TRUE', '-K', str(empty)], 'sealed', 'no key that fits'),
                                     (['-K', str(empty)], 'sealed', 'no key')):
            calls = told(tshark, name, *args)
            assert len(calls) > 10
            for _, found, info, message in calls:
                assert found == finding and info.endswith(', sealed with %s, %s' % (protocol, words)), (args, found, info)
                assert finding == 'sealed' or 'kerberos.file' in message
    assert '-K needs the first' in told(tshark, 'tcp-kerberos', '-K', str(empty))[0][3]


def test_the_key_of_hkey_performance_data(tshark):
    """Of sealed winreg only what opens HKEY_PERFORMANCE_DATA concerns us."""
    rows = tshark.fields(PCAPS / 'hkpd-sealed.pcap', ['_ws.col.Info', 'pcq.sealed.operation', 'pcq.sealed.size',
                                                      'dcerpc.pkt_type'], '-Y', 'pcq.expert.sealed')
    truth = tshark.fields(PCAPS / 'hkpd-sealed.pcap', ['dcerpc.opnum', 'dcerpc.pkt_type'],
                          '-Y', 'winreg && dcerpc.opnum == 3')
    assert rows and [[opnum, kind] for _, opnum, _, kind in rows] == truth
    for info, _, size, kind in rows:
        assert info.startswith('OpenHKP') and size == {'0': '8', '2': '24'}[kind]
        assert info.endswith('%s, %s bytes, sealed with NTLM, no key' % ({'0': 'request', '2': 'response'}[kind], size))
    all_sealed = tshark.fields(PCAPS / 'hkpd-sealed.pcap', ['_ws.col.Info'], '-Y', 'winreg')
    assert len(all_sealed) > len(rows) and sum('sealed' in info for info, in all_sealed) == len(rows)
    shown = [tshark.run('-r', PCAPS / ('hkpd-%s.pcap' % x), '-V', '-Y', 'pcq.expert.sealed')[0] for x in ('signed', 'plain', 'net', 'sealed')]
    assert shown[:3] == ['', '', ''] and shown[3].count('[Sealed operation: OpenHKPD (3)]\n') == len(rows)


def opened_calls(tshark, name):
    """[[frame, operation, PDU's type, bytes of its stub]] of the same capture with its key: the bytes as Wireshark alone
    shows them, which counts the last fragment's padding to a whole of several"""
    calls = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', 'pcq.opnum', 'dcerpc.pkt_type'],
                          '-Y', 'pcq && dcerpc.pkt_type != 3', *with_key(name))
    stubs = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', 'dcerpc.reassembled.length',
                                                     'dcerpc.decrypted_stub_data', 'dcerpc.auth_pad_len'],
                          '--disable-protocol', 'pcq', '-Y', 'dcerpc.decrypted_stub_data', *with_key(name))
    sizes = {number: str(int(whole) - int(padding) if whole else len(stub) // 2) for number, whole, stub, padding in stubs}
    return [call + [sizes[call[0]]] for call in calls]


@pytest.mark.parametrize('name', SEALED)
def test_every_call_is_seen_with_its_size(tshark, name):
    """Those of several fragments, too, in the frame of the last."""
    truth = opened_calls(tshark, name)
    rows = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', 'pcq.sealed.operation', 'dcerpc.pkt_type',
                                                    'pcq.sealed.size'], '-Y', 'pcq.sealed.size')
    assert len(rows) > 20 and rows == truth
    answers = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', 'pcq.out_size'], '-Y',
                            'pcq.opnum == 6 && dcerpc.pkt_type == 2', *with_key(name))
    around = 24  # two sizes, three numbers of the array, the status
    assert {(n, str(around + (int(size) + 3) // 4 * 4)) for n, size in answers} == {
        (n, size) for n, opnum, kind, size in rows if opnum == '6' and kind == '2'}
    rows = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', 'pcq.sealed.operation', 'pcq.sealed.size'],
                         '-Y', 'pcq.sealed.size', *with_key(name))
    assert rows == []


@pytest.mark.parametrize('name, which', [('big-answer', ('0x00', '0x02')), ('tcp-kerberos', ('0x00', '0x02')), ('tcp-kerberos', ('0x01',))])
def test_a_lost_fragment_makes_no_size(tshark, tmp_path, name, which):
    """Nothing is said of an answer of which a fragment is missing, and everything of the others."""
    rows = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', 'dcerpc.cn_flags', 'pcq.sealed.operation',
                                                    'pcq.sealed.size'], '-Y', 'dcerpc.cn_flags')
    lost = next(int(n) for n, flags, *_ in rows if flags in which)
    whole = next(n for n, flags, *_ in rows if int(n) >= lost and flags == '0x02')
    capture = Capture.of_file(PCAPS / (name + '.pcap'))
    del capture.frames[lost - 1]
    left = tshark.fields(capture.write(tmp_path / 'a.pcap'), ['pcq.sealed.operation', 'pcq.sealed.size'], '-Y',
                         'pcq.sealed.size')
    assert left == [[opnum, size] for n, _, opnum, size in rows if size and n != whole]


def rounded(more):
    return lambda pdu: pdu[:16] + struct.pack('<I', struct.unpack_from('<I', pdu, 16)[0] + more) + pdu[20:]


def with_object(pdu):
    """The header of a request with the UUID of an object has 40 bytes."""
    return pdu if pdu[2] else pdu[:3] + bytes([pdu[3] | 0x80]) + pdu[4:8] + struct.pack('<H', len(pdu) + 16) + pdu[10:24] + bytes(range(16)) + pdu[24:]


# How the PDUs of a call are, bytes of the request's token that were captured; whether request and response have a size
HEADERS = {'as-they-are': (bytes, 16, '11'), 'hint-rounded-to-16': (rounded(15), 16, '11'), 'hint-of-more': (rounded(16), 16, '10'),
           'object': (with_object, 16, '11'), 'version-in-the-token': (bytes, 2, '11'), 'cut-in-the-version': (bytes, 1, '01')}


@pytest.mark.parametrize('way', HEADERS)
def test_sizes_by_the_headers(tshark, tmp_path, way):
    """A hint beyond the bytes that are there, and more than padding, has lost a fragment."""
    scenario, model = server_of('A', instances=[chr(97 + i) for i in range(26)])
    c = sealed_line(scenario, model, max_frag=300).client()
    h, stock = c.query([ask(model.sets[0], 1, '*')]), c.line.rpc.fragments
    change, kept, known = HEADERS[way]
    c.line.rpc.fragments = lambda *how: [change(pdu) for pdu in stock(*how)]
    number = len(scenario.capture.frames) + 1
    c.data(h, 9999)
    scenario.capture.snap(number, len(scenario.capture.frames[number - 1][1]) - 16 + kept)
    rows = tshark.fields(scenario.write(tmp_path / 'a.pcap'), ['pcq.sealed.size'], '-Y', 'pcq.sealed.operation == 6')
    assert rows == [[size] for size, is_known in zip(('24', '928'), known) if is_known == '1']


def test_the_protocols_of_a_frame_stay(tshark):
    """Looking after DCE/RPC leaves no trace: no layer, no message, and pcq switched off shows stock Wireshark."""
    rows = tshark.fields(PCAPS / 'tcp-ntlm.pcap', ['frame.protocols'], '-Y', 'pcq')
    assert {p for p, in rows} == {'eth:ethertype:ip:tcp:dcerpc'}
    done = tshark.start('-r', PCAPS / 'tcp-ntlm.pcap', '-q')
    assert done.stderr == b''
    out, _ = tshark.run('-r', PCAPS / 'tcp-ntlm.pcap', '--disable-protocol', 'pcq', '-Y', 'dcerpc.opnum == 6', '-V')
    assert 'Encrypted stub data' in out and 'sealed' not in out


# --- Statistics: the same capture with its key is the truth ---------------------------------------------------------------

def tree(tshark, name, *args):
    """{(names of a node and of those above it): count}"""
    out, _ = tshark.run('-q', '-r', PCAPS / (name + '.pcap'), '-z', 'pcq,tree', *args)
    counts, path = {}, []
    for line in out.splitlines():
        match = re.match(r'( *)(.+?)  +(\d+)\b', line)
        if match:
            path = path[:len(match[1])] + [match[2]]
            counts[tuple(path)] = int(match[3])
    return counts


@pytest.mark.parametrize('name', SEALED)
def test_calls_without_a_key(tshark, name):
    opened, sealed = tree(tshark, name, *with_key(name)), tree(tshark, name)

    def requests(counts):
        return {path: n for path, n in counts.items() if path[0] == 'Requests by operation'}
    assert len(requests(opened)) > 3 and requests(sealed) == requests(opened)
    answers = tshark.fields(PCAPS / (name + '.pcap'), ['pcq.opnum'], '-Y', 'pcq && dcerpc.pkt_type == 2', *with_key(name))
    counts = [n for path, n in sealed.items() if path[0] == 'Sealed responses by operation' and len(path) == 2]
    assert sorted(counts) == sorted(Counter(opnum for opnum, in answers).values())


# --- Who logged on ---------------------------------------------------------------------------------------------------

LOGON_FIELDS = ['tcp.stream', 'ntlmssp.auth.domain', 'ntlmssp.auth.username', 'ntlmssp.auth.hostname', 'kerberos.SNameString']


def logons(tshark, path):
    """{TCP stream: account of its last logon}, which is the pipe's or port's, from Wireshark's own fields"""
    accounts = {}
    for stream, domain, user, host, _ in tshark.fields(path, LOGON_FIELDS, '-Y', 'ntlmssp.auth.username || kerberos.SNameString',
                                                             '--disable-protocol', 'pcq'):
        accounts[stream] = ('%s\\%s' % (domain, user) + (' (%s)' % host if host != 'NULL' else '') if user else
                            'Kerberos')
    return accounts


def accounts_told(tshark, path, folder, *args):
    """What pcq,queries and pcq,summary call those who sample."""
    out, _ = tshark.run('-q', '-r', path, '-z', 'pcq,queries', '-z', 'pcq,summary', '-z', 'pcq,summary,%s' % (folder / 'summary.json'), *args)
    rows = {row['Account'] for row in rows_of_table(out) if row['Account'] is not None}
    told = {m['account'] for m in json.loads((folder / 'summary.json').read_text('utf-8'))['monitors']}
    assert rows <= told     # rows are of those who have samples
    shown = [line for line in out.splitlines() if ', logon ' in line]      # where the line has room for it
    assert all(line.partition(', logon ')[2].partition('; sealed')[0] in told for line in shown)
    return told


@pytest.mark.parametrize('name', SEALED)
def test_the_account(tshark, tmp_path, name):
    """With a key the same."""
    truth = set(logons(tshark, PCAPS / (name + '.pcap')).values())
    assert truth and accounts_told(tshark, PCAPS / (name + '.pcap'), tmp_path) == truth
    assert accounts_told(tshark, PCAPS / (name + '.pcap'), tmp_path, *with_key(name)) == truth


@pytest.mark.parametrize('name, account', [('hkpd-nmap', 'LAB\\Administrator (nmap)'), ('plain/query-tcp', '')], ids=['of the session around', 'none'])
def test_no_logon_to_the_pipe(tshark, tmp_path, name, account):
    assert accounts_told(tshark, PCAPS / (name + '.pcap'), tmp_path) == {account}


def renamed(tmp_path, name, names):
    """The capture with another user in the logon of some frames; none at all for ''."""
    capture = Capture.of_file(PCAPS / (name + '.pcap'))
    old = 'Administrator'.encode('utf-16-le')
    for number, user in names.items():
        at, frame, *rest = capture.frames[number - 1]
        if user:
            assert frame.count(old) == 1
            frame = frame.replace(old, user.encode('utf-16-le'))
        else:
            place = frame.index(b'NTLMSSP\0\3\0\0\0')
            frame = frame[:place + 36] + bytes(4) + frame[place + 40:]
        capture.frames[number - 1] = (at, frame, *rest)
    capture.write(tmp_path / 'renamed.pcap')
    return tmp_path / 'renamed.pcap'


@pytest.mark.parametrize('names, account', [
    ({10: 'Adminisession'}, 'LAB\\Administrator (LABCLIENT)'),                # the pipe's own logon goes first
    ({20: 'Administratox'}, 'LAB\\Administratox (LABCLIENT)'),
    ({20: ''}, 'LAB\\NULL (LABCLIENT)'),                                      # anonymous: as Wireshark calls it
])
def test_other_accounts(tshark, tmp_path, names, account):
    path = renamed(tmp_path, 'big-answer', names)
    assert accounts_told(tshark, path, tmp_path) == {account}


def test_several_logons_of_one_session(tshark, tmp_path):
    """Nobody can tell which of them a call is of."""
    capture = Capture.of_file(renamed(tmp_path, 'hkpd-nmap', {}))
    other = Capture.of_file(renamed(tmp_path, 'hkpd-nmap', {13: 'Administratox'}))
    capture.frames.insert(13, other.frames[12])
    path = capture.write(tmp_path / 'two.pcap')
    again = ['-o', 'tcp.analyze_sequence_numbers:FALSE']  # else the second is a retransmission, which nobody reads
    assert accounts_told(tshark, path, tmp_path, *again) == {''}


# --- Whole sessions, open and sealed ---------------------------------------------------------------------------------

SECOND = 1000000
ONE = counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', [1])
SAME = ('Samples', 'Late', 'Slow', 'Median SRT (s)', 'Max SRT (s)', 'Max SRT frame', 'Bytes/sample', 'Client',
        'Size probes', 'Interval (s)', 'Jitter (s)', 'Longest gap (s)')


class Moody(Line):
    """takes: microseconds until an answer with data or without; fails: the next QueryCounterData."""

    takes, fails = 3000, False

    def call(self, opnum, request):
        if opnum != DATA or not self.fails:
            fault, stub, record = self.model.handle(opnum, bytes(request), 6, self.rpc.order, self.rpc.ndr64)
        else:
            fault, stub, record = 0, bytes(response(DATA, self.rpc.order, self.rpc.ndr64, status=0x10B)), {}
        self.request(opnum, request, [], record)
        self.scenario.capture.now += self.takes
        self.response(opnum, stub, [], record)
        return fault, stub


def server_of(*names, instances=('a', 'b')):
    """-> a scenario, and a server of its time with sets of one counter"""
    scenario = Scenario()
    return scenario, Server([multiple(name, ONE, instances=instances) for name in names], scenario=scenario, boot=0)


def sealed_line(scenario, model, **how):
    return tcp_line(scenario, model, mss=60000, **{'protocol': SealedRpc, **how})


def samples_of(tshark, path):
    """[(query, samples)] of pcq,queries"""
    return [(row['Query'], row['Samples']) for row in table(tshark, path, 'pcq,queries') if row['Samples'] is not None]


def sessions(seed, protocol, turns, **rpc):
    """Two clients that watch one server. turns: each opens a query or even a connection for each of its samples, or none."""
    dice, scenario = random.Random(seed), Scenario()
    kinds = [multiple('Set %d' % n, counter(1, 'PERF_COUNTER_RAWCOUNT', 'One', lambda at, k: at.number), instances=['a', 'b', 'c'][:n + 1])
             for n in range(2)]
    model = Server(kinds, scenario=scenario, boot=0)
    ports = iter(range(50001, 60000))

    def connect(n):
        line = tcp_line(scenario, model, client='192.0.2.%d' % (10 + n), client_port=next(ports), mss=60000, protocol=protocol, **rpc)
        return Moody(scenario, line.rpc, model)

    def opened(line, n):
        c = line.client()
        handle = c.query([ask(kinds[n], 1, '*')], info=False)
        return c, handle

    lines = [connect(n) for n in range(2)]
    for n, line in enumerate(lines):
        learn(line.client(), kinds[n])
    running = [None if turns else opened(line, n) for n, line in enumerate(lines)]
    probing = [dice.random() < .5 for _ in lines]
    due = [scenario.capture.now + SECOND // 3 * n for n in range(2)]
    for _ in range(40):
        n = due.index(min(due))
        scenario.capture.now = max(scenario.capture.now, due[n])
        if turns == 'connections':
            lines[n] = connect(n)
        line = lines[n]
        c, handle = opened(line, n) if turns else running[n]
        line.fails = dice.random() < .15
        if not line.fails and (probing[n] or dice.random() < .1):
            c.data(handle, 0)
            scenario.capture.now += 20000
        line.takes = SECOND * 8 // 10 if dice.random() < .1 and not line.fails else 3000 + dice.randrange(2000)
        c.data(handle, 1 << 16)
        line.takes, line.fails = 3000, False
        if turns:
            c.close(handle)
        due[n] = scenario.capture.now + dice.choice([SECOND] * 12 + [3 * SECOND]) + dice.randrange(3000)
    for c, handle in filter(None, running):
        c.close(handle)
    return scenario


def told_of(tshark, path):
    """-> rows of pcq,queries by client; what the summary says of each; the frames of late samples, and who is at fault"""
    rows = {row['Client']: row for row in table(tshark, path, 'pcq,queries') if 'not decoded' not in row['Query']}
    out, _ = tshark.run('-q', '-r', path, '-z', 'pcq,summary,json')
    said = {m['client']: [*[m[x] for x in ('samples', 'response', 'slowest_frame', 'size_probes')], m['interval'] and round(m['interval'], 5),
                          {f['kind']: (f['count'], f['since']['frame']) for f in m['findings'] if f['kind'].endswith('_late')}]
            for m in json.loads(out)['monitors'] if m['samples']}
    late = [[(number, [part for part in re.split(',(?=[A-Z])', message) if 'Late sample: ' in part or 'Slow response: ' in part]) for number, message in tshark.fields(
        path, ['frame.number', '_ws.expert.message'], '-Y', 'pcq.expert.late', *passes)] for passes in ((), ('-2',))]
    return rows, said, late


@pytest.mark.parametrize('seed, turns, rpc', [
    *[(seed, turns, {}) for seed in range(2) for turns in (None, 'queries', 'connections')],
    (0, None, dict(ndr64=True)), (0, None, dict(order='>')), (1, None, dict(max_frag=120))], ids=str)
def test_the_same_is_told(tshark, tmp_path, seed, turns, rpc):
    """Of a session in clear and of the same one sealed: samples, times, who is late, probes and failures, whatever is around the data."""
    (opened, *clear), (sealed, *dark) = (told_of(tshark, sessions(seed, kind, turns, **rpc).write(tmp_path / name))
                                         for kind, name in ((Rpc, 'open.pcap'), (SealedRpc, 'sealed.pcap')))
    assert clear == dark
    assert opened.keys() == sealed.keys() == clear[0].keys() and len(opened) == 2
    assert sum(int(row['No data']) for row in opened.values()) > 0
    for client, a in opened.items():
        b = sealed[client]
        assert {column: a[column] for column in SAME} == {column: b[column] for column in SAME}
        assert a['Interval (s)'] and a['Query'].startswith('query') and b['Query'].startswith('sealed')
        assert ('more' in a['Query'], 'more' in b['Query']) == (turns is not None,) * 2


def test_who_asks_something_else_is_another(tshark, tmp_path):
    """Connections of one client that take turns and ask for two sets of counters in turn: two monitors."""
    scenario, model = server_of('A', 'B')
    for n in range(10):
        c = sealed_line(scenario, model, client_port=50001 + n).client()
        run(c, [ask(model.sets[n % 2], 1, 'a' * (1 + n % 2 * 8))], 1, info=False)
        scenario.capture.now += SECOND
    path = scenario.write(tmp_path / 'a.pcap')
    assert samples_of(tshark, path) == [('sealed 1 and 4 more', '5'), ('sealed 2 and 4 more', '5')]
    assert all(2 < float(row['Interval (s)']) < 2.1 for row in table(tshark, path, 'pcq,queries') if row['Samples'])


def test_ports_that_are_used_again_are_another_connection(tshark, tmp_path, passes):
    """What they bound before is over: another interface's calls are no operations of ours."""
    scenario, model = server_of('A')
    ours = []
    for interface in None, ('12345778-1234-abcd-ef00-0123456789ac', 1), None:
        first = len(scenario.capture.frames) + 1
        line = sealed_line(scenario, model, bind=False, seq=1000000 * first)
        line.rpc.interface = interface or line.rpc.interface
        line.rpc.bind()
        run(line.client(), [ask(model.sets[0], 1, 'a')], 1, info=False, close=False)
        ours += [] if interface else range(first, len(scenario.capture.frames) + 1)
    rows = tshark.fields(scenario.write(tmp_path / 'a.pcap'), ['frame.number', 'pcq.sealed.operation'], '-Y', 'pcq.sealed.operation', *passes)
    assert len(rows) == 12 and {int(number) for number, _ in rows} <= set(ours)


def test_queries_of_one_connection(tshark, tmp_path):
    """One after the other they are told apart, though the first opening was lost; of two that are open at a time nobody knows whose a call is."""
    scenario, model = server_of('A', 'B', 'C')
    for n, s in enumerate(sets := model.sets):
        s.instances = multiple('', ONE, instances='abc'[:n + 1]).instances
    c = sealed_line(scenario, model).client()

    def sample(handle, times):
        for _ in range(times):
            scenario.capture.now += SECOND
            c.data(handle, 1 << 16)

    def opened(s, name):
        return c.query([ask(s, 1, name)], info=False)
    first = len(scenario.capture.frames)
    for s, name in zip(sets, ('*', 'another')):
        handle = opened(s, name)
        sample(handle, 4)
        c.close(handle)
    both = [opened(s, name) for s, name in zip(sets, ('*', 'another'))]
    for handle in both * 3:
        sample(handle, 1)
    c.close(both[0])
    sample(both[1], 2)
    c.close(both[1])
    sample(opened(sets[2], 'and another one'), 2)
    del scenario.capture.frames[first:first + 2]
    assert samples_of(tshark, scenario.write(tmp_path / 'a.pcap')) == [('sealed 1', '4'), ('sealed 2', '4'), ('sealed 3', '8'), ('sealed 4', '2')]


def test_what_the_summary_says_of_failures(tshark, tmp_path):
    """Answers without data that none with data follows for three intervals; what of them failed the seal hides."""
    scenario, model = server_of('A')
    line, failed = Moody(scenario, sealed_line(scenario, model).rpc, model), []
    c = line.client()
    handle = c.query([ask(model.sets[0], 1, 'a')], info=False)
    for n in range(13):
        scenario.capture.now += SECOND
        line.fails = n > 5
        c.data(handle, 1 << 16) if line.fails else c.data(handle)
        failed += [len(scenario.capture.frames)] * line.fails
    line.fails = False
    c.close(handle)
    path = scenario.write(tmp_path / 'a.pcap')
    lines = tshark.run('-q', '-r', path, '-z', 'pcq,summary')[0].splitlines()
    assert '192.0.2.20 answers 192.0.2.10 without data' in lines[0] and 'frame %d' % failed[0] in lines[0]
    assert 'frame.number in {%s}' % ', '.join(map(str, failed)) in lines[1]
    monitor, = json.loads(tshark.run('-q', '-r', path, '-z', 'pcq,summary,json')[0])['monitors']
    assert (monitor['samples'], monitor['size_probes'], monitor['healthy']) == (6, 6, False)
    found, = [found for found in monitor['findings'] if found['kind'] == 'no_data']
    assert (found['count'], found['since']['frame']) == (7, failed[0])


@pytest.mark.parametrize('order', ['<', '>'])
def test_several_calls_of_one_frame(tshark, tmp_path, order):
    """Each has its item, its place, its operation and its size; Info names both."""
    scenario, model = server_of('A')
    line = sealed_line(scenario, model, order=order)
    rpc = line.rpc
    handle = line.client().query([ask(model.sets[0], 1, 'instance %d' % n) for n in range(8)], info=False)     # the first answer has more than 256 bytes
    asked = [bytes(request(opnum, order, hQuery=handle, dwInSize=4096)) for opnum in (INFO, DATA)]
    answered = [model.handle(opnum, stub, 6, order)[1] for opnum, stub in zip((INFO, DATA), asked)]
    first = rpc.call_id
    frames = [rpc.transport.to_server([p for n, stub in enumerate(asked) for p in rpc.request_pdus(
        (INFO, DATA)[n], stub, call_id=first + n)]), rpc.transport.to_client([p for n, stub in enumerate(
            answered) for p in rpc.response_pdus(stub, call_id=first + n)])]
    rows = tshark.fields(scenario.write(tmp_path / 'a.pcap'), ['frame.number', '_ws.col.Info', 'pcq.sealed.operation', 'pcq.sealed.size'],
                         '-Y', 'frame.number in {%d, %d}' % tuple(frames))
    for (number, info, operations, sizes), frame, stubs, kind in zip(rows, frames, (asked, answered), ('request', 'response')):
        assert (int(number), operations) == (frame, '%d,%d' % (INFO, DATA))
        assert sizes == ','.join(str(len(stub)) for stub in stubs)
        for name, stub in zip(('QueryCounterInfo', 'QueryCounterData'), stubs):
            assert '%s %s, %d bytes, sealed with NTLM' % (name, kind, len(stub)) in info
    out, _ = tshark.run('-r', tmp_path / 'a.pcap', '-Y', 'frame.number == %d' % frames[1], '-T', 'pdml')
    items = [item for item in ElementTree.fromstring(out).iter('proto') if item.find("field[@name='pcq.sealed.size']") is not None]
    assert [[item.find("field[@name='pcq.sealed.%s']" % name).get('show') for name in ('operation', 'size')] for item in items] == [
        [str(opnum), str(len(stub))] for opnum, stub in zip((INFO, DATA), answered)]
    pdus = rpc.response_pdus(answered[0], first), rpc.response_pdus(answered[1], first + 1)
    assert [int(item.get('size')) for item in items] == [len(pdu) for pdu, in pdus] and len(pdus[0][0]) > 256


def test_calls_of_one_frame_that_are_alike(tshark, tmp_path, passes):
    """Two of one call id, two of winreg, one of another lock behind one that the key opens: each is shown as what it is."""
    scenario, model = server_of('A')
    rpc, key = (sealed_line(scenario, model, client_port=50001 + n, bind=False).rpc for n in range(2))
    key.interface = WINREG
    for line, opnums in ((rpc, (INFO, DATA)), (key, (3, 3))):
        line.bind()
        line.transport.to_server([pdu for opnum in opnums for pdu in line.request_pdus(opnum, bytes(24))])
    rows = tshark.fields(scenario.write(tmp_path / 'a.pcap'), ['_ws.col.Protocol', 'pcq.sealed.operation'], '-Y', 'pcq.sealed.size', *passes)
    assert rows == [['PCQ', '5,6'], ['WINREG', '3,3']]
    capture, number = Capture.of_file(PCAPS / 'tcp-ntlm.pcap'), frames_with('tcp-ntlm', DATA, 'request')[-1]
    rpc.auth_type, rpc.token = 16, lambda number: bytes(range(16))      # Kerberos
    when, packet = capture.frames[number - 1]
    packet += rpc.request_pdus(INFO, bytes(24))[0]
    capture.frames[number - 1:] = [(when, packet[:16] + struct.pack('>H', len(packet) - 14) + packet[18:])]
    rows = tshark.fields(capture.write(tmp_path / 'b.pcap'), ['pcq.query.number', 'pcq.sealed.operation'], '-Y',
                         'frame.number == %d' % number, *with_key('tcp-ntlm'), *passes)
    assert rows == [['1', '5']]


@pytest.mark.parametrize('user, handles', [('Administrator', ['1 and 1 more']), ('Administratox', ['1', '2'])])
@pytest.mark.parametrize('is_open', [True, False], ids=['open', 'sealed'])
def test_another_account_is_another_monitor(tshark, tmp_path, user, handles, is_open):
    """The same client asks for the same, a minute later: one monitor only if it logged on as the same account."""
    path = PCAPS / 'tcp-bigendian.pcap'
    capture = Capture.of_file(path)
    logon, = [n for n, frame in enumerate(capture.frames) if b'NTLMSSP\0\3\0\0\0' in frame[1]]
    later = Capture.of_file(renamed(tmp_path, 'tcp-bigendian', {logon + 1: user}))
    port = capture.frames[0][1][34:36]
    for when, frame in later.frames:
        frame = frame[:34] + frame[34:38].replace(port, b'\xea\x60') + frame[38:]
        capture.frames.append((when + 60 * SECOND, frame))
    rows = table(tshark, capture.write(tmp_path / 'two.pcap'), 'pcq,queries', *with_key('tcp-bigendian') * is_open)
    names = [row['Query'] for row in rows if row['Account'] is not None]
    if is_open and user == 'Administratox':     # who is called otherwise has another key
        names = [name.replace('sealed 1', 'query 2') for name in names]
    assert names == ['%s %s' % ('query' if is_open else 'sealed', handle) for handle in handles]
    assert {row['Account'] for row in rows} - {None} == {'LAB\\Administrator (LABCLIENT)', 'LAB\\%s (LABCLIENT)' % user}


class BehindWinreg(SealedRpc):
    offered_before = [(WINREG, [NDR, NDR64])]

    def __init__(self, *args, **kw):
        super().__init__(*args, context=1, **kw)


def test_a_connection_for_several_interfaces(tshark, tmp_path):
    """Which of a bind's contexts is PerflibV2's stands behind others; a request of theirs is none of its calls, nor is one whose
    context has too high a number, or was given to another, nor what else has a sealed trailer."""
    scenario, model = server_of('A')
    line = sealed_line(scenario, model, protocol=BehindWinreg)
    handle = run(line.client(), [ask(model.sets[0], 1, 'a')], 1, info=False, close=False)
    for context in (0, 64, 65):
        line.rpc.context = context
        line.rpc.request(DATA, bytes(request(DATA, hQuery=handle, dwInSize=4096)))
        line.rpc.response(bytes(100))
    trailer = struct.pack('BBBBI', 10, 6, 0, 0, 0) + bytes(16)
    line.rpc.transport.to_client([line.rpc.pdu(15, struct.pack('<HHI', 4280, 4280, 1) + bytes(32) + trailer, line.rpc.call_id,
                                                    auth=16)])   # alter_context_resp
    line.rpc.context = 1
    line.rpc.request(DATA, bytes(request(DATA, hQuery=handle, dwInSize=4096)))
    answer = line.rpc.response_pdus(bytes(100))[0]
    line.rpc.transport.to_client([answer + b'\4' + answer[1:]])     # of another version: what is behind a PDU may be anything
    line.rpc.interface = WINREG
    bind(line.rpc, ACCEPTED, ACCEPTED, alter=True)      # contexts 0 and 1 are winreg's from here on
    line.rpc.request(DATA, bytes(100))
    stranger = sealed_line(scenario, model, client_port=50002, bind=False)
    stranger.rpc.interface = 'f5cc59b4-4264-101a-8c59-08002b2f8426', 1
    stranger.rpc.bind()
    stranger.rpc.request(6, bytes(100))
    stranger.rpc.response(bytes(100))
    rows = tshark.fields(scenario.write(tmp_path / 'a.pcap'), ['pcq.sealed.operation'], '-Y', 'pcq.sealed.size')
    assert rows == [[opnum] for opnum in '3766' for _ in range(2)]


# --- noise: what the right key cannot open, since the stream of NTLM's key is off behind a packet that is lost ---------------

def frames_with(name, opnum, direction):
    """Those of the capture's messages"""
    messages = json.loads((PCAPS / (name + '.expect.json')).read_text())['messages']
    return [m['frame'] for m in messages if m['opnum'] == opnum and m['direction'] == direction]


@pytest.mark.parametrize('name', ['tcp-ntlm', 'smb3-ntlm'])
def test_noise_is_followed_as_what_no_key_opens(tshark, tmp_path, name, passes):
    """The first call of both directions is lost: sizes and times tell of all queries what they tell without the key."""
    lost = {frames_with(name, 1, direction)[0] for direction in ('request', 'response')}
    path = without(PCAPS / (name + '.pcap'), tmp_path / 'lost.pcap', lost)
    with_it, without_it = (table(tshark, path, 'pcq,queries', *key, *passes)[:-1] for key in (with_key(name), ()))
    row, = with_it
    assert row['Samples'] == str(len(frames_with(name, DATA, 'response')) - 1)      # a size probe
    assert with_it == without_it


@pytest.mark.parametrize('number', [1, 4, 7])
@pytest.mark.parametrize('ways', [1, 2])
def test_who_ends_in_noise_has_not_stopped(tshark, tmp_path, passes, number, ways):
    """Answers, or requests too, are noise from one on: the calls were answered, and the client goes on. The first is a size
    probe. Requests that are read say whose their answers are; others are a query of their own."""
    answers = frames_with('smb3-ntlm', DATA, 'response')
    lost = {answers[number] - 1, answers[number], *frames_with('smb3-ntlm', DATA, 'request')[number:number + ways - 1]}
    behind = len(answers) - number - 1
    path = without(PCAPS / 'smb3-ntlm.pcap', tmp_path / 'lost.pcap', lost)
    capture = Capture.of_file(path)
    when, frame = capture.frames[-1]
    capture.frames.append((when + 100 * SECOND, frame))     # it goes on
    capture.write(path)
    out, _ = tshark.run('-q', '-r', path, *with_key('smb3-ntlm'), '-z', 'pcq,summary', '-z', 'pcq,counters', *passes)
    assert re.search(r'not decoded: (\d+); Its decryption failed', out).group(1) == str(ways * (behind + 1)), out
    for false in ('does not answer', 'stopped asking', 'no samples'):
        assert false not in out
    samples = (number - 1, behind) if ways == 2 else (number - 1 + behind,)
    assert re.findall(r': (\d+) samples?\b', out) == [str(n) for n in samples if n > 0], out
