# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the real captures of test/pcaps: captures.py [NAME...].

Each capture is a function below, registered under its name with the key that opens it. What the model answered is kept
beside the capture as the fields a dissector must show, after stock tshark has proved that it opens every stub.
"""

import os
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]

import expectations  # noqa: E402
import hkpd_captures  # noqa: E402
import pcq_captures  # noqa: E402
from machine import Machine  # noqa: E402

FAMILIES = {'pcq': pcq_captures, 'hkpd': hkpd_captures}

# Network, mounts and processes of its own: nothing outside changes, and no server outlives its captures
NAMESPACES = ['unshare', '--net', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child',
              '--mount-proc']
PATIENCE = 300


def inside(family, names):
    """Make these captures; we are alone in our namespaces."""
    machine = Machine()
    try:
        FAMILIES[family].make(machine, names, expectations.PCAPS)
    finally:
        machine.remove()


def main(wanted):
    known = {name: family for family, module in FAMILIES.items() for name in module.CAPTURES}
    unknown = set(wanted) - set(known)
    if unknown:
        raise SystemExit('no such capture: %s\nthere are: %s' % (' '.join(unknown), ' '.join(known)))
    for family, module in FAMILIES.items():
        for names in module.batches([name for name in module.CAPTURES if not wanted or name in wanted]):
            subprocess.run([*NAMESPACES, sys.executable, __file__, '--inside', family, *names], check=True,
                           timeout=PATIENCE)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--inside']:
        inside(sys.argv[2], sys.argv[3:])
    else:
        main(sys.argv[1:])
