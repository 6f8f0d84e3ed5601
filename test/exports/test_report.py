# SPDX-License-Identifier: GPL-2.0-or-later
"""`-z pcq,report`: the data that stand in the page, against series worked out from the generator. test/browser has the page itself."""

import json
import re

import pytest

from gen import model
from gen.scene import Scene
from gen.story_script import Script, ask, counter, learn, multiple, run, story
from series import series
from test_csv import whole_session

HOSTILE = '</script><img src=x onerror=alert(1)>'
PASSES = pytest.mark.parametrize('passes', [[], ['-2']], ids=['one-pass', 'two-pass'])


def page_data(page):
    """The data of a page, in which no "<" may stand: it could be markup."""
    text, = re.findall(r'<script id="data" type="application/json"[^>]*>([^<]*)</script>', page)
    return json.loads(text)


@pytest.fixture
def report(tshark, tmp_path):
    """report(scene, …) -> the page"""
    def get(scene, *args):
        capture, out = tmp_path / 'scene.pcap', tmp_path / 'report.html'
        scene.write(capture)
        tshark.run('-q', '-r', capture, *scene.options, '-z', 'pcq,report,%s' % out, *args)
        return out.read_text()
    return get


def lines_of(scene):
    """{path: [(seconds, result)]} of values that have one"""
    out = {}
    for answer in series(scene):
        for path in dict.fromkeys(v.path for v in answer.values if not v.is_text):
            cooked = next(v.cooked for v in answer.values if v.path == path)
            if cooked is not None:
                out.setdefault(path, []).append((answer.at.timestamp(), cooked))
    return out


def is_near(a, b):
    """Six digits"""
    return abs(a - b) <= 6e-6 * abs(b) + 1e-300


@PASSES
def test_each_result_is_a_point(report, passes):
    scene = whole_session()
    lines = {row[0]: row for row in page_data(report(scene, *passes))['series']}
    expected = lines_of(scene)
    assert set(lines) == set(expected) and len(expected) > 10
    for path, points in expected.items():
        _, _, count, low, mean, high, at, values = lines[path]
        numbers = [number for _, number in points]
        assert count == len(points) == len(at) == len(values), path
        assert all(abs(a - b) < 0.0006 for a, (b, _) in zip(at, points)), path
        assert all(is_near(a, b) for a, b in zip(values, numbers)), path
        assert is_near(low, min(numbers)) and is_near(high, max(numbers)) and is_near(mean, sum(numbers) / len(numbers)), path


def test_names_stay_text(report):
    """Of a server that calls its things as a page's markup."""
    hostile = multiple(HOSTILE, counter(1, 'PERF_COUNTER_RAWCOUNT', HOSTILE, lambda at, k: at.number), instances=(HOSTILE,))
    page = report(story(Script([hostile]), lambda c: (learn(c, hostile), run(c, [ask(hostile, 1, '*')], 3))))
    assert page_data(page)['series'][0][0].count(HOSTILE) == 3
    assert HOSTILE not in page


def test_what_was_refused(report):
    scene = whole_session()
    refused = page_data(report(scene))['refused']
    assert refused and all(times >= 1 and error.startswith('ERROR_') and 1 <= frame <= len(scene.capture.frames)
                           for _, error, times, frame, _ in refused)


def test_what_a_browser_may_do(report):
    page = report(whole_session())
    policy, = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    nonce, = set(re.findall(r"'nonce-([^']*)'", policy))
    assert len(nonce) >= 16 and policy.startswith("default-src 'none'; ") and 'unsafe' not in policy
    assert all('nonce="%s"' % nonce in tag for tag in re.findall(r'<(?:script|style)\b[^>]*>', page))
    assert not re.search(r'\b(?:src|href)=', page.split('<script id="data"')[0])
    assert nonce not in report(whole_session()), 'it is another each time'
