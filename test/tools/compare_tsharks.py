#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""compare_tsharks.py [--without PART] [-o KEY]… ONE OTHER [CAPTURE…]: do two programs say the same of captures, line by line? Two builds of the
plugin too: before a change that is to change nothing, and after it.

ONE and OTHER are tshark, or a script that runs one. Without a CAPTURE all bundled ones are read, with their keys.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PCAPS = Path(__file__).resolve().parent.parent / 'pcaps'
FORMS = {'list': [], 'tree': ['-V'], 'pdml': ['-T', 'pdml'], 'json': ['-T', 'json'], 'two passes': ['-2', '-V'],
         'fields': ['-T', 'fields', '-E', 'occurrence=a', '-e', 'pcq.path', '-e', 'pcq.cooked', '-e', 'pcq.path', '-e', 'pcq.cooked'],
         'a filter': ['-Y', 'pcq.cooked > 1 || pcq.cooked > 1'],
         'statistics': ['-q', '-z', 'pcq,counters', '-z', 'pcq,queries', '-z', 'pcq,tree'],
         'statistics, two passes': ['-2', '-q', '-z', 'pcq,counters', '-z', 'pcq,queries', '-z', 'pcq,tree'],
         'long form': ['-q', '-z', 'pcq,long,{out}'], 'one file of CSV': ['-q', '-z', 'pcq,csv,{out}'],
         'names file': ['-q', '-z', 'pcq,names,{out}']}
# What has nothing to do with the capture or the plugin: when and from where it was read, and the program; how Windows
# calls Greenwich, and that it knows no date beyond the year 3000; how many Kerberos keys were tried, which is chance
BESIDE = [(re.compile(pattern), text) for pattern, text in (
    (r'<pdml [^>]*>', '<pdml>'), (r'<!-- You can find pdml2html.xsl in .*-->', ''), (r'\bUT\b', 'UTC'),
    (r'\b[A-Z][a-z]{2} [ 0-9]\d, (?:[3-9]\d{3}|\d{5}) [\d:.]+ UTC', 'Not representable'), (r'\bnum_tries=\d+', ''))]
MOST_LINES = 20


def keys():
    return json.loads((PCAPS / 'keys.json').read_text())


def options(capture):
    """The keys of a bundled capture."""
    name = capture.resolve().relative_to(PCAPS).as_posix() if PCAPS in capture.resolve().parents else None
    return [k.format(pcaps=PCAPS) for k in keys().get(name, [])]


def says(tshark, capture, preferences, form, folder):
    out = folder / 'out'
    args = [a.format(out=out) for a in FORMS[form]] + [x for p in preferences for x in ('-o', p)]
    done = subprocess.run([tshark, '-r', capture, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, TZ='UTC', LC_ALL='C.UTF-8'))
    data = out.read_bytes() if out.exists() else done.stdout
    text = data.decode('utf-8', 'replace') + '\nexit status %d' % done.returncode
    for pattern, replacement in BESIDE:
        text = pattern.sub(replacement, text)
    return text.split('\n')


def compare(task):
    """-> (what was compared, its lines, the differing lines)"""
    one, other, capture, preferences, form = task
    with tempfile.TemporaryDirectory() as folder:
        a, b = (says(tshark, capture, preferences, form, Path(folder)) for tshark in (one, other))
    differing = [line for line in difflib.unified_diff(a, b, lineterm='', n=0) if line[:3] not in ('---', '+++')] if a != b else []
    return '%s, %s' % (capture.name, form), len(a), differing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--without', default='(?!)', help='leave out captures whose name matches')
    parser.add_argument('-o', dest='keys', action='append', default=[], help='a preference, for captures of your own')
    parser.add_argument('one')
    parser.add_argument('other')
    parser.add_argument('captures', nargs='*', type=Path)
    args = parser.parse_args()
    captures = args.captures or sorted(p for p in PCAPS.glob('**/*.pcap') if not re.search(args.without, p.name))
    tasks = [(args.one, args.other, c, options(c) + args.keys, form) for c in captures for form in FORMS]
    lines = differing = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for what, count, different in pool.map(compare, tasks):
            lines += count
            differing += len(different)
            if different:
                print('%s:' % what, *different[:MOST_LINES], sep='\n    ')
    print('%d captures in %d forms, %d lines, %d differ' % (len(captures), len(FORMS), lines, differing))
    return 1 if differing or not lines else 0


if __name__ == '__main__':
    sys.exit(main())
