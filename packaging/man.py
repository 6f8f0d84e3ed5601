#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""man.py DAY: the man page wireshark-pcq(7), from wireshark-pcq.7.in beside it and the preferences of docs/reference.md."""

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def roff(text):
    text = text.replace('\\|', '|').replace('\\', '\\e').replace('-', '\\-')
    return re.sub(r"^([.'])", r'\\&\1', text)


def preferences():
    table = (TOP / 'docs' / 'reference.md').read_text().split('\n## Preferences\n')[1].split('\n## ')[0]
    rows = [re.split(r' *(?<!\\)\| *', line)[1:-1] for line in table.splitlines() if line.startswith('| `')]
    assert rows, 'docs/reference.md has no preferences'
    for name, default, meaning in rows:
        default = ' (default: %s)' % default.strip('`') if default else ''
        yield '.TP\n.B %s\n%s' % (roff(name.strip('`')), roff(meaning + default))


page = (TOP / 'packaging' / 'wireshark-pcq.7.in').read_text()
for mark, text in (('@DAY@', sys.argv[1]), ('@VERSION@', (TOP / 'plugin' / 'VERSION').read_text().strip()),
                   ('@PREFERENCES@', '\n'.join(preferences()))):
    page = page.replace(mark, text)
sys.stdout.write(page)
