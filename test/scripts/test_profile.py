# SPDX-License-Identifier: GPL-2.0-or-later
"""The profile "Performance Counters": every file of it is loaded without a word, every filter finds what it is for."""

import csv
import re
import shutil
import subprocess

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
    return [[c.replace('\\x22', '"').replace('\\x5c', '\\') for c in row] for row in rows]


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
        if 'io,stat' in ' '.join(map(str, args)):    # adds to memory that Wireshark 4.0 has not set (test_watch.py)
            done = subprocess.run([TSHARK, '-C', NAME, '-r', capture, *args], capture_output=True,
                                  env=dict(env, MALLOC_PERTURB_='255', GLIBC_TUNABLES='glibc.malloc.tcache_count=0'))
        else:
            done = tshark.start('-C', NAME, '-r', capture, *args, env=env)
        assert done.returncode == 0 and done.stderr == b'', done.stderr
        return done.stdout.decode()
    return run


def columns():
    return re.findall(r'"([^"]+)", "(%[^"]+)"', (FOLDER / 'preferences').read_text())


@pytest.mark.parametrize('capture, args, ours', [(NTLM, PASSWORD, 'pcq'), (HKPD, [], 'hkpd'), (PLAIN / 'query-tcp6-trailer.pcap', [], 'pcq')])
def test_columns(profile, capture, args, ours):
    """Each holds something in every row; the value, or the error, is in Info."""
    out = profile(capture, *args, '-Y', ours, '-T', 'psml')
    titles = re.findall('<section>(.*?)</section>', out.split('</structure>')[0])
    assert titles == [title for title, _ in columns()]
    cells = [re.findall('<section>(.*?)</section>', p, re.S) for p in out.split('<packet>')[1:]]
    assert cells and all(len(c) == len(titles) and all(c) for c in cells)
    assert any(re.search(r': (\w+|\\[^=]+ =) [\d.,]+ (%|/sec|sec)', c[-1]) for c in cells)


def test_widths():
    """At 1280 pixels: addresses like these are whole, and what is left to Info shows a value with its path."""
    width = {code: int(n) for code, n in re.findall(r'^\t(%\w), (\d+)', (FOLDER / 'recent').read_text(), re.M)}
    assert list(width) == [code for _, code in columns()]
    char, margin, scroll_bar_and_map = 8, 8, 52     # of Wireshark's own font on Debian, the widest of those seen
    for code in '%s', '%d':
        assert width[code] >= char * max(len('192.168.100.101'), len('2001:db8:0:1::101')) + margin
    left = 1280 - scroll_bar_and_map - sum(w for code, w in width.items() if code != '%i')
    info = r'QueryCounterData response, query 1: \Processor Information(0,0)\% Processor Time = 8.52 %'
    assert left >= char * len(info) + margin


@pytest.mark.parametrize('capture, args, expected', [
    (NTLM, PASSWORD, {'refusal', 'size probe, as usual', 'other'}),
    (NTLM, [], {'sealed, no key'}),
    (NTLM, ['-o', 'ntlmssp.nt_password:wrong'], {'sealed, a key was given that does not fit'}),
    (PCAPS / 'tcp-kerberos.pcap', [], {'sealed, no key'}),
    (PLAIN / 'query-tcp.pcap', [], {'refusal', 'size probe, as usual', 'other'}),
    (PCAPS / 'handle-life.pcap', PASSWORD, {'values'}),
    (PLAIN / 'access-denied.pcap', [], {'failure', 'other'}),
    (PLAIN / 'bad-29-block-size.pcap', [], {'damage'}),
    (HKPD, [], {'values', 'size probe, as usual', 'other'})])
def test_colours(profile, capture, args, expected):
    """Each packet of ours has a rule of ours, and each rule fits where it should."""
    out = profile(capture, *args, '--color', '-Y', 'pcq || hkpd', '-T', 'fields', '-e', 'frame.coloring_rule.name')
    seen = {x.removeprefix('Performance counters').removeprefix(': ') or 'other' for x in out.splitlines()}
    assert expected <= seen and seen <= set(rules()), (capture, seen)


def test_what_was_refused_is_coloured(profile):
    """The verdict on the counters, and the answer in which a block begins to fail; those in which it still fails are as green as
    others. A size probe is as grey as it is usual."""
    out = profile(NTLM, *PASSWORD, '--color', '-Y', 'pcq.expert.counter_refused || pcq.expert.block_failed', '-T', 'fields', '-e',
                  'pcq.opnum', '-e', 'frame.coloring_rule.name')
    assert sorted(out.splitlines()) == ['6\tPerformance counters: refusal', '7\tPerformance counters: refusal']
    out = profile(NTLM, *PASSWORD, '--color', '-Y', 'any pcq.block.status != 0', '-T', 'fields', '-e', 'frame.coloring_rule.name')
    assert out.splitlines() == ['Performance counters: refusal'] + ['Performance counters: values'] * 9
    colour = {m[1]: [[int(x) for x in c.split(',')] for c in m.groups()[1:]] for m in re.finditer(
        r'^@([^@]+)@[^@]+@\[([\d,]+)\]\[([\d,]+)\]$', (FOLDER / 'colorfilters').read_text(), re.M)}
    back, text = colour['Performance counters: size probe, as usual']
    assert back == colour['Performance counters'][0] and max(text) - min(text) < 3000


def test_no_rule_touches_other_packets(profile):
    out = profile(NTLM, *PASSWORD, '--color', '-Y', '!pcq', '-T', 'fields', '-e', 'frame.coloring_rule.name')
    assert set(out.splitlines()) <= {''}


BUTTONS = {
    'Counters': [(NTLM, PASSWORD, 116), (HKPD, [], None)],
    'Values': [(NTLM, PASSWORD, 10), (HKPD, [], None)],
    'Refused, failing': [(NTLM, PASSWORD, 2)],
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


def test_watched_counters(profile):
    """What everybody asks first, of both protocols; here the processor alone."""
    names = [name for name, _ in table('pcq_watch')]
    assert names == ['cpu', 'memory', 'memory_free', 'disk', 'disk_bytes', 'network_bytes']
    out = profile(NTLM, *PASSWORD, '-Y', 'pcq.watch.cpu', '-T', 'fields', '-e', 'pcq.watch.cpu', '-e', 'pcq.path')
    lines = out.replace('\\\\', '\\').splitlines()     # Wireshark 4.4 doubles them
    assert len(lines) == 9 and all('Information(_Total)\\% Processor Time' in line for line in lines)
    drawn = profile(NTLM, *PASSWORD, '-q', '-z', 'io,stat,0,AVG(pcq.watch.cpu)pcq.watch.cpu')
    assert 0 < float(re.search(r'<>[^|]*\| +([\d.]+)', drawn)[1]) < 100


def test_io_graphs(profile, tshark):
    """Their filters and fields exist, and a graph of values has something to draw."""
    rows = table('io_graphs')
    listed = subprocess.run([TSHARK, '-G', 'fields'], env=tshark.env, stdout=subprocess.PIPE).stdout.decode()
    known = {line.split('\t')[2] for line in listed.splitlines() if line.startswith('F\t')}
    watched = ['pcq.watch.' + name for name, _ in table('pcq_watch')]
    assert watched == sorted({field for *_, field, _, _ in rows if '.watch.' in field}, key=watched.index)
    known |= set(watched)
    assert rows and any(field for *_, field, _, _ in rows)
    for enabled, name, expression, colour, style, unit, field, average, factor in rows:
        assert enabled in ('Enabled', 'Disabled') and name and re.fullmatch('#[0-9A-F]{6}', colour)
        assert style in ('Line', 'Impulse', 'Bar', 'Stacked Bar', 'Dot', 'Square', 'Diamond')
        assert (average, factor) == ('None', '1')
        assert unit == 'Packets' and not field or re.fullmatch(r'(SUM|MAX|MIN|AVG)\(Y Field\)', unit) and field in known, name
        if expression:
            assert profile(NTLM, *PASSWORD, '-Y', expression), name
