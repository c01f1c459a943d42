"""What the tricky code uses. Each public function's answer must be the same plain and instrumented."""

# fmt: off
# ruff: noqa: B007, C416, F401, FBT003, PGH004, PIE804, PLC1802, RUF012, RUF023, RUF100 - strange forms are the point

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import functools
import inspect
import sys
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import Any, ClassVar, NamedTuple

log: list = []
total = 0
__private = 5


def _note(value, answer=None):
    log.append(value)
    return value if answer is None else answer


def _logged(function):
    def run():
        log.clear()
        answer = function()
        return answer, list(log)

    run.__module__, run.__name__ = "corpus", function.__name__
    return run


class Box:
    limit: ClassVar[int] = 3
    __slots__ = ("__hidden", "__dict__")

    def __init__(self, value=0):
        self.value = value
        self.__hidden = 1
        self.items = [1, 2]

    def hidden(self):
        self.__hidden += 1
        return self.__hidden

    def __getitem__(self, key):
        return _note(("get", key))

    def __setitem__(self, key, value):
        _note(("set", key, value))

    def __delitem__(self, key):
        _note(("del", key))

    def __iadd__(self, other):
        _note(("iadd", other))
        return self

    def __lt__(self, other):
        return _note("lt", other)

    def __bool__(self):
        return bool(_note("bool", True))


class Kind(enum.Enum):
    A = 1
    B = A + 1
    C = [1, 2][1] + len([1])

    def next(self):
        return list(Kind)[(list(Kind).index(self) + 1) % len(Kind)]


@dataclasses.dataclass
class Point:
    x: int
    y: list[int] = dataclasses.field(default_factory=list)
    z: ClassVar[dict[str, int]] = {}
    w: int = 3 if len([1]) else 4


class Pair(NamedTuple):
    left: int
    right: list[int]


class Meta(type):
    def __new__(cls, name, bases, namespace, **options):
        made = super().__new__(cls, name, bases, namespace)
        made.options = options
        return made


class Base(metaclass=Meta, flag=[1][0]):
    names = [name for name in ("a", "b")]
    doubled = {name: name * 2 for name in names}
    count = 0
    count += 2
    (first, *others), last = (1, 2, 3), 4
    for number in range(3):
        pass

    @property
    def size(self):
        return len(self.names)

    @size.setter
    def size(self, value):
        self.names = self.names[:value]

    @classmethod
    def make(cls, *arguments, **named):
        return cls, arguments, named

    @staticmethod
    def plain(value):
        return value

    def __getattr__(self, name):
        if name.startswith("made"):
            return name
        raise AttributeError(name)


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.stored = super().make(1, *[2], **{"three": 3})

    @property
    def size(self):
        return super().size + 1
