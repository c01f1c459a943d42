"""What the oracle hands to an execution: how to make each task's input, and what its answer must be."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.suite.plan import InputDomain
from harness.verdict import DelegateRecord, RuntimeRecord

__all__ = ["Answer", "Expectations", "Recipe", "ShapedTasks"]


class Recipe(msgspec.Struct, frozen=True):
    """How to make one input again: the generator's name and its seed, with the shape and the domain of every input."""

    generator: str
    seed: int
    shapes: Mapping[str, tuple[int, ...]]
    domains: Mapping[str, InputDomain] = {}


class Answer(msgspec.Struct, frozen=True):
    """The digests of one expected output set: per tensor, the whole and its parts (for `torn`)."""

    whole: Mapping[str, str]
    parts: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]


class ShapedTasks(msgspec.Struct, frozen=True):
    """Tasks of one further shape, with their answers. `shapes` is that of every input."""

    shapes: Mapping[str, tuple[int, ...]]
    recipes: tuple[Recipe, ...]
    answers: tuple[Answer, ...]
    fallback_answers: tuple[Answer, ...] = ()


class Expectations(msgspec.Struct, frozen=True):
    """Tasks that can be told apart, with their answers, computed in a process of its own.

    `fallback_answers` are those of the adapter's plain CPU path, whose kernels round otherwise; empty where that is the
    same path. `unknown` says why `own-output` cannot be judged (indistinguishable outputs, hidden state), empty where
    it can. `shaped` are more tasks, of other shapes, where they were asked for and the model has dynamic dimensions.
    `next_answers` are those of the next version of the model, of `next_digest`, to the same tasks, and
    `next_fallback_answers` those of its CPU path; empty where there is none, or where `next_unknown` says why its
    outputs do not tell the versions apart.
    """

    model_digest: str
    runtime: RuntimeRecord
    delegate: DelegateRecord
    recipes: tuple[Recipe, ...]
    answers: tuple[Answer, ...]
    fallback_answers: tuple[Answer, ...] = ()
    hidden_state: bool = False
    unknown: str = ""
    shaped: tuple[ShapedTasks, ...] = ()
    next_digest: str = ""
    next_answers: tuple[Answer, ...] = ()
    next_fallback_answers: tuple[Answer, ...] = ()
    next_unknown: str = ""
