# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed calls without the right key: the packet says which key opens them, where it goes, and whether one was tried."""

import json
import re

import pytest

from conftest import TOP

PCAPS = TOP / 'test' / 'pcaps'
KEYS = {name: [k.format(pcaps=PCAPS) for k in keys] for name, keys in json.loads((PCAPS / 'keys.json').read_text()).items()}
WRONG_PASSWORD = ['-o', 'ntlmssp.nt_password:wrong']
WRONG_KEYTAB = ['-o', 'kerberos.decrypt:TRUE', '-o', 'kerberos.file:%s' % (PCAPS / 'smb3-kerberos.keytab')]

NTLM = ['smb3-ntlm', 'tcp-ntlm', 'tcp-bigendian', 'tcp-mixed-endian', 'two-clients', 'handle-life', 'smb2-impacket']
KERBEROS = ['tcp-kerberos', 'smb3-kerberos']


def told(tshark, name, *args):
    """[(frame, findings, Info, message)] of the calls of PerflibV2"""
    rows = tshark.fields(PCAPS / (name + '.pcap'), ['frame.number', '_ws.expert', '_ws.col.Info', '_ws.expert.message',
                                                    'pcq.expert.sealed', 'pcq.expert.key_does_not_fit'], '-Y', 'pcq', *args)
    return [(int(n), 'sealed' * bool(sealed) + 'does not fit' * bool(unfit), info, message)
            for n, _, info, message, sealed, unfit in rows]


@pytest.mark.parametrize('name', NTLM + KERBEROS)
def test_no_key(tshark, name):
    """Every sealed call names what opens it, and Info says so."""
    calls = told(tshark, name)
    assert len(calls) > 10
    for frame, finding, info, message in calls:
        word = 'Kerberos' if name in KERBEROS else 'NTLM'
        assert finding == 'sealed' and info.endswith(', sealed with %s, no key' % word), (frame, finding, info)
        for part in (('keytab', 'kerberos.file', 'KRB5', 'kerberos.SNameString') if name in KERBEROS else
                     ('password', 'ntlmssp.nt_password', 'NTLMSSP')):
            assert part in message


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


@pytest.mark.parametrize('name', ['tcp-ntlm', 'tcp-kerberos'])
def test_the_remedy_is_seen_at_once(tshark, name):
    """Within the 80 characters that a window has room for, with what Wireshark writes before it."""
    out, _ = tshark.run('-r', PCAPS / (name + '.pcap'), '-Y', 'pcq.expert.sealed', '-T', 'pdml')
    labels = re.findall(r'"_ws.expert" showname="(.*?)"', out)
    place = 'KRB5 preferences, keytab file' if name == 'tcp-kerberos' else 'NTLMSSP preferences, NT Password'
    assert labels and all(place in ('[' + label)[:80] for label in labels)


@pytest.mark.parametrize('name', sorted(KEYS))
def test_the_right_key_is_silent(tshark, name):
    options = [x for k in KEYS[name] for x in ('-o', k)]
    out, _ = tshark.run('-r', PCAPS / name, '-2', '-Y', 'pcq.expert.sealed || pcq.expert.key_does_not_fit', *options)
    assert out == ''


@pytest.mark.parametrize('name', ['query-tcp', 'query-smb', 'pipelined', 'fragments-tcp', 'query-tcp6-trailer'])
def test_what_is_not_sealed_is_silent(tshark, name):
    out, _ = tshark.run('-r', PCAPS / 'plain' / (name + '.pcap'), '-Y', 'pcq.expert.sealed || pcq.expert.key_does_not_fit')
    assert out == ''


def test_the_key_of_hkey_performance_data(tshark):
    """Of sealed winreg only what opens HKEY_PERFORMANCE_DATA concerns us."""
    rows = tshark.fields(PCAPS / 'hkpd-sealed.pcap', ['_ws.col.Info'], '-Y', 'pcq.expert.sealed')
    assert rows and all(info.startswith('OpenHKP') and info.endswith('request, sealed with NTLM, no key') for info, in rows)
    all_sealed = tshark.fields(PCAPS / 'hkpd-sealed.pcap', ['_ws.col.Info'], '-Y', 'winreg')
    assert len(all_sealed) > len(rows) and sum('sealed' in info for info, in all_sealed) == len(rows)
    for name in ('hkpd-signed', 'hkpd-plain', 'hkpd-net'):
        out, _ = tshark.run('-r', PCAPS / (name + '.pcap'), '-Y', 'pcq.expert.sealed')
        assert out == ''


@pytest.mark.parametrize('name', ['smb3-encrypted', 'smb3-ntlm'])
def test_where_an_encrypted_message_stands(tshark, name):
    """A window shows the tree to SMB2: below that nobody looks who is not told."""
    options = [x for k in KEYS[name + '.pcap'] for x in ('-o', k)]
    rows = tshark.fields(PCAPS / (name + '.pcap'), ['pcq.opnum', 'pcq.inside'], '-Y', 'pcq', *options)
    assert len(rows) > 40
    assert {place for _, place in rows} == {'SMB2, Encrypted SMB3 data' if name == 'smb3-encrypted' else ''}


def test_the_protocols_of_a_frame_stay(tshark):
    """Looking after DCE/RPC leaves no trace: no layer, no message, and pcq switched off shows stock Wireshark."""
    rows = tshark.fields(PCAPS / 'tcp-ntlm.pcap', ['frame.protocols'], '-Y', 'pcq')
    assert {p for p, in rows} == {'eth:ethertype:ip:tcp:dcerpc'}
    done = tshark.start('-r', PCAPS / 'tcp-ntlm.pcap', '-q')
    assert done.stderr == b''
    out, _ = tshark.run('-r', PCAPS / 'tcp-ntlm.pcap', '--disable-protocol', 'pcq', '-Y', 'dcerpc.opnum == 6', '-V')
    assert 'Encrypted stub data' in out and 'sealed' not in out
