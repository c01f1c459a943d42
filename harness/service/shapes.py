"""Dynamic shapes: which ones a service takes, and which its slots plan ahead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec

from adapters.base import Arrays, ContractError, Session, Shapes

__all__ = ["ShapePlan", "warmed"]

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapePlan:
    """The shapes that a service takes: for each input named, every dimension from `least` to `most`, both included.

    `buckets` are the shapes, of every input, that each slot has its session plan when it opens one, on its own worker;
    the first is planned last, so that it is the one in force. What is not among them is planned with the first task
    that needs it, by the slot that runs it, while the other slots go on. Nothing is ever padded or cut to a bucket.
    Raises ValueError for bounds that no shape meets, and for a bucket outside them.
    """

    least: Shapes
    most: Shapes
    buckets: tuple[Shapes, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.least.keys() != self.most.keys():
            message = "`least` and `most` must name the same inputs"
            raise ValueError(message)
        for name, least in self.least.items():
            most = self.most[name]
            if len(least) != len(most) or any(not 0 < low <= high for low, high in zip(least, most, strict=True)):
                message = f"input {name!r}: no shape lies between {least} and {most}"
                raise ValueError(message)
        for bucket in self.buckets:
            if problem := self._problem(bucket):
                message = f"a bucket is not served: {problem}"
                raise ValueError(message)

    def check(self, inputs: Arrays) -> None:
        """Raise ContractError for an array whose shape is not served; what else is wrong the session will say."""
        problem = self._problem({name: getattr(array, "shape", ()) for name, array in inputs.items()})
        if problem:
            raise ContractError(problem)

    def _problem(self, shapes: Mapping[str, tuple[int, ...]]) -> str:
        for name, shape in shapes.items():
            least, most = self.least.get(name), self.most.get(name)
            if least is None or most is None:
                continue
            if len(shape) != len(least):
                return f"input {name!r}: expected rank {len(least)}, got {len(shape)}"
            for axis, (low, size, high) in enumerate(zip(least, shape, most, strict=True)):
                if not low <= size <= high:
                    return f"input {name!r}: dimension {axis} is {size}, and {low} to {high} are served"
        return ""


def warmed(
    opens: Callable[P, tuple[Session, bool]], releases: Callable[[Session], None], plan: ShapePlan | None
) -> Callable[P, tuple[Session, bool]]:
    """Have every session that is opened plan the buckets before anybody uses it, on the thread that opens it.

    One that cannot is released again, and opening it failed.
    """
    if plan is None or not plan.buckets:
        return opens
    buckets = plan.buckets[::-1]

    def opened(*args: P.args, **options: P.kwargs) -> tuple[Session, bool]:
        session, fallback = opens(*args, **options)
        try:
            for bucket in buckets:
                session.resize(bucket)
        except BaseException:
            releases(session)
            raise
        return session, fallback

    return opened
