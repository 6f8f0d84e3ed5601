# SPDX-License-Identifier: GPL-2.0-or-later
"""The folders of plugin/: which includes which, by the picture of docs/developers/design.md; the files that it names."""

import re

from conftest import TOP

PLUGIN = TOP / 'plugin'
DESIGN = next((TOP / 'docs').rglob('design.md')).read_text()
SOURCES = {p.relative_to(PLUGIN).as_posix(): p.read_text() for p in sorted(PLUGIN.rglob('*.[ch]'))}


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


def test_the_design_names_files_that_are_there():
    """With their folder, at the top, or of the section's folder (verdict/)."""
    known = {name for path in SOURCES for name in (path, path.split('/')[-1])}
    named = set(re.findall(r'`([\w/-]+\.[ch])`', DESIGN))
    assert len(named) > 20 and sorted(named - known) == []


CODE = re.sub(r'/\*.*?\*/', '', '\n'.join(SOURCES.values()), flags=re.S)


def lacking(names):
    return sorted(name for name in names if not re.search(r'\b%s\b' % name, CODE))


def test_the_design_names_what_is_in_the_code():
    """Functions, types, tables, members and fields."""
    named = set(re.findall(r'`([A-Za-z]\w+)(?:\(\))?`', DESIGN))
    assert len(named) > 20 and lacking(named) == ['guids_add_guid']


def test_comments_name_functions_that_are_there():
    """Of the plugin, and of Wireshark's two that it does not call."""
    comments = ' '.join(re.findall(r'/\*.*?\*/', '\n'.join(SOURCES.values()), re.S))
    named = set(re.findall(r'\b([a-z]\w+)\(\)', comments))
    assert len(named) > 50 and lacking(named) == ['fvalue_to_string_repr', 'printf']
