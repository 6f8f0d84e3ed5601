# SPDX-License-Identifier: GPL-2.0-or-later
"""The floor that script/bench measures against adds the items that the plugin adds: else a ratio says nothing."""

import os

import pytest

from bench.shapes import SHAPES
from conftest import TShark

VALUES = 1000    # of an answer, as in script/bench
# Paid once for an answer, as all is that stands before the first block.
OF_ANSWER = ('pcq.multi_counters', 'pcq.multi_instances', 'pcq.counter.', 'pcq.learned_in', 'pcq.status', 'pcq.query')
TEXTS = ('pcq.block', 'pcq.instance', 'pcq.counter_data', 'pcq.path', 'pcq.cooked')


@pytest.fixture(scope='session')
def floor(tmp_path_factory):
    t = TShark(tmp_path_factory.mktemp('home'))
    t.env['WIRESHARK_PLUGIN_DIR'] = os.environ['PCQ_FLOOR']
    return t


@pytest.fixture
def last(tmp_path):
    """last(tshark, shape, units) -> what the last answer of so many units shows, in order"""
    def read(tshark, shape, units):
        path = tmp_path / ('%s-%d.pcap' % (shape, units))
        SHAPES[shape].make(2, units).write(path)
        frames = tshark.pdml(path)
        return frames[max(frames)].fields
    return read


@pytest.mark.parametrize('shape', ['one', 'tall', 'blocks'])
def test_same_items(tshark, floor, last, shape):
    def items(t):
        names = [f.name for f in last(t, shape, VALUES)]
        return [n for n in names[names.index('pcq.block'):] if not n.startswith(OF_ANSWER)]
    ours = items(tshark)
    assert ours.count('pcq.cooked') == VALUES and items(floor) == ours


@pytest.mark.parametrize('shape', ['one', 'tall', 'blocks'])
def test_same_texts_of_the_middle_value(tshark, floor, last, shape):
    def texts(t):
        fields = last(t, shape, VALUES)
        labels = {name: [f.label for f in fields if f.name == name] for name in TEXTS}
        return {name: texts[len(texts) // 2] for name, texts in labels.items() if texts}
    assert texts(floor) == texts(tshark)
