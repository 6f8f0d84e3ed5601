# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input, one capture for each class. Every message says what must still be right (a gap stands for what nobody
can know) and which experts must be there."""

import functools
import random
import struct

from . import buffers, model, stubs
from .buffers import NONE
from .record import GAP_FIELD, Record
from .scenario import Scenario, tcp_line
from .server import Model
from .stubs import CLOSE, DATA, ENUMERATE, INFO, INSTANCES, OPEN, REG_INFO, VALIDATE

DAMAGE = {}
MACHINE = '\\\\SRV01'
GUID = str(model.uuid.uuid5(model.NAMESPACE, 'damaged'))
STAMP, FILETIME = 1259983709807, 134351767437550592


def damage(make, name=None):
    """Registers a capture as bad-NN-what from a function called bad_NN_what."""
    def build(**representation):
        bench = Bench(**representation)
        make(bench)
        return bench.scenario
    DAMAGE[name or make.__name__.replace('_', '-')] = functools.cache(build)
    return build


def gap(fields, start, stop=None):
    """The fields with a hole in place of those from start to stop."""
    return [*fields[:start], GAP_FIELD, *(fields[stop:] if stop is not None else [])]


def hides_data(fields):
    """A response of which what lpData holds is anybody's guess; hides_rest: the status, too."""
    return gap(fields, 2, -1)


def hides_rest(fields):
    return gap(fields, 2)


def up_to(fields, length):
    """The fields that end within the first `length` bytes, and a hole where there were more. A structure node goes
    with its first field."""
    kept = []
    for i, f in enumerate(fields):
        if f.offset + f.length > length and f.value is not None:
            return kept + [GAP_FIELD]
        if f.value is None:
            first = next((x for x in fields[i + 1:] if x.value is not None), None)
            if first is None or first.offset + first.length > length:
                return kept + [GAP_FIELD]
        kept.append(f)
    return kept


class Bench:
    """A connection on which single calls are made, right or wrong."""

    def __init__(self, scenario=None, order='<', ndr64=False, **options):
        self.scenario = scenario or Scenario()
        self.line = tcp_line(self.scenario, Model(), order, ndr64, **options)
        self.order, self.ndr64 = order, ndr64
        self._handle = None

    def another(self, **options):
        """One more connection in the same capture."""
        return tcp_line(self.scenario, Model(), self.order, self.ndr64, **options)

    def request(self, opnum, **p):
        return stubs.request(opnum, self.order, self.ndr64, **p)

    def response(self, opnum, **p):
        return stubs.response(opnum, self.order, self.ndr64, **p)

    @property
    def handle(self):
        if self._handle is None:
            self._handle = self.line.client().open()
        return self._handle

    def parameters(self, opnum, **p):
        if opnum in (ENUMERATE, REG_INFO, INSTANCES, OPEN):
            p.setdefault('szMachine', MACHINE)
        else:
            p['hQuery'] = p.get('hQuery') or self.handle
        if opnum in (REG_INFO, INSTANCES):
            p.setdefault('CounterSetGuid', GUID)
        if opnum == REG_INFO:
            p.setdefault('RequestCode', 1)
            p.setdefault('RequestLCID', 0)
        if opnum not in (OPEN, CLOSE, VALIDATE):
            p.setdefault('dwInSize', 256 if opnum == ENUMERATE else 8192)
        if opnum == VALIDATE:
            p.setdefault('dwAdd', 1)
        return p

    def ask(self, opnum, experts=(), stub=None, fields=None, **p):
        """A request; stub sends other bytes than the parameters', fields expects others."""
        r = self.request(opnum, **self.parameters(opnum, **p)) if stub is None else stub
        return self.line.request(opnum, r, fields, experts=experts)

    def lose_half(self, opnum):
        """A request in two fragments of which the capture has the first."""
        rpc = self.line.rpc
        most, rpc.max_frag = rpc.max_frag, 24 + 16
        first, *rest = rpc.request_pdus(opnum, bytes(self.request(opnum, **self.parameters(opnum))))
        rpc.transport.to_server([first])
        rpc.transport.skip(0, b''.join(rest))
        rpc.max_frag = most

    def answer(self, opnum, data=None, experts=(), stub=None, fields=None, in_size=None, order=None, **p):
        if stub is None:
            if opnum not in (OPEN, CLOSE, VALIDATE):
                p['in_size'] = (256 if opnum == ENUMERATE else 8192) if in_size is None else in_size
            stub = self.response(opnum, data=data, **p)
        if callable(fields):
            fields = fields(stub.fields)
        return self.line.response(opnum, stub, fields, experts=experts, **(dict(order=order) if order else {}))

    def both(self, opnum, data=None, experts=(), fields=None, request=None, **p):
        """A good request and the answer in question."""
        self.ask(opnum, **(request or {}))
        return self.answer(opnum, data, experts, fields=fields, **p)

    def reg(self, code, data, experts=(), fields=None, in_size=8192, **p):
        return self.both(REG_INFO, data, experts, fields, dict(RequestCode=code, dwInSize=in_size), in_size=in_size, **p)

    def data(self, blocks, experts=(), hole=None, tail=True, **header):
        """An answer with these blocks. hole: (position, number) of the block that is damaged and of its fields that
        are certain all the same; tail: what follows that block is certain, not only the status."""
        buffer = buffers.data_buffer(blocks, STAMP, FILETIME, **header)
        fields = None
        if hole is not None:
            position, keep = hole
            start = 2 + 7 + sum(len(b.fields) for b in blocks[:position])

            def fields(f):
                return gap(f, start + keep, start + len(blocks[position].fields) if tail else -1)
        return self.both(DATA, buffer, experts, fields)


def some_counters(n=3, **first):
    r = Record()
    for i in range(n):
        r.add(buffers.counter_reg_info(i, 0x10410400, **(first if i == 0 else {})))
    return r


NAMES = [(1, 'first'), (2, 'second one'), (7, 'third')]
GOOD_BLOCK = (buffers.single_block(4711, 8),)
BLOCK_HEADER = 5        # fields of a block's header with its node


# --- NDR ---------------------------------------------------------------------------------------------------

@damage
def bad_01_max_count_is_not_in_size(b):
    """The conformance of lpData is not the request's dwInSize."""
    b.both(INSTANCES, buffers.instances([(1, 'one')]), ('array_counts',), max_count=8193)
    b.reg(9, buffers.single_string('pcq.counterset.name', 'Name'), ('array_counts',), max_count=4096)
    b.both(ENUMERATE, [GUID], ('array_counts',), max_count=255)
    idents = buffers.identifiers([dict(guid=GUID, counter_id=1)])
    b.ask(VALIDATE, ('array_counts',), lpData=idents, dwInSize=48)
    b.answer(VALIDATE, idents)          # as long as the request's
    b.ask(VALIDATE, lpData=idents)
    b.answer(VALIDATE, buffers.identifiers([dict(guid=GUID, counter_id=1)] * 2), ('array_counts',))
    b.ask(VALIDATE, lpData=buffers.identifiers([dict(guid=GUID, counter_id=1)] * 2), dwAdd=0)
    b.answer(VALIDATE, idents, ('array_counts',))


@damage
def bad_04_actual_count(b):
    """Nothing where *pdwOutSize says something, less than it says, and 0xFFFFFFFF."""
    b.both(INSTANCES, None, ('array_counts',), out_size=24)
    b.both(INSTANCES, buffers.instances([(1, 'one'), (2, 'two')]), ('array_counts',), hides_data, out_size=16)
    b.both(INSTANCES, buffers.instances([(1, 'one')]), ('array_counts',), hides_rest, actual=0xFFFFFFFF)
    b.both(ENUMERATE, [GUID], ('array_counts',), hides_rest, actual=0xFFFFFFFF)
    b.both(INSTANCES, buffers.instances([(1, 'one')]), ('array_counts',), hides_rest, actual=0xFFFFFFFF,
           out_size=0xFFFFFFFF)


@damage
def bad_05_machine(b):
    """szMachine without terminator, without anything, with lone surrogates, with counts that lie."""
    def machine(text, experts, keep=True, is_read=True, **counts):
        r = stubs.Ndr(b.order, b.ndr64)
        r.machine(text, **counts)
        r.dword('pcq.in_size', 17)
        b.ask(ENUMERATE, experts, r, None if keep else [GAP_FIELD])
        b.answer(ENUMERATE, None, () if is_read else ('request_missing',), in_size=17)
    machine('\\\\SRV', ('text',), terminate=False)
    machine('', ('text',), terminate=False)
    machine('\\\\\ud83d', ('text',))
    machine('\udc00\ud800', ('text',))
    machine('\\\\SRV', ('array_counts',), max_count=3)
    machine('\\\\SRV', ('array_counts',), keep=False, offset=2)
    machine('\\\\SRV', ('array_counts|malformed',), keep=False, is_read=False, actual=0x7FFFFFFF)
    machine('\\\\SRV', ('array_counts|malformed',), keep=False, is_read=False, actual=0xFFFFFFFF, max_count=0xFFFFFFFF)
    machine('odd', ())                      # three characters and a terminator: all is well


@damage
def bad_06_handles(b):
    """All zero, never opened, closed twice, used after it was closed, one of another server."""
    zero = bytes(20)
    for opnum, more in ((INFO, {}), (DATA, {}), (VALIDATE, dict(lpData=buffers.identifiers([dict(guid=GUID)]))), (CLOSE, {})):
        b.ask(opnum, ('handle_null',), stub=b.request(opnum, **b.parameters(opnum, **more) | dict(hQuery=zero)))
        b.line.rpc.fault(0x1C00001A)
    b.ask(DATA, hQuery=bytes(4) + b'never seen open.')
    b.answer(DATA, buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME))
    handle = b.handle
    b.ask(CLOSE, hQuery=handle)
    b.answer(CLOSE)
    for opnum in (CLOSE, DATA, INFO):
        b.ask(opnum, ('handle_closed',), hQuery=handle)
        b.line.rpc.fault(0x1C00001A)
    other = b.another(client_port=50077, server='192.0.2.99')
    other.request(DATA, b.request(DATA, hQuery=handle, dwInSize=0))
    other.response(DATA, b.response(DATA, status=8, rtn_size=48))


@damage
def bad_07_other_representations(b):
    """Damage in NDR64 and big-endian: a count of 2^33, a short stub."""
    for i, (order, ndr64) in enumerate((('<', True), ('>', True), ('>', False))):
        x = Bench(b.scenario, order, ndr64, client_port=51000 + i)
        if ndr64:
            x.both(INSTANCES, buffers.instances([(1, 'one')]), ('array_counts',), hides_data, max_count=1 << 33)
        x.both(ENUMERATE, [GUID], ('array_counts',), hides_data, offset=1)
        full = x.response(DATA, data=buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME), in_size=8192)
        x.ask(DATA)
        x.answer(DATA, stub=bytes(full)[:-40], fields=up_to(full.fields, 8), experts=('malformed',))


@damage
def bad_08_short_stubs(b):
    """Each stub cut before and inside each of its parameters."""
    idents = buffers.identifiers([dict(guid=GUID, counter_id=1, name='*')])
    datas = {ENUMERATE: [GUID, GUID], REG_INFO: some_counters(1), INSTANCES: buffers.instances([(1, 'one')]), INFO: idents,
             DATA: buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME), VALIDATE: idents}
    datas[REG_INFO] = buffers.counterset_reg_info(GUID, 1, 0).add(some_counters(1))
    for opnum in range(8):
        more = dict(lpData=idents) if opnum == VALIDATE else {}
        full = b.request(opnum, **b.parameters(opnum, **more))
        answer = b.response(opnum, data=datas.get(opnum), in_size=256 if opnum == ENUMERATE else 8192,
                                handle=b.handle if opnum == OPEN else stubs.NO_HANDLE)
        for n in cuts(full):
            b.ask(opnum, ('malformed',), bytes(full)[:n], cut_fields(full, n))
            b.line.rpc.fault(0x6F7)
        for k, n in enumerate(cuts(answer)):
            b.ask(opnum, **(dict(hQuery=bytes(19) + bytes([k + 1])) if opnum == CLOSE else more))
            b.answer(opnum, stub=bytes(answer)[:n], fields=cut_fields(answer, n), experts=('malformed',))


SCALARS = {'pcq.' + n for n in ('machine', 'handle', 'in_size', 'out_size', 'rtn_size', 'request_code', 'lcid', 'add', 'status')}


def parameters_of(stub):
    """The fields that are parameters themselves, and where lpData's content begins and ends (None without it)."""
    first = stub.fields[0].name == 'pcq.machine'
    scalars = [f for i, f in enumerate(stub.fields)
               if f.name in SCALARS or (first and i == 1 and f.name == 'pcq.counterset.guid')]
    inside = [f for f in stub.fields if f not in scalars]
    if not inside:
        return scalars, None
    return scalars, (min(f.offset for f in inside), max(f.offset + f.length for f in inside))


def cuts(stub):
    """Lengths of the stub that end before and inside each parameter, in the counts, and inside lpData."""
    scalars, array = parameters_of(stub)
    ends = [f.offset for f in scalars] + [f.offset + f.length // 2 for f in scalars] + [len(stub) - 1]
    if array:
        ends += [array[0] - 12, array[0] - 8, array[0] - 2, array[0], sum(array) // 2]
    if stub.fields[0].name == 'pcq.machine':
        ends += [4, 8, 10]
    return [n for n in sorted(set(ends)) if 2 <= n < len(stub)]


def cut_fields(stub, n):
    """What is certain of a stub cut to n bytes: every parameter before the cut. The content of an lpData that is not
    there in full is anybody's guess."""
    scalars, array = parameters_of(stub)
    if not array or n >= array[1] or n < array[0]:
        return up_to(stub.fields, n)
    return [f for f in scalars if f.offset < array[0]] + [GAP_FIELD]


@damage
def bad_09_trailing_bytes(b):
    """Bytes behind the last parameter, and behind the last structure of a buffer."""
    for opnum, data in ((OPEN, None), (INSTANCES, buffers.instances([(1, 'one')])), (CLOSE, None), (ENUMERATE, [GUID])):
        r = b.request(opnum, **b.parameters(opnum))
        r.pad(4)
        b.ask(opnum, ('trailing_bytes',), bytes(r) + b'\xDE\xAD\xBE\xEF' * 3, r.fields)
        a = b.response(opnum, data=data, in_size=256 if opnum == ENUMERATE else 8192,
                           handle=b'\1' * 20 if opnum == OPEN else stubs.NO_HANDLE)
        b.answer(opnum, stub=bytes(a) + b'\xDE\xAD\xBE\xEF' * 2, fields=a.fields, experts=('trailing_bytes',))
    guid = Record()
    guid.guid('pcq.provider.guid', GUID)
    guid.raw(bytes(8))
    b.reg(8, guid, ('trailing_bytes',))
    text = buffers.single_string('pcq.counterset.name', 'Name')
    text.raw(b'more than that')
    b.reg(3, text, ('trailing_bytes',))
    one = some_counters(1)
    one.raw(bytes(range(16)))
    b.reg(2, one, ('trailing_bytes',))
    behind = buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME)
    behind.raw(b'\x77' * 24)
    b.both(DATA, behind, ('trailing_bytes|size',))


@damage
def bad_10_answers_without_requests(b):
    """Half of the request was not captured; two answers; no answer; a call id used again."""
    for opnum, data in ((REG_INFO, some_counters(1)), (INSTANCES, buffers.instances([(1, 'one')])),
                        (DATA, buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME))):
        b.lose_half(opnum)
        a = b.response(opnum, data=data, in_size=8192)
        fields = gap(a.fields, 2, -1) if opnum == REG_INFO else a.fields
        b.line.response(opnum, a, fields, experts=('request_missing',))
    call = b.line.rpc.call_id
    b.both(ENUMERATE, [GUID])
    b.line.rpc.call_id = call
    b.answer(ENUMERATE, [GUID], ('second_response',))
    b.ask(ENUMERATE)                        # never answered
    b.line.rpc.call_id += 1
    call = b.line.rpc.call_id
    b.both(ENUMERATE, [GUID])
    b.line.rpc.call_id = call               # the same call id for another operation
    b.both(INSTANCES, buffers.instances([(1, 'one')]))
    for opnum in (8, 255, 65535):
        b.line.rpc.request(opnum, b'\0' * 16)
        b.line.rpc.fault(0x1C010002)


@damage
def bad_11_cut_and_lost(b):
    """Frames that were not captured whole (Wireshark hands over none of them: the next ones must be right), segments
    lost and sent again, a fragment lost."""
    a = b.response(DATA, data=buffers.data_buffer([buffers.single_block(i) for i in range(10)], STAMP, FILETIME), in_size=8192)
    for keep in (4, 8, 24, 70, 200, len(a) - 2):
        b.ask(DATA)
        frame = b.answer(DATA, stub=bytes(a), fields=[GAP_FIELD])
        b.scenario.capture.snap(frame, 54 + 24 + keep)
    r = b.request(DATA, **b.parameters(DATA))
    frame = b.ask(DATA, stub=bytes(r), fields=[GAP_FIELD])
    b.scenario.capture.snap(frame, 54 + 24 + 21)
    b.line.rpc.call_id += 1
    big = buffers.data_buffer([buffers.single_block(i) for i in range(400)], STAMP, FILETIME)
    b.ask(DATA, dwInSize=100000)
    b.line.rpc.transport.to_client(b.line.rpc.response_pdus(bytes(b.response(DATA, data=big, in_size=100000))), lose=(2,))
    b.line.rpc.call_id += 1
    again = b.another(client_port=50099)
    again.request(ENUMERATE, b.request(ENUMERATE, szMachine=MACHINE, dwInSize=256))
    many = b.response(ENUMERATE, data=[GUID] * 200, in_size=256)
    again.response(ENUMERATE, many, again=(0, 1))
    small = b.another(client_port=50100, max_frag=200)
    small.request(DATA, b.request(DATA, hQuery=b.handle, dwInSize=100000))
    pdus = small.rpc.response_pdus(bytes(b.response(DATA, data=big, in_size=100000)))
    small.rpc.transport.to_client(pdus[:3])
    small.rpc.transport.skip(1, pdus[3])
    frame = small.rpc.transport.to_client(pdus[4:])     # Wireshark joins what is left without a word
    b.scenario.expect(frame, small.message(DATA, 'response', b'', [GAP_FIELD], None, ('malformed|array_counts|not_decrypted',)))
    small.rpc.call_id += 1
    small.request(ENUMERATE, b.request(ENUMERATE, szMachine=MACHINE, dwInSize=256))
    small.response(ENUMERATE, b.response(ENUMERATE, data=[GUID], in_size=256))


@damage
def bad_11_reordered(b):
    """Segments out of order, put right by tshark where it is asked to."""
    b.scenario.options = ('-o', 'tcp.reassemble_out_of_order:TRUE')
    many = b.response(ENUMERATE, data=[GUID] * 250, in_size=256)
    for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0)):
        b.ask(ENUMERATE)
        b.answer(ENUMERATE, stub=many, order=order)


@damage
def bad_12_sealed_stub_as_clear(b):
    """Bytes of a cipher where a stub should be, in a PDU that was not sealed: damage, and no word of decryption."""
    noise = random.Random(12)
    damage = ('array_counts|malformed|trailing_bytes|in_size_range|text|size|request_code|call_failed',)
    for opnum in range(8):
        b.ask(opnum, damage, noise.randbytes(64), [GAP_FIELD])
        handle_only = opnum in (OPEN, CLOSE)        # a handle and a status may be anything
        b.answer(opnum, stub=noise.randbytes(24 if handle_only else 160), fields=[GAP_FIELD], experts=damage)


# --- Registration ----------------------------------------------------------------------------------------------


@damage
def bad_18_request_codes(b):
    """Codes outside 1 to 10; answers whose size cannot be the code's; an answer whose request is not known."""
    for code in (0, 11, 0xFFFFFFFF):
        b.ask(REG_INFO, ('request_code',), RequestCode=code)
        b.answer(REG_INFO, some_counters(1), (), fields=hides_data)
    for code, data, expert in ((8, raw(15), 'malformed|size|count'), (1, raw(31), 'malformed|size|count'), (2, raw(47), 'malformed|size|count'),
                               (5, raw(7), 'malformed|size|count'), (9, raw(3), 'text'), (9, raw(12, b'A\0'), 'text')):
        b.ask(REG_INFO, RequestCode=code)
        b.answer(REG_INFO, data, (expert,), fields=hides_data)
    b.ask(ENUMERATE, ('in_size_range',), dwInSize=257)
    b.answer(ENUMERATE, [GUID], in_size=257)
    for opnum, most in ((REG_INFO, 134217728), (INSTANCES, 67108864), (INFO, 67108864), (DATA, 1073741824)):
        b.ask(opnum, ('in_size_range',), dwInSize=most + 1)
        b.line.rpc.fault(0x6F7)
        b.ask(opnum, dwInSize=most)
        b.line.rpc.fault(0x6F7)


def raw(n, fill=b'\x11'):
    """Bytes that are expected to be shown in no particular way."""
    r = Record()
    r.raw((fill * n)[:n])
    return r


# --- Strings ---------------------------------------------------------------------------------------------------


@damage
def bad_20_string_offsets(b):
    """Offsets before, inside and behind; odd; none; within a string; a string that two have, and one that never ends."""
    for offset in (4, 8, 31, 34, 0x7FFFFFFE, 0xFFFFFFFE, 4096):
        for base in ('block', 'end') if offset > 34 else ('block',):
            b.reg(10, buffers.string_buffer(NAMES, base=base, offsets={1: offset}), ('string_offset',), holes)
    b.reg(10, buffers.string_buffer(NAMES, offsets={1: NONE}))
    b.reg(10, buffers.string_buffer(NAMES, base='end'), ('string_offset_base',))
    b.reg(6, buffers.string_buffer(NAMES, name='pcq.counter.description'))
    for strings in ([(1, 'first'), (2, None)], [(1, 'first'), (2, None), (3, 'nobody')]):   # two have the first, and may
        r = buffers.string_buffer(strings)
        name = next(f for f in r.fields if f.name == 'pcq.counter.name')
        at = next(k for k, f in enumerate(r.fields) if f.offset == 20 and f.value is not None)
        r.patch(20, 'I', name.offset)
        r.fields.insert(at + 1, name)
        b.reg(10, r)
    b.reg(10, buffers.string_buffer([(1, 'first'), (2, 'ab')], terminate_last=False), ('text',))      # ends with the buffer
    odd = buffers.string_buffer(NAMES, offsets={1: 45})
    b.reg(10, odd, ('string_offset',), holes)


def holes(fields):
    """A string table's answer in which the second string is anybody's guess."""
    second = [i for i, f in enumerate(fields) if f.name == 'pcq.string_counter'][1]
    return gap(fields, second + 3, second + 3)


# --- Instances and identifiers -----------------------------------------------------------------------------------

@damage
def bad_22_sizes(b):
    """Size of an instance or identifier: 0, 7, not a multiple of 8, huge, larger than the rest."""
    for size in (0, 7, 0xFFFFFFF8, 0xFFFFFFFF, 48):
        r = buffers.instances([(1, 'one'), (2, 'two')]).add(buffers.instance(3, 'three', size=size))
        b.both(INSTANCES, r, ('size',), lambda f: gap(f, 2 + 2 * 4, -1))
    bare = Record()
    bare.node('pcq.instance', 8)
    bare.u32('pcq.instance.size', 8)
    bare.u32('pcq.instance.id', 9)
    b.both(INSTANCES, buffers.instances([(1, 'one')]).add(bare).add(buffers.instance(3, 'three')))
    b.both(INSTANCES, buffers.instances([(1, 'one')]).add(buffers.instance(3, 'ninechars', size=28)), ('size',),
           lambda f: gap(f, 2 + 4 + 4, -1))
    good = dict(guid=GUID, counter_id=1, name='good')
    for size in (0, 7, 8, 39, 0xFFFFFFF8, 4096):
        r = buffers.identifiers([good, dict(good, size=size)])
        asked = b.request(VALIDATE, hQuery=b.handle, lpData=r, dwAdd=1)
        b.ask(VALIDATE, ('size',), stub=asked, fields=gap(asked.fields, 2 + 9, -1))
        b.answer(VALIDATE, r, ('call_failed',), fields=lambda f: gap(f, 9, -1), status=87)   # the damage is the request's
        b.both(INFO, r, ('size',), lambda f: gap(f, 2 + 9, -1))
    r = buffers.identifiers([good, dict(good, name='ninechars', size=60)])
    b.both(INFO, r, ('size',), lambda f: gap(f, 2 + 9 + 9, -1))


@damage
def bad_23_names(b):
    """Names that do not end; nothing to remark of long names and names full of signs."""
    b.both(INSTANCES, buffers.instances([(1, 'one')]).add(buffers.instance(2, 'fourfour', terminate=False))
           .add(buffers.instance(3, 'three')), ('text',))
    b.both(INSTANCES, buffers.instances([(1, 'lone \udc00 surrogate')]), ('text',))
    b.both(INSTANCES, buffers.instances([(1, 'a\ud83d'), (2, 'two')]), ('text',))
    cut = buffers.identifier(GUID, 1, 1, 'seven77')
    cut.data[40 + 14:40 + 16] = b'8\0'
    cut.fields[-1] = cut.fields[-1]._replace(value='seven778')
    b.both(INFO, cut, ('text|index',))
    b.both(INSTANCES, buffers.instances([(1, ''), (2, 'n' * 16000), (3, '\x01\x02\x1b[31m'), (4, '‮\u202d‏'),
                                         (5, ')(\\/#*"<&>\''), (6, '%s%n%x')]), in_size=65536, request=dict(dwInSize=65536))
    b.reg(3, buffers.single_string('pcq.counterset.name', 'lone \ud83d'), ('text',))
    b.reg(4, terminated(buffers.single_string('pcq.counterset.description', 'endless'), 2), ('text',))
    b.reg(7, terminated(buffers.single_string('pcq.provider.name', 'odd one'), 1), ('text',), hides_data)


def terminated(record, without):
    """The record without its last bytes."""
    del record.data[-without:]
    record.fields[-1] = record.fields[-1]._replace(length=record.fields[-1].length - without)
    return record


@damage
def bad_26_status_values(b):
    """Codes that no list has are still shown."""
    r = buffers.identifiers([dict(guid=GUID, counter_id=i, status=s) for i, s in
                             enumerate((0x1068, 0xDEADBEEF, 0x80070005, 0xFFFFFFFF, 0xC0000BB8))])
    b.ask(VALIDATE, lpData=buffers.identifiers([dict(guid=GUID, counter_id=i) for i in range(5)]))
    b.answer(VALIDATE, r)
    b.data([buffers.error_block(s) for s in (232, 0xDEADBEEF, 0x800007D0, 0xFFFFFFFF)])
    for status in (5, 6, 0xDEADBEEF, 0x80000000, 0xFFFFFFFF, 1450):
        b.both(INSTANCES, None, status=status)
    b.ask(OPEN)
    b.answer(OPEN, status=1450)
    b.ask(CLOSE, hQuery=b'\2' * 20)
    b.answer(CLOSE, status=5, handle=b'\2' * 20)


# --- Counter data ------------------------------------------------------------------------------------------------


@damage
def bad_29_block_size(b):
    """dwSize of a block: nothing, less than its header, than what is in it, more than there is."""
    for size in (0, 15, 0xFFFFFFF8, 4096):
        wrong = buffers.block(1, buffers.counter_data(1), size=size)
        b.data([*GOOD_BLOCK, wrong, *GOOD_BLOCK], ('size',), hole=(1, BLOCK_HEADER), tail=False)
    empty = buffers.block(1)                # 16: there is no room for a value
    b.data([*GOOD_BLOCK, empty, *GOOD_BLOCK], ('size|count',), hole=(1, BLOCK_HEADER))
    half = buffers.block(1, raw(8))         # 24: a header of a value and no value
    struct.pack_into('<2I', half.data, 16, 8, 16)
    b.data([*GOOD_BLOCK, half, *GOOD_BLOCK], ('size',), hole=(1, BLOCK_HEADER))
    inner = buffers.multi_counters_block([1, 2], [(1, 8), (2, 8)])
    inner.patch(8, 'I', 24)                 # ends inside the id array; what follows is nobody's
    b.data([*GOOD_BLOCK, inner], ('size',), hole=(1, BLOCK_HEADER), tail=False)
    odd = buffers.block(1, buffers.counter_data(1))
    odd.patch(8, 'I', 33)
    b.data([*GOOD_BLOCK, odd], ('size',), hole=(1, BLOCK_HEADER))


@damage
def bad_32_multi_counters(b):
    """dwSize, dwCounters, the ids and the values tell different scenarios."""
    values = [(10, 8), (20, 4), (30, 8)]

    def block(ids, values, **wrong):
        body = buffers.multi_counters(ids, **wrong)
        for v in values:
            body.add(buffers.counter_data(*v))
        return buffers.block(2, body)
    for wrong in (dict(size=16), dict(size=0), dict(size=7), dict(size=0xFFFFFFF8), dict(count=4), dict(count=0xFFFFFFFF),
                  dict(count=0x40000000)):
        b.data([*GOOD_BLOCK, block([1, 2, 3], values, **wrong), *GOOD_BLOCK], ('size|count',), hole=(1, BLOCK_HEADER + 3))
    fewer = block([1, 2, 3, 4], values)
    b.data([*GOOD_BLOCK, fewer, *GOOD_BLOCK], ('count|size',))
    more = block([1, 2], values)
    b.data([*GOOD_BLOCK, more, *GOOD_BLOCK], ('count|size|trailing_bytes',), hole=(1, BLOCK_HEADER + 5 + 4 + 4))


@damage
def bad_34_instance_counts(b):
    """dwInstances and dwTotalSize that the block does not bear out."""
    rows = [(1, 'one', [(10, 8)]), (2, 'two', [(20, 8)])]
    one = 1 + 3 + 4         # an instance with its one value
    for at, value, keep in ((20, 3, 2 * one), (20, 0xFFFFFFFF, 2 * one), (20, 1, one), (20, 0, 0),
                            (16, 7, 0), (16, 0, 0), (16, 48, 0), (16, 4096, 0), (16, 0xFFFFFFFF, 0)):
        wrong = buffers.multi_instances_block(rows)
        wrong.patch(at, 'I', value)
        b.data([*GOOD_BLOCK, wrong, *GOOD_BLOCK], ('count|size|trailing_bytes',), hole=(1, BLOCK_HEADER + 3 + keep))
    wrong = buffers.counterset_block([1], rows)
    wrong.patch(16 + 12 + 4, 'I', 5)
    b.data([*GOOD_BLOCK, wrong, *GOOD_BLOCK], ('count|size',), hole=(1, BLOCK_HEADER + 4 + 3 + 2 * one))
    inner = buffers.multi_instances_block(rows)
    inner.patch(24, 'I', 0)                 # an instance of no size
    b.data([*GOOD_BLOCK, inner, *GOOD_BLOCK], ('size',), hole=(1, BLOCK_HEADER + 3))


@damage
def bad_35_times(b):
    """Times that are no dates, a clock without frequency."""
    def times(experts, keep=True, filetime=FILETIME, freq=10000000, words=None):
        buffer = buffers.data_buffer(GOOD_BLOCK, STAMP, filetime, freq, words=words or buffers.system_time(FILETIME))
        b.both(DATA, buffer, experts, None if keep else lambda f: gap(f, 2 + 4, 2 + 7))
    times(('time',), freq=0)
    fine = buffers.system_time(FILETIME)
    # each word of a SYSTEMTIME just beyond what it can be
    beyond = [fine[:place] + (word,) + fine[place + 1:] for place, word in enumerate((1600, 0, 7, 0, 24, 60, 60, 1000))]
    for words in ((2026, 13, 2, 29, 17, 32, 23, 755), (2026, 2, 2, 30, 17, 32, 23, 755), *beyond, (65535,) * 8, (0,) * 8):
        times(('time',), False, words=words)
    for filetime in 1 << 63, 2 ** 64 - 1:
        times(('time',), False, filetime=filetime)


@damage
def bad_39_announced(b):
    """1 GB announced, 1 kB there."""
    data = buffers.data_buffer([buffers.single_block(i) for i in range(30)], STAMP, FILETIME)
    for opnum, there, size, more in ((DATA, data, 1 << 30, dict(rtn_size=1 << 30)), (INSTANCES, buffers.instances([(1, 'one')]), 1 << 26, {}),
                                     (ENUMERATE, [GUID], 256, {})):
        b.ask(opnum, dwInSize=size)
        a = b.response(opnum, data=there, in_size=size, out_size=size, actual=size, **more)
        b.answer(opnum, stub=a, fields=hides_rest, experts=('malformed',))
    idents = buffers.identifiers([dict(guid=GUID, counter_id=1)])
    r = b.request(VALIDATE, hQuery=b.handle, lpData=idents, dwAdd=1, dwInSize=1 << 26, max_count=1 << 26)
    b.ask(VALIDATE, ('malformed',), r, gap(r.fields, 2))
    b.line.rpc.call_id += 1


def counters(count, *rows, instance_type=2):
    """The registration of a set that says so many counters, and these"""
    r = buffers.counterset_reg_info(GUID, count, instance_type)
    for row in rows:
        r.add(row)
    return r


def behind_counters(count):
    keep = 2 + 6 + len(some_counters(1).fields) * min(count, 3)
    return lambda f: gap(f, keep, -1)


def two_blocks():
    return [*GOOD_BLOCK, buffers.single_block(5, 4)]


def behind_blocks(count):
    keep = 2 + 7 + len(GOOD_BLOCK[0].fields) * min(count, 2)
    return lambda f: gap(f, keep, -1)


RING = counters(2, buffers.counter_reg_info(0, 0x40020500, base=1), buffers.counter_reg_info(1, 0x40020500, base=0))
WILDCARDS = buffers.identifiers([dict(guid=GUID, name='*'), dict(guid=GUID), dict(guid=GUID, counter_id=1, name='?a*?'),
                                 dict(guid=GUID, instance_id=3, name='*'), dict(guid=GUID, name='_Total'),
                                 dict(guid=GUID, counter_id=0xFFFFFFFE, instance_id=0xFFFFFFFE, name='')])
EACH = {
    # more elements are sent than the array may hold
    'bad-02-actual-above-max': lambda b: [b.both(INSTANCES, buffers.instances([(1, 'one')]), ('array_counts',), hides_data, max_count=8),
                                          b.both(ENUMERATE, [GUID, GUID], ('array_counts',), hides_data, max_count=1)],
    # a varying array that does not begin at its first element
    'bad-03-offset': lambda b: [b.both(INSTANCES, buffers.instances([(1, 'one')]), ('array_counts',), hides_data, offset=8),
                                b.both(DATA, buffers.data_buffer(GOOD_BLOCK, STAMP, FILETIME), ('array_counts',), hides_data, offset=1)],
    # NumCounters that the buffer does not bear out
    'bad-13-num-counters': lambda b: [*(b.reg(1, counters(n, some_counters(3)), ('count|trailing_bytes',), behind_counters(n))
                                        for n in (0, 1, 4, 0x05555556, 0xFFFFFFFF)), b.reg(1, counters(0)), b.reg(1, counters(1, some_counters(1)))],
    # Windows does not keep ids apart: nothing to remark
    'bad-14-duplicate-ids': lambda b: [b.reg(1, counters(3, *[buffers.counter_reg_info(5, 0x10410400)] * 3)),
                                       b.reg(10, buffers.string_buffer([(5, 'a'), (5, 'b'), (5, None)]))],
    # base, time, frequency and multi ids that point at their own counter, in a ring, or nowhere: their values say what is missing
    'bad-15-counter-references': lambda b: [*(b.reg(1, counters(3, some_counters(3, **{name: target})))
                                              for name in ('base', 'time', 'freq', 'multi') for target in (0, 99)), b.reg(1, RING)],
    # that no list has, told by their bits; and PERF_LARGE_RAW_BASE as some lists have it
    'bad-16-unknown-types': lambda b: [*(b.reg(2, buffers.counter_reg_info(1, value), ('counter_type',)) for value in (
        0xFFFFFFFF, 0x10410401, 0x0C000000, 0x7BCDE900, 0x000F0800)), b.reg(2, buffers.counter_reg_info(1, 0x40030503))],
    'bad-17-default-scale': lambda b: [b.reg(2, buffers.counter_reg_info(1, 0x00010000, scale=scale), ('scale',) if abs(scale) > 10 else ())
                                       for scale in (-11, 11, 2 ** 31 - 1, -2 ** 31, -10, 10)],
    # dwCounters that the buffer cannot hold, up to where times 8 overflows
    'bad-19-string-counts': lambda b: [
        b.reg(5, buffers.string_buffer(NAMES, count=count), ('count|string_offset' if count == 4 else 'count',), lambda f: gap(f, 5, -1))
        for count in (4, 100, 0x1FFFFFFF, 0x20000000, 0x20000003, 0xFFFFFFFF)],
    # dwSize smaller and larger than the table
    'bad-21-string-block-size': lambda b: [*(
        b.reg(5, buffers.string_buffer(NAMES, size=size), ('size|count' if size in (8, 24) else 'size',), (lambda f: gap(f, 5, -1)) if size < 32 else None)
        for size in (0, 7, 8, 24, 4096, 0xFFFFFFF8)), b.reg(5, buffers.string_buffer(NAMES, size=72), ('size|string_offset|text',), lambda f: gap(f, -2, -1))],
    # in every place: nothing to remark
    'bad-24-wildcards': lambda b: [b.ask(VALIDATE, lpData=WILDCARDS), b.answer(VALIDATE, WILDCARDS)],
    # beyond the blocks, by one, and the same twice; behind eight a wrong reader finds a zero
    'bad-25-index': lambda b: [b.both(INFO, buffers.identifiers([dict(guid=GUID, counter_id=i, index=x) for i, x in enumerate(indexes)]),
                                      ('index',) if indexes != (1, 0) else ()) for indexes in ((*range(7), 8), (1, 1), (0, 0xFFFFFFFF), (1, 0))],
    'bad-27-total-size': lambda b: [*(b.data(two_blocks(), ('length',), total=total) for total in (0, 47, 48, 72, 88, 4096, 0xFFFFFFFF)),
                                    *(b.both(DATA, raw(size), ('size|malformed',), hides_data) for size in (47, 8)), b.data([])],
    'bad-28-num-counter': lambda b: [b.both(DATA, buffers.data_buffer(two_blocks(), STAMP, FILETIME, count=count), ('count|size',), behind_blocks(count))
                                     for count in (0, 1, 3, 0x10000000, 0xFFFFFFFF)],
    'bad-30-block-type': lambda b: [b.data([*GOOD_BLOCK, buffers.block(kind, raw(16)), *GOOD_BLOCK], ('block_type',), hole=(1, BLOCK_HEADER))
                                    for kind in (3, 5, 7, 8, 0xFFFFFFFF)],
    'bad-31-error-block-with-data': lambda b: b.data([*GOOD_BLOCK, buffers.error_block(232, b'\x11' * 16), *GOOD_BLOCK], ('trailing_bytes|size',),
                                                     hole=(1, BLOCK_HEADER)),
    # values of any length are right; lengths that do not fit are not
    'bad-33-value-sizes': lambda b: [
        b.data([buffers.single_block(bytes(range(0xD1, 0xD1 + n))) for n in (1, 2, 3, 5, 6, 7, 9, 12, 16, 31)]),
        b.data([buffers.single_block(t) for t in ('text', '\U0001F98A and more', 'x' * 500)]),
        *(b.data([*GOOD_BLOCK, buffers.block(1, buffers.counter_data(1, size=size, data_size=data_size)), *GOOD_BLOCK], ('size',), hole=(1, BLOCK_HEADER + 3))
          for data_size, size in ((9, 16), (100, 16), (0xFFFFFFFF, 16), (0xFFFFFFF8, 16), (8, 0), (8, 7), (8, 12), (8, 4096)))],
    # 2^64-1 stays what it is
    'bad-37-all-ones': lambda b: b.data([*map(buffers.single_block, (2 ** 64 - 1, 2 ** 63, 2 ** 53 + 1)), buffers.single_block(2 ** 32 - 1, 4)]),
}
for name, make in EACH.items():
    damage(make, name)
