# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m gen FOLDER (from test/): write the plain captures there."""

import sys
from pathlib import Path

from .damage import DAMAGE
from .scenarios import SCENARIOS

if __name__ == '__main__':
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / 'pcaps' / 'plain')
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in {**SCENARIOS, **DAMAGE}.items():
        make().write(folder / (name + '.pcap'))
