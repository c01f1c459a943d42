"""Instrumented code does exactly what the plain code does: outside executions, and on a controlled thread."""

from __future__ import annotations

import ast
import importlib.util
import sys
import sysconfig
import types
from pathlib import Path

import pytest

from harness.engine.instrument.attributes import ANY
from harness.engine.instrument.runtime import names
from harness.engine.instrument.transform import mutable_names, transform
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.threads import current

CORPUS = Path(__file__).with_name("instrument_corpus")
PARTS = [CORPUS / f"{name}.py" for name in ("prelude", "order", "functions", "statements")]
LIBRARY = Path(sysconfig.get_paths()["stdlib"])
MODULES = {
    "configparser": "(lambda p: (p.read_string('[a]\\nb = 1\\nc = %(b)s2'), dict(p['a'])))(m.ConfigParser())",
    "csv": "list(m.DictReader(['a,b', '1,2'])) and m.Sniffer().sniff('a;b\\n1;2\\n').delimiter",
    "dataclasses": "m.asdict(m.make_dataclass('P', ['x', ('y', list, m.field(default_factory=list))])(1))",
    "difflib": "list(m.unified_diff(['a', 'b'], ['a', 'c'])) + m.get_close_matches('appel', ['ape', 'apple'])",
    "fractions": "str(m.Fraction('3/4') ** 2 + m.Fraction(1, 3) // 2) + repr(m.Fraction(0.3).limit_denominator(9))",
    "functools": "m.total_ordering(type('T', (), {'__lt__': lambda s, o: True}))() <= 1, m.reduce(max, [1, 3, 2])",
    "graphlib": "list(m.TopologicalSorter({'d': {'b', 'c'}, 'b': {'a'}, 'c': {'b'}}).static_order())",
    "heapq": "list(m.merge([1, 4], [2, 3], reverse=False)), m.nlargest(2, [3, 1, 2], key=lambda n: -n)",
    "json.decoder": 'm.JSONDecoder().decode(\'{"a": [1, 2.5, null, {"b": "c\\\\u00e9"}]}\')',
    "json.encoder": "m.JSONEncoder(indent=1, sort_keys=True).encode({'b': [1, (2,)], 'a': None})",
    "pprint": "m.pformat({'b': list(range(40)), 'a': {'c': ('x',) * 30}}, width=40)",
    "sched": "(lambda t: (t.enter(1, 1, lambda: 2), len(t.queue), t.empty()))(m.scheduler(lambda: 0, int))[1:]",
    "shlex": 'm.split(\'a "b c" d\\\\ e # f\', comments=True), m.quote("it\'s")',
    "statistics": "m.mean([1, 2, 4]), m.quantiles([1, 2, 3, 4, 9]), m.multimode('aabbc')",
    "string": "m.Template('$a ${b}').substitute(a=1, b=2), m.Formatter().format('{0!r:>4} {x[0]}', 'a', x=[1])",
    "textwrap": "m.fill('a bc ' * 30, 20, initial_indent='> ') + m.dedent('  a\\n   b')",
}


def under_control(bench, call):
    """What a call answers on a controlled thread, at statement granularity, and how many steps that took."""

    def program(_):
        current().kernel.at_statements = True
        return call()

    strategy = RandomWalk(1)
    run = bench.once(program, strategy, limit=1_000_000)
    return run.result, run.kernel.steps


def load(name, *paths, instrumented, dynamic=False):
    """One module made of these files, one after the other."""
    module = types.ModuleType(name)
    module.__file__, module.__package__ = str(paths[0]), name.rpartition(".")[0]
    trees = [ast.parse(path.read_bytes(), str(path)) for path in paths]
    if instrumented:
        module.__dict__.update(names())
        mutable = frozenset({ANY} if dynamic else set()).union(*map(mutable_names, trees))
        trees = [transform(tree, mutable) for tree in trees]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, name, module)  # dataclasses look for it there
        for path, tree in zip(paths, trees, strict=True):
            exec(compile(tree, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def answers(module):
    found = {}
    for name, function in list(vars(module).items()):
        if not name.startswith("_") and isinstance(function, types.FunctionType) and function.__module__ == "corpus":
            try:
                found[name] = repr(function())
            except Exception as error:  # noqa: BLE001 - the error is the answer
                found[name] = f"{type(error).__name__}: {error}"
    return found


@pytest.mark.parametrize("dynamic", [False, True])
def test_tricky_code_gives_the_same_answers(dynamic, bench):
    plain = answers(load("corpus", *PARTS, instrumented=False))
    module = load("corpus", *PARTS, instrumented=True, dynamic=dynamic)
    assert len(plain) >= 60
    failed = {name for name, answer in plain.items() if answer.partition(":")[0].endswith("Error")}
    assert failed == {name for name in plain if name.endswith("_error")}
    assert answers(module) == plain
    controlled, steps = under_control(bench, lambda: answers(module))
    assert controlled == plain
    assert steps > 500


def test_no_name_is_added_to_any_scope():
    plain, instrumented = (load("corpus", *PARTS, instrumented=each) for each in (False, True))
    assert set(vars(instrumented)) - set(names()) == set(vars(plain))
    for name, value in vars(plain).items():
        if isinstance(value, type):
            assert list(vars(value)) == list(vars(vars(instrumented)[name])), name


@pytest.mark.parametrize("name", MODULES)
def test_the_library_s_own_python_runs_instrumented(name, bench):
    path = Path(importlib.util.find_spec(name).origin)
    plain = eval(MODULES[name], {"m": load(name, path, instrumented=False)})
    instrumented = load(name, path, instrumented=True)
    assert eval(MODULES[name], {"m": instrumented}) == plain
    controlled, steps = under_control(bench, lambda: eval(MODULES[name], {"m": instrumented}))
    assert controlled == plain
    assert steps


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_every_module_of_the_library_compiles_instrumented():
    count = 0
    for path in sorted(LIBRARY.rglob("*.py")):
        if "site-packages" in path.parts or "lib2to3" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_bytes())
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            continue  # a file of the library's own tests, which is meant to be wrong
        compile(transform(tree, mutable_names(tree)), str(path), "exec", dont_inherit=True)
        count += 1
    assert count > 500
