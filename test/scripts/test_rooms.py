# SPDX-License-Identifier: GPL-2.0-or-later
"""The rooms of plugin/: which includes which, by the picture of docs/developers/design.md, and whose each name is."""

import re
from collections import defaultdict

from conftest import TOP

PLUGIN = TOP / 'plugin'
DESIGN = next((TOP / 'docs').rglob('design.md')).read_text()
SOURCES = {p.relative_to(PLUGIN).as_posix(): p.read_text() for p in sorted(PLUGIN.rglob('*.[ch]'))}
FUNCTION = re.compile(r'^(static )?(?!typedef|else|return|extern|#)[A-Za-z_][\w *]*?\**\b(\w+)\((?!\*)[^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*(\{|;|G_GNUC)', re.M)


def room_of(path):
    """Of what stands at the top each file is one, whose header is its own."""
    return path.split('/')[0] if '/' in path else re.sub(r'^(pcq-.*)\.h$', r'\1.c', path)


def floors():
    """room or file at the top -> number; arrows point down"""
    found = {}
    for number, names in re.findall(r'^ {3,4}(\d+)  +(.*)$', DESIGN, re.M):
        for name in re.findall(r'\b([a-z][\w-]*\.[ch]|[a-z]+(?=/))', names):
            found[name] = int(number)
    return found


def test_arrows_point_down():
    floor = floors()
    assert floor['perf'] == 1 and len(floor) > 12
    wrong = [(path, name) for path, text in SOURCES.items() for name in re.findall('#include "(.*?)"', text)
             if room_of(name) != room_of(path) and floor[room_of(name)] >= floor[room_of(path)]]
    assert not wrong


def owners(path):
    """What a name of the file may begin with: its room, or its file, of one thing or of several."""
    stem = re.sub('^packet-', '', path.split('/')[-1].split('.')[0]).replace('-', '_')
    room = room_of(path).split('.')[0]
    return {room, 'rpc' if room == 'dcerpc' else room, stem.split('_')[0], stem, stem + 's', re.sub('ies$', 'y', stem), re.sub('s$', '', stem)}


def test_external_names_bear_their_room_or_file():
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


def test_a_static_name_stands_in_two_files_at_most():
    """Layouts of both protocols have the same functions, and listeners what the table of a listener calls them; a reader who greps for
    anything else finds one."""
    seen = defaultdict(set)
    for path, text in SOURCES.items():
        for static, name, behind in FUNCTION.findall(text):
            if static and behind == '{' and path.endswith('.c'):
                seen[name].add(path)
    assert len(seen) > 700
    of_a_listener = {'begin', 'reset', 'count', 'draw'}
    assert {n: sorted(paths) for n, paths in seen.items() if len(paths) > 2 and n not in of_a_listener} == {}
