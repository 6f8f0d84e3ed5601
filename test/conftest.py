# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark with the plugin, and how its answers are read and compared."""

import gc
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

import pytest

TOP = Path(__file__).resolve().parent.parent
# What the tests share: helpers, scenarios, and what a module has for another's
sys.path += [str(TOP / 'test' / 'lib'), str(TOP / 'test' / 'tools'), *sorted({str(p.parent) for p in (TOP / 'test').glob('*/test_*.py')})]

from forks import Forks  # noqa: E402
from gen.buffers import FILETIME_EPOCH  # noqa: E402
from gen.record import GAP  # noqa: E402
from gen.server import bounded  # noqa: E402

gc.set_threshold(1 << 20)      # what is read and made here has no cycles
TSHARK = os.environ.get('TSHARK', 'tshark')
FOLDERS = itertools.count(1)
# What that tshark's system has not: words of tests' names, and fixtures
WITHOUT = os.environ.get('PCQ_WITHOUT', '').split()

# The contract's wire fields (with the structure nodes): what is compared, in order. The plugin may show more.
WIRE = frozenset('pcq.' + name for name in '''
    machine handle in_size out_size rtn_size request_code lcid add status reserved detail_level
    counterset.guid counterset.type counterset.num_counters counterset.instance_type counterset.name
    counterset.description counterset_reg_info counter_reg_info provider.name provider.guid
    counter.id counter.type counter.attrib counter.default_scale counter.base_id counter.perf_time_id
    counter.perf_freq_id counter.multi_id counter.aggregate_func counter.name counter.description
    counter.type.size counter.type.kind counter.type.subtype counter.type.timer counter.type.delta
    counter.type.delta_base counter.type.inverse counter.type.multi counter.type.display
    counter.attrib.reference counter.attrib.no_display counter.attrib.no_group_separator
    counter.attrib.display_as_real counter.attrib.display_as_hex
    string_buffer string_buffer.size string_buffer.num_counters string_counter string.offset
    instance instance.size instance.id instance.name
    identifier identifier.status identifier.size identifier.index
    data_header data.total_size data.num_counters data.perf_time_stamp data.perf_time_100ns data.perf_freq
    data.system_time block block.status block.type block.size
    multi_counters multi_counters.size multi_counters.count multi_instances multi_instances.size
    multi_instances.count counter_data value.data_size value.size value value.text value.raw'''.split())
BYTES = {'pcq.handle', 'pcq.value.raw'}
STATUSES = {'pcq.status': 'pcq.expert.call_failed', 'pcq.block.status': 'pcq.expert.block_failed',
            'pcq.identifier.status': 'pcq.expert.counter_refused'}
GUIDS = {'pcq.counterset.guid', 'pcq.provider.guid'}
MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()


class Shown(NamedTuple):
    """A field as PDML has it."""
    name: str
    show: str
    value: str
    pos: int
    size: int
    label: str


# All of a packet that is looked at: what is in an encrypted message of SMB stands below that
FRAME = 'pcq smb2 _ws.malformed _ws.short _ws.unreassembled'


class Frame:
    """What one frame shows of the plugin."""

    def __init__(self, number):
        self.number, self.fields, self.experts, self.malformed, self.bug = number, [], [], False, False

    @property
    def wire(self):
        return [f for f in self.fields if f.size > 0 and f.name in WIRE]

    def all(self, name):
        return [f for f in self.fields if f.name == name]

    def numbers(self, name):
        return [int(f.show, 0) for f in self.all(name)]


def date_of(show):
    """(year, month, day, hour, minute, second, nanoseconds) of an absolute time in either of tshark's forms."""
    m = re.match(r'([A-Z][a-z]{2}) +(\d+), (\d+) (\d+):(\d+):(\d+)\.(\d+)', show)
    if m:
        month, day, year = MONTHS.index(m[1]) + 1, int(m[2]), int(m[3])
        rest = m.groups()[3:]
    else:
        m = re.match(r'(\d+)-(\d+)-(\d+)[T ](\d+):(\d+):(\d+)\.(\d+)', show)
        assert m, 'not a time: %r' % show
        year, month, day = int(m[1]), int(m[2]), int(m[3])
        rest = m.groups()[3:]
    return (year, month, day, *map(int, rest[:3]), int(rest[3].ljust(9, '0')))


def filetime_date(filetime):
    import datetime
    t = FILETIME_EPOCH + datetime.timedelta(seconds=filetime // 10000000)
    return (t.year, t.month, t.day, t.hour, t.minute, t.second, filetime % 10000000 * 100)


def shown_as(text):
    """A string as PDML shows it: XML turns white space into blanks, tshark escapes what XML cannot hold."""
    if text.isprintable():
        return text
    text = re.sub('[\ud800-\udfff]', '\ufffd', text)
    return ''.join(' ' if c in '\t\n\r' else '\\x%x' % ord(c) if c < ' ' or c == '\x7f' else c for c in text)


NAMES = {'pcq.' + name for name in 'machine counterset.name counter.name instance.name provider.name'.split()}


def same(shown, field):
    """Does what is shown mean the expected value?"""
    value, show = field.value, shown.show
    if value is None:
        return True
    if field.name.endswith('.perf_time_100ns') and show == 'Not representable':
        # the C library of Windows ends with the year 3000
        return TSHARK.endswith('.exe') and filetime_date(value)[0] > 3000
    if field.name.endswith('.perf_time_100ns'):
        return date_of(show) == filetime_date(value)
    if field.name.endswith('.system_time'):
        return '%04d-%02d-%02dT%02d:%02d:%02d.%03d' % (*date_of(show)[:6], date_of(show)[6] // 1000000) == value
    if isinstance(value, bool):
        return show.lower() in (('1', 'true') if value else ('0', 'false'))
    if isinstance(value, int):
        return int(show, 0) == value
    if field.name in BYTES:
        return show.replace(':', '').lower() == value
    if field.name in GUIDS:
        return show.lower().strip('{}') == value
    return show == shown_as(bounded(value) if field.name in NAMES else value)


def brief(fields):
    return ['%s=%s' % (f.name.removeprefix('pcq.'), f.show if isinstance(f, Shown) else f.value) for f in fields]


def segments(fields):
    """The runs of expected fields between gaps."""
    out = [[]]
    for f in fields:
        if f.name == GAP:
            out.append([])
        else:
            out[-1].append(f)
    return out


def compare_run(shown, expected, message, frame_bytes, where):
    """A run of wire fields: order, values, and exactly the field's bytes."""
    for i, field in enumerate(expected):
        assert i < len(shown), '%s: ends before field %d, %s' % (where, i, brief(expected[i:i + 4]))
        got = shown[i]
        assert got.name == field.name, '%s: field %d: expected %s, got %s; after %s' % (
            where, i, brief(expected[i:i + 4]), brief(shown[i:i + 4]), brief(shown[max(0, i - 3):i]))
        assert same(got, field), '%s: field %d: expected %r, got %r' % (where, i, field, got)
    compare_places(shown, expected, message, frame_bytes, where)


def compare_places(shown, expected, message, frame_bytes, where):
    """In one run all offsets count from the same byte: the stub's first, wherever the data source has it."""
    base = len(frame_bytes) - len(message.stub) if message.stub and frame_bytes.endswith(message.stub) else None
    for got, field in zip(shown, expected):
        base = got.pos - field.offset if base is None else base
        assert got.pos - base == field.offset, '%s: %s at %d, expected at %d' % (where, got.name, got.pos - base, field.offset)
        if field.value is None:
            continue
        assert got.size == field.length, '%s: %s covers %d bytes, expected %d' % (where, got.name, got.size, field.length)
        if not field.name.startswith(('pcq.counter.type.', 'pcq.counter.attrib.')):
            raw = message.stub[field.offset:field.offset + field.length].hex()
            assert got.value == raw, '%s: %s highlights %s, expected %s' % (where, got.name, got.value, raw)


def compare_message(shown, message, frame_bytes=b'', where=''):
    """-> what is left of the shown fields. Behind a gap the next expected run has to come up somewhere."""
    runs = segments(message.fields)
    for k, run in enumerate(runs):
        if k and run:
            names = [f.name for f in run]
            at = [i for i in range(len(shown)) if [s.name for s in shown[i:i + len(run)]] == names and
                  all(same(s, f) for s, f in zip(shown[i:], run))]
            assert at, '%s: nowhere behind the damage: %s; there is %s' % (where, brief(run[:4]), brief(shown[:40]))
            shown = shown[at[-1] if k + 1 == len(runs) else at[0]:]
        elif k:
            return []
        compare_run(shown, run, message, frame_bytes, where)
        shown = shown[len(run):]
    return shown


def compare_experts(frame, messages, where, chat=(), is_cut=False, is_fault=False):
    """Those that must be there ('a|b': one of both; 'malformed': Wireshark's own); on a good message none but an error status's. A
    frame that was not captured whole says so."""
    shown = {*frame.experts, *(['malformed'] if frame.malformed else [])}
    wanted = [w.split('|') for m in messages for w in m.experts]
    for w in wanted:
        assert all(w), '%s: an expectation that nothing can fail: %s' % (where, w)
        names = {n if n == 'malformed' else 'pcq.expert.' + n for n in w}
        assert names & shown, '%s: no %s among %s' % (where, w, shown)
    if not wanted:
        may = {STATUSES[f.name] for m in messages for f in m.fields if f.name in STATUSES and f.value}
        # ... of which the one of a block stands where it begins, and where it ends
        may |= {'pcq.expert.block_failed', 'pcq.expert.not_delivered'} if any(f.name == 'pcq.block.status' for m in messages for f in m.fields) else set()
        may |= {'pcq.expert.' + c for c in (*chat, *(['call_failed'] if is_fault else []))}
        assert set(frame.experts) <= may, '%s: experts on a good message: %s' % (where, frame.experts)
        assert frame.malformed == is_cut, '%s: malformed: %s' % (where, frame.malformed)


def compare_scenario(frames, scenario):
    """Every message of a scenario, and that no other frame shows a wire field."""
    assert scenario.frames, '%s: nothing to compare' % scenario.name
    for number, messages in scenario.frames.items():
        where = '%s frame %d' % (scenario.name, number)
        assert number in frames, where + ': not in the capture'
        shown = frames[number].wire
        for message in messages:
            shown = compare_message(shown, message, scenario.capture.frames[number - 1][1],
                                    '%s %s opnum %d' % (where, message.kind, message.opnum))
        assert not shown, '%s: %d fields too many: %s' % (where, len(shown), brief(shown[:6]))
    for number, frame in frames.items():
        assert number in scenario.frames or not frame.wire, '%s frame %d: unexpected %s' % (
            scenario.name, number, brief(frame.wire[:4]))


def compare_scenario_experts(frames, scenario):
    assert set(scenario.frames) <= set(frames), '%s: not in the capture: %s' % (scenario.name, set(scenario.frames) - set(frames))
    for number, frame in frames.items():
        messages = scenario.frames.get(number, [])
        compare_experts(frame, messages, '%s frame %d' % (scenario.name, number), scenario.chat, number in scenario.capture.cut,
                        number in scenario.capture.faults)


# What the older tsharks read at each start, in half of its time, and no test looks at: names of makers, ports and
# enterprises. Newer ones have them compiled in.
READ_AT_START = {'manuf', 'services', 'enterprises.tsv', 'dtds', 'init.lua'}


def lean_data(env, folder):
    """-> surroundings in which a tshark that reads these files finds them empty, else the same"""
    out = subprocess.run([TSHARK, '-G', 'folders'], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    found = re.search(r'^Global configuration:\s*(/.*)$', out, re.M)
    if not found or not (Path(found[1]) / 'manuf').is_file():
        return env
    for path in Path(found[1]).iterdir():
        if path.name not in READ_AT_START:
            (folder / path.name).symlink_to(path)
        elif path.is_dir():
            (folder / path.name).mkdir()
        else:
            (folder / path.name).touch()
    return dict(env, WIRESHARK_DATA_DIR=str(folder))


class TShark:
    """Runs tshark with a home of its own."""

    def __init__(self, home, data):
        self.env = dict(os.environ, HOME=str(home), TZ='UTC', LC_ALL='C.UTF-8', WIRESHARK_ABORT_ON_DISSECTOR_BUG='1',
                        WIRESHARK_ABORT_ON_TOO_MANY_ITEMS='1')
        self.env.setdefault('WIRESHARK_PLUGIN_DIR', str(TOP / 'build' / 'plugins'))
        self.env.pop('XDG_CONFIG_HOME', None)
        self.env = lean_data(self.env, data)
        self.forks = Forks(TSHARK, data)

    def start(self, *args, env=None, timeout=120):
        return self.forks.run([str(a) for a in args], env or self.env, timeout)

    def run(self, *args, timeout=120):
        done = self.start(*args, timeout=timeout)
        out, err = done.stdout.decode('utf-8', 'replace'), done.stderr.decode('utf-8', 'replace')
        assert done.returncode == 0, 'tshark %s: exit status %d\n%s' % (' '.join(map(str, args)), done.returncode, err)
        for bad in ('Dissector bug', 'DISSECTOR BUG', 'STATUS: Program crashed', 'GLib-CRITICAL', 'GLib CRITICAL', '** ERROR'):
            assert bad not in out and bad not in err, bad
        return out, err

    def pdml(self, path, *args, two_pass=False, timeout=120):
        """{frame number: Frame}"""
        out, _ = self.run('-r', path, '-T', 'pdml', '-J', FRAME, *(['-2'] if two_pass else []), *args, timeout=timeout)
        frames = {}
        for packet in ElementTree.fromstring(out.encode('utf-8')).iter('packet'):
            frame = self._frame(packet)
            frames[frame.number] = frame
        return frames

    @staticmethod
    def _frame(packet):
        frame = None
        for e in packet.iter():
            get = e.get
            name = get('name', '')
            if name.startswith('pcq.expert'):
                frame.experts.append(name)
            elif name.startswith('pcq.'):
                frame.fields.append(Shown(name, get('show', ''), get('unmaskedvalue') or get('value', ''), int(get('pos', 0)),
                                          int(get('size', 0)), get('showname', '')))
            elif name == 'num' and frame is None:
                frame = Frame(int(get('show')))
            elif name.startswith(('_ws.malformed', '_ws.short')) or name == '_ws.unreassembled':
                frame.malformed = True
        return frame

    def fields(self, path, names, *args):
        """Rows of lists: what -T fields prints of each frame."""
        cols = [x for n in names for x in ('-e', n)]
        out, _ = self.run('-r', path, '-T', 'fields', *cols, '-E', 'separator=/t', *args)
        return [line.split('\t') for line in out.splitlines()]

    def json(self, path, *args):
        out, _ = self.run('-r', path, '-T', 'json', *args)
        return json.loads(out, object_pairs_hook=list)

    def info(self, path, *args):
        """{frame number: Info column}, from the packet list: 4.4 doubles the backslashes of fields"""
        out, _ = self.run('-r', path, '-o', 'gui.column.format:"No.","%m","Info","%i"', *args)
        return {int(n): text for n, _, text in (line.strip().partition(' ') for line in out.splitlines())}


def pytest_configure(config):
    if os.geteuid() == 0:
        pytest.exit('Wireshark gives root no plugins: run the tests as another user (script/test does)', 2)


def pytest_collection_modifyitems(config, items):
    apart = [i for i in items if any(word in i.nodeid or word in i.fixturenames for word in WITHOUT)]
    if apart:
        config.hook.pytest_deselected(items=apart)
        items[:] = [i for i in items if i not in apart]


@pytest.fixture(scope='session')
def tshark(tmp_path_factory):
    assert shutil.which(TSHARK), 'no tshark'
    t = TShark(tmp_path_factory.mktemp('home'), tmp_path_factory.mktemp('data'))
    out, err = t.run('-G', 'plugins')
    # tshark goes on without a plugin that it cannot load
    assert re.search(r'^pcq\b', out, re.M), 'the plugin is not loaded: %s' % err
    yield t
    t.forks.end()


@pytest.fixture
def tmp_path(request, tmp_path_factory):
    """pytest's own looks at all the folders there are for each new one."""
    name = re.sub(r'\W', '_', request.node.name)[:30]
    return tmp_path_factory.mktemp('%d-%s' % (next(FOLDERS), name), numbered=False)


PASSES = dict(ids=['one-pass', 'two-pass'])


@pytest.fixture(params=[False, True], **PASSES)
def two_pass(request):
    """A test that takes it is run for a capture that is read once, and for one that is read twice."""
    return request.param


@pytest.fixture(params=[[], ['-2']], **PASSES)
def passes(request):
    """The same, as tshark's options"""
    return request.param


@pytest.fixture
def shown(tshark, tmp_path):
    """shown(scenario) -> its frames"""
    def show(scenario, *args, **kw):
        path = tmp_path / ((re.sub(r'\W+', '-', scenario.name) or 'scenario') + '.pcap')
        return tshark.pdml(scenario.write(path), *scenario.options, *args, **kw)
    return show


@pytest.fixture(scope='session')
def read(tshark):
    """read(name, make) -> (Scenario, its frames), each committed capture dissected once; test_order.py compares two passes with one"""
    seen = {}

    def get(name, make):
        if name not in seen:
            scenario = make()
            scenario.name = name
            path = TOP / 'test' / 'pcaps' / 'plain' / (name + '.pcap')
            seen[name] = scenario, tshark.pdml(path, *scenario.options)
        return seen[name]
    return get
