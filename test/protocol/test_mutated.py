# SPDX-License-Identifier: GPL-2.0-or-later
"""Every plain capture with numbers that lie where numbers lead: no crash, no complaint of tshark, in bounded time, and the same in any order.
script/dev/fuzz does more of it, and changes bytes at random, with a sanitized plugin."""

import random
import re

import pytest

from gen import mutate
from gen.damage import DAMAGE
from gen.hkpd_scenario import SESSIONS
from gen.scenarios import SCENARIOS
from test_order import check_orders, sharkd  # noqa: F401 (a fixture)

ALL = {**SCENARIOS, **DAMAGE}


@pytest.fixture
def lies(tmp_path):
    """lies(seed, share of the numbers): every capture, one behind the other, with numbers that lie"""
    def make(seed, share):
        noise = random.Random(seed)
        captures = [mutate.lying(make().copy(), noise, share).capture for make in {**ALL, **SESSIONS}.values()]
        return mutate.together(captures).write(tmp_path / 'lies.pcap')
    return make


@pytest.mark.parametrize('share', [0.01, 0.2])
@pytest.mark.parametrize('way', [['-2', '-V'], ['-T', 'json']], ids=' '.join)
def test_numbers_that_lie(tshark, lies, way, share):
    out, _ = tshark.run('-r', lies(str(way), share), *way)
    # the last capture of all was still read
    last = len(mutate.together([make().capture for make in {**ALL, **SESSIONS}.values()]).frames)
    assert re.search(r'Frame %d:|"frame.number": "%d"' % (last, last), out)


def test_numbers_that_lie_in_statistics(tshark, lies, tmp_path):
    """Each statistic and export that the plugin offers."""
    asked = mutate.statistics(''.join(tshark.run('-z', 'help')), tmp_path)
    out, _ = tshark.run('-q', '-r', lies('statistics', 0.05), *(x for z in asked for x in ('-z', z)))
    assert out


def test_numbers_that_lie_in_any_order(sharkd, lies):  # noqa: F811
    check_orders(sharkd(), lies('order', 0.05))
