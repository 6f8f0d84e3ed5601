# SPDX-License-Identifier: GPL-2.0-or-later
"""The folders of plugin/: which includes which, by the picture of docs/developers/design.md, and how exported names begin."""

import re
from collections import defaultdict

from conftest import TOP

PLUGIN = TOP / 'plugin'
DESIGN = next((TOP / 'docs').rglob('design.md')).read_text()
SOURCES = {p.relative_to(PLUGIN).as_posix(): p.read_text() for p in sorted(PLUGIN.rglob('*.[ch]'))}
FUNCTION = re.compile(r'^(static )?(?!typedef|else|return|extern|#)[A-Za-z_][\w *]*?\**\b(\w+)\((?!\*)[^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*(\{|;|G_GNUC)', re.M)


def folder_of(path):
    """The folder of a file; each file at the top is one by itself, with its header."""
    return path.split('/')[0] if '/' in path else re.sub(r'^(pcq-.*)\.h$', r'\1.c', path)


def layers():
    """folder or file at the top -> number; arrows point down"""
    found = {}
    for number, names in re.findall(r'^ {3,4}(\d+)  +(.*)$', DESIGN, re.M):
        for name in re.findall(r'\b([a-z][\w-]*\.[ch]|[a-z]+(?=/))', names):
            found[name] = int(number)
    return found


def test_arrows_point_down():
    layer = layers()
    assert layer['perf'] == 1 and len(layer) > 12
    wrong = [(path, name) for path, text in SOURCES.items() for name in re.findall('#include "(.*?)"', text)
             if folder_of(name) != folder_of(path) and layer[folder_of(name)] >= layer[folder_of(path)]]
    assert not wrong


def owners(path):
    """Beginnings of the names that a file exports: its folder, or its file, in singular or plural."""
    stem = re.sub('^packet-', '', path.split('/')[-1].split('.')[0]).replace('-', '_')
    folder = folder_of(path).split('.')[0]
    return {folder, 'rpc' if folder == 'dcerpc' else folder, stem.split('_')[0], stem, stem + 's', re.sub('ies$', 'y', stem), re.sub('s$', '', stem)}


def test_exported_names_begin_with_their_folder_or_file():
    seen = defaultdict(set)
    for path, text in SOURCES.items():
        if path.endswith('.c'):
            for static, name, behind in FUNCTION.findall(text):
                if not static and behind == '{':
                    seen[name].add(path)
    assert len(seen) > 300
    assert [n for n, paths in seen.items() if len(paths) > 1] == []
    assert [(path, n) for n, paths in seen.items() for path in paths
            if not n.startswith(('proto_reg', 'plugin_')) and not any(n.startswith(o + '_') for o in owners(path))] == []
