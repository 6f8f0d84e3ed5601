# SPDX-License-Identifier: GPL-2.0-or-later
"""The floor that script/dev/bench measures against adds the items that the plugin adds: else a ratio says nothing."""

import functools
import os

import pytest

from bench.shapes import SHAPES
from conftest import TShark

VALUES = 1000    # of an answer, as in script/dev/bench
# Paid once for an answer, as all is that stands before the first block.
OF_ANSWER = ('pcq.multi_counters', 'pcq.multi_instances', 'pcq.counter.', 'pcq.learned_in', 'pcq.status', 'pcq.query')


@pytest.fixture(scope='session')
def floor(tmp_path_factory):
    t = TShark(tmp_path_factory.mktemp('home'), tmp_path_factory.mktemp('data'))
    t.env['WIRESHARK_PLUGIN_DIR'] = os.environ['PCQ_FLOOR']
    yield t
    t.forks.end()


@pytest.fixture(scope='module')
def last(tmp_path_factory):
    """last(tshark, shape, units) -> what the answer that is measured shows of so many units, in order"""
    folder = tmp_path_factory.mktemp('floor')

    @functools.cache
    def read(tshark, shape, units):
        path = folder / ('%s-%d.pcap' % (shape, units))
        capture = SHAPES[shape].make(SHAPES[shape].answers[1], units)
        frame, = tshark.pdml(capture.write(path), '-Y', 'frame.number == %d' % len(capture.frames)).values()
        return frame.fields
    return read


def items(fields):
    """What belongs to blocks, instances and values."""
    first = [f.name for f in fields].index('pcq.block')
    return [f for f in fields[first:] if not f.name.startswith(OF_ANSWER)]


@pytest.mark.parametrize('shape', ['one', 'tall', 'blocks'])
def test_same_items(tshark, floor, last, shape):
    ours, floors = ([f.name for f in items(last(t, shape, VALUES))] for t in (tshark, floor))
    assert ours.count('pcq.cooked') == VALUES and floors == ours


@pytest.mark.parametrize('shape', ['one', 'tall', 'blocks'])
def test_same_labels_of_the_middle_value(tshark, floor, last, shape):
    def labels(t):
        of = {}
        for f in items(last(t, shape, VALUES)):
            of.setdefault(f.name, []).append(f.label)
        return {name: all_of_it[len(all_of_it) // 2] for name, all_of_it in of.items()}
    ours = labels(tshark)
    assert len(ours) >= 11 and labels(floor) == ours
