# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/evidence.md from the table of plugin/taps/ledger.h."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

HEAD = '''# What is taken for true of Windows

Made by `script/dev/reference` from `plugin/taps/ledger.h`; a test compares the two. PerflibV2 of a real Windows was never seen;
HKEY_PERFORMANCE_DATA was, of a Windows XP on the wire, in clear, and in data blocks of a Vista. These are the assumptions on which the decoding rests, and where each is from. `-z pcq,evidence,FILE` counts for each how often a
capture confirms it and how often it does not, with the first frame, and says nothing else of the capture: no name, address, path,
value or time of day. [CONTRIBUTING.md](../CONTRIBUTING.md) says how to give yours.

    tshark -q -r FILE -o ntlmssp.nt_password:PASSWORD -z pcq,evidence,evidence.txt

"Seen" names a system whose output lies in `test/evidence`
and in which the assumption always held.

Sources: PCQ is [MS-PCQ], RRP [MS-RRP], SDK the headers perflib.h and winperf.h, API their reference pages, Win32 those of other
functions; else the program whose published code relies on it.

| id | assumption | source | if it does not hold | seen |
| --- | --- | --- | --- | --- |
'''


class Row(NamedTuple):
    id: str
    sentence: str
    source: str
    otherwise: str
    seen: str


def rows(top):
    text = (top / 'plugin' / 'taps' / 'ledger.h').read_text('utf-8')
    return [Row(name, *re.findall('"([^"]*)"', texts))
            for name, texts in re.findall(r'X\((\w+),((?:[\s\\,]*"[^"]*")+)\)', text)]


def page(top):
    return HEAD + ''.join('| %s |\n' % ' | '.join(cell or '-' for cell in row) for row in rows(top))


if __name__ == '__main__':
    sys.stdout.write(page(Path(__file__).resolve().parent.parent))
