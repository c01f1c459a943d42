"""How a worker thread is started."""

from __future__ import annotations

import threading  # noqa: TID251 - the service owns its threads
from collections.abc import Callable
from concurrent.futures import Future

__all__ = ["start_worker"]


def start_worker(
    threads: list[threading.Thread], name: str, serve: Callable[[Future[None] | None], None], *, lazily: bool
) -> None:
    """Start a daemon thread on `serve` and add it to `threads`.

    Unless `lazily`, wait for the future that `serve` is given: it has a result once the worker's slot is open, or an
    exception, which is raised here.
    """
    opened: Future[None] | None = None if lazily else Future()
    thread = threading.Thread(target=serve, args=(opened,), name=name, daemon=True)
    thread.start()
    threads.append(thread)
    if opened is not None:
        opened.result()
