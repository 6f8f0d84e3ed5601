# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the captures that the tests of a file write for themselves together: small ones always, others where each run of
tshark is a start of it (forks.py), which is most of what they cost.

Before a file's first test all its tests are tried: each goes to where it asks tshark to show a capture, and no further. What
was asked in the same way is written into one capture, each scene with addresses of its own; tshark reads it once, and its
answer is cut into what each scene alone would have shown, with the numbers of its own frames. Then they run, and find
their answers; those that ask once more are tried once more. What was not asked before is read alone, and so is that at which
tshark fails, that the test fails whose scene it is.

A file's tests are read together that says so: pytestmark = pytest.mark.together, or together(small=True). Tests of it that
look at what others of the same capture change (numbers of queries, limits of a capture, addresses) are marked alone.
"""

import hashlib
import ipaddress
import os
import re
import struct
import subprocess
from typing import NamedTuple

import pytest
from _pytest.runner import runtestprotocol

import forks
from gen.pcap import SESSION

ROUNDS = 4                  # tests that ask more often one after the other are slow
MOST = 4 << 20              # bytes of a capture
SCENES = 60000              # in a capture: two bytes of an address
HEADER = struct.pack('<IHHiI', 0xA1B2C3D4, 2, 4, 0, 0)
COLUMNS = 'gui.column.format:"No."'
# What others of the same capture change, as a filter or column, and what is of a run as a whole
NOT_ITS_OWN = re.compile(r'\bframe\.(?!number$)|(_in|previous|stream|number) ?[=<>!]|^tcp\.stream|^(pcq\.query|hkpd\.handle)\.number|'
                         'names_file|limit')
OF_THE_RUN = {'-q', '-z', '-c', '-w', '-V', '-M', '-n', '-C', '--export-objects'}

# What is changed in what tshark shows: numbers of frames, in words too, and addresses
NUMBER = re.compile('name="num"[^>]* show="([0-9]+)"')
WORDS = re.compile('(rame:? )([0-9]+)')
ADDRESS = re.compile(r'\b10[.][0-9]+[.][0-9]+[.][0-9]+\b|\b2001:db8::a[0-9a-f]{2}:[0-9a-f]+\b')
OF_FRAME = re.compile('()([0-9]+)')
INFO = re.compile('(^ *|rame )([0-9]+)')


class Asked(pytest.skip.Exception):
    """The test has asked something that is not known yet."""


class Question(NamedTuple):
    way: tuple              # tshark's arguments but for the capture
    capture: bytes


def question(args):
    """-> Question, or None if the answer could not be cut"""
    words = [str(a) for a in args]
    if words.count('-r') != 1 or OF_THE_RUN & set(words):
        return None
    at = words.index('-r')
    way = tuple(words[:at] + words[at + 2:])
    if not shape(way) or any(NOT_ITS_OWN.search(w) for w in way):
        return None
    with open(words[at + 1], 'rb') as f:
        capture = f.read(MOST)
    is_ours = capture.startswith(HEADER) and struct.unpack_from('<I', capture, 20) == (1,) and 24 < len(capture) < MOST
    return Question(way, capture) if is_ours else None


def shape(way):
    """The form of the answer: pdml, fields, info, or None"""
    if '-T' not in way:
        return 'info' if any(w.startswith(COLUMNS) for w in way) else None
    form = way[way.index('-T') + 1]
    if form == 'fields':
        is_plain = all(k == 'separator=/t' or k.startswith(('aggregator', 'occurrence')) for k in after(way, '-E'))
        return form if is_plain and 'frame.number' not in after(way, '-e')[1:] else None
    return form if form == 'pdml' else None


def after(way, option):
    """What is given with that option"""
    return [w for before, w in zip(way, way[1:]) if before == option]


# --- One capture of many ---------------------------------------------------------------------------------------------


def packets(capture):
    """[(header, frame)]"""
    at, out = 24, []
    while at < len(capture):
        size, = struct.unpack_from('<I', capture, at + 8)
        out.append((capture[at:at + 16], capture[at + 16:at + 16 + size]))
        at += 16 + size
    return out


def addresses(frame):
    """[(place, size)] of the frame's addresses"""
    kind = frame[12:14]
    return [(26, 4), (30, 4)] if kind == b'\x08\0' else [(22, 16), (38, 16)] if kind == b'\x86\xdd' else []


def own_addresses(frames, number):
    """{address: one that no other scene has}, in the same order, so that what is sorted by them stays"""
    old = sorted({f[at:at + size] for _, f in frames for at, size in addresses(f)})
    return {a: a[:-4] + struct.pack('>BHB', 10, number, i) for i, a in enumerate(old, 1)}


def apart(frames, number, new):
    """The frames with new addresses, and with sessions of SMB that no other scene has: Wireshark 4.6 takes sessions of one
    number for one."""
    for head, frame in frames:
        frame = bytearray(frame.replace(struct.pack('<Q', SESSION), struct.pack('<Q', SESSION + number)))
        for at, size in addresses(frame):
            frame[at:at + size] = new[bytes(frame[at:at + size])]
        yield head + frame


class Share(NamedTuple):
    """What a scene has of the whole."""
    first: int              # its first frame's number
    last: int
    addresses: dict         # as the whole has them: as they are
    starts: set             # what one of them or another begins with

    def number(self, m):
        """A match's last part, if it is the number of a frame of these, counted from its own first."""
        n = int(m[2])
        return m[1] + str(n - self.first + 1) if self.first <= n <= self.last else m[0]

    def with_addresses(self, text):
        """The text with the addresses as they are"""
        if not any(start in text for start in self.starts):
            return text
        return ADDRESS.sub(lambda m: self.addresses.get(m[0], m[0]), text)


def write(path, captures):
    """-> [Share]"""
    shares, count = [], 0
    with open(path, 'wb') as f:
        f.write(captures[0][:24])
        for number, capture in enumerate(captures):
            frames = packets(capture)
            new = own_addresses(frames, number)
            f.write(b''.join(apart(frames, number, new)))
            shown = {str(ipaddress.ip_address(b)): str(ipaddress.ip_address(a)) for a, b in new.items()}
            shares.append(Share(count + 1, count + len(frames), shown, {re.sub('[.:][^.:]*$', '', a) for a in shown}))
            count += len(frames)
    return shares


# --- The answer, cut -------------------------------------------------------------------------------------------------


class Cut:
    """Cuts what tshark said of the whole into what it says of each scene."""

    def __init__(self, way, shares, frame_fields):
        self.way, self.shares, self.frame_fields = way, shares, frame_fields

    def answers(self, out):
        return getattr(self, shape(self.way))(out)

    def divided(self, numbered):
        """[(number of the frame, text)] -> [(share, [text…])]"""
        texts = [[] for _ in self.shares]
        k = 0
        for number, text in sorted(numbered, key=lambda r: r[0]):
            while number > self.shares[k].last:
                k += 1
            texts[k].append(self.shares[k].with_addresses(text))
        return zip(self.shares, texts)

    def pdml(self, out):
        start, *frames = re.split('^(?=<packet>$)', out, flags=re.M)
        assert frames or '-Y' in self.way, 'no frames'
        end = '</pdml>\n'
        numbered = [(int(NUMBER.search(f)[1]), f.removesuffix(end)) for f in frames]
        names = '|'.join(map(re.escape, ['num', 'frame.number', *self.frame_fields]))
        field = re.compile('(<field name="(?:%s)"[^>]* show=")([0-9]+)(?=")' % names)
        for share, texts in self.divided(numbered):
            text = ''.join(texts)
            yield start.removesuffix(end) + WORDS.sub(share.number, field.sub(share.number, text)) + end

    def fields(self, out):
        columns = after(self.way, '-e')
        of_frames = {i for i, name in enumerate(columns) if name in self.frame_fields or name == 'frame.number'}
        # what is shown may have ends of lines in it
        rows = re.split(r'^(?=[0-9]+[\t\n])', out, flags=re.M)[1:]
        numbered = [(int(re.match('[0-9]+', r)[0]), r if columns[0] == 'frame.number' else r.partition('\t')[2]) for r in rows]
        for share, rows in self.divided(numbered):
            yield ''.join('\t'.join((OF_FRAME if i in of_frames else WORDS).sub(share.number, cell)
                                    for i, cell in enumerate(row.split('\t'))) for row in rows)

    def info(self, out):
        numbered = [(int(line.split(None, 1)[0]), line) for line in out.splitlines()]
        for share, lines in self.divided(numbered):
            yield ''.join(INFO.sub(share.number, line) + '\n' for line in lines)


# --- Who asks ----------------------------------------------------------------------------------------------------------


class Together:
    """What was asked, and is known, of one file's captures."""

    def __init__(self):
        self.file, self.trying, self.test = None, False, None
        self.known, self.asked = {}, {}
        self.has_asked, self.has_ended, self.ran = False, False, {}
        self.tshark, self.folder, self.of_frames = None, None, None

    def of(self, tshark, folder):
        """That tshark reads into that folder."""
        self.tshark, self.folder = tshark, folder
        return self

    def frame_fields(self):
        """Fields that are numbers of frames"""
        if self.of_frames is None:
            out = self.tshark.start('-G', 'fields').stdout.decode()
            row = r'^F\t[^\t]*\t((?:pcq|hkpd|dcerpc|smb2|winreg|tcp|ip)[.][^\t]+)\tFT_FRAMENUM\t'
            self.of_frames = set(re.findall(row, out, re.M))
        return self.of_frames

    def answer(self, args):
        """What is known, or None; while tests are tried this test ends here."""
        if self.test is None:
            return None
        q = question(args)
        key = q and (q.way, hashlib.sha1(q.capture).digest())
        if key in self.known:
            return self.known[key]
        if self.trying and not os.environ['PYTEST_CURRENT_TEST'].endswith('(setup)'):
            if q:
                self.asked[key], self.has_asked = q, True
            self.has_ended = True
            raise Asked('asked')
        return None

    def read(self):
        """Reads what was asked, in as few runs as there are ways."""
        ways = {}
        for key, q in self.asked.items():
            parts = ways.setdefault(q.way, [[]])
            is_full = sum(len(self.asked[k].capture) for k in parts[-1]) + len(q.capture) > MOST or len(parts[-1]) == SCENES
            if is_full and parts[-1]:
                parts.append([])
            parts[-1].append(key)
        for way, parts in ways.items():
            for keys in parts:
                self.read_part(way, keys)
        self.asked = {}

    def read_part(self, way, keys):
        path = self.folder / 'together.pcap'
        shares = write(path, [self.asked[k].capture for k in keys])
        words = list(way)
        if shape(way) == 'fields' and words[words.index('-e') + 1] != 'frame.number':     # a field has one column only
            at = words.index('-e')
            words[at:at] = ['-e', 'frame.number']
        try:
            out, _ = self.tshark.run_alone('-r', path, *words, timeout=600)
        except (AssertionError, subprocess.TimeoutExpired):
            # the other half is read; at last one is alone, and it is known whose it is
            half = len(keys) // 2
            for part in [keys[:half], keys[half:]] if half else []:
                self.read_part(way, part)
            return
        self.known.update(zip(keys, Cut(way, shares, self.frame_fields()).answers(out.replace('\r\n', '\n'))))

    def begin(self, item):
        """Before each test; before the first of a file all of them are tried. -> what pytest has to say of it, if it ran"""
        if self.file != item.fspath:
            self.file, self.known, self.ran = item.fspath, {}, {}
            self.try_all([i for i in item.session.items if i.fspath == self.file and is_together(i)])
        self.test = item if is_together(item) else None
        return self.ran.pop(item, None)

    def try_all(self, items):
        self.trying = True
        ask = items if len(items) > 1 else []
        for _ in range(ROUNDS):
            ask = [i for i in ask if self.tries(i, items[i is items[0]])]
            self.read()
        self.trying = False

    def tries(self, item, another):
        """Does it ask? If it came to its end it has run. What the file shares stays for another test."""
        self.test, self.has_asked, self.has_ended = item, False, False
        reports = runtestprotocol(item, log=False, nextitem=another)
        if not self.has_ended:
            self.ran[item] = reports
        return self.has_asked


def is_together(item):
    """Where a run is a start: else it costs less than the trying and cutting, but for captures of a frame or two."""
    mark = item.get_closest_marker('together')
    is_worth_it = mark and (mark.kwargs.get('small') or not forks.can_be(os.environ.get('TSHARK', 'tshark')))
    return is_worth_it and not item.get_closest_marker('alone')


TOGETHER = Together()
