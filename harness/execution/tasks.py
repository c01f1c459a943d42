"""The tasks of one cell: their inputs, made once, and the judge that knows an output's owner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, cast

import msgspec
import numpy as np

from adapters.base import Contract
from harness.digests import array_digest, inputs_digest, part_digests
from harness.oracle.expectations import Answer, Expectations
from harness.oracle.inputs import make_input

__all__ = ["INDISTINGUISHABLE", "CellTasks", "Judge", "overwrite"]

INDISTINGUISHABLE = "indistinguishable"
ROUNDS = "n"
"""The input of `builtin:slow` that says how many rounds a run takes."""
ENDLESS = 100_000_000
"""Rounds that take minutes on every engine: only an interrupt ends such a run."""


class CellTasks:
    """What every execution of a cell shares. Arrays are masters: each task gets copies."""

    def __init__(self, contract: Contract, expectations: Expectations, *, endless: bool = False) -> None:
        self.expectations = expectations
        self._count = len(expectations.recipes)
        shaped = expectations.shaped
        recipes = (*expectations.recipes, *(recipe for group in shaped for recipe in group.recipes))
        self._masters = [make_input(contract, recipe) for recipe in recipes]
        self._oversized = _oversized(contract, expectations)
        if endless:
            for master in self._masters:
                master[ROUNDS][...] = ENDLESS
        self._digests = [inputs_digest(master) or b"" for master in self._masters]
        self._malformed: list[dict[str, Any]] = [_malformed(master, turn) for turn, master in enumerate(self._masters)]
        self.answers = (*expectations.answers, *(answer for group in shaped for answer in group.answers))
        self.by_answer = {_key(answer.whole): number for number, answer in enumerate(self.answers)}
        self.fallback_answers = (
            *expectations.fallback_answers,
            *(answer for group in shaped for answer in group.fallback_answers),
        )
        self.by_fallback_answer = {_key(answer.whole): number for number, answer in enumerate(self.fallback_answers)}
        following = (*enumerate(expectations.next_answers), *enumerate(expectations.next_fallback_answers))
        self.by_next_answer = {_key(answer.whole): number for number, answer in following}
        """Of the next version of the model, on its delegate or on the CPU path."""

    @property
    def count(self) -> int:
        """How many tasks of the first shape can be told apart; decoys come from the end."""
        return self._count

    @property
    def shapes(self) -> tuple[Mapping[str, tuple[int, ...]], ...]:
        """The shapes that there are tasks of, the first one first."""
        first = {name: tuple(array.shape) for name, array in self._masters[0].items()}
        return (first, *(group.shapes for group in self.expectations.shaped))

    def of_shape(self, shape: int) -> range:
        """The numbers of the tasks of one of the further shapes, counted from 1; empty where there is none."""
        sizes = [self._count, *(len(group.recipes) for group in self.expectations.shaped)]
        begin = sum(sizes[:shape])
        return range(begin, begin + sizes[shape]) if 0 < shape < len(sizes) else range(0)

    @property
    def every_answer(self) -> tuple[Answer, ...]:
        """Every answer of every version, on every path."""
        known = self.expectations
        return (*self.answers, *self.fallback_answers, *known.next_answers, *known.next_fallback_answers)

    def oversized(self) -> dict[str, Any]:
        """Fresh arrays of a shape that is larger than any that a service is set up for, where there are such."""
        return {name: array.copy() for name, array in self._oversized.items()}

    def arrays(self, number: int, *, malformed: bool = False) -> dict[str, Any]:
        """Fresh, writable arrays of task `number`, counted from 0."""
        master = self._malformed[number] if malformed else self._masters[number]
        return {name: array.copy() for name, array in master.items()}

    def digest(self, number: int) -> bytes:
        """The digest by which task `number` is known at the seam."""
        return self._digests[number]

    def decoy(self, number: int) -> int:
        """The input that overwrites task `number`'s, which is of the first shape."""
        return self.count - 1 - number


def _oversized(contract: Contract, expectations: Expectations) -> dict[str, Any]:
    """One larger, in every dynamic dimension, than the largest shape that there are tasks of."""
    if not expectations.shaped:
        return {}
    recipe = expectations.recipes[0]
    shapes = [recipe.shapes, *(group.shapes for group in expectations.shaped)]
    largest = {
        spec.name: tuple(
            max(shape[spec.name][axis] for shape in shapes) + (dim is None) for axis, dim in enumerate(spec.shape)
        )
        for spec in contract.inputs
    }
    return make_input(contract, msgspec.structs.replace(recipe, shapes=largest))


def _malformed(master: Mapping[str, Any], turn: int) -> dict[str, Any]:
    """Break one input: in turn another byte order, one value too many, a rank too many, and a missing input."""
    arrays = dict(master)
    name = next(iter(arrays))
    array = arrays[name]
    kinds = [lambda: array.reshape(-1)[: max(0, array.size - 1)], lambda: array[np.newaxis, ...]]
    if array.dtype.itemsize > 1 and not array.dtype.hasobject:
        kinds.insert(0, lambda: array.astype(array.dtype.newbyteorder()))
    kind = turn % (len(kinds) + 1)
    if kind == len(kinds):
        del arrays[name]
    else:
        arrays[name] = kinds[kind]()
    return arrays


def _key(whole: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(whole.items()))


class Judge:
    """Says whose output a delivered value is. One per execution."""

    def __init__(
        self,
        tasks: CellTasks,
        fallback_in_use: Callable[[], bool],
        altered: Mapping[str, Collection[bytes]] = MappingProxyType({}),
    ) -> None:
        self._altered = altered
        self._tasks = tasks
        self._fallback_in_use = fallback_in_use
        self.ended_before_submit: dict[str, set[str]] = {}
        self._number_of: dict[str, int] = {}
        self._group_of: dict[str, object] = {}
        self._overwritten: set[int] = set()

    def submitted(self, task: str, number: int, ended: set[str]) -> None:
        """Note a submit, and which tasks had ended by then."""
        self._number_of[task] = number
        self.ended_before_submit[task] = ended

    def joins(self, task: str, group: object) -> None:
        """Note that any answer of this group of equal requests will do for this task."""
        self._group_of[task] = group

    def overwritten(self, task: str) -> None:
        """Note that the caller overwrote this task's input with its decoy."""
        self._overwritten.add(self._number_of[task])

    def digest(self, value: Any) -> str:
        """The digest of a delivered value, for a later recheck. Empty for a value that is no set of arrays."""
        arrays = _arrays(value)
        return "" if arrays is None else "".join(array_digest(arrays[name]) for name in sorted(arrays))

    def output(self, task: str, value: Any) -> str:
        """Compare a delivered value with every known answer: the history's `output`."""
        if self._tasks.expectations.unknown:
            return INDISTINGUISHABLE
        arrays = _arrays(value)
        found = self._output(task, arrays)
        return f"injected:{found}" if found != "match" and self._is_altered(task, arrays) else found

    def model_of(self, value: Any) -> str:
        """Which model an output is of, `first` or `next`; empty where outputs do not tell, or it is nobody's."""
        arrays = _arrays(value)
        if arrays is None or not self._tasks.by_next_answer:
            return ""
        key = _key({name: array_digest(array) for name, array in arrays.items()})
        if key in self._tasks.by_next_answer:
            return "next"
        return "first" if key in self._tasks.by_answer or key in self._tasks.by_fallback_answer else ""

    def _is_altered(self, task: str, arrays: dict[str, Any] | None) -> bool:
        """Whether it is just what a fault made of the outputs of this task, or of one that it shares a run with."""
        if not self._altered:
            return False
        digest = inputs_digest(arrays)
        return any(digest in made and self.may_share(task, other) for other, made in self._altered.items())

    def _output(self, task: str, arrays: dict[str, Any] | None) -> str:
        tasks = self._tasks
        number = self._number_of[task]
        own = tasks.answers[number]
        if arrays is None or {name: tuple(array.shape) for name, array in arrays.items()} != dict(own.shapes):
            return "wrong-shape"
        digests = {name: array_digest(array) for name, array in arrays.items()}
        key = _key(digests)
        if digests == own.whole or (self._fallback_in_use() and tasks.by_fallback_answer.get(key) == number):
            return "match"
        if tasks.by_next_answer.get(key) == number:
            return "match"
        owner = tasks.by_answer.get(key, tasks.by_fallback_answer.get(key, tasks.by_next_answer.get(key)))
        if owner is not None:
            return self._other(task, owner)
        if _is_torn(arrays, digests, tasks.every_answer):
            return "torn"
        return "nan" if any(_has_nan(array) for array in arrays.values()) else "garbage"

    def _other(self, task: str, owner: int) -> str:
        for overwritten in self._overwritten:
            if self._tasks.decoy(overwritten) == owner:
                return f"overwritten:t{overwritten + 1}"
        other = f"t{owner + 1}"
        if other == task:
            return "garbage"  # its own, from a path that was not taken
        if other in self.ended_before_submit[task]:
            return f"stale:{other}"
        return f"shared:{other}" if self.may_share(task, other) else f"other-task:{other}"

    def may_share(self, task: str, other: str) -> bool:
        """Whether one run may answer both: they are the same, or equal requests."""
        group = self._group_of.get(task)
        return task == other or (group is not None and self._group_of.get(other) == group)


def overwrite(value: Any) -> bool:
    """Turn over every bit of a delivered value's arrays; False if all of them refuse it, as read-only ones do."""
    written = False
    for array in (_arrays(value) or {}).values():
        with suppress(TypeError, ValueError):
            array[...] = (~np.frombuffer(array.tobytes(), np.uint8)).view(array.dtype).reshape(array.shape)
            written = True
    return written


def _arrays(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping) or not value:
        return None
    arrays = cast("Mapping[Any, Any]", value)
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        return None
    return {str(name): array for name, array in arrays.items()}


def _has_nan(array: Any) -> bool:
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


def _is_torn(arrays: Mapping[str, Any], digests: Mapping[str, str], answers: tuple[Answer, ...]) -> bool:
    """Whether each tensor, or else each part of each tensor, is somebody's, of two tasks or more in all."""
    if len(digests) > 1 and all(
        any(answer.whole[name] == digest for answer in answers) for name, digest in digests.items()
    ):
        return True
    for name, array in arrays.items():
        known = {part for answer in answers for part in answer.parts[name]}
        if not all(part in known for part in part_digests(array)):
            return False
    return True
