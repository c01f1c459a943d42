"""The protocol between the kernel and what its threads run on."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from harness.engine.threads import Controlled

__all__ = ["Baton", "Carriers", "ControlBaton"]


class Baton(Protocol):
    """The right to run, of one controlled thread. Exactly one thread holds its baton at a time.

    `pass_on` is called by the kernel on the thread that gives up the token, `take` on the thread that owns the baton:
    it returns once somebody has passed it on. A baton passed on before it is taken is not lost.
    """

    ident: int
    """The identity of the thread of the operating system that carries the owner."""
    native_id: int
    """The system's own number for that thread."""

    def pass_on(self) -> None:
        """Let the owner of this baton run."""

    def take(self) -> None:
        """Wait for this baton."""

    def hand_to(self, other: Baton) -> None:
        """`other.pass_on` and then `take`, which is what nearly every switch is. `other` is another one."""

    def frame(self) -> FrameType | None:
        """Where its owner is, while it waits for the baton or has escaped; None where nobody can tell."""
        ...


class ControlBaton(Protocol):
    """The baton of the kernel's own thread, which gets it when no controlled thread can run."""

    def pass_on(self) -> None:
        """Give the token back to the kernel."""

    def take(self, timeout: float) -> bool:
        """Wait for it, in seconds of real time; False when it did not come."""
        ...


class Carriers(Protocol):
    """Supplies carriers. Called on the thread that holds the token, or on the kernel's own."""

    @property
    def control(self) -> ControlBaton:
        """The baton of the kernel's own thread."""
        ...

    def start(self, thread: Controlled, body: Callable[[Controlled, Baton], None]) -> Baton:
        """Assign a carrier that runs `body(thread, baton)` once its baton is passed on."""
        ...

    def retire(self, baton: Baton) -> None:
        """Take a carrier back. Called on the carrier itself, as the last thing before it hands the token on."""

    def abandon(self, baton: Baton) -> None:
        """Never use this carrier again: its body does not end."""

    def close(self) -> None:
        """End every carrier that has no body."""
