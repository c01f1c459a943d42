"""The real primitives, bound before `install` replaces them: the engine's own threads and identities stand on these."""

from _thread import allocate_lock, get_ident, get_native_id, start_new_thread
from collections.abc import Callable

__all__ = ["allocate_lock", "get_ident", "get_native_id", "in_turn", "start_new_thread"]


def in_turn(*calls: Callable[[], object]) -> None:
    """Make these calls one after the other, on a real thread of their own. Returns at once."""
    start_new_thread(_make, calls)


def _make(*calls: Callable[[], object]) -> None:
    for call in calls:
        call()
