"""The reference oracle: each task's answer, from fresh sessions, in a process of its own, before the first execution.

It searches for inputs that move the outputs: tasks whose answers are equal cannot be told apart, and a mix-up
between them passes unseen. It also looks for hidden state: "A then B" on one session must answer B as "B alone"
does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from adapters.base import Adapter, AdapterError, Array, Contract, DelegateTruth, Identity, ModelFile, Session
from harness.digests import array_digest, part_digests
from harness.models.registry import load_adapter
from harness.oracle.expectations import Answer, Expectations, Recipe, ShapedTasks
from harness.oracle.inputs import GENERATORS, further_shapes, make_input, recipe_shapes
from harness.suite.plan import TargetSpec
from harness.verdict import DelegateRecord, PlacementRecord, RuntimeRecord

__all__ = ["answer_of", "compute"]

TRIES_PER_GENERATOR = 32
FEWEST_TASKS = 2
SMALLEST_DIFFERENCE = 1e-6
"""Answers that differ by less, relative to their size, count as saturated: equal but for rounding."""


def _unheard(_number: int) -> None:
    """Nobody waits."""


def compute(
    target: TargetSpec,
    model: ModelFile,
    seed: int,
    tasks: int,
    *,
    shaped: int = 0,
    next_model: ModelFile | None = None,
    progress: Callable[[int], None] = _unheard,
) -> Expectations:
    """Compute the answers of up to `tasks` tasks that can be told apart, and of `shaped` tasks of each further shape.

    Those of the `next_model` are computed for the same tasks. `progress` hears 0 before each session that is opened:
    whoever waits knows that it goes on.

    Raises the adapter's errors when the model does not open; an input that the model refuses is only passed over.
    """
    adapter = load_adapter(target.adapter)
    opening = _Opening(adapter, model, target, progress)
    first = opening.open()
    try:
        identity, truth, contract = first.identity, first.delegate, first.contract
    finally:
        first.close()
    found, refused = _search(opening, contract, target, seed, tasks)
    hidden = len(found) >= FEWEST_TASKS and opening.has_hidden_state([inputs for _, inputs, _ in found[:FEWEST_TASKS]])
    following = _next_answers(adapter, next_model, target, found, progress)
    return Expectations(
        model.digest,
        _runtime(identity, target),
        _delegate(truth),
        tuple(recipe for recipe, _, _ in found),
        tuple(answer_of(outputs) for _, _, outputs in found),
        opening.fallback_answers([inputs for _, inputs, _ in found]),
        hidden_state=hidden,
        unknown=_why_unknown(len(found), tasks, refused, hidden=hidden),
        shaped=_shaped(opening, contract, target, found, seed, shaped),
        next_digest="" if next_model is None else next_model.digest,
        next_answers=following.answers,
        next_fallback_answers=following.fallback_answers,
        next_unknown=following.unknown,
    )


_Found: TypeAlias = list[tuple[Recipe, dict[str, Array], dict[str, Array]]]


def _search(opening: _Opening, contract: Contract, target: TargetSpec, seed: int, tasks: int) -> tuple[_Found, str]:
    """The most tasks that one generator tells apart, and the class of the last refusal."""
    shapes = recipe_shapes(contract, target.inputs)
    best: _Found = []
    refused = ""
    for generator in GENERATORS:
        recipes = (
            Recipe(generator, seed * 1_000_003 + number, shapes, target.inputs)
            for number in range(TRIES_PER_GENERATOR + tasks)
        )
        try:
            found = _distinct_tasks(opening, contract, recipes, tasks)
        except AdapterError as error:
            refused = type(error).__name__
            continue
        best = max(best, found, key=len)
        if len(best) == tasks:
            break
    return best, refused


def _distinct_tasks(opening: _Opening, contract: Contract, recipes: Iterable[Recipe], tasks: int) -> _Found:
    found: _Found = []
    for tried, recipe in enumerate(recipes):
        if len(found) == tasks or (tried == TRIES_PER_GENERATOR and len(found) < FEWEST_TASKS):
            break
        inputs = make_input(contract, recipe)
        outputs = opening.run_alone(inputs)
        if all(_distinct(outputs, other) for _, _, other in found):
            found.append((recipe, inputs, outputs))
    return found


def _shaped(
    opening: _Opening, contract: Contract, target: TargetSpec, first: _Found, seed: int, tasks: int
) -> tuple[ShapedTasks, ...]:
    """Tasks of every further shape, made as those of the first; none if the model refuses one of the shapes."""
    groups: list[ShapedTasks] = []
    if not first or not tasks:
        return ()
    for number, shapes in enumerate(further_shapes(contract, target.inputs), 1):
        recipes = (
            Recipe(first[0][0].generator, seed * 1_000_003 + number * 10_007 + each, shapes, target.inputs)
            for each in range(TRIES_PER_GENERATOR + tasks)
        )
        try:
            found = _distinct_tasks(opening, contract, recipes, tasks)
        except AdapterError:
            return ()
        if len(found) < tasks:
            return ()
        groups.append(
            ShapedTasks(
                shapes,
                tuple(recipe for recipe, _, _ in found),
                tuple(answer_of(outputs) for _, _, outputs in found),
                opening.fallback_answers([inputs for _, inputs, _ in found]),
            )
        )
    return tuple(groups)


class _Next(NamedTuple):
    answers: tuple[Answer, ...] = ()
    fallback_answers: tuple[Answer, ...] = ()
    unknown: str = ""


def _next_answers(
    adapter: Adapter, model: ModelFile | None, target: TargetSpec, found: _Found, progress: Callable[[int], None]
) -> _Next:
    """What the next version answers to the tasks; nothing, and why, where some answer could be either version's."""
    if model is None:
        return _Next()
    opening = _Opening(adapter, model, target, progress)
    outputs = [opening.run_alone(inputs) for _, inputs, _ in found]
    if not all(_distinct(one, other) for one in outputs for _, _, other in found):
        return _Next(unknown="the next model answers as the first one does: outputs do not tell the versions apart")
    fallback = opening.fallback_answers([inputs for _, inputs, _ in found])
    return _Next(tuple(answer_of(each) for each in outputs), fallback)


class _Opening:
    """Opens fresh sessions of one target."""

    def __init__(self, adapter: Adapter, model: ModelFile, target: TargetSpec, progress: Callable[[int], None]) -> None:
        self._adapter = adapter
        self._progress = progress
        self._model = model
        self._target = target

    @property
    def _delegate(self) -> str:
        return self._target.delegate or self._adapter.default_delegate

    def open(self, delegate: str = "") -> Session:
        self._progress(0)
        return self._adapter.open(self._model, delegate or self._delegate, self._target.options)

    def fallback_answers(self, inputs: list[dict[str, Array]]) -> tuple[Answer, ...]:
        """The answers on the plain CPU path, which a declared fallback opens; none where that is the same path."""
        cpu = self._adapter.cpu_delegate
        return () if cpu == self._delegate else tuple(answer_of(self.run_alone(arrays, cpu)) for arrays in inputs)

    def run_alone(self, inputs: dict[str, Array], delegate: str = "") -> dict[str, Array]:
        """Run one task by itself on a fresh session."""
        session = self.open(delegate)
        try:
            return session.run(inputs)
        finally:
            session.close()

    def has_hidden_state(self, inputs: list[dict[str, Array]]) -> bool:
        """Whether the last of several runs on one session answers otherwise than alone."""
        alone = self.run_alone(inputs[-1])
        session = self.open()
        try:
            for arrays in inputs[:-1]:
                session.run(arrays)
            outputs = session.run(inputs[-1])
            again = session.run(inputs[-1])
        finally:
            session.close()
        return answer_of(outputs) != answer_of(alone) or answer_of(again) != answer_of(alone)


def answer_of(outputs: dict[str, Array]) -> Answer:
    """Digest one expected output set."""
    return Answer(
        {name: array_digest(array) for name, array in outputs.items()},
        {name: part_digests(array) for name, array in outputs.items()},
        {name: tuple(array.shape) for name, array in outputs.items()},
    )


def _distinct(one: dict[str, Array], other: dict[str, Array]) -> bool:
    """Whether two output sets differ by more than rounding in at least one tensor."""
    return one.keys() != other.keys() or any(_differ(one[name], other[name]) for name in one)


def _differ(one: Array, other: Array) -> bool:
    if one.shape != other.shape:
        return True
    if one.dtype.kind != "f":
        return not bool((one == other).all())
    apart = (one != other) & ~(np.isnan(one) & np.isnan(other))
    if not (np.isfinite(one[apart]) & np.isfinite(other[apart])).all():
        return True  # a number here, an infinity or no number there
    finite = np.isfinite(one) & np.isfinite(other)
    a, b = one[finite].astype(np.float64), other[finite].astype(np.float64)
    scale = max(float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)), 1e-30)
    return bool(np.abs(a - b).max(initial=0.0) > SMALLEST_DIFFERENCE * scale)


def _why_unknown(found: int, wanted: int, refused: str, *, hidden: bool) -> str:
    if hidden:
        return "hidden state: the model answers 'A then B' otherwise than 'B alone'"
    if found < FEWEST_TASKS:
        because = (
            f" (the model refused generated inputs: {refused}; give the suite its input domains)"
            if refused and not found
            else ""
        )
        return f"cannot tell these tasks apart: {found} distinct answer(s) where {wanted} are wanted{because}"
    return ""


def _runtime(identity: Identity, target: TargetSpec) -> RuntimeRecord:
    return RuntimeRecord(
        identity.runtime, identity.version, identity.build, dict(identity.artifacts), dict(target.options)
    )


def _delegate(truth: DelegateTruth) -> DelegateRecord:
    placement = tuple(PlacementRecord(item.on, item.nodes, item.partitions) for item in truth.placement)
    return DelegateRecord(
        truth.requested,
        truth.actual,
        truth.graph_nodes,
        placement,
        truth.evidence,
        fallback_events=int(truth.fallback),
        init_error=truth.init_error,
        fallback=truth.fallback,
    )
