# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 test/tools/check_tests.py: tests that prove less than they seem to, one a line; nothing if there are none.

    skip        a test that leaves itself out, but for what the system lacks
    nothing     a test without an assertion
    none of it  a test, or a helper that all its assertions are in, whose assertions all stand in loops that may run zero
                times, in branches, or in all() of what may be empty

Each pattern is first looked for in an example that has it, and in one that has not.
"""

import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
# Calls of fixtures and helpers that fail by themselves, but prove nothing of the plugin.
NO_PROOF = {'run', 'pdml', 'fields', 'info', 'json', 'read', 'read_file', 'shown', 'load', 'frames', 'ask', 'write', 'told',
            'get', 'one', 'table', 'export', 'open', 'places', 'there'}
# What has something where its arguments, or what it is called of, have
FILL = {'items', 'values', 'keys', 'split', 'range', 'zip', 'enumerate', 'sorted', 'reversed', 'product', 'permutations', 'list', 'set', 'dict'}
EXAMPLES = {
    'skip': ("def test_x(t):\n    if not t.knows('pcq.path'):\n        pytest.skip('not yet')\n    assert t\n",
             "@pytest.mark.skipif(TSHARK.endswith('.exe'), reason='no links')\ndef test_x(t):\n    assert t\n"),
    'nothing': ("def test_x(t):\n    t.run('-r', 'x')\n",
                "def check(t):\n    assert t\n\ndef test_x(t):\n    check(t)\n"),
    'none of it': ("def check(t):\n    for x in t.rows:\n        assert x\n\ndef test_x(t):\n    check(t)\n",
                   "def check(t):\n    assert t.rows\n    for x in t.rows:\n        assert x\n\ndef test_x(t):\n    check(t)\n\n"
                   "def test_y(t):\n    assert all(t.has(x) for x in ('a', 'b'))\n"),
}


def is_fixture(node):
    return any('fixture' in ast.unparse(d) for d in node.decorator_list)


class Function:
    """What is known of a function: whether something is asserted, and whether it must be."""

    def __init__(self, node):
        self.node, self.asserts, self.must, self.calls, self.must_call = node, False, False, set(), set()
        self.assigned = {}
        self.look(node.body, True)
        for inner in node.body if is_fixture(node) else ():
            if isinstance(inner, ast.FunctionDef):
                self.look(inner.body, True)     # what the tests call by the fixture's name

    def look(self, body, certain):
        for s in body:
            if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
                continue
            if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
                self.assigned[s.targets[0].id] = s.value
            if isinstance(s, ast.Assert):
                self.asserts = True
                self.must |= certain and not self.is_all(s.test)
            for x in ast.iter_child_nodes(s):
                if isinstance(x, (ast.expr, ast.withitem)):
                    self.expression(x, certain)
            if isinstance(s, ast.If):       # of two branches both must assert something
                before, self.must = self.must, False
                self.look(s.body, certain)
                first, self.must = self.must, False
                self.look(s.orelse, certain)
                self.must = before or first and self.must
            elif isinstance(s, (ast.For, ast.While, ast.With, ast.Try)):
                is_loop = isinstance(s, ast.While) or isinstance(s, ast.For) and not self.is_filled(s.iter)
                self.look(s.body, certain and not is_loop)
                self.look(getattr(s, 'finalbody', ()), certain)

    def expression(self, node, certain):
        for x in ast.walk(node):
            if isinstance(x, ast.Call):
                name = called(x)
                if name == 'raises':
                    self.asserts = self.must = True
                if name and name not in NO_PROOF:
                    self.calls.add(name)
                    if certain:
                        self.must_call.add(name)

    def is_all(self, test):
        """Is it all() of what may be empty?"""
        return isinstance(test, ast.Call) and called(test) == 'all' and not self.is_filled(test.args[0])

    def is_filled(self, node):
        """Is it something that cannot be empty?"""
        if isinstance(node, ast.Name):
            return node.id.isupper() or node.id in self.assigned and self.is_filled(self.assigned[node.id])
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return not node.generators[0].ifs and self.is_filled(node.generators[0].iter)
        if isinstance(node, ast.Call):
            return called(node) == 'len' or called(node) in FILL and any(
                map(self.is_filled, [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]))
        if isinstance(node, (ast.Subscript, ast.Attribute)):
            return False
        return bool(getattr(node, 'elts', ()) or getattr(node, 'keys', ()) or getattr(node, 'value', 0)) or isinstance(node, ast.BinOp) and (
            self.is_filled(node.left) or self.is_filled(node.right) or isinstance(node.op, (ast.Add, ast.Sub)))


def called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, 'id', '')


def functions(tree):
    return [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]


def settle(known):
    """What a call of a helper asserts, its caller asserts."""
    changed = True
    while changed:
        changed = False
        for f in known.values():
            asserts = f.asserts or any(known[c].asserts for c in f.calls if c in known)
            must = f.must or any(known[c].must for c in f.must_call if c in known)
            changed |= (asserts, must) != (f.asserts, f.must)
            f.asserts, f.must = asserts, must


def names_in(node):
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}


def is_of_the_system(call):
    """skipif of a condition about the program under test alone."""
    return call.args and names_in(call.args[0]) <= {'TSHARK', 'os', 'sys', 'shutil'}


def in_file(path, tree, known):
    for x in ast.walk(tree):
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and (
                x.func.attr in ('skip', 'xfail', 'importorskip') and getattr(x.func.value, 'id', getattr(x.func.value, 'attr', '')) in (
                    'pytest', 'mark') or x.func.attr == 'skipif' and not is_of_the_system(x)):
            yield x.lineno, 'skip', 'the test leaves itself out'
    for node in functions(tree):
        if not node.name.startswith('test_'):
            continue
        f = known[node.name]
        if not f.asserts:
            yield node.lineno, 'nothing', '%s asserts nothing' % node.name
        elif not f.must:
            yield node.lineno, 'none of it', '%s: all its assertions may be passed over' % node.name


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
        out += [(path, *found) for found in in_file(path, tree, known)]
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
