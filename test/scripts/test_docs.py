# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents: every command in them is run, what it shows is what the page shows, and every filter finds what it promises.

A line of an indented block is a command if it begins with one, a display filter if the table below knows it as one. A
command behind "$ " has its output under it, in which "…" stands for any text, and alone in a line for any lines. Commands of recipes.md that
show nothing are run recipe by recipe (test_recipes.py), those behind "Many files" by script/dev/test-archive."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import reference
from conftest import TOP, TSHARK
from gen.scripted import Server, ask, counter, learn, multiple, run, capture_talk
from gen.stubs import INFO

PCAPS = TOP / 'test' / 'pcaps'
KEYS = {name.removesuffix('.pcap'): [x for k in keys for x in ('-o', k.format(pcaps=PCAPS))]
        for name, keys in json.loads((PCAPS / 'keys.json').read_text()).items()}
WATCHED = TOP / 'plugin' / 'profile' / 'Performance Counters' / 'pcq_watch'
PAGES = sorted([TOP / 'README.md', *(TOP / 'docs').glob('*.md')])
DEVELOPERS = sorted((TOP / 'docs' / 'developers').glob('*.md'))
RECIPES = 'recipes.md'
PROGRAMS = ('tshark', 'script/', 'wireshark', 'cmake', 'ninja', 'rm ', 'dumpcap', 'cat ', 'sudo', 'WIRESHARK_PLUGIN_DIR')


def blocks(page):
    """The indented blocks of a page: lists of lines without their indent."""
    block, before = [], ''
    for line in page.read_text().splitlines() + ['.']:
        if line.startswith('    ') and (block or not before.strip() or before.startswith('#')):
            block.append(line[4:])
        else:
            if block and line.strip():
                while block and not block[-1].strip():
                    block.pop()
                yield block
                block = []
            elif block:
                block.append('')
        before = line


def lines(page):
    """[(line, output under it or None)] of what stands in the page's blocks"""
    out = []
    for block in blocks(page):
        for line in block:
            if line.startswith('$ '):
                out.append((line[2:], []))
            elif out and out[-1][1] is not None and line.strip() and block[0].startswith('$ '):
                out[-1][1].append(line)
            elif line.strip():
                out.append((line, None))
    return out


def commands(page):
    return [(line, output) for line, output in lines(page) if line.startswith(PROGRAMS)]


def shell_in(folder, tshark, *program):
    """-> run(command): (exit status, standard output, standard error) of a shell in that folder, which is a home with the profile"""
    profile = folder / '.config' / 'wireshark' / 'profiles' / 'Performance Counters'
    shutil.copytree(TOP / 'plugin' / 'profile' / 'Performance Counters', profile)
    (folder / 'bin').mkdir()
    if os.sep in TSHARK:
        (folder / 'bin' / 'tshark').symlink_to(TSHARK)
    env = dict(tshark.env, PATH='%s:%s' % (folder / 'bin', os.environ['PATH']), HOME=str(folder))

    def run(command):
        done = subprocess.run([*program, command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout.decode('utf-8', 'replace'), done.stderr.decode('utf-8', 'replace')
    run.folder = folder
    return run


@pytest.fixture(scope='module')
def shell(tshark, tmp_path_factory):
    """At the top of a tree like this one"""
    folder = tmp_path_factory.mktemp('tree')
    (folder / 'test').mkdir()
    (folder / 'test' / 'pcaps').symlink_to(PCAPS)
    (folder / 'script').symlink_to(TOP / 'script')
    return shell_in(folder, tshark, 'sh', '-euc')


# --- the reference ---------------------------------------------------------------------------------------------------

@pytest.fixture
def plugin_environment(tshark, monkeypatch):
    for name, value in tshark.env.items():
        monkeypatch.setenv(name, value)


def test_every_field_and_finding_is_described(plugin_environment):
    """In Wireshark's status line, filter completion and `tshark -G fields`; types, codes and attributes are hexadecimal."""
    assert not [name for name, title, _, text in reference.fields() if not text or text == title]
    assert not [name for name, _, text in reference.preferences() if not text]
    assert {r[2] for r in (line.split('\t') for line in reference.tshark('-G', 'fields').splitlines()) if r[2].split('.')[0] in reference.PREFIXES and 'BASE_HEX' in r} == {
        'pcq.request_code', 'pcq.lcid', 'pcq.referent_id', 'pcq.counterset.type', 'pcq.counterset.instance_type', 'pcq.counter.attrib',
        'pcq.counter.type', 'hkpd.counter.type', 'pcq.block.type'}


def test_the_reference_is_up_to_date(plugin_environment):
    """If not: script/dev/reference. A unit program compares the counter types."""
    assert (TOP / 'docs' / 'reference.md').read_text().split('\n## Counter types\n')[0] == reference.page()


def test_what_the_documents_call_a_field_is_one(plugin_environment):
    """Every pcq.… and hkpd.… in the documents is a field, a finding, a preference or the start of some."""
    known = {name for name, *_ in reference.fields()} | {name for name, *_ in reference.preferences()}
    known |= {'.'.join(name.split('.')[:i]) for name in known for i in range(1, name.count('.') + 1)}
    known |= {'pcq.dll', 'pcq.so', 'pcq.md', 'pcq.watch'}
    known |= {'pcq.watch.' + line.split('"')[1] for line in WATCHED.read_text().splitlines() if line.startswith('"')}
    for page in PAGES:
        said = set(re.findall(r'(?<![\w/.-])(?:pcq|hkpd)\.[a-z0-9_.]*[a-z0-9_]', page.read_text()))
        said -= {'pcq.watch.' + name for name in re.findall(r'uat:pcq_watch:"(\w+)"', page.read_text())}
        assert said <= known, (page.name, said - known)


def test_what_the_plugin_cites_is_a_page():
    """In the texts of expert infos and findings, and in comments."""
    named = {name for path in (TOP / 'plugin').rglob('*.[ch]') for name in re.findall(r'docs/[\w/-]+\.md', path.read_text())}
    assert len(named) > 3 and [name for name in sorted(named) if not (TOP / name).exists()] == []


# Of what the pages link to; script/dev/test-packages looks where they are installed
IN_PACKAGES = ('README.md', 'CONTRIBUTING.md', 'docs', 'test/pcaps')


def test_links_lead_somewhere():
    """To files and headings of this tree, and of a package."""
    links = 0
    for page in TOP / 'README.md', TOP / 'CONTRIBUTING.md', *(TOP / 'docs').glob('*.md'), *DEVELOPERS, TOP / 'test' / 'pcaps' / 'README.md':
        text = page.read_text()
        for target in re.findall(r'\]\(([^)]+)\)', text):
            if re.match(r'[a-z]+:', target):
                continue
            links += 1
            name, _, anchor = target.partition('#')
            there = (page.parent / name) if name else page
            assert there.exists(), (page.name, target)
            assert str(there.resolve().relative_to(TOP)).startswith(IN_PACKAGES), (page.name, target)
            if anchor:
                headings = re.findall(r'^#+ (.+)$', there.read_text(), re.M)
                slugs = {re.sub(r'[^\w -]', '', h.lower()).replace(' ', '-') for h in headings}
                assert anchor in slugs, (page.name, target)
    assert links > 20


def test_the_legend_of_colors():
    """cheat-sheet.md's table is that of the profile, in its order."""
    rules = (TOP / 'plugin' / 'profile' / 'Performance Counters' / 'colorfilters').read_text()
    rules = re.findall(r'^@Performance counters(?:: ([^@]*))?@.*@\[([\d,]+)\]\[([\d,]+)\]$', rules, re.M)

    def named(colour):
        return '#%02X%02X%02X' % tuple(int(x) >> 8 for x in colour.split(','))
    shown = re.findall(r'^\| ([^|]+) \| [a-z ]+ `(#\w+)` \| [a-z ]+ `(#\w+)` \|$', (TOP / 'docs' / 'cheat-sheet.md').read_text(), re.M)
    assert shown == [(name or 'any other call', named(front), named(back)) for name, back, front in rules] and shown


MOST_LINES = {'README.md': 90, 'limits.md': 45, 'reference.md': 1000}


def test_pages_for_users_are_few_and_short():
    """Nine, each named by README; those for developers say so."""
    readme = (TOP / 'README.md').read_text()
    assert len(PAGES) == 1 + 9
    assert {p.name: n for p in PAGES for n in [len(p.read_text().splitlines())] if n > MOST_LINES.get(p.name, 120)} == {}
    assert [p.name for p in PAGES[1:] if 'docs/%s)' % p.name not in readme] == []
    assert [p.name for p in DEVELOPERS if '\n\nFor developers' not in p.read_text()[:200]] == []


# --- display filters -------------------------------------------------------------------------------------------------

COMPARISON = re.compile(r' (==|!=|>=?|<=?|contains|matches|in) |&&|\|\||^any ')


def filters(page):
    """The display filters of a page: in blocks, with a comment two blanks behind them or none; in tables, in backticks."""
    for line, output in lines(page):
        if output is None and not line.startswith(PROGRAMS):
            text = re.split(r'\s{2,}(?=[a-z(])', line)[0]
            if re.match(r'(any |\(*(pcq|hkpd|dcerpc|winreg|smb2?|tcp|_ws|kerberos)\b)', text):
                yield text
    for line in page.read_text().splitlines():
        for text in re.findall(r'`([^`]+)`', line):
            if page.name not in RECIPES and COMPARISON.search(text) and not text.startswith(PROGRAMS + ('-', 'lp', '0x')) or \
                    page.name != 'reference.md' and line.startswith('|') and re.fullmatch(r'(pcq\.expert|tcp\.analysis|dcerpc\.cn_ctx_id)\.\w+', text):
                yield text


def always(values):
    return True


def has(test):
    return lambda values: any(test(v) for v in values)


def number(test):
    return has(lambda v: test(float(int(v, 0)) if v.startswith('0x') else float(v)))


# filter: (capture, field whose values in a frame decide, what they have to fulfil). The filter has to find exactly the
# frames of which that is true, and one at least. None for a field: those frames that the protocol itself is in.
NTLM, HKPD, HANDLES = 'smb3-ntlm', 'hkpd-plain', 'handle-life'
FILTERS = {
    'pcq || hkpd': [(NTLM, 'pcq.opnum', always), (HKPD, 'hkpd', always)],
    'pcq.opnum == QueryCounterData': [(NTLM, 'pcq.opnum', number(lambda v: v == 6))],
    'pcq.data_header || hkpd.data_block': [(NTLM, 'pcq.data.total_size', always), (HKPD, 'hkpd.header_size', always)],
    'pcq.request_code == PERF_REG_COUNTERSET_ENGLISH_NAME': [(NTLM, 'pcq.request_code', number(lambda v: v == 9))],
    'pcq.machine contains "SRV"': [('plain/query-tcp', 'pcq.machine', has(lambda v: 'SRV' in v))],
    'pcq.path contains "Processor Time"': [(NTLM, 'pcq.path', has(lambda v: 'Processor Time' in v))],
    'pcq.path == r"\\\\LABDC\\Processor Information(0,0)\\% Processor Time"': [
        # from 4.2 on -T fields doubles backslashes
        (NTLM, 'pcq.path', has(lambda v: v in (SERIES, SERIES.replace('\\', r'\\'))))],
    r'pcq.path matches r"\\processor .*_total"': [
        (NTLM, 'pcq.path', has(lambda v: re.search(r'\\processor .*_total', v, re.I)))],
    'pcq.cooked.none == "first sample"': [(NTLM, 'pcq.cooked.none', number(lambda v: v == 1))],
    'pcq.cooked.none == "instance is new"': [(NTLM, 'pcq.cooked.none', number(lambda v: v == 2))],
    'pcq.cooked.none == "counter is new"': [(HANDLES, 'pcq.cooked.none', number(lambda v: v == 3))],
    'pcq.cooked.none == "base counter is not there"': [('plain/two-clients', 'pcq.cooked.none', number(lambda v: v == 4))],
    'pcq.cooked.none == "value went backwards"': [(None, 'pcq.cooked.none', number(lambda v: v == 8))],
    'pcq.cooked.none == 31': [(None, 'pcq.cooked.none', number(lambda v: v == 31))],
    'pcq.cooked.none': [(NTLM, 'pcq.cooked.none', always)],
    'pcq.path contains "Processor("': [(HKPD, 'pcq.path', has(lambda v: 'Processor(' in v))],
    'pcq.expert.late': [],     # no capture of the laboratory has one: test_statistics.py
    'pcq.sample.interval > 1.5': [('plain/two-clients', 'pcq.sample.interval', number(lambda v: v > 1.5))],
    'pcq.sample.interval < 0.1': [(HANDLES, 'pcq.sample.interval', number(lambda v: v < 0.1))],
    'pcq.counter.name == "% User Time"': [(NTLM, 'pcq.counter.name', has(lambda v: v == '% User Time'))],
    'pcq.path contains "User Time" && pcq.cooked > 90': [(NTLM, 'pcq.path', has(lambda v: 'User Time' in v))],
    'pcq.status == 8': [(NTLM, 'pcq.status', number(lambda v: v == 8))],
    'pcq.status == ERROR_NOT_ENOUGH_MEMORY': [(NTLM, 'pcq.status', number(lambda v: v == 8))],
    'pcq.status == ERROR_ACCESS_DENIED': [('plain/access-denied', 'pcq.status', number(lambda v: v == 5))],
    'pcq.expert.not_delivered': [('tcp-kerberos', 'pcq.block.type', number(lambda v: v != 0))],
    'any pcq.block.status != ERROR_SUCCESS': [(NTLM, 'pcq.block.status', number(lambda v: v != 0))],
    'winreg.werror == WERR_MORE_DATA && hkpd': [(HKPD, 'winreg.werror', number(lambda v: v == 234))],
    'pcq.status == ERROR_NOT_ENOUGH_MEMORY || (hkpd && winreg.werror == WERR_MORE_DATA)': [
        (NTLM, 'pcq.status', number(lambda v: v == 8)), (HKPD, 'winreg.werror', number(lambda v: v == 234))],
    'hkpd && winreg.werror == WERR_ACCESS_DENIED': [((HKPD, 'hkpd && winreg.werror == 2', 'tail', 5), 'winreg.werror', number(lambda v: v == 5))],
    'dcerpc.cn_status': [(HANDLES, 'dcerpc.cn_status', always)],
    'dcerpc.cn_status == nca_s_fault_context_mismatch': [(HANDLES, 'dcerpc.cn_status', number(lambda v: v == 0x1c00001a))],
    'dcerpc.pkt_type == Fault && dcerpc.cn_status == nca_s_fault_access_denied': [
        ((HANDLES, 'dcerpc.cn_status', b'\x1a\x00\x00\x1c', b'\x05\x00\x00\x00'), 'dcerpc.cn_status', number(lambda v: v == 5))],
    'dcerpc.pkt_type == Bind_nak': [(('tcp-ntlm', 'dcerpc.pkt_type == 12', b'\x05\x00\x0c', b'\x05\x00\x0d'), 'dcerpc.pkt_type', number(lambda v: v == 13))],
    'pcq.query.number == 1': [(NTLM, 'pcq.query.number', number(lambda v: v == 1))],
    'hkpd.handle.number == 1': [(HKPD, 'hkpd.handle.number', number(lambda v: v == 1))],
    'pcq.handle.closed_in': [(NTLM, 'pcq.handle.closed_in', always)],
    'pcq.add == 0': [(HANDLES, 'pcq.add', has(lambda v: v in ('0', 'False')))],
    'pcq.add == 1': [(HANDLES, 'pcq.add', has(lambda v: v in ('1', 'True')))],
    'pcq.expert.sealed': [('-' + NTLM, 'pcq.expert.sealed', always)],
    'pcq.expert.key_does_not_fit': [('!' + NTLM, 'pcq.expert.key_does_not_fit', always)],
    'pcq.expert.not_decrypted': [(('tcp-ntlm', 'frame.number == 40', 'lost', None), 'pcq.expert.not_decrypted', always)],
    'pcq.expert.order_assumed': [(None, 'pcq.expert.order_assumed', always)],
    'pcq.expert.size': [('plain/bad-29-block-size', 'pcq.expert.size', always)],
    'pcq.expert.request_missing': [('plain/bad-10-answers-without-requests', 'pcq.expert.request_missing', always)],
    'pcq.expert.handle_closed': [('plain/bad-06-handles', 'pcq.expert.handle_closed', always)],
    '_ws.expert.severity >= Warning && (pcq || hkpd)': [('plain/bad-29-block-size', '_ws.malformed', always)],
    'pcq.request_code in {PERF_REG_COUNTERSET_NAME_STRING, PERF_REG_COUNTER_NAME_STRINGS}': [(NTLM, 'pcq.request_code', number(lambda v: v in (3, 5)))],
    'pcq.opnum == QueryCounterData && pcq.status == ERROR_NOT_ENOUGH_MEMORY': [(NTLM, 'pcq.opnum', number(lambda v: v == 6))],
    'pcq.watch.cpu > 90': [('*' + NTLM, 'pcq.watch.cpu', number(lambda v: v > 90))],
    'pcq.watch.memory > 90': [('*' + NTLM, 'pcq.watch.memory', number(lambda v: v > 90))],
    'max(pcq.watch.network_bytes) > 1000': [('*' + NTLM, 'pcq.watch.network_bytes', number(lambda v: v > 1000))],
    'pcq.watch.disk > 90': [('*' + NTLM, 'pcq.watch.disk', number(lambda v: v > 90))],
    'smb2.header.transform.flags.encrypted == 1': [('smb3-encrypted', 'smb2.header.transform.flags.encrypted', has(lambda v: v in ('1', 'True')))],
    'dcerpc.cn_ctx_id.no_bind': [((NTLM, 'dcerpc.pkt_type == 11', 'lost', None), 'dcerpc.cn_ctx_id.no_bind', always)],
    'frame.cap_len < frame.len': [((NTLM, 'frame.len > 1000', 'cut', 500), 'frame.cap_len', number(lambda v: v == 500))],
    'tcp.analysis.lost_segment': [((NTLM, 'frame.number == 40', 'lost', None), 'tcp.analysis.lost_segment', always)],
    'smb2.cmd == "Session Setup" && smb2.nt_status >= 0xc0000000 && smb2.nt_status != STATUS_MORE_PROCESSING_REQUIRED': [
        ((NTLM, 'smb2.cmd == 1 && smb2.nt_status == 0', 0, 0xc000006d), 'smb2.nt_status', number(lambda v: v == 0xc000006d))],
    'smb2.cmd == Create && smb2.nt_status in {STATUS_ACCESS_DENIED, STATUS_OBJECT_NAME_NOT_FOUND, STATUS_PIPE_NOT_AVAILABLE}': [
        ((NTLM, 'smb2.cmd == 5 && smb2.flags.response == 1', 0, 0xc0000034), 'smb2.nt_status', number(lambda v: v == 0xc0000034))],
    'smb2.nt_status == STATUS_PIPE_NOT_AVAILABLE': [
        ((NTLM, 'smb2.cmd == 5 && smb2.flags.response == 1', 0, 0xc00000ac), 'smb2.nt_status', number(lambda v: v == 0xc00000ac))],
    'tcp.port in {135, 139, 445} && tcp.flags.reset == 1 && tcp.seq == 1 && tcp.ack == 1': [
        ((NTLM, 'tcp.flags.syn == 1 && tcp.flags.ack == 1', None, None), 'tcp.flags', has(lambda v: v == '0x0014'))],
    'tcp.port in {135, 139, 445} && tcp.flags.syn == 1 && tcp.analysis.retransmission': [
        ((NTLM, 'tcp.flags.syn == 1', 'again', None), 'tcp.analysis.retransmission', always)],
    'dcerpc.time > 0.1 && (pcq || hkpd)': [('big-answer', 'dcerpc.time', number(lambda v: v > 0.1))],
    'pcq.expert.call_failed': [('plain/access-denied', 'pcq.status', number(lambda v: v not in (0, 8))), (HANDLES, 'dcerpc.cn_status', always)],
    'pcq.expert.counter_refused': [(NTLM, 'pcq.identifier.status', number(lambda v: v in (4200, 4202)))],
    'pcq.expert.block_failed': [(NTLM, 'pcq.block.status', number(lambda v: v != 0))],
    'any pcq.multi_instances.count == 0': [('plain/query-tcp', 'pcq.multi_instances.count', number(lambda v: v == 0))],
    'kerberos.error_code && kerberos.error_code != 25': [],     # test/verdict has both
    'epm.rc != 0': [],
}
# What a filter finds beyond or below the frames that its one field decides.
ONLY_PART = {'pcq.expert.not_delivered', 'pcq.path contains "User Time" && pcq.cooked > 90',
             'pcq.opnum == QueryCounterData && pcq.status == ERROR_NOT_ENOUGH_MEMORY',
             'pcq.expert.block_failed',
             'dcerpc.time > 0.1 && (pcq || hkpd)', 'winreg.werror == WERR_MORE_DATA && hkpd',
             'pcq.status == ERROR_NOT_ENOUGH_MEMORY || (hkpd && winreg.werror == WERR_MORE_DATA)',
             '_ws.expert.severity >= Warning && (pcq || hkpd)'}


def packets(data):
    """(offset, size) of each packet of a pcap file"""
    at = 24
    while at < len(data):
        size = int.from_bytes(data[at + 8:at + 12], 'little')
        yield at + 16, size
        at += 16 + size


def patched(tshark, folder, name, where, old, new):
    """A bundled capture with the first packet that passes a filter changed: bytes, an SMB2 status, the status at the end, to
    a TCP reset, cut short, twice, or away."""
    path = PCAPS / (name + '.pcap')
    data = bytearray(path.read_bytes())
    frame = int(tshark.fields(path, ['frame.number'], '-Y', where)[0][0])
    at, size = list(packets(data))[frame - 1]
    if old is None:
        data[at + 14 + 20 + 13] = 0x14
    elif old == 'tail':
        data[at + size - 4:at + size] = new.to_bytes(4, 'little')
    elif old == 'again':
        data[at + size:at + size] = data[at - 16:at + size]
    elif old == 'lost':
        del data[at - 16:at + size]
    elif old == 'cut':
        del data[at + new:at + size]
        data[at - 8:at - 4] = new.to_bytes(4, 'little')
    elif isinstance(old, bytes):
        found = data.index(old, at, at + size)
        data[found:found + len(old)] = new
    else:
        found = data.index(b'\xfeSMB', at, at + size) + 8
        assert int.from_bytes(data[found:found + 4], 'little') == old
        data[found:found + 4] = new.to_bytes(4, 'little')
    out = folder / 'patched.pcap'
    out.write_bytes(data)
    return out


def capture_of(tshark, folder, what):
    """(path, options) of what a row of FILTERS names"""
    if isinstance(what, tuple):
        return patched(tshark, folder, *what), KEYS.get(what[0], [])
    if what[0] == '-':
        return PCAPS / (what[1:] + '.pcap'), []
    if what[0] == '!':
        return PCAPS / (what[1:] + '.pcap'), ['-o', 'ntlmssp.nt_password:wrong']
    name = what.lstrip('*')
    # the bundled captures have no memory and no disk
    watch = [x for n in ('cpu', 'memory', 'disk', 'network_bytes') for x in ('-o', r'uat:pcq_watch:"%s","\\*\\*"' % n)]
    return PCAPS / (name + '.pcap'), KEYS.get(name, []) + (watch if what[0] == '*' else [])


def made(folder):
    """A query whose QueryCounterInfo is missing, and a value of 8 bytes that goes backwards: no bundled capture has them."""
    rate = lambda i, name, step: counter(i, 'PERF_COUNTER_BULK_COUNT', name, lambda at, k: 1000 + step * at.number)
    engine = multiple('Engine', rate(1, 'Down/sec', -100), rate(2, 'Up/sec', 100), instances=['a', '_Total'])
    scenario = capture_talk(Server([engine]), lambda c: (learn(c, engine), run(c, [ask(engine, 1, 'a'), ask(engine, 2, 'a'), ask(engine, 1, '_Total')])))
    path = Path(scenario.write(folder / 'made.pcap'))
    data = bytearray(path.read_bytes())
    info = {n for n, messages in scenario.frames.items() if any(m.opnum == INFO for m in messages)}
    for n, (at, size) in reversed(list(enumerate(packets(data), 1))):
        if n in info:
            del data[at - 16:at + size]
    path.write_bytes(data)
    return path, []


@pytest.fixture(scope='module')
def values_in(tshark, tmp_path_factory):
    """values_in(what) -> (path, options, {field: {frame: its values}}) of all fields that FILTERS wants to know of that"""
    seen = {}

    def get(what):
        if what not in seen:
            folder = tmp_path_factory.mktemp('filters')
            path, options = made(folder) if what is None else capture_of(tshark, folder, what)
            names = sorted({field for tests in FILTERS.values() for w, field, _ in tests if w == what})
            rows = tshark.fields(path, ['frame.number', *names], '-E', 'aggregator=|', '-2', *options)
            seen[what] = path, options, {name: {int(r[0]): r[i].split('|') for r in rows if r[i]} for i, name in enumerate(names, 1)}
        return seen[what]
    return get


@pytest.mark.parametrize('expression', sorted({f for page in PAGES for f in filters(page)}))
def test_a_filter_finds_what_it_promises(tshark, values_in, expression):
    """Exactly the frames whose fields fulfil it, and one at least."""
    assert expression in FILTERS, 'a filter that nobody checks'
    for what, field, test in FILTERS[expression]:
        path, options, values = values_in(what)
        wanted = {n for n, shown in values[field].items() if test(shown)}
        found = {int(n) for n, in tshark.fields(path, ['frame.number'], '-2', '-Y', expression, *options)}
        assert found, (expression, what)
        assert found <= wanted if expression in ONLY_PART else found == wanted, (expression, what, found ^ wanted)


# What the laboratory had happen, so that the filters of symptoms.md's tables find it: in captures whose names begin so
HAPPENED = {
    'pcq.expert.not_delivered': ('tcp-kerberos',),
    'pcq.expert.order_assumed': ('handle-life', 'hkpd-signed', 'tcp-kerberos'),
    'any pcq.block.status != ERROR_SUCCESS': ('smb3-', 'tcp-kerberos', 'tcp-ntlm'),
    'pcq.expert.call_failed': ('handle-life', 'hkpd-nmap', 'hkpd-plain', 'hkpd-sealed', 'tcp-kerberos'),
    'pcq.cooked.none == "value went backwards"': ('tcp-kerberos',),
    'pcq.cooked.none == "base counter is not there"': ('handle-life',),
    'pcq.sample.interval < 0.1': ('handle-life', 'tcp-kerberos'),
    'pcq.expert.handle_closed': ('handle-life', 'hkpd-plain', 'hkpd-sealed'),
    'dcerpc.cn_status == nca_s_fault_context_mismatch': ('handle-life', 'hkpd-plain', 'hkpd-sealed'),
    'smb2.header.transform.flags.encrypted == 1': ('smb3-encrypted',),
}


def symptoms():
    """The filters of symptoms.md's tables that are not said to be normal, and that need no table of watched counters"""
    rows = [line for line in (TOP / 'docs' / 'symptoms.md').read_text().splitlines() if line.startswith('|') and '(normal)' not in line]
    found = [f for line in rows for f in re.findall(r'`([^`]+)`', line) if f in FILTERS and 'pcq.watch.' not in f]
    assert len(found) > 20
    return found


@pytest.mark.parametrize('name', sorted(p.stem for p in PCAPS.glob('*.pcap')))
def test_symptoms_find_nothing_in_a_healthy_capture(tshark, name):
    """But what happened there."""
    asked = [x for f in symptoms() for x in ('-z', 'io,phs,' + f)]
    out, err = tshark.run('-q', '-2', '-r', PCAPS / (name + '.pcap'), *KEYS[name], *asked)
    seen = re.findall(r'^Filter: (.*)\n\n(.*)$', out, re.M)
    assert err == '' and sorted(f for f, _ in seen) == sorted(symptoms())
    assert {f for f, first in seen if 'frames:' in first} == {f for f in HAPPENED if name.startswith(HAPPENED[f])}


def test_no_filter_is_checked_in_vain():
    assert set(FILTERS) == {f for page in PAGES for f in filters(page)}


# --- commands --------------------------------------------------------------------------------------------------------

SERIES = '\\\\LABDC\\Processor Information(0,0)\\% Processor Time'
# What commands that show nothing print (None) or write, and how many lines at least.
PRINT = {
    'tshark -q -r FILE -z pcq,queries -z dcerpc,srt,da5a86c5-12c2-4943-ab30-7f74a813d853,1.0 -z pcq,tree': (None, 'ERROR_NOT_ENOUGH_MEMORY', 27),
    'tshark -q -r FILE -z pcq,long,values.csv': ('values.csv', SERIES, 400),
    'tshark -r FILE -o pcq.names_file:my-names.txt -Y pcq.path': (None, 'QueryCounterData response', 10),
    'tshark -r FILE -T json -J pcq -Y pcq.data_header': (None, '"pcq.cooked"', 1000),
}
# What other tests run, or what runs this.
ELSEWHERE = {
    'script/dissect': 'test_scripts.py', 'script/install': 'test_scripts.py', 'script/install --doctor': 'test_install.py',
    'script/dev/package windows': 'script/dev/test-packages',
    'cmake -S . -B build -G Ninja': 'test_scripts.py', 'ninja -C build': 'test_scripts.py',
    'WIRESHARK_PLUGIN_DIR=build/plugins tshark -G plugins': 'test_scripts.py', 'cmake --install build': 'test_scripts.py',
    'rm -f ~/.local/lib/wireshark/plugins/*/epan/pcq.so': 'test_scripts.py',
    'rm -rf ~/.config/wireshark/profiles/"Performance Counters"': 'test_scripts.py',
    'sudo apt install git wireshark && git clone ADDRESS pcq && pcq/script/install': 'script/dev/test-bare',
}
# What an administrator is asked for is what the script would install.
ELSEWHERE['sudo apt-get install ' + re.search('^packages="(.*)"$', (TOP / 'script/dev/bootstrap').read_text(), re.M)[1]] = 'test_scripts.py'
# A window is needed: its options are tried by tshark.
WINDOW = re.compile(r'wireshark -C "Performance Counters" -r (\S+)(.*)')
KEY = ' -o ntlmssp.nt_password:Lab-Passw0rd'


def filled(command):
    """With the bundled capture and its key for what the reader puts in."""
    command = command.replace('MyProvider.man', shlex.quote(str(TOP / 'test' / 'manifests' / 'engine.man')))
    return command.replace('FILE', 'test/pcaps/smb3-ntlm.pcap' + KEY, 1)


def all_commands():
    return sorted({(page.name, c, None if o is None else tuple(o)) for page in PAGES for c, o in commands(page)
                   if c not in ELSEWHERE and not WINDOW.match(c) and (page.name != RECIPES or o)}, key=str)


def alike(shown, lines):
    """Are the lines as shown? Alone in a line "…" stands for any lines, else for any text. -> the first line shown that is not there, or None"""
    at = 0
    for i, line in enumerate(shown):
        if line == '…':
            continue
        want = re.compile('.*'.join(re.escape(' '.join(part.split())) for part in line.split('…')))
        found = [n for n, x in enumerate(lines[at:], at) if want.fullmatch(' '.join(x.split()))]
        if not found or i == 0 and found[0] != 0 or i > 0 and shown[i - 1] != '…' and found[0] != at:
            return line
        at = found[0] + 1
    return None if shown[-1] == '…' or at == len(lines) else lines[at]


@pytest.mark.parametrize('page, command, output', all_commands())
def test_a_command_does_what_it_says(shell, page, command, output):
    status, out, err = shell(filled(command))
    assert status == 0, (command, err)
    if output is not None:
        assert alike(output, (out + err).splitlines()) is None, (command, out + err)
        return
    assert err == '', command
    if command.startswith(('tshark -r test/pcaps', 'tshark -2 -r test/pcaps')):
        assert 'CloseQueryHandle response' in out and len(out.splitlines()) >= 50, command
        return
    name, word, count = PRINT[command]
    text = (shell.folder / name).read_text() if name else out
    assert word in text and len(text.splitlines()) >= count, (command, text)


def test_no_command_is_checked_in_vain():
    assert {c for page in PAGES for c, o in commands(page) if not o} >= set(PRINT)


def test_a_window_opens_what_tshark_opens(shell):
    """The options of the wireshark commands, as tshark takes them."""
    found = [m for page in PAGES for line, _ in lines(page) for m in [WINDOW.match(line)] if m]
    assert found
    for m in found:
        status, out, _ = shell('tshark -r %s%s -Y pcq' % (m[1], m[2]))
        assert status == 0 and len(out.splitlines()) == 116
