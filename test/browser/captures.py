# SPDX-License-Identifier: GPL-2.0-or-later
"""captures.py hostile|long|wide|large FILE: what pages are made of that no bundled capture has."""

import math
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from gen.scripted import Server, ask, counter, learn, multiple, run, capture_talk  # noqa: E402

HOSTILE = ('</script><img src=x onerror=alert(1)>', '"><b>', '\u202egnp.exe', '<!--', '-->', 'x' * 900, 'a\\b', "'&amp;")


def hostile():
    """Names that a page could take for its own."""
    named = multiple(HOSTILE[0], *[counter(i, 'PERF_COUNTER_RAWCOUNT', name, lambda at, k: at.number) for i, name in enumerate(HOSTILE, 1)],
                     instances=HOSTILE[:3])
    return capture_talk(Server([named]), lambda c: (learn(c, named), run(c, [ask(named, name='*')], 3)))


def processors(count, samples):
    """Waves, a peak, what never moves."""
    processor = multiple(
        'Processor', counter(1, 'PERF_COUNTER_RAWCOUNT', 'Threads', lambda at, k: 12),
        counter(2, 'PERF_COUNTER_LARGE_RAWCOUNT', 'Bytes', lambda at, k: int(4e9 + 1e9 * math.sin(at.number / 70) + 2e9 * (300 < at.number < 310))),
        counter(3, 'PERF_COUNTER_RAWCOUNT', 'Queue Length', lambda at, k: at.number * at.number * (k + 3) % 17),
        instances=tuple('0,%d' % i for i in range(count)))
    return capture_talk(Server([processor]), lambda c: (learn(c, processor), run(c, [ask(processor, i, '*') for i in (1, 2, 3)], samples)))


def forty_thousand():
    sets = [multiple('Set %d' % n, *[counter(i, 'PERF_COUNTER_RAWCOUNT', 'counter %d' % i, lambda at, k: at.number + k) for i in range(10)],
                     instances=tuple('0,%d' % k for k in range(1000))) for n in range(4)]

    def talk(c):
        learn(c, *sets)
        for s in sets:
            run(c, [ask(s, name='*')], 3)
    return capture_talk(Server(sets), talk)


MADE = {'hostile': hostile, 'long': lambda: processors(8, 600), 'wide': lambda: processors(100, 3), 'large': forty_thousand}
MADE[sys.argv[1]]().write(Path(sys.argv[2]))
