# SPDX-License-Identifier: GPL-2.0-or-later
"""The profile "Performance Counters": every file of it is loaded without a word, every filter finds what it is for."""

import csv
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import TOP, TSHARK

NAME = 'Performance Counters'
FOLDER = TOP / 'plugin' / 'profile' / NAME
PCAPS = TOP / 'test' / 'pcaps'
PASSWORD = ['-o', 'ntlmssp.nt_password:Lab-Passw0rd']
HKPD = PCAPS / 'hkpd-plain.pcap'
NTLM = PCAPS / 'smb3-ntlm.pcap'
PLAIN = PCAPS / 'plain'


def table(name):
    """A file of quoted cells, as Wireshark's tables are saved."""
    lines = [x for x in (FOLDER / name).read_text().splitlines() if x and not x.startswith('#')]
    rows = list(csv.reader(lines))
    return [[c.replace('\\x22', '"') for c in row] for row in rows]


def rules():
    """{name: filter} of the colouring rules, the first first."""
    lines = [x for x in (FOLDER / 'colorfilters').read_text().splitlines() if not x.startswith('#')]
    found = [re.fullmatch(r'@([^@]+)@([^@]+)@\[\d+,\d+,\d+\]\[\d+,\d+,\d+\]', x) for x in lines]
    assert all(found), lines
    return {m[1].removeprefix('Performance counters').removeprefix(': ') or 'other': m[2] for m in found}


@pytest.fixture(scope='module')
def profile(tshark, tmp_path_factory):
    """profile(capture, args) -> standard output of tshark with the profile, which says nothing else"""
    home = tmp_path_factory.mktemp('home')
    shutil.copytree(FOLDER, home / '.config' / 'wireshark' / 'profiles' / NAME)
    env = dict(tshark.env, HOME=str(home))

    def run(capture, *args):
        done = subprocess.run([TSHARK, '-C', NAME, '-r', capture, *args], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
        assert done.returncode == 0 and done.stderr == b'', done.stderr
        return done.stdout.decode()
    return run


def test_columns(profile):
    """Query, path, result and status are columns of their own."""
    out = profile(NTLM, *PASSWORD, '-T', 'psml')
    titles = re.findall('<section>(.*?)</section>', out.split('</structure>')[0])
    assert titles == ['No.', 'Time', 'Source', 'Destination', 'Protocol', 'Query', 'Path', 'Result', 'Status', 'Info']
    rows = [dict(zip(titles, re.findall('<section>(.*?)</section>', p, re.S))) for p in out.split('<packet>')[1:]]
    samples = [r for r in rows if r['Path'].startswith('\\\\LABDC\\Processor Information')]
    assert len(samples) == 10 and all(r['Status'] == 'ERROR_SUCCESS' for r in samples)
    assert all(re.fullmatch(r'[\d.]+ %', r['Result']) for r in samples[1:])


@pytest.mark.parametrize('capture, args, prefix', [(NTLM, PASSWORD, 'pcq'), (HKPD, [], 'hkpd')])
def test_path_and_result_are_of_one_value(profile, capture, args, prefix):
    """Those of the first value, also where that has no result."""
    columns = 'gui.column.format:"No.","%%m","Path","%%Cus:%s:1:R","Result","%%Cus:%s:1:R"' % tuple(
        re.search('"%s", "%%Cus:(.*?):1:R"' % c, (FOLDER / 'preferences').read_text())[1] for c in ('Path', 'Result'))
    listed = profile(capture, *args, '-o', columns, '-Y', prefix + '.path', '-T', 'psml')
    rows = [re.findall('<section>(.*?)</section>', p, re.S) for p in listed.split('<packet>')[1:]]
    packets = ElementTree.fromstring(profile(capture, *args, '-Y', prefix + '.path', '-T', 'pdml')).findall('packet')
    assert len(rows) == len(packets) > 1
    seen = set()
    for (number, path, result), packet in zip(rows, packets):
        value = next(f for f in packet.iter('field') if f.get('name') == prefix + '.counter_data')
        first = {f.get('name').removeprefix(prefix + '.'): f for f in value.iter('field')}
        assert path == first['path'].get('show'), number
        if 'cooked' in first:
            assert value.get('showname') == 'Counter data: %s = %s' % (path, result), number
        else:
            assert first['cooked.none'].get('showname').startswith('No calculated value: %s (' % result), number
        seen.add('cooked' in first)
    assert len(seen) == 2 or prefix == 'pcq'


@pytest.mark.parametrize('capture, args, expected', [
    (NTLM, PASSWORD, {'refusal', 'values', 'size probe', 'other'}),
    (NTLM, [], {'sealed, no key'}),
    (NTLM, ['-o', 'ntlmssp.nt_password:wrong'], {'sealed, a key was given that does not fit'}),
    (PCAPS / 'tcp-kerberos.pcap', [], {'sealed, no key'}),
    (PLAIN / 'query-tcp.pcap', [], {'refusal', 'values', 'size probe', 'other'}),
    (PLAIN / 'access-denied.pcap', [], {'failure', 'other'}),
    (PLAIN / 'bad-29-block-size.pcap', [], {'damage'}),
    (HKPD, [], {'values', 'size probe', 'other'})])
def test_colours(profile, capture, args, expected):
    """Each packet of ours has a rule of ours, and each rule fits where it should."""
    out = profile(capture, *args, '--color', '-Y', 'pcq || hkpd', '-T', 'fields', '-e', 'frame.coloring_rule.name')
    seen = {x.removeprefix('Performance counters').removeprefix(': ') or 'other' for x in out.splitlines()}
    assert expected <= seen and seen <= set(rules()), (capture, seen)


def test_no_rule_touches_other_packets(profile):
    out = profile(NTLM, *PASSWORD, '--color', '-Y', '!pcq', '-T', 'fields', '-e', 'frame.coloring_rule.name')
    assert set(out.splitlines()) <= {''}


BUTTONS = {
    'Counters': [(NTLM, PASSWORD, 116), (HKPD, [], None)],
    'Values': [(NTLM, PASSWORD, 10), (HKPD, [], None)],
    'Refused': [(NTLM, PASSWORD, 11)],
    'Failed': [(PLAIN / 'access-denied.pcap', [], None), (PLAIN / 'refusals.pcap', [], None)],
    'Damaged': [(PLAIN / 'bad-29-block-size.pcap', [], None)],
    'Sealed': [(NTLM, [], 116), (NTLM, PASSWORD, 0)],
}


def test_buttons(profile):
    """Each finds packets in a capture that has them, and as many as there are."""
    rows = table('dfilter_buttons')
    assert [r[1] for r in rows] == list(BUTTONS)
    for enabled, label, expression, comment in rows:
        assert enabled == 'TRUE' and comment
        for capture, args, count in BUTTONS[label]:
            found = len(profile(capture, *args, '-Y', expression, '-T', 'fields', '-e', 'frame.number').splitlines())
            assert found == count if count is not None else found > 0, (label, capture, found)


def test_io_graphs(profile, tshark):
    """Their filters and fields exist, and a graph of values has something to draw."""
    rows = table('io_graphs')
    listed = subprocess.run([TSHARK, '-G', 'fields'], env=tshark.env, stdout=subprocess.PIPE).stdout.decode()
    known = {line.split('\t')[2] for line in listed.splitlines() if line.startswith('F\t')}
    assert rows and any(field for *_, field, _, _ in rows)
    for enabled, name, expression, colour, style, unit, field, average, factor in rows:
        assert enabled in ('Enabled', 'Disabled') and name and re.fullmatch('#[0-9A-F]{6}', colour)
        assert style in ('Line', 'Impulse', 'Bar', 'Stacked Bar', 'Dot', 'Square', 'Diamond')
        assert (average, factor) == ('None', '1')
        assert unit == 'Packets' and not field or re.fullmatch(r'(SUM|MAX|MIN|AVG)\(Y Field\)', unit) and field in known, name
        if expression:
            assert profile(NTLM, *PASSWORD, '-Y', expression), name
