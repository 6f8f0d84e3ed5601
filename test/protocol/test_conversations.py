# SPDX-License-Identifier: GPL-2.0-or-later
"""Analyze, Conversation Filter: what it offers for a packet, and which packets that finds."""

import os
import shutil

import pytest

from conftest import TOP, TShark

PCAPS = TOP / 'test' / 'pcaps'
MONITOR = 'Performance Counter Monitor: (pcq || hkpd) && ip.addr == 127.0.0.1 && ip.addr == 127.0.0.1'


@pytest.fixture(scope='module')
def tshark_with_filters(tmp_path_factory):
    """tshark with a plugin beside ours that shows what is offered"""
    t = TShark(tmp_path_factory.mktemp('home'), tmp_path_factory.mktemp('data'))
    both = tmp_path_factory.mktemp('plugins')
    for folder in (t.env['WIRESHARK_PLUGIN_DIR'], os.environ['PCQ_CONVERSATIONS']):
        shutil.copytree(folder, both, dirs_exist_ok=True)
    t.env['WIRESHARK_PLUGIN_DIR'] = str(both)
    yield t
    t.forks.end()


def offered(tshark, path):
    """{frame: what is offered for it}"""
    rows = tshark.fields(path, ['frame.number', 'conversations.filter'], '-E', 'aggregator=;')
    return {int(number): text.split(';') for number, text in rows if text}


def test_query_and_monitor_of_each_call(tshark_with_filters, tshark):
    path = PCAPS / 'hkpd-plain.pcap'
    filters = offered(tshark_with_filters, path)
    calls = {int(row[0]) for row in tshark.fields(path, ['frame.number'], '-Y', 'hkpd')}
    with_handle = {int(row[0]) for row in tshark.fields(path, ['frame.number'], '-Y', 'hkpd.handle.number == 1')}
    assert with_handle and calls > with_handle
    assert set(filters) >= calls
    for number in calls:
        assert filters[number][-1] == MONITOR
        assert ('Performance Counter Query: hkpd.handle.number == 1' in filters[number]) == (number in with_handle)


def test_sealed_calls_are_of_a_monitor(tshark_with_filters):
    filters = offered(tshark_with_filters, PCAPS / 'tcp-ntlm.pcap')
    assert filters and all(texts == [MONITOR] for texts in filters.values())
