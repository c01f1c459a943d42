"""A neighbour: another process with a session of its own on the same target, asked while faults strike in this one.

What it answers is how a fault, or what the service makes of one, is seen to reach beyond the process.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import msgspec

__all__ = ["RIGHT", "UNDECIDED", "Look", "Moment", "Neighbour", "is_harmed"]

Moment: TypeAlias = Literal["held", "after"]
"""While a call that a fault holds is in flight and nobody else can move; or once the execution is over."""

RIGHT = frozenset({"match", "unjudged", "waits", ""})
"""`unjudged`: nobody can tell the model's outputs. `waits`: no answer yet, which is no harm while a call is held."""
UNDECIDED = frozenset({"late", "lost"})
"""The answer came, too late; or this process has none and a second one is served. A loaded machine may do that."""


class Look(msgspec.Struct, frozen=True):
    """What the neighbour says at one moment: of a request made then, and of one that was begun at the look before.

    Each is one of the words above; `other`, `garbage` or `wrong-shape` of outputs that are not the request's; `silent`
    or `died` where neither this process nor a second one, which was given longer, was served; or `error:CLASS`.
    `in_flight` is empty where there was none.
    """

    fresh: str
    in_flight: str = ""

    @property
    def answers(self) -> tuple[str, str]:
        """Both answers, the older one first."""
        return self.in_flight, self.fresh


class Neighbour(Protocol):
    """Asked on the thread that runs executions, while no controlled thread moves. Bounded in real time."""

    def look(self, moment: Moment) -> Look:
        """Have the neighbour finish the request it has in flight, run another, and begin the next."""
        ...


def is_harmed(look: Look) -> bool:
    """Whether the neighbour is not as it was: a process that met it is not used again."""
    return not RIGHT.issuperset(look.answers)
