# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/developers/evidence.md from the table of script/evidence.lua."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

HEAD = '''# What is assumed of Windows

For developers, and for whoever has a capture of a Windows server. PerflibV2 of a real Windows was never seen; HKEY_PERFORMANCE_DATA was, of a
Windows XP on the wire, in clear, and in data blocks of a Vista. The table has the assumptions of the decoding, with their sources.
`script/evidence.lua`, in the Lua that every Wireshark brings, counts for each how often a capture confirms it and how often it does not, with
the first frame, and prints nothing else of the capture: no name, address, path, value or time of day. [CONTRIBUTING.md](../../CONTRIBUTING.md) says
how to give yours. `script/dev/reference` makes this page of the script's table; a test compares the two.

    tshark -q -r FILE -o ntlmssp.nt_password:PASSWORD -X lua_script:script/evidence.lua >evidence.txt

It looks at the fields of each packet: what a tree cannot hold, or was cut when it was captured, is not counted. "Seen" names a system
whose output lies in `test/evidence` and in which the assumption always held.

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
    text = (top / 'script' / 'evidence.lua').read_text('utf-8')
    return [Row(*re.findall('"([^"]*)"', row)) for row in re.findall(r'^    \{ ("[A-Z_]+"(?:,\s+"[^"]*")+) \},$', text, re.M)]


def page(top):
    return HEAD + ''.join('| %s |\n' % ' | '.join(cell or '-' for cell in row) for row in rows(top))


if __name__ == '__main__':
    sys.stdout.write(page(Path(__file__).resolve().parents[2]))
