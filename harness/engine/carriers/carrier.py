"""The protocol between the kernel and what its threads run on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["Baton", "Carriers"]


class Baton(Protocol):
    """The right to run, of one controlled thread. Exactly one thread holds its baton at a time.

    `pass_on` is called by the kernel on the thread that gives up the token, `take` on the thread that owns the
    baton: it returns once somebody has passed it on. A baton passed on before it is taken is not lost.
    """

    ident: int
    """The identity of the carrier, as `threading.get_ident` answers on it."""

    def pass_on(self) -> None:
        """Let the owner of this baton run."""

    def take(self) -> None:
        """Wait for this baton."""


class Carriers(Protocol):
    """Supplies carriers. Called on the thread that holds the token, or on the kernel's own."""

    def start(self, body: Callable[[Baton], None]) -> Baton:
        """Assign a carrier that runs `body` once its baton is passed on."""
        ...

    def close(self) -> None:
        """End every carrier that has no body."""

    def abandon(self, baton: Baton) -> None:
        """Never use this carrier again: its body does not end."""
