# SPDX-License-Identifier: GPL-2.0-or-later
"""The hook without dcerpc_uuids, which a later Wireshark does not have: winreg is registered again."""

import os
import subprocess

import pytest

from conftest import TSHARK
from gen.hkpd_scene import answers, session
from test_hkpd import ordinary, pdml


@pytest.fixture(scope='module')
def fallback(tshark):
    """tshark's surroundings with a plugin that was built without the table."""
    # Wireshark 4.0 warns of a second registration, and would abort in a test run
    env = dict(tshark.env, WIRESHARK_PLUGIN_DIR=os.environ['PCQ_FALLBACK'])
    env.pop('WIRESHARK_ABORT_ON_DISSECTOR_BUG')
    return env


def shown(env, path, *args):
    done = subprocess.run([TSHARK, '-r', path, '-T', 'pdml', *args], env=env, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.stdout.decode().split('<packet>', 1)[1]


def test_performance_data_is_dissected_all_the_same(tshark, fallback, tmp_path):
    scene = session(samples=2)
    path = scene.write(tmp_path / 'a.pcap')
    assert shown(fallback, path) == shown(tshark.env, path)
    assert shown(fallback, path).count('"hkpd.data_block"') == len(answers(scene))


def test_ordinary_calls_are_dissected_as_without_the_plugin(tshark, fallback, tmp_path):
    path = ordinary().write(tmp_path / 'a.pcap')
    assert shown(fallback, path) == pdml(tshark, path, plugin=False).split('<packet>', 1)[1]
