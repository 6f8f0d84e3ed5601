# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's page in a browser: it draws, finds, zooms, asks nothing of a network, and takes no name for markup.
script/dev/test-report runs this; PCQ_PAGES is a folder with pages that tshark wrote."""

import json
import os
import re
import time
from pathlib import Path

import pytest

from browser import browser

PAGES = Path(os.environ['PCQ_PAGES'])


@pytest.fixture(scope='module')
def chromium():
    with browser() as b:
        yield b


@pytest.fixture(params=sorted(PAGES.glob('*.html')), ids=lambda path: path.stem)
def page(request, chromium):
    chromium.open('data:,')
    chromium.log('browser'), chromium.log('performance')
    chromium.open(request.param.as_uri())
    chromium.url = request.param.as_uri()
    chromium.data = json.loads(re.search(r'<script id="data"[^>]*>([^<]*)<', request.param.read_text())[1])
    yield chromium
    chromium.picture(PAGES / (request.param.stem + '.png'))
    assert chromium.log('browser') == []
    asked = [m['params']['request']['url'] for m in (json.loads(e['message'])['message'] for e in chromium.log('performance'))
             if m['method'] == 'Network.requestWillBeSent']
    assert all(url.startswith(('file:', 'data:')) for url in asked), asked


def is_drawn(page, css):
    """Is there anything on the canvas?"""
    return page.run('''const c = document.querySelector(arguments[0]);
        return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((x) => x > 0)''', css)


def test_draws_finds_and_zooms(page):
    series = page.data['series']
    assert page.texts('#headline')[0]
    if not series:
        assert page.find('#counters') == []
        return
    assert len(page.find('.card')) == min(len(series), 240)
    assert is_drawn(page, '.card canvas')
    page.click('.card')
    if len(series) > 1:
        page.click('.card', 1)
    names = page.texts('#plot .u-label')[1:]
    assert [re.sub(r'( \([\d,]+ assumed\))?( × [\d.e+-]+)?$', '', name, count=1) for name in names] == page.run(
        'return [...document.querySelectorAll(".card[aria-pressed=true]")].map((c) => c.title)')
    before = page.run('return document.querySelector("#plot canvas").toDataURL()')
    page.drag('#plot .u-over', 0.3, 0.6)
    assert page.run('return document.querySelector("#plot canvas").toDataURL()') != before
    page.click('#none')
    assert page.run('return document.getElementById("picture").hidden')
    wanted = series[0][0].rsplit('\\\\', 1)[-1][-12:]
    page.type('#find', wanted)
    found = sum(wanted.lower() in row[0].lower() for row in series)
    assert len(page.find('.card')) == min(found, 240) > 0


def test_no_name_is_markup(page):
    names = {re.sub(r'[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]', lambda m: '[U+%04X]' % ord(m[0]), row[0])
             for row in page.data['series']}
    shown = page.run('return [...document.querySelectorAll(".card")].map((c) => c.title)')
    assert set(shown) <= names and len(set(shown)) == min(len(names), 240)
    assert page.run('return document.querySelectorAll("main img, main script, main iframe").length') == 0


def test_one_clock(page):
    """Sentences, lines of time and pictures have the same time of day."""
    begin, end = re.findall(r'[\d-]{10} (\d\d:\d\d:\d\d)', page.texts('#origin')[0])
    said = re.findall(r'since (\d\d:\d\d:\d\d)', ' '.join(page.texts('#findings')))
    assert all(begin <= at <= end for at in said), (begin, end, said)
    assert ('UTC+05:30' in page.texts('#origin')[0]) == page.url.endswith('elsewhere.html')
    assert page.texts('.ends span') in ([], page.texts('#origin')[0].split(', frames')[0].split(' to '))


def test_fits_a_telephone(page):
    page.measures(390)
    assert page.run('return [document.documentElement.scrollWidth, window.innerWidth]') == [390, 390]
    for details in (False, True):
        page.run('document.querySelectorAll("#monitors details").forEach((d) => { d.open = arguments[0]; })', details)
        assert page.run('return [...document.querySelectorAll(".wide")].every((w) => w.scrollWidth <= w.clientWidth)'), 'a table goes on to the right'
    page.run('document.querySelectorAll("#monitors details").forEach((d) => { d.open = false; })')
    page.measures(None)
    assert page.run('return [...document.querySelectorAll("#missing tr")].every((r) => getComputedStyle(r).display === "table-row")')


def test_dark_and_on_paper(page):
    """Each picture is drawn anew in other colours; on paper it is on white, and all of them are there."""
    drawn = []
    for scheme, medium in (('light', ''), ('dark', ''), ('dark', 'print')):
        page.media(scheme, medium)
        time.sleep(0.3)
        drawn.append(page.run('return [getComputedStyle(document.body).backgroundColor, document.querySelector("canvas").toDataURL()]'))
    assert page.run("""return [...document.querySelectorAll('#cards canvas')].every((c) =>
        c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((x) => x > 0))"""), 'also those that nobody has scrolled to'
    page.media('light', '')
    assert page.call('POST', '/print', {}).startswith('JVBER')
    assert drawn[0][0] == drawn[2][0] == 'rgb(255, 255, 255)' != drawn[1][0]
    assert drawn[0][1] != drawn[1][1] != drawn[2][1]
