# SPDX-License-Identifier: GPL-2.0-or-later
"""Chromium without a window, by its driver's WebDriver (https://www.w3.org/TR/webdriver2/): a page is loaded, clicked, read."""

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

KEY = 'element-6066-11e4-a52e-4f735466cecf'
OPTIONS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
           '--disable-component-update', '--disable-sync', '--window-size=1280,1000',
           # chromedriver would connect to "localhost", which a machine without /etc/hosts does not know.
           '--remote-debugging-pipe']


class Browser:
    def __init__(self, port, folder, options):
        self.root, self.session = 'http://127.0.0.1:%d' % port, ''
        for _ in range(100):
            with contextlib.suppress(OSError):
                if self.call('GET', '/status')['ready']:
                    break
            time.sleep(0.1)
        made = self.call('POST', '/session', {'capabilities': {'alwaysMatch': {
            'goog:chromeOptions': {'args': OPTIONS + ['--user-data-dir=%s/profile' % folder] + options},
            'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'}}}})
        self.session = '/session/' + made['sessionId']

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.root + self.session + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)['value']

    def open(self, url):
        self.call('POST', '/url', {'url': url})

    def run(self, script, *arguments):
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def find(self, css):
        return self.call('POST', '/elements', {'using': 'css selector', 'value': css})

    def texts(self, css):
        return self.run('return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)', css)

    def click(self, css, number=0):
        self.call('POST', '/element/%s/click' % self.find(css)[number][KEY], {})

    def type(self, css, text):
        self.call('POST', '/element/%s/value' % self.find(css)[0][KEY], {'text': text})

    def press(self, key):
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': [{'type': 'keyDown', 'value': key}, {'type': 'keyUp', 'value': key}]}]})

    def drag(self, css, begin, end):
        """From one to the other part of its width, at half its height."""
        box = self.run('const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.x, b.y, b.width, b.height]', css)
        y = round(box[1] + box[3] / 2)
        at = [{'type': 'pointerMove', 'x': round(box[0] + box[2] * part), 'y': y, 'duration': 100} for part in (begin, end)]
        self.call('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'actions': [
            at[0], {'type': 'pointerDown', 'button': 0}, at[1], {'type': 'pointerUp', 'button': 0}]}]})

    def measures(self, width):
        """As a telephone of that width; None: as before."""
        self.command('Emulation.clearDeviceMetricsOverride' if width is None else 'Emulation.setDeviceMetricsOverride',
                     width=width, height=900, deviceScaleFactor=2, mobile=True)

    def media(self, scheme, medium):
        """light or dark; on the screen ('') or on paper ('print')"""
        self.command('Emulation.setEmulatedMedia', media=medium, features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def command(self, name, **params):
        self.call('POST', '/goog/cdp/execute', {'cmd': name, 'params': params})

    def log(self, kind):
        return self.call('POST', '/se/log', {'type': kind})

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call('GET', '/screenshot')))


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def browser(*options):
    folder, port = tempfile.mkdtemp(), free_port()
    driver = subprocess.Popen(['chromedriver', '--port=%d' % port, '--log-level=SEVERE'], stdout=subprocess.DEVNULL)
    try:
        b = Browser(port, folder, list(options))
        yield b
        b.call('DELETE', '')
    finally:
        driver.terminate()
        driver.wait()
        shutil.rmtree(folder, ignore_errors=True)
