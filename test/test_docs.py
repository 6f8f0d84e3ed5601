# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents: every command and filter in them is run, and finds what it promises in a bundled capture.

A line of an indented block is a command if it begins with one, a display filter if the table below knows it as one. A
command behind "$ " has its output under it. What no table below knows fails."""

import json
import os
import re
import shlex
import subprocess

import pytest

import reference
from conftest import TOP, TSHARK

PCAPS = TOP / 'test' / 'pcaps'
KEYS = {name.removesuffix('.pcap'): [x for k in keys for x in ('-o', k.format(pcaps=PCAPS))]
        for name, keys in json.loads((PCAPS / 'keys.json').read_text()).items()}
PAGES = sorted([TOP / 'README.md', *(TOP / 'docs').glob('*.md')])
PAGES = [p for p in PAGES if p.name not in ('design.md', 'upstream.md', 'windows.md')]
PROGRAMS = ('tshark', 'script/', 'wireshark', 'parallel', 'editcap', 'cmake', 'ninja', 'cp ', 'rm ', 'psql', 'ssh', 'dumpcap',
            'mergecap', 'cat ', 'sudo', 'git ')


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


@pytest.fixture(scope='module')
def shell(tshark, tmp_path_factory):
    """shell(command) -> (exit status, standard output, standard error), at the top of a tree like this one"""
    folder = tmp_path_factory.mktemp('tree')
    (folder / 'test').mkdir()
    (folder / 'test' / 'pcaps').symlink_to(PCAPS)
    (folder / 'bin').mkdir()
    if os.sep in TSHARK:
        (folder / 'bin' / 'tshark').symlink_to(TSHARK)
    env = dict(tshark.env, PATH='%s:%s' % (folder / 'bin', os.environ['PATH']))

    def run(command):
        done = subprocess.run(['sh', '-euc', command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return done.returncode, done.stdout.decode('utf-8', 'replace'), done.stderr.decode('utf-8', 'replace')
    run.folder = folder
    return run


# --- the reference ---------------------------------------------------------------------------------------------------


@pytest.fixture
def plugin_environment(tshark, monkeypatch):
    for name, value in tshark.env.items():
        monkeypatch.setenv(name, value)


def test_every_field_and_finding_is_described(plugin_environment):
    """In Wireshark's status line, filter completion and `tshark -G fields`."""
    assert not [name for name, title, _, text in reference.fields() if not text or text == title]
    assert not [name for name, _, text in reference.preferences() if not text]


def test_the_reference_is_up_to_date(plugin_environment):
    """If not: script/reference."""
    assert (TOP / 'docs' / 'reference.md').read_text() == reference.page()


def test_what_the_documents_call_a_field_is_one(plugin_environment):
    """Every pcq.… and hkpd.… in the documents is a field, a finding, a preference or the start of some."""
    known = {name for name, *_ in reference.fields()} | {name for name, *_ in reference.preferences()}
    known |= {'.'.join(name.split('.')[:i]) for name in known for i in range(1, name.count('.') + 1)}
    known |= {'pcq.dll', 'pcq.so', 'pcq.md'}
    for page in PAGES:
        said = set(re.findall(r'(?<![\w/.-])(?:pcq|hkpd)\.[a-z0-9_.]*[a-z0-9_]', page.read_text()))
        assert said <= known, (page.name, said - known)


def test_links_lead_somewhere():
    """To files and headings of this tree."""
    for page in PAGES:
        text = page.read_text()
        for target in re.findall(r'\]\(([^)]+)\)', text):
            if re.match(r'[a-z]+:', target):
                continue
            name, _, anchor = target.partition('#')
            there = (page.parent / name) if name else page
            assert there.exists(), (page.name, target)
            if anchor:
                headings = re.findall(r'^#+ (.+)$', there.read_text(), re.M)
                slugs = {re.sub(r'[^\w -]', '', h.lower()).replace(' ', '-') for h in headings}
                assert anchor in slugs, (page.name, target)
