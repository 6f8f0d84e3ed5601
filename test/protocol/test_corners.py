# SPDX-License-Identifier: GPL-2.0-or-later
"""What hardly a capture has: each of these could break once, and no other test noticed."""

import csv
import subprocess

import pytest

import test_manifest as manifests
from gen import buffers, model, server, stubs
from gen.hkpd_block import Counter, Object
from gen.hkpd_scenario import begin_talk
from gen.scenario import Scenario, tcp_line
from gen.scripted import Server, answers, ask, backward, begin, counter, learn, multiple, run, single, capture_talk
from gen.stubs import VALIDATE
from learned import by_path, compare_paths, compare_values, read


def test_pdus_that_end_early(tshark, tmp_path):
    """One that is a header alone, or has the begin of the next one behind it; an answer to a bind without its results: none is malformed."""
    scenario = Scenario()
    for mss in 16, 16 + 15:
        rpc = tcp_line(scenario, client_port=50000 + mss).rpc
        rpc.transport.mss = mss
        rpc.transport.to_server([rpc.pdu(19, b'', 1), rpc.pdu(19, b'', 2)])
    rpc = tcp_line(scenario, bind=False).rpc
    rpc.transport.to_client = lambda pdus, answer=rpc.transport.to_client: answer([p[:8] + b'\x2c\0' + p[10:40] + bytes(4) for p in pdus])
    rpc.bind()
    rows = [tshark.fields(scenario.write(tmp_path / 'x.pcap'), ['dcerpc.pkt_type'], '-Y', which, '-o', 'tcp.desegment_tcp_streams:FALSE')
            for which in ('dcerpc', '_ws.malformed || _ws.unreassembled')]
    assert rows == [[[kind] for kind in ('11', '12', '19', '19', '11', '12', '19', '11', '12')], []]


def test_the_english_of_britain(tshark, tmp_path, monkeypatch):
    monkeypatch.setattr(server, 'LANGUAGES', (model.ENGLISH, model.GERMAN, 0x809))
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Colours', [1]))
    s.names[0x809] = s.names[model.GERMAN] = 'Set'
    s.counters[0].names[0x809] = 'Colours'
    s.counters[0].names[model.GERMAN] = 'Farben'
    scenario, c = begin(Server([s]))
    learn(c, s, codes=(1, 3, 5), lcid=model.GERMAN)
    learn(c, s, codes=(1, 3, 5), lcid=0x809)
    run(c, [ask(s, 1, 'a')], 1)
    frames = read(tshark, scenario, tmp_path)
    assert list(by_path(frames[answers(scenario)[0][0]])) == ['\\\\SRV01\\Set(a)\\Colours']


@pytest.mark.parametrize('attribute, kind, helper, value, step', [
    ('perfTimeID', 'PERF_OBJ_TIME_TIMER', 'PERF_COUNTER_LARGE_RAWCOUNT', lambda at, k: 1000 * at.number + 5, 500),
    ('multiCounterID', 'PERF_100NSEC_MULTI_TIMER', 'PERF_COUNTER_RAWCOUNT', lambda at, k: 2, 5000000)], ids=['time', 'multi'])
def test_a_relation_of_the_manifest(tshark, tmp_path, attribute, kind, helper, value, step):
    """A counterset whose types a manifest alone tells: the last of three samples has all its values."""
    s = multiple('Engine', counter(1, kind, 'Busy', lambda at, k: step * at.number, **{'time' if attribute == 'perfTimeID' else 'multi': 2}),
                 counter(2, helper, 'Helper', value))
    s.guid = manifests.GUID.strip('{}')
    path = manifests.names_of(tmp_path, manifests.manifest(
        manifests.the_counters()[0], '<counter id="1" uri="a" name="Busy" type="%s" %s="2" detailLevel="standard"/>' % (kind.lower(), attribute),
        '<counter id="2" uri="b" name="Helper" type="%s" detailLevel="standard"/></counterSet>' % helper.lower()))
    scenario = capture_talk(Server([s]), lambda c: run(c, [ask(s, 1, 'a'), ask(s, 2, 'a')], 3))
    frames = manifests.with_file(tshark, tmp_path, scenario, path)
    compare_paths(frames, scenario)
    assert compare_values(frames, scenario) > 3 and not frames[answers(scenario)[-1][0]].all('pcq.cooked.none')


def test_what_the_frame_itself_taught(tshark, tmp_path):
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'First', [1, 1]))
    script, scenario = Server([s]), Scenario()
    line = tcp_line(scenario, script)
    h = line.client().open()
    line.together([(VALIDATE, dict(hQuery=h, lpData=buffers.identifiers([ask(s, 1, 'a')]), dwAdd=1)), *[
        (stubs.REG_INFO, dict(szMachine='\\\\SRV01', CounterSetGuid=s.guid, RequestCode=code, RequestLCID=0, dwInSize=999)) for code in (9, 10)]])
    path = scenario.write(tmp_path / 'x.pcap')
    out, _ = tshark.run('-r', path, '-2', '-V')
    answers_ = out.split('\nFrame ')[-1]
    assert 'Counter name: First' in answers_ and 'learned after this frame' not in answers_


def test_rows_of_csv_before_info(tshark, tmp_path):
    s = multiple('Set', counter(1, 'PERF_COUNTER_RAWCOUNT', 'First', [11, 12]), counter(2, 'PERF_COUNTER_RAWCOUNT', 'Second', [21, 22]))
    scenario, c = begin(Server([s], order=backward), s)
    h = c.query([ask(s, 1, 'a'), ask(s, 2, 'a')], info=False)
    c.data(h, 9999)
    c.info(h)
    c.data(h, 9999)
    tshark.run('-2', '-q', '-r', scenario.write(tmp_path / 'x.pcap'), '-z', 'pcq,csv,%s' % (tmp_path / 'out.csv'))
    rows = list(csv.reader((tmp_path / 'out.csv').open()))
    column = {p.rpartition('\\')[2]: i for i, p in enumerate(rows[0])}
    assert [[float(r[column[x]]) for x in ('First', 'Second')] for r in rows[1:]] == [[11, 21], [12, 22]]


def test_a_cut_packet_in_the_info_column(tshark, tmp_path):
    s = single('One', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Level', lambda at, k: 7))
    scenario = capture_talk(Server([s]), lambda c: (learn(c, s), run(c, [ask(s, 1)], 1)))
    path = scenario.write(tmp_path / 'x.pcap')
    subprocess.run(['editcap', '-s', '120', path, tmp_path / 'cut.pcap'], check=True)
    info = tshark.info(tmp_path / 'cut.pcap')
    assert any('Packet size limited' in x for x in info.values()) and not any('Malformed' in x for x in info.values())


# No byte of these is zero. Of the first all are letters of ASCII, too; of the others some are not, or one is next to them.
@pytest.mark.parametrize('text, size', [('\u6162\u6364', 8), ('\u51e6\u7406\u88c5\u7f6e', 16), ('\u6162\u6364\u611f', 8),
                                        ('\u7f62\u6364\u6162', 8), ('text 0: \xe9\u4e2d', 24)])
@pytest.mark.parametrize('samba', [False, True])     # a total like Samba's does not tell it
def test_texts_of_other_scripts(tshark, tmp_path, text, size, samba):
    objects = [Object(1500, 'Set', [Counter(1502, 'Wide', 0x00000B00, lambda at, k: text, size)])]
    scenario, talk = begin_talk(objects=objects, titles=False, samba=samba)
    talk.sample()
    rows = tshark.fields(scenario.write(tmp_path / 'x.pcap'), ['pcq.value.text'], '-Y', 'hkpd.data_block')
    assert rows == [[text]]
