# SPDX-License-Identifier: GPL-2.0-or-later
"""DCE/RPC's own answer to a call that the server did not even begin: a fault, which Wireshark hands to no operation."""

import contextlib
import json
import struct

import pytest

from conftest import TOP
from gen.client import Fault
from gen.hkpd_scenario import Talk
from gen.hkpd_stubs import OPEN_DATA, QUERY_VALUE, open_root, query
from gen.pcap import Capture
from gen.scenario import Scenario, smb_line, tcp_line
from gen.scripted import ALL, Server, ask, counter, learn, run, single, capture_talk
from gen.stubs import CLOSE, DATA, OPEN, VALIDATE
from series import table

DENIED, NO_HANDLE, UNKNOWN = 5, 0x1c00001a, 0x1c010003
PCAPS = TOP / 'test' / 'pcaps'
COLUMNS = ['_ws.col.Protocol', '_ws.col.Info', 'pcq.expert.call_failed', '_ws.expert.message']


def faulty(opnum, code, line=tcp_line, calls=ALL):
    s = single('Small', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Things', lambda at, k: at.number))

    def asks_until_fault(client):
        with contextlib.suppress(Fault):
            learn(client, s)
            run(client, [ask(s, 1)], 3)
    return capture_talk(Server([s], faults={opnum: (code, calls)}), asks_until_fault, line=line)


@pytest.mark.parametrize('line', [tcp_line, smb_line])
@pytest.mark.parametrize('opnum, name, code, words', [
    (OPEN, 'OpenQueryHandle', DENIED, 'nca_s_fault_access_denied'),
    (VALIDATE, 'ValidateCounters', DENIED, 'nca_s_fault_access_denied'),
    (CLOSE, 'CloseQueryHandle', NO_HANDLE, 'nca_s_fault_context_mismatch'),
    (DATA, 'QueryCounterData', UNKNOWN, 'nca_unk_if'),
    (DATA, 'QueryCounterData', 1726, 'ERROR_RPC_S_CALL_FAILED')])
def test_a_fault_is_a_failed_call(tshark, tmp_path, opnum, name, code, words, line, passes):
    capture = faulty(opnum, code, line).write(tmp_path / 'a.pcap')
    row, = tshark.fields(capture, COLUMNS, '-Y', 'dcerpc.pkt_type == 3', *passes)
    assert row[:2] == ['PCQ', '%s fault: %s' % (name, words)]
    assert row[2] and row[3].endswith('%s failed: fault %s (0x%08x)' % (name, words, code))
    assert ', %s, fault: %s\n' % (name, words) in tshark.run('-r', capture, '-O', 'pcq', '-Y', 'pcq && dcerpc.pkt_type == 3', *passes)[0]


def test_it_stands_in_the_statistics(tshark, tmp_path):
    capture = faulty(DATA, NO_HANDLE, calls=[2]).write(tmp_path / 'a.pcap')
    frame, = [int(n) for n, in tshark.fields(capture, ['frame.number'], '-Y', 'dcerpc.pkt_type == 3')]
    row, = [r for r in table(tshark, capture, 'pcq,refusals') if r['Path'] == 'QueryCounterData']
    assert (row['Error'], row['Count'], row['First frame'], row['Query']) == (
        'nca_s_fault_context_mismatch', '1', str(frame), 'query 1')
    assert row['Description'].startswith('the server does not know this handle')
    text, _ = tshark.run('-q', '-r', capture, '-z', 'pcq,summary')
    assert 'QueryCounterData of 192.0.2.10 with nca_s_fault_context_mismatch' in text.splitlines()[0]
    assert 'frame.number in {%d}' % frame in text and 'the server does not know this handle' in text
    out = tmp_path / 's.json'
    tshark.run('-q', '-r', capture, '-z', 'pcq,summary,%s' % out)
    assert not json.loads(out.read_text('utf-8'))['healthy']


def test_the_registry_too(tshark, tmp_path, passes):
    """Whoever has no rights on the pipe's interface gets it for the first call; of other keys it says nothing."""
    scenario = Scenario()
    talk = Talk(scenario)
    for opnum, asked in (2, open_root()), (QUERY_VALUE, query(talk.new_handle(), '2')), (OPEN_DATA, open_root()):
        talk.line.request(opnum, asked)
        talk.rpc.fault(DENIED)
    capture = scenario.write(tmp_path / 'a.pcap')
    rows = tshark.fields(capture, ['_ws.col.Info', 'pcq.expert.call_failed'], '-Y', 'dcerpc.pkt_type == 3', *passes)
    assert not rows[0][1] and not rows[1][1] and rows[2][0] == 'OpenHKPD fault: nca_s_fault_access_denied' and rows[2][1]
    rpc, fault = talk.rpc, struct.pack('<IHBxI4x', 32, talk.rpc.context, 0, DENIED)
    rpc.transport.to_server([pdu for n in (8, 9) for pdu in rpc.request_pdus(OPEN_DATA, bytes(open_root()), call_id=n)])
    rpc.transport.to_client([rpc.pdu(3, fault, n) for n in (8, 9)])
    both = tshark.fields(scenario.write(tmp_path / 'b.pcap'), ['_ws.col.Info'], '-Y', 'dcerpc.pkt_type == 3', *passes)[-1]
    assert both == ['OpenHKPD fault: nca_s_fault_access_denied, OpenHKPD fault: nca_s_fault_access_denied']
    row, note = table(tshark, capture, 'pcq,refusals')
    assert note['Path'].startswith('no response with counter data') and (row['Path'], row['Error'], row['Count']) == ('OpenHKPD', 'nca_s_fault_access_denied', '1')


@pytest.mark.parametrize('key', [(), ('-o', 'ntlmssp.nt_password:Lab-Passw0rd')], ids=['no-key', 'key'])
def test_of_a_sealed_call(tshark, tmp_path, key, passes):
    """A fault is never sealed. A short answer of a real capture becomes one."""
    path = PCAPS / 'tcp-ntlm.pcap'
    frame, call_id = [(int(n), int(i)) for n, i, flags in tshark.fields(
        path, ['frame.number', 'dcerpc.cn_call_id', 'dcerpc.cn_flags'],
        '-Y', 'dcerpc.pkt_type == 2 && dcerpc.opnum == 6 && dcerpc.cn_frag_len < 500') if flags == '0x03'][-1]
    capture = Capture.of_file(path)
    when, packet = capture.frames[frame - 1]
    old = bytearray(packet)
    tcp = 14 + 4 * (old[14] & 15)
    pdu = tcp + 4 * (old[tcp + 12] >> 4)
    size, = struct.unpack_from('<H', old, pdu + 8)
    fault = struct.pack('<BBBBIHHIIHBxI4x', 5, 0, 3, 3, 0x10, size, 0, call_id, 32, 0, 0, DENIED)
    old[pdu:pdu + len(fault)] = fault
    capture.frames[frame - 1] = when, bytes(old)
    row, = tshark.fields(capture.write(tmp_path / 'a.pcap'), COLUMNS, '-Y', 'frame.number == %d' % frame, *passes, *key)
    assert row[:2] == ['PCQ', 'QueryCounterData fault: nca_s_fault_access_denied'] and row[2]
    assert [r['Path'] for r in table(tshark, tmp_path / 'a.pcap', 'pcq,refusals', *key)].count('QueryCounterData') == 1


def test_objects_by_their_names(tshark):
    """A question by title indexes."""
    info = tshark.info(PCAPS / 'hkpd-plain.pcap', '-Y', 'hkpd.value_name == "2 4 238"')
    assert info and all('System, Memory, Processor' in text for text in info.values())
