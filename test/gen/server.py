# SPDX-License-Identifier: GPL-2.0-or-later
"""A PerflibV2 server over the model: requests in, responses and their expected fields out.

Model.handle() is all that a transport needs, whether it is the plain captures' writer or a real RPC server.
"""

import fnmatch
import re
import struct
import uuid
import zlib
from dataclasses import dataclass, field

from . import buffers, cooking, model, stubs
from .buffers import NONE
from .record import Record
from .stubs import CLOSE, DATA, ENUMERATE, INFO, INSTANCES, OPEN, REG_INFO, VALIDATE

# [MS-ERREF] codes that this server answers with
OK, PATH_NOT_FOUND, ACCESS_DENIED, NOT_ENOUGH_MEMORY, INVALID_PARAMETER, ALREADY_EXISTS = 0, 3, 5, 8, 87, 183
NO_DATA, NOT_FOUND, LANGUAGE_NOT_FOUND = 232, 1168, 1815
GUID_NOT_FOUND, INSTANCE_NOT_FOUND, ITEMID_NOT_FOUND, INVALID_REGINFO = 4200, 4201, 4202, 4211
# DCE/RPC fault
CONTEXT_MISMATCH = 0x1C00001A
PRIVACY = 6
LANGUAGES = (model.ENGLISH, model.GERMAN)


@dataclass
class Identifier:
    """One counter (or wildcard) of a query."""
    guid: str
    counter_id: int
    instance_id: int
    name: object            # None: no name was sent
    size: int

    @property
    def key(self):
        return self.guid, self.counter_id, self.instance_id, self.name

    @property
    def room(self):
        return self.size - 40

    @property
    def wild_counter(self):
        return self.counter_id == NONE

    @property
    def wild_instance(self):
        return bool(self.name) and any(c in self.name for c in '*?')

    def holds(self, instance):
        if self.instance_id not in (NONE, instance.id):
            return False
        pattern = re.sub(r'([\[\]])', r'[\1]', self.name or '')
        return fnmatch.fnmatchcase(instance.name.lower(), pattern.lower())


@dataclass
class Query:
    """A query handle: its identifiers in the order they were added, and the last sample."""
    handle: bytes
    machine: str
    identifiers: list = field(default_factory=list)
    previous: dict = field(default_factory=dict)    # value key -> (number, bytes)
    previous_at: object = None

    def block_order(self):
        """Positions of the identifiers' blocks: not the order they were added in."""
        def place(i):
            return zlib.crc32(repr(self.identifiers[i].key).encode('utf-8', 'surrogatepass')), i
        return sorted(range(len(self.identifiers)), key=place)


def bounded(name):
    """A name has at most 1,024 characters in a path, then an ellipsis."""
    return name if len(name) <= 1024 else name[:1024] + '…'


@dataclass
class Value:
    """One value of a sample: which counter of which instance it is."""
    counterset: object
    counter: object
    instance: object        # None for a set without instances
    ordinal: int            # among the instances of equal name in this block
    raw: object
    width: int
    key: tuple = None       # the same thing in another sample: set, counter, name, id, and ordinal among those equal in all of these

    def path(self, machine):
        """PDH notation; the second of equal instance names is name#1. Names that are too long to read are cut."""
        name = ''
        if self.instance is not None:
            name = '(%s%s)' % (bounded(self.instance.name), '#%d' % self.ordinal if self.ordinal else '')
        c = self.counter.names.get(model.ENGLISH)
        return '\\\\%s\\%s%s\\%s' % (machine.lstrip('\\'), bounded(self.counterset.names[model.ENGLISH]), name,
                                     bounded(c) if c is not None else '#%d' % self.counter.id)


def parse_identifiers(data):
    """[(Identifier, its fields' arguments)] or None where a Size cannot be right."""
    out, at = [], 0
    while at < len(data):
        if len(data) - at < 40:
            return None
        guid, status, size, cid, iid, index, reserved = struct.unpack_from('<16s6I', data, at)
        if size < 40 or size > len(data) - at:
            return None
        rest = data[at + 40:at + size]
        name = None
        if rest:
            units = struct.unpack('<%dH' % (len(rest) // 2), rest[:len(rest) // 2 * 2])
            n = units.index(0) if 0 in units else len(units)
            name = rest[:2 * n].decode('utf-16-le', 'surrogatepass')
        out.append((Identifier(str(uuid.UUID(bytes_le=guid)), cid, iid, name, size), status, index, reserved))
        at += size
    return out


class Model:
    """The server. One object serves any number of clients and handles.

    order: the positions of the identifiers' blocks as a function(query). shows: {(guid, instance name): counter ids that a wildcard
    counter stands for}; handles: what OpenQueryHandle deals out. denies, faults: {operation: (error, calls by their number)};
    refuses: the status of each counter."""

    def __init__(self, sets=None, require_privacy=True, unknown_instance=OK, offset_base='block', clock=None, odd_counters_padded=False,
                 sizing=buffers.PADDED, fill=0, order=Query.block_order, shows=None, handles=(), denies=None, faults=None, refuses=None):
        self.sets = sets or model.countersets()
        self.require_privacy = require_privacy
        self.unknown_instance = unknown_instance        # Status at add time: 0 as Windows, 3 as [MS-PCQ]
        self.offset_base = offset_base
        self.odd_counters_padded = odd_counters_padded
        self.sizing = sizing
        self.fill = fill                                # what undefined padding holds
        self.clock = clock or model.Clock()
        self.order, self.shows, self.handles = order, shows or {}, list(handles)
        self.denies, self.faults, self.refuses, self.calls = denies or {}, faults or {}, refuses, {}
        self.queries = {}
        self.opened = 0

    def find(self, guid):
        return next((s for s in self.sets if s.guid == guid), None)

    def handle(self, opnum, stub, auth_level=PRIVACY, order='<', ndr64=False):
        """-> (fault code, response stub, record)

        record: {'opnum', 'operation', 'request': [Field], 'response': [Field], 'status', 'parameters', and for
        opnum 6 'values': [Value] in order}
        """
        number = self.calls[opnum] = self.calls.get(opnum, -1) + 1
        p = stubs.parse_request(opnum, stub, order, ndr64)
        record = {'opnum': opnum, 'operation': stubs.OPERATIONS[opnum], 'parameters': p, 'response': []}
        record['request'] = self._request_fields(opnum, p, order, ndr64)
        if 'hQuery' in p and p['hQuery'] not in self.queries:
            return CONTEXT_MISMATCH, b'', record
        call = _Call(opnum, p, order, ndr64, record)
        status, numbers = self.denies.get(opnum, (0, ()))
        out = self._denied(call, ACCESS_DENIED) if self.require_privacy and auth_level < PRIVACY else self._operations[opnum](self, call)
        if number in numbers:
            record.pop('values', None)
            out = self._denied(call, status)
        record['response'] = out.fields
        fault, numbers = self.faults.get(opnum, (0, ()))
        return fault if number in numbers else 0, bytes(out), record

    def _request_fields(self, opnum, p, order, ndr64):
        if opnum == VALIDATE:
            p = dict(p, lpData=self._identifier_record(p['lpData']))
        return stubs.request(opnum, order, ndr64, **p).fields

    def _identifier_record(self, data, statuses=None):
        """The fields of an identifier buffer as it stands, or with the given Status values."""
        parsed = parse_identifiers(data)
        r = Record()
        for i, (ident, status, index, reserved) in enumerate(parsed or []):
            one = buffers.identifier(ident.guid, ident.counter_id, ident.instance_id, ident.name,
                                     statuses[i] if statuses else status, index, reserved, room=ident.room,
                                     size=ident.size)
            # what stands behind the name is the client's and comes back as it was
            tail = one.fields[-1].offset + one.fields[-1].length
            one.data[tail:] = data[len(r) + tail:len(r) + ident.size]
            r.add(one)
        if parsed is None:
            r.data = bytearray(data)
        return r

    def _denied(self, call, status):
        if call.opnum == VALIDATE:
            return call.reply(status, self._identifier_record(call.p['lpData']))
        if call.opnum == CLOSE:
            return call.reply(status, handle=call.p['hQuery'])
        return call.reply(status)

    def _enumerate(self, call):
        guids = [s.guid for s in self.sets]
        if call.p['dwInSize'] < len(guids):
            return call.reply(NOT_ENOUGH_MEMORY, rtn_size=len(guids))
        return call.reply(OK, guids)

    def _reg_info(self, call):
        s, code, lcid = self.find(call.p['CounterSetGuid']), call.p['RequestCode'], call.p['RequestLCID']
        if not 1 <= code <= 10:
            return call.reply(INVALID_PARAMETER)
        if s is None:
            return call.reply(GUID_NOT_FOUND)
        if code in (3, 4, 5, 6) and lcid not in (0, *LANGUAGES):
            return call.reply(LANGUAGE_NOT_FOUND)
        language = model.ENGLISH if code > 6 or lcid == 0 else lcid
        if code == 1:
            r = buffers.counterset_reg_info(s.guid, len(s.counters), s.kind, s.detail)
            for c in s.counters:
                r.add(self._counter_reg_info(c))
            return call.sized(r)
        if code == 2:
            c = s.counter(lcid)
            return call.sized(self._counter_reg_info(c)) if c else call.reply(ITEMID_NOT_FOUND)
        if code in (3, 9):
            return call.sized(buffers.single_string('pcq.counterset.name', s.names.get(language, s.name)))
        if code == 4:
            text = s.helps.get(language)
            return call.reply(NOT_FOUND) if text is None else call.sized(
                buffers.single_string('pcq.counterset.description', text))
        if code == 7:
            return call.sized(buffers.single_string('pcq.provider.name', s.provider))
        if code == 8:
            r = Record()
            r.guid('pcq.provider.guid', s.provider_guid)
            return call.sized(r)
        texts = [(c.id, (c.helps if code == 6 else c.names).get(language)) for c in s.counters]
        if code == 6 and all(t is None for _, t in texts):
            return call.reply(NOT_FOUND)
        name = 'pcq.counter.description' if code == 6 else 'pcq.counter.name'
        return call.sized(buffers.string_buffer(texts, name, self.offset_base, self.fill))

    @staticmethod
    def _counter_reg_info(c):
        return buffers.counter_reg_info(c.id, c.type, c.attrib, c.detail, c.scale, c.base, c.time, c.freq, c.multi,
                                        c.aggregate)

    def _instances(self, call):
        s = self.find(call.p['CounterSetGuid'])
        if s is None:
            return call.reply(GUID_NOT_FOUND)
        if not s.enumerable:
            return call.reply(INVALID_REGINFO)
        found = s.instances(self.clock.now())
        if not found:
            return call.reply(INSTANCE_NOT_FOUND)
        return call.sized(buffers.instances([(i.id, i.name) for i in found], self.fill))

    def _open(self, call):
        self.opened += 1
        handle = self.handles.pop(0) if self.handles else bytes(4) + uuid.uuid5(model.NAMESPACE, 'query %d' % self.opened).bytes_le
        self.queries[handle] = Query(handle, call.p['szMachine'])
        return call.reply(OK, handle=handle)

    def _close(self, call):
        del self.queries[call.p['hQuery']]
        return call.reply(OK)

    def _validate(self, call):
        data = call.p['lpData']
        parsed = parse_identifiers(data)
        if not data or parsed is None:
            return call.reply(INVALID_PARAMETER, self._identifier_record(data))
        query = self.queries[call.p['hQuery']]
        change = self._add if call.p['dwAdd'] else self._remove
        statuses = [change(query, i) for i, *_ in parsed]
        return call.reply(OK, self._identifier_record(data, statuses))

    def _add(self, query, i):
        s = self.find(i.guid)
        if self.refuses:
            return self.refuses
        if s is None:
            return GUID_NOT_FOUND
        if not i.wild_counter and s.counter(i.counter_id) is None:
            return ITEMID_NOT_FOUND
        if any(q.key == i.key for q in query.identifiers):
            return ALREADY_EXISTS
        if s.named_instances and not i.name:
            return INVALID_PARAMETER
        if self.unknown_instance and s.named_instances and not i.wild_instance and not any(
                i.holds(x) for x in s.instances(self.clock.now())):
            return self.unknown_instance
        query.identifiers.append(i)
        return OK

    @staticmethod
    def _remove(query, i):
        for q in query.identifiers:
            if q.key == i.key:
                query.identifiers.remove(q)
                return OK
        return INVALID_PARAMETER

    def _info(self, call):
        query = self.queries[call.p['hQuery']]
        order = list(self.order(query))
        r = Record()
        for n, i in enumerate(query.identifiers):
            r.add(buffers.identifier(i.guid, i.counter_id, i.instance_id, i.name, 0, order.index(n)))
        return call.sized(r)

    def _data(self, call):
        query = self.queries[call.p['hQuery']]
        at = self.clock.now()
        blocks, values = [], []
        for n in self.order(query):
            block, found = self._block(query.identifiers[n], at)
            blocks.append(block)
            values += found
        r = buffers.data_buffer(blocks, at.stamp, at.filetime, at.freq)
        out = call.sized(r)
        if call.record['status'] == OK:
            call.record['values'] = self._cooked(query, values, at)
            self.clock.tick()
        return out

    def _block(self, i, at):
        """The block of one identifier; dwType is decided by its wildcards."""
        s = self.find(i.guid)
        shown = self.shows.get((i.guid, i.name), [c.id for c in s.counters]) if i.wild_counter else [i.counter_id]
        counters = [s.counter(x) for x in shown]
        ids, every = [c.id for c in counters], s.instances(at)
        if not s.named_instances:
            rows, single = [None], True
        else:
            rows, single = [x for x in every if i.holds(x)], not i.wild_instance
        if single:
            if not rows:
                return buffers.error_block(NO_DATA), []
            rows = rows[:1]
        seen, alike, values, cells = {}, {}, [], []
        for x in rows:
            ordinal = 0 if x is None else seen.get(x.name, 0)
            if x is not None:
                seen[x.name] = ordinal + 1
            k = 0 if x is None else x.place if x.place is not None else next(j for j, y in enumerate(every) if y is x)
            row = [Value(s, c, x, ordinal, c.sample(at, k), c.width) for c in counters]
            for v in row:
                same = s.guid, v.counter.id, x and x.name, x and x.id
                alike[same] = alike.get(same, -1) + 1
                v.key = *same, alike[same]
            values += row
            cells.append([(v.raw, v.width) for v in row])
        return self._layout(i, single, ids, rows, cells), values

    def _layout(self, i, single, ids, rows, cells):
        if single and not i.wild_counter:
            return buffers.single_block(*cells[0][0], sizing=self.sizing)
        if single:
            return buffers.multi_counters_block(ids, cells[0], self.odd_counters_padded, self.sizing)
        body = [(x.id, x.name, c) for x, c in zip(rows, cells)]
        if not i.wild_counter:
            return buffers.multi_instances_block(body, self.sizing)
        return buffers.counterset_block(ids, body, self.odd_counters_padded, self.sizing)

    def _cooked(self, query, values, at):
        """What later frames may say of each value, from this sample and the one before."""
        now = {}
        for v in values:
            number = v.raw if isinstance(v.raw, int) else None
            now.setdefault(v.key, (number, v.width) if number is not None else None)

        def reading(v, sample, when):
            def other(counter_id):
                return sample.get((v.key[0], counter_id, *v.key[2:]))
            c = v.counter
            return cooking.Reading(sample.get(v.key), when, other(c.base), other(c.time), other(c.freq), other(c.multi))
        out = []
        for v in values:
            cooked = None
            if isinstance(v.raw, int):
                before = reading(v, query.previous, query.previous_at) if query.previous.get(v.key) else None
                cooked = cooking.cook(v.counter.type, reading(v, now, at), before)
            shown = v.raw if isinstance(v.raw, str) else buffers.value_field(v.raw, v.width)[2]
            out.append(model.Value(v.path(query.machine), shown, v.counter.type, cooked))
        query.previous, query.previous_at = now, at
        return out

    _operations = {ENUMERATE: _enumerate, REG_INFO: _reg_info, INSTANCES: _instances, OPEN: _open, CLOSE: _close,
                   INFO: _info, DATA: _data, VALIDATE: _validate}


@dataclass
class _Call:
    """One call: its parameters and how to answer it."""
    opnum: int
    p: dict
    order: str
    ndr64: bool
    record: dict

    def reply(self, status, data=None, rtn_size=None, handle=stubs.NO_HANDLE):
        self.record['status'] = status
        return stubs.response(self.opnum, self.order, self.ndr64, status, data, self.p.get('dwInSize', 0), rtn_size,
                              handle)

    def sized(self, data):
        """The data, or the size probe's answer where the client's buffer is too small."""
        if self.p['dwInSize'] < len(data):
            return self.reply(NOT_ENOUGH_MEMORY, rtn_size=len(data))
        return self.reply(OK, data)
