# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what a frame shows with its structure kept: which learned field stands in which node."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

import pytest

from gen.scripted import answers

NUMBER = re.compile('name="num"[^>]* show="([0-9]+)"')


class Item:
    """A field and what is below it, of a packet."""

    __slots__ = 'element', 'packet'

    def __init__(self, element, packet=None):
        self.element, self.packet = element, element if packet is None else packet

    def __eq__(self, other):
        return self.element is other.element

    @property
    def name(self):
        return self.element.get('name', '')

    @property
    def show(self):
        return self.element.get('show', '')

    @property
    def size(self):
        return int(self.element.get('size') or 0)

    @property
    def label(self):
        return self.element.get('showname', '')

    @property
    def children(self):
        return [Item(e, self.packet) for e in self.element]

    def walk(self):
        """This one and what is below it, in order"""
        return [Item(e, self.packet) for e in self.element.iter()]

    def all(self, name, generated=None):
        """Below this one, in order; generated: only learned fields, or only wire fields."""
        found = [Item(e, self.packet) for e in self.element.iter() if e.get('name') == name]
        return found if generated is None else [x for x in found if (x.size == 0) == generated]

    def show_of(self, name, generated=None):
        """[what each shows]"""
        return [x.show for x in self.all(name, generated)]

    def numbers(self, name):
        return [int(x.show, 0) for x in self.all(name)]

    def own(self, name):
        """Those that stand directly in this structure."""
        return [Item(e, self.packet) for e in self.element if e.get('name') == name]

    @property
    def parent(self):
        return next(Item(p, self.packet) for p in self.packet.iter() if any(e is self.element for e in p))

    def after(self):
        """The next in what this one stands in."""
        row = self.parent.children
        at = row.index(self) + 1
        return row[at] if at < len(row) else None

    @property
    def experts(self):
        return [x.name for x in self.walk() if x.name.startswith('pcq.expert.')]

    @property
    def values(self):
        return self.all('pcq.counter_data')

    @property
    def identifiers(self):
        return self.all('pcq.identifier')


class Frames(Mapping):
    """{frame number: Item}, each made when somebody looks"""

    def __init__(self, texts):
        self.texts = {int(NUMBER.search(text)[1]): text for text in texts}
        self.items_made = {}

    def __getitem__(self, number):
        if number not in self.items_made:
            self.items_made[number] = item_of(self.texts[number])
        return self.items_made[number]

    def __iter__(self):
        return iter(self.texts)

    def __len__(self):
        return len(self.texts)


def read(tshark, scenario, folder, *args, name='scenario', **how):
    """{frame number: Item} of the plugin's part of each frame"""
    return read_file(tshark, scenario.write(folder / (name + '.pcap')), *scenario.options, *args, **how)


def read_file(tshark, path, *args, **how):
    return read_and_said(tshark, path, *args, **how)[0]


def read_and_said(tshark, path, *args, **how):
    """(its frames, what tshark said on standard error)"""
    texts, err = read_texts(tshark, path, *args, **how)
    return Frames(texts), err


def read_texts(tshark, path, *args, two_pass=False, shown='pcq'):
    """([each packet as XML], what tshark said on standard error)"""
    out, err = tshark.run('-r', path, '-T', 'pdml', '-J', shown, *(['-2'] if two_pass else []), *args, timeout=600)
    # tshark leaves tabs and line ends in attributes as they are, and XML makes blanks of them
    out = re.sub(r'\n(?<!>\n)(?! *<)', '&#10;', out).replace('\t', '&#9;').replace('\r', '&#13;')
    return ['<packet>' + text.partition('</packet>')[0] + '</packet>' for text in out.split('<packet>')[1:]], err


def item_of(text):
    return Item(ElementTree.fromstring(text))


def shows(shown, expected):
    """Is it that text? Control characters may come as escapes of any form."""
    if shown == expected:
        return True
    pattern = ''.join(r'(?:%s|\\x0?%x|\\[abfnrtv])' % (re.escape(c), ord(c)) if c < ' ' else
                      '\ufffd' if '\ud800' <= c <= '\udfff' else re.escape(c) for c in expected)
    return re.fullmatch(pattern, shown) is not None


def one(item, name):
    """What the only child of that name shows, None without one."""
    found = item.own(name)
    assert len(found) <= 1, '%d times %s' % (len(found), name)
    return found[0].show if found else None


def cooked(item):
    """(value, reason) of a pcq.counter_data; both must be generated fields"""
    for x in item.own('pcq.cooked') + item.own('pcq.cooked.none') + item.own('pcq.path'):
        assert x.size == 0, x.name
    value, why = one(item, 'pcq.cooked'), one(item, 'pcq.cooked.none')
    assert value is None or why is None, 'both a value and a reason'
    return None if value is None else float(value), None if why is None else int(why)


def close_to(expected, relative=1e-9):
    return pytest.approx(expected, rel=relative, abs=1e-300)


def compare_list(shown, expected, where, undecided=(), paths=False, values=True):
    """Every value of an answer: calculated as it should be, or not at all. -> how many were calculated"""
    count = 0
    assert len(shown) == len(expected), where
    for item, value in zip(shown, expected):
        place, path, (got, why) = '%s %s' % (where, value.path), one(item, 'pcq.path'), cooked(item)
        assert not paths or path is not None and shows(path, value.path), '%s: %r' % (place, path)
        if value.type in undecided or not values:
            continue
        if isinstance(value.raw, str):
            assert got is None, place
        elif value.cooked is None:
            assert got is None and why, '%s: %r, but nothing can be calculated' % (place, got)
        else:
            assert got == close_to(value.cooked), '%s: %r (%s), expected %r' % (place, got, why, value.cooked)
            count += 1
    return count


def compare_values(frames, scenario, undecided=(), **how):
    found = [(number, m.record['values']) for number, there in sorted(scenario.frames.items()) for m in there
             if m.kind == 'response' and 'values' in m.record]
    assert found, 'nothing to compare'
    return sum(compare_list(frames[number].values, expected, 'frame %d' % number, undecided, **how) for number, expected in found)


def compare_paths(frames, scenario):
    compare_values(frames, scenario, paths=True, values=False)


ASSUMED = 'pcq.expert.order_assumed'


def paths(frame):
    return [one(x, 'pcq.path') for x in frame.values]


def truth(message):
    return [v.path for v in message.record['values']]


def marks(frames, scenario):
    """For each sample: named as it is ('+'), marked ('?'), or without names ('-')."""
    shown = [(frames[number], message) for number, message in answers(scenario)]
    return ''.join('?' if ASSUMED in f.experts else '-' if not any(paths(f)) else '+' if paths(f) == truth(m) else 'false' for f, m in shown)


def by_path(frame):
    """{path: (calculated value, reason)}; the last of equal paths"""
    return {one(x, 'pcq.path'): cooked(x) for x in frame.values}
