"""What instrumented code reports, and what it leaves alone: scopes, constructors, owners, adjacency."""

from __future__ import annotations

import ast
import types

import pytest

from harness.engine import real
from harness.engine.compiling import core
from harness.engine.instrument.attributes import mutable_names
from harness.engine.instrument.runtime import names
from harness.engine.instrument.transform import transform
from harness.engine.strategies.exhaustive import Exhaustive
from harness.engine.threads import CONTROLLED, current

pytestmark = pytest.mark.skipif(
    core() == "compiled",
    reason="a compiled core takes no stand-in for a kernel; tests/compiled compares what it explores",
)


class _Recorder:
    """Takes the reports of a thread that looks controlled, as kernel and as causality. `at_point`: a decision point."""

    at_statements = True

    def __init__(self):
        self.causality = self
        self.seen = []
        self.at_point = None

    def point(self, _):
        self.seen.append("point")
        if self.at_point is not None:
            self.at_point()

    def touch(self, _, what, name="", *, write=True):
        self.seen.append((what, name, write))

    def access(self, me, what, name, group):
        self.touch(me, what, name, write=not group)

    def touched(self):
        return [each for each in self.seen if each != "point"]

    def has(self, what, name, *, write):
        return any(thing is what and (part, wrote) == (name, write) for thing, part, wrote in self.touched())


def load(*sources):
    """One module for each source, instrumented together."""
    trees = [ast.parse(source) for source in sources]
    mutable = frozenset().union(*map(mutable_names, trees))
    modules = [types.ModuleType(f"part{number}") for number in range(len(trees))]
    for module, tree in zip(modules, trees, strict=True):
        module.__dict__.update(names())
        exec(compile(transform(tree, mutable), f"{module.__name__}.py", "exec"), module.__dict__)
    return modules if len(modules) > 1 else modules[0]


def reports(function, *arguments, at_point=None):
    recorder = _Recorder()
    recorder.at_point = at_point
    CONTROLLED[real.get_ident()] = types.SimpleNamespace(kernel=recorder)
    try:
        function(*arguments)
    finally:
        del CONTROLLED[real.get_ident()]
    return recorder


UNSHARED = """
LIMIT = 3
class Plain:
    def __init__(self):
        self.fixed = {}
        self.count = self.fixed is not None and LIMIT
        self.changing = 0
    def change(self):
        self.changing = 1
    def of_numbers(self):
        a, b = 1, 2
        a += b
        text = "x" + str(a)
        pair = (a, text)
        for i in range(3):
            if i < b and text:
                b = i
        return self.fixed is None, pair, -b, [n for n in range(2)], text[0], f"{text}"
def closures():
    kept = 1
    def read():
        return kept
    return read() + read()
"""


def test_what_nobody_can_share_is_not_reported():
    module = load(UNSHARED)
    assert not reports(module.Plain).touched()
    assert not reports(module.Plain().of_numbers).touched()
    assert not reports(module.closures).seen


def test_a_member_of_an_enumeration_is_what_it_is_and_anything_else_with_a_value_may_change():
    module = load("""
import enum
class Colour(enum.Enum):
    RED = "red"
class Box:
    def __init__(self):
        self.value = 0
def change(box):
    box.value = box.name = 1
def read(thing): return thing.value
""")
    assert not reports(module.read, module.Colour.RED).touched()
    box = module.Box()
    assert reports(module.read, box).has(box, "value", write=False)
    assert reports(module.change, box).has(box, "name", write=True)
    with pytest.raises(AttributeError):
        module.Colour.RED.value = "blue"


def test_a_final_attribute_is_reported_until_it_is_there():
    module = load(
        "class C:\n def __init__(self, show):\n  show(self)\n  self.a = 1\ndef read(t): return hasattr(t, 'a') or t.a"
    )
    early = reports(module.C, lambda thing: module.read(thing) if hasattr(thing, "a") else None)
    thing = early.touched()[-1][0]
    assert early.has(thing, "a", write=True)
    module = load("class C:\n a = 0\n def __init__(self, show):\n  show(self)\n  self.a = 1\ndef read(t): return t.a")
    seen = reports(module.C, module.read)
    thing = next(what for what, _, write in seen.touched() if write)
    assert seen.has(thing, "a", write=False)
    assert seen.has(module.C, "a", write=False)
    assert not reports(module.read, thing).seen


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("x = 1\n def g(): return x", False),
        ("def g(): return x\n x = 1", True),
        ("x = 1\n def g(): return x\n x = 2", True),
        ("x = 1\n x = 2\n def g(): return x", False),
        ("for x in '12':\n  def g(): return x", True),
        ("for x in '12': pass\n def g(): return x", False),
        ("def g(): return x\n del x", True),
        ("x = 1\n g = lambda: x\n x += 1", True),
        ("x = 1\n g = lambda: (lambda: x)\n x += 1", True),
        ("x = 1\n def g():\n  nonlocal x\n  x = 2", True),
        ("x = 1\n g = [x for _ in '1']\n x = 2", False),
        ("x = 1\n g = (x for _ in '1')\n x = 2", True),
        ("x = 1\n class C:\n  def m(self): return x\n x = 2", True),
        ("x = 1\n class C:\n  y = x\n x = 2", False),
        ("def x(): return x()", False),
        ("g = lambda: x\n with open('f') as x: pass", True),
        ("g = lambda: x\n import x", True),
        ("g = lambda: x\n if (x := 1): pass", True),
    ],
)
def test_a_captured_variable_is_shared_where_it_changes_after_capture(body, shared):
    tree = transform(ast.parse(f"def f():\n {body}"), frozenset())
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert bool(called & {"_racegate_variable", "_racegate_store", "_racegate_stored"}) is shared


def test_a_global_that_another_module_stores_is_the_same_thing_in_both():
    settings, user = load("level = 0\ndef read(): return level", "def write(module): module.level = 1")
    reads, writes = reports(settings.read), reports(user.write, settings)
    assert reads.has(vars(settings), "level", write=False)
    assert writes.has(vars(settings), "level", write=True)
    source = "def read(module): return module.level\ndef take():\n from part0 import level\n return level"
    settings, reader, _ = load("level = 0", source, "def write(module): module.level = 1")
    assert reports(reader.read, settings).has(vars(settings), "level", write=False)


def test_the_class_attribute_that_an_instance_shows_is_the_class_s():
    module = load(
        "class A:\n level = 0\nclass B(A): pass\ndef read(t): return t.level\ndef write(t, v): t.level = v\n"
        "class S:\n __slots__ = ('level',)"
    )
    thing = module.B()
    seen = reports(module.read, thing)
    assert all(seen.has(owner, "level", write=False) for owner in (thing, module.B, module.A))
    assert reports(module.write, module.A, 1).has(module.A, "level", write=True)
    module.write(thing, 2)
    assert [what for what, _, _ in reports(module.read, thing).touched()] == [thing]
    slotted = module.S()
    assert reports(module.write, slotted, 1).has(slotted, "level", write=True)
    assert reports(module.read, slotted).has(slotted, "level", write=False)


ADJACENT = """
level = 0
def store(value):
    global level
    level = value
    items[0] = box.level = value
    shared(value)
class Box:
    pass
def cell():
    inner = 0
    def change(value):
        nonlocal inner
        inner = value
    return change, lambda: inner
shared, inner = cell()
items, box = [0], Box()
def echo(value, *others, **named):
    return value
def unpacked():
    value, = items
    return value
def joined():
    more = []
    more += items
    return more[0]
def walked():
    for item in items:
        return item
def delegated():
    yield from items
def matched():
    match items:
        case [value]:
            return value
READS = {
    "global": lambda: level, "attribute": lambda: box.level, "cell": lambda: inner(), "item": lambda: items[0],
    "key computed": lambda: items[echo(0)], "slice": lambda: items[:][0], "slice computed": lambda: items[echo(0):][0],
    "text": lambda: int(f"{items}"[1:-1]), "written": lambda: int(str(items)[1:-1]), "sum": lambda: sum(items),
    "joined": lambda: (items + [echo(1)])[0], "star": lambda: echo(*items), "display": lambda: [*items][0],
    "compare": lambda: 1 if items == [1] else -1, "max": lambda: max(items, key=echo),
    "contains": lambda: 1 if 1 in items else -1, "walk": walked, "comprehension":
    lambda: [item for item in items][0], "unpack": unpacked, "in place": joined, "match": matched,
    "yield from": lambda: list(delegated())[0], "next": lambda: next(iter(items)), "method": lambda: items.copy()[0],
    "named": lambda: getattr(box, "level"), "format": lambda: int("{}".format(items)[1:-1]),
    "attribute in a call": lambda: echo(box.level), "global in a call": lambda: echo(level, key=1),
}
"""


@pytest.mark.parametrize("name", load(ADJACENT).READS)
def test_nothing_comes_between_a_report_and_its_read(name):
    """At each decision point somebody else stores the next number: a read sees the last one, or it was made before."""
    module = load(ADJACENT)
    numbers = iter(range(1, 99))
    recorder, answer = _Recorder(), []

    def at_point():
        recorder.last = number = next(numbers)
        del CONTROLLED[real.get_ident()]
        module.store(number)
        CONTROLLED[real.get_ident()] = types.SimpleNamespace(kernel=recorder)

    recorder.at_point, recorder.last = at_point, 0
    module.store(0)
    CONTROLLED[real.get_ident()] = types.SimpleNamespace(kernel=recorder)
    try:
        answer.append(module.READS[name]())
    finally:
        del CONTROLLED[real.get_ident()]
    assert recorder.last
    group, shared = 0, set()
    for each in recorder.seen:
        group += each == "point"
        if each != "point" and (
            "@" in each[1] or any(each[0] is one for one in (module.items, module.box, vars(module)))
        ):
            shared.add(group)
    assert answer[0] in shared


def test_what_a_step_touches_is_asked_after_the_decision_point():
    module = load("from collections import defaultdict\ndef read(table): return table['key']")
    table = module.defaultdict(list, key=[])
    seen = reports(module.read, table, at_point=table.clear)
    assert seen.has(table, "", write=True), "the key was there before the point, and is made by the read after it"
    assert not reports(module.read, table).has(table, "", write=True)


CALLS = """
import bisect, copy, heapq, json, operator
def run(name, items, other):
    return ACTIONS[name](items, other)
ACTIONS = {
    "len": lambda a, b: len(a),
    "sorted": lambda a, b: sorted(a, key=str),
    "print": lambda a, b: json.dumps(a),
    "extend": lambda a, b: a.extend(b),
    "unbound": lambda a, b: list.append(a, 3),
    "push": lambda a, b: heapq.heappush(a, 1),
    "insort": lambda a, b: bisect.insort(a, 1),
    "bisect": lambda a, b: bisect.bisect(a, 1),
    "copy": lambda a, b: copy.copy(a),
    "setitem": lambda a, b: operator.setitem(a, 0, 1),
    "getitem": lambda a, b: operator.getitem(a, 0),
    "strange": lambda a, b: STRANGE(a),
    "own": lambda a, b: own(a),
}
def own(items):
    return None
"""


@pytest.mark.parametrize(
    ("name", "wrote"),
    {
        "len": False, "sorted": False, "print": False, "extend": True, "unbound": True, "push": True, "insort": True,
        "bisect": False, "copy": False, "setitem": True, "getitem": False, "strange": True, "own": None,
    }.items(),
)  # fmt: skip
def test_a_call_of_code_that_reports_nothing_reads_or_writes_what_it_is_given(name, wrote):
    module = load(CALLS)
    module.STRANGE = eval("lambda items: None", {})
    items, other = [1, 2], [0]
    seen = reports(module.ACTIONS[name], items, other)
    assert {write for what, _, write in seen.touched() if what is items} == ({wrote} if wrote is not None else set())
    if name == "extend":
        assert seen.has(other, "", write=False)


ACROSS = """
import threading, {settings} as settings
def program(_):
    settings.level = 0
    seen = []
    def write():
        settings.level = 1
    def read():
        seen.append((settings.current(), settings.current()))
    threads = [threading.Thread(target=write), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(seen)
"""


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_a_race_across_two_modules_is_found_with_the_reduction(bench, bound, monkeypatch):
    import sys

    settings, user = (types.ModuleType(name) for name in ("settings_of_a_test", "user_of_a_test"))
    monkeypatch.setitem(sys.modules, settings.__name__, settings)
    sources = "level = 0\ndef current(): return level", ACROSS.format(settings=settings.__name__)
    trees = [ast.parse(source) for source in sources]
    mutable = frozenset().union(*map(mutable_names, trees))
    for module, tree in zip((settings, user), trees, strict=True):
        module.__dict__.update(names())
        exec(compile(transform(tree, mutable), f"{module.__name__}.py", "exec"), module.__dict__)

    def program(trace):
        current().kernel.at_statements = True
        return user.program(trace)

    outcomes = []
    for reduce in (False, True):
        strategy, found = Exhaustive(bound, reduce=reduce), set()
        while (run := bench.search(program, strategy, len(found))) is not None:
            if not run.kernel.pruned:
                found.add(run.result)
        assert strategy.exhausted
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) >= (3 if bound else 1)
