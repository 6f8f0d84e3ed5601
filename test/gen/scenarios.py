# SPDX-License-Identifier: GPL-2.0-or-later
"""The good captures, by name. All but the big ones lie in test/pcaps/plain."""

import functools

from . import buffers, client, stubs
from .buffers import NONE
from .scenario import Scenario, smb_line, tcp_line
from .server import Model

SCENARIOS = {}


def capture(make):
    """Registers a scenario under its function's name. It is made once: who changes it takes a copy."""
    SCENARIOS[make.__name__.replace('_', '-')] = functools.cache(make)
    return make


def _browse(line, server, names=(), **options):
    s = Scenario()
    c = line(s, server, **options).client()
    client.browse(c, [x for x in server.sets if x.name in names])
    s.chat = ('string_offset_base',) if server.offset_base == 'end' else ()
    return s


def _query(line, server=None, machine=client.SERVER, samples=2, **options):
    s = Scenario()
    server = server or Model()
    c = line(s, server, **options).client(machine)
    ids = client.wanted(server.sets)
    client.query(c, ids, samples, remove=[ids[1], ids[6]])
    s.chat = ('order_assumed',)     # "hash" is there twice, beside "hash#1"
    return s


@capture
def browse_every_type():
    """All ten request codes, English and German, for the set that has every counter type."""
    return _browse(tcp_line, Model(), ['Every Type'])


@capture
def browse_odd_names():
    """Empty, missing, long and non-BMP names; over SMB, strings counted from the end of the headers."""
    return _browse(smb_line, Model(offset_base='end'), ['Lanes \U0001F6A6'])


@capture
def browse_sorts_of_sets():
    """Aggregates, sets without instances or counters, one that cannot be enumerated; undefined padding is not zero."""
    s = _browse(tcp_line, Model(fill=0xAA), ['Processor Information', 'Harbour', 'Odd Values', 'History',
                                               'Aggregated Instances', 'Broken', 'No Counters'], ndr64=True)
    s.chat = ('counter_type',)          # some of the odd values are of types that no list has
    return s


# A query's life: over what, and how
QUERIES = {
    'query-tcp': (tcp_line, dict(samples=3)),
    'query-tcp-ndr64': (tcp_line, dict(ndr64=True)),
    'query-tcp-big-endian': (tcp_line, dict(order='>')),
    'query-tcp-big-endian-ndr64': (tcp_line, dict(order='>', ndr64=True)),
    # IPv6, a verification trailer behind each request, and a name that leaves the stub unaligned before it
    'query-tcp6-trailer': (tcp_line, dict(machine='\\\\SRV1', v6=True, trailer=True)),
    'query-smb': (smb_line, {}),
    # WRITE and READ instead of transactions, small ones, so that PDUs are cut over several of them
    'query-smb-write-read-ndr64': (smb_line, dict(transceive=False, read_size=700, write_size=90, max_frag=2000, ndr64=True)),
    'query-smb-big-endian-trailer': (smb_line, dict(order='>', trailer=True, max_frag=1000)),
    'fragments-tcp': (tcp_line, dict(max_frag=200)),
}
SCENARIOS.update({name: functools.cache(functools.partial(_query, line, **how)) for name, (line, how) in QUERIES.items()})


@capture
def sizes_without_padding():
    """dwSize of a PERF_COUNTER_DATA leaves the padding out; that of an odd PERF_MULTI_COUNTERS counts it in."""
    return _query(tcp_line, Model(sizing=buffers.ALIGNED, odd_counters_padded=True))


@capture
def refusals():
    """Error codes of [MS-PCQ] 3.1.4.1 and faults."""
    s = Scenario()
    s.chat = ('request_code', 'order_assumed')
    server = Model(unknown_instance=3)
    line = tcp_line(s, server)
    c = line.client()
    client.refusals(c, server.sets)
    client.query(c, client.wanted(server.sets), 1)
    line.call(4, stubs.request(4, hQuery=bytes(4) + b'never opened....'))
    return s


@capture
def access_denied():
    """What a server answers below packet privacy."""
    s = Scenario()
    server = Model(require_privacy=False)
    line = tcp_line(s, server)
    c = line.client()
    handle = c.open()
    server.require_privacy, handle_stub = True, dict(hQuery=handle)
    ident = buffers.identifiers([dict(guid=server.sets[0].guid, counter_id=1)])
    for opnum, p in ((0, dict(szMachine='', dwInSize=10)), (3, dict(szMachine='\\\\SRV01')),
                     (5, dict(handle_stub, dwInSize=4096)), (6, dict(handle_stub, dwInSize=4096)),
                     (7, dict(handle_stub, lpData=ident, dwAdd=1)), (4, handle_stub)):
        request = stubs.request(opnum, **p)
        _, stub, record = server.handle(opnum, bytes(request), 1)
        line.request(opnum, request, record['request'], record)
        line.response(opnum, stub, record['response'], record)
    return s


@capture
def two_clients():
    """Two connections, one big-endian NDR64, with calls between each other's."""
    s = Scenario()
    server = Model()
    a = tcp_line(s, server).client()
    b = smb_line(s, server, order='>', ndr64=True).client('\\\\srv01.example')
    ids = client.wanted(server.sets)
    ha, hb = a.open(), b.open()
    a.validate(ha, ids[:3])
    b.validate(hb, ids[3:6])
    for c, h in ((b, hb), (a, ha)):
        c.info(h)
    for _ in range(2):
        a.data(ha)
        b.data(hb)
    b.close(hb)
    a.data(ha)
    a.close(ha)
    return s


@capture
def pipelined():
    """All requests in one frame and all responses in another; the call ids tell them apart."""
    s = Scenario()
    server = Model()
    registration = dict(szMachine='\\\\A', CounterSetGuid=server.sets[1].guid)
    tcp_line(s, server).together([
        (3, dict(szMachine='\\\\A')), (3, dict(szMachine='\\\\BB')), (0, dict(szMachine='', dwInSize=20)),
        (1, dict(registration, RequestCode=9, RequestLCID=0x409, dwInSize=100)),
        (1, dict(registration, RequestCode=2, RequestLCID=26, dwInSize=48))], turned=True, whole=False)
    return s


@capture
def real_dump():
    """The one public dump of a real PERF_DATA block, rebuilt from its values (Windows 11, Processor Information)."""
    s = Scenario()
    line = tcp_line(s, Model())
    handle = line.client().open()
    line.request(6, stubs.request(6, hQuery=handle, dwInSize=65536))
    blocks = [buffers.single_block(3256992943318, 8), buffers.single_block(1444507332, 4)]
    data = buffers.data_buffer(blocks, 1259983709807, 134351767437550592, words=(2026, 9, 2, 29, 17, 32, 23, 755))
    assert len(data) == 112
    line.response(6, stubs.response(6, data=data, in_size=65536))
    return s


@capture
def unusual_but_right():
    """What must not draw a remark: padding and reserved fields with content, ids and names twice, LCIDs that are unused,
    a header alone, a client's generous buffer, patterns, values of any width, error blocks."""
    s, server = Scenario(), Model()
    s.chat = ('order_assumed',)         # which of both names an id has that is there twice
    line = tcp_line(s, server)
    guid = server.sets[0].guid
    machine = '\\\\SRV01'

    def reg(code, lcid, data, in_size=4096):
        line.request(1, stubs.request(1, szMachine=machine, CounterSetGuid=guid, RequestCode=code, RequestLCID=lcid,
                                      dwInSize=in_size))
        line.response(1, stubs.response(1, data=data, in_size=in_size))
    reg(9, 0x409, buffers.single_string('pcq.counterset.name', 'English'))
    reg(10, 0x409, buffers.string_buffer([(1, 'one'), (1, 'one again'), (2, None), (3, '')], fill=0x55))
    reg(1, 0x407, buffers.counterset_reg_info(guid, 2, 0x16, 300, kind=7)
        .add(buffers.counter_reg_info(1, 0x00010000, reserved=0xFFFFFFFF))
        .add(buffers.counter_reg_info(1, 0x10410400, attrib=0x1F, scale=-10)))
    reg(7, 0x7F, buffers.single_string('pcq.provider.name', ''))
    line.request(2, stubs.request(2, szMachine='', CounterSetGuid=guid, dwInSize=100000))
    line.response(2, stubs.response(2, in_size=100000, data=buffers.instances(
        [(0, 'twice'), (0, 'twice'), (NONE, ''), (7, '#1'), (8, 'tab\there'), (9, '‮abc'), (10, '\U0001F600')],
        fill=0xCC)))
    handle = line.client().open()
    asked = [dict(guid=guid, counter_id=1, index=99, reserved=0x12345678), dict(guid=guid, counter_id=NONE, name='*'),
             dict(guid=guid, counter_id=NONE, name='??_Tot*', instance_id=0xFFFFFFFE),
             dict(guid=guid, counter_id=5, name='long field', room=32, fill=0xEE)]
    ident = buffers.identifiers([dict(asked[0], status=0xDEADBEEF), *asked[1:]])
    line.request(7, stubs.request(7, hQuery=handle, lpData=ident, dwAdd=1))
    line.response(7, stubs.response(7, data=buffers.identifiers(asked)))
    line.request(6, stubs.request(6, hQuery=handle, dwInSize=1 << 30))
    sixth = [(7, 'a', [(1, 4), (b'\x01\x02\xff', 3), ('text', 0)]), (7, 'a', [(2, 8), (b'', 0), ('x' * 40, 0)])]
    data = buffers.data_buffer([
        buffers.single_block(2 ** 64 - 1), buffers.error_block(232), buffers.error_block(0x800007D5),
        buffers.multi_instances_block([]), buffers.counterset_block([], []), buffers.counterset_block([1, 1, 2], sixth, fill=3),
        buffers.block(1, buffers.counter_data(5, 4, fill=0xBB), reserved=77)], 0, 134351767437550592)
    line.response(6, stubs.response(6, data=data, in_size=1 << 30))
    line.request(6, stubs.request(6, hQuery=handle, dwInSize=0))
    line.response(6, stubs.response(6, status=8, rtn_size=len(data)))
    return s
