# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 test/tools/check_tests.py: tests that prove less than they seem to, one a line; nothing if there are none.

    skip        a test that leaves itself out, but for what the system lacks
    nothing     a test without an assertion

Each pattern is first looked for in an example that has it, and in one that has not.
"""

import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
# Calls of fixtures and helpers that fail by themselves, but prove nothing of the plugin.
NO_PROOF = {'run', 'pdml', 'fields', 'info', 'json', 'read', 'read_file', 'shown', 'load', 'frames', 'ask', 'write', 'told',
            'get', 'one', 'table', 'export', 'open', 'places', 'there'}
EXAMPLES = {
    'skip': ("def test_x(t):\n    if not t.knows('pcq.path'):\n        pytest.skip('not yet')\n    assert t\n",
             "@pytest.mark.skipif(TSHARK.endswith('.exe'), reason='no links')\ndef test_x(t):\n    assert t\n"),
    'nothing': ("def test_x(t):\n    t.run('-r', 'x')\n",
                "def check(t):\n    assert t\n\ndef test_x(t):\n    check(t)\n"),
}


class Function:
    """What is known of a function: whether something is asserted, and what it calls that may."""

    def __init__(self, node):
        inside = list(ast.walk(node))
        self.calls = {called(x) for x in inside if isinstance(x, ast.Call)} - NO_PROOF
        self.asserts = 'raises' in self.calls or any(isinstance(x, ast.Assert) for x in inside)


def called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, 'id', '')


def functions(tree):
    return [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]


def settle(known):
    """What a call of a helper asserts, its caller asserts."""
    changed = True
    while changed:
        asserting = {name for name, f in known.items() if f.asserts}
        changed = False
        for f in known.values():
            if not f.asserts and f.calls & asserting:
                f.asserts = changed = True


def names_in(node):
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}


def is_of_the_system(call):
    """skipif of a condition about the program under test alone."""
    return call.args and names_in(call.args[0]) <= {'TSHARK', 'os', 'sys', 'shutil'}


def in_file(tree, known):
    for x in ast.walk(tree):
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and (
                x.func.attr in ('skip', 'xfail', 'importorskip') and getattr(x.func.value, 'id', getattr(x.func.value, 'attr', '')) in (
                    'pytest', 'mark') or x.func.attr == 'skipif' and not is_of_the_system(x)):
            yield x.lineno, 'skip', 'the test leaves itself out'
    for node in functions(tree):
        if not node.name.startswith('test_'):
            continue
        if not known[node.name].asserts:
            yield node.lineno, 'nothing', '%s asserts nothing' % node.name


def findings(sources):
    """sources: {path: text} -> [(path, line, pattern, words)]"""
    trees = {path: ast.parse(text) for path, text in sources.items()}
    own = {path: {node.name: Function(node) for node in functions(tree)} for path, tree in trees.items()}
    modules = {Path(path).stem: known for path, known in own.items()}
    out = []
    for path, tree in trees.items():
        # a file's own function of a name comes before what it imports, and that before another file's
        imported = {a.name: modules[x.module][a.name] for x in ast.walk(tree) if isinstance(x, ast.ImportFrom) and x.module in modules
                    for a in x.names if a.name in modules[x.module]}
        known = {name: f for known in (*own.values(), imported, own[path]) for name, f in known.items()}
        settle(known)
        out += [(path, *found) for found in in_file(tree, known)]
    return sorted(out)


def prove():
    for pattern, (bad, good) in EXAMPLES.items():
        assert [f[2] for f in findings({'bad': bad})] == [pattern], 'the check does not find "%s"' % pattern
        assert not findings({'good': good}), 'the check finds "%s" where there is none' % pattern


def main():
    prove()
    paths = sorted(p for p in FOLDER.glob('**/*.py') if p.name != Path(__file__).name)
    found = findings({str(p.relative_to(FOLDER.parent)): p.read_text(encoding='utf-8') for p in paths})
    for path, line, pattern, words in found:
        print('%s:%d: %s: %s' % (path, line, pattern, words))
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
