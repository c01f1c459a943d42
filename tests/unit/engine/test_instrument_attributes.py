"""Which attributes count as changing: those that are stored after their object may have been seen."""

from __future__ import annotations

import ast

import pytest

from harness.engine.instrument.attributes import is_final, mutable_names


def test_a_constructor_s_stores_are_its_own_until_the_object_is_shown():
    source = """
import threading
class Early:
    default = 1
    def __init__(self, register):
        self.before = self.default
        self.items = [self.before]
        register(self)
        self.after = 1
class Bound:
    def __init__(self):
        self.before = 1
        self.thread = threading.Thread(target=self.run)
class Derived(Early):
    def __init__(self):
        super().__init__(print)
        self.derived = 1
class Failed(ValueError):
    def __init__(self):
        super().__init__("text")
        self.code = 1
class Nested:
    def __init__(self):
        self.call = lambda: self.nested
        self.later = 1
"""
    late = {f"{name}:once" for name in ("after", "thread", "call", "later")}
    assert mutable_names(ast.parse(source)) == {*late, "derived", "derived:early"}
    assert "after" in mutable_names(ast.parse(f"{source}\ndef f(x): x.after = 2"))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("register(self); self.a = 1", {"a:once"}),
        ("register(self); self.a: int = 1", {"a:once"}),
        ("register(self); self.a = 1; self.a = 2", {"a"}),
        ("self.a = 1; register(self); self.a = 2", {"a"}),
        ("register(self); self.a += 1", {"a"}),
        ("for x in y:\n   register(self); self.a = 1", {"a"}),
        ("if register(self):\n   self.a = 1", {"a:once"}),
        ("register(self)\n  def later(): self.a = 1", {"a"}),
        ("object.__setattr__(self, 'a', 1); object.__setattr__(self, name, 1)", {"a", "*"}),
    ],
)
def test_what_a_constructor_stores_late_is_final_if_it_is_stored_once(body, found):
    assert mutable_names(ast.parse(f"class C:\n def __init__(self):\n  {body}")) == found
    assert not mutable_names(ast.parse("class C:\n def __post_init__(self):\n  object.__setattr__(self, name, 1)"))


@pytest.mark.parametrize("first", [True, False])
def test_what_two_constructors_of_one_object_store_is_not_final(first):
    base = "class Base:\n def __init__(self):\n  self.a = 0; register(self); self.b = 1"
    body = "self.b = 0; super().__init__()" if first else "super().__init__(); self.b = 2; self.a = 2"
    found = mutable_names(ast.parse(f"{base}\nclass Derived(Base):\n def __init__(self):\n  {body}"))
    assert not is_final("a", found)
    assert not is_final("b", found)
    assert is_final("b", mutable_names(ast.parse(base)))


@pytest.mark.parametrize(
    ("source", "names_"),
    [
        ("setattr(thing, 'a', 1)", {"a"}),
        ("delattr(thing, 'a')", {"a"}),
        ("object.__setattr__(thing, 'a', 1)", {"a"}),
        ("setattr(thing, name, 1)", {"*"}),
        ("thing.__dict__.update(a=1)", {"*"}),
        ("vars(thing)", {"*"}),
        ("del thing.a", {"a"}),
        ("for thing.a in []: pass", {"a"}),
        ("@functools.cached_property\ndef a(self): return 1", {"a"}),
    ],
)
def test_an_attribute_that_is_stored_by_its_name_is_mutable(source, names_):
    assert mutable_names(ast.parse(source)) == names_
