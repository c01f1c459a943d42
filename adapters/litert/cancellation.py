"""Ending a run of tflite-runtime early, through the cancellation hook that its library exports.

The interpreter asks `bool check(void* data)` before every node. Its own `Cancel` is forgotten by an invoke that starts
just after it, so the hook is given a level instead: `strlen` as the function, and one byte of ours as the data. An
empty string reads false, a string of length one reads true, and no Python runs between nodes.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

__all__ = ["CancellationHook"]

_SET_FUNCTION = "_ZN6tflite4impl11Interpreter23SetCancellationFunctionEPvPFbS2_E"


class CancellationHook:
    """One interpreter's hook. It must live as long as the interpreter, which keeps the address of its byte."""

    def __init__(self, set_function: Any, interpreter: int) -> None:
        self._flag = ctypes.create_string_buffer(2)
        check = ctypes.cast(ctypes.CDLL(None).strlen, ctypes.c_void_p)
        set_function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        set_function.restype = None
        set_function(interpreter, ctypes.cast(self._flag, ctypes.c_void_p), check)

    @classmethod
    def install(cls, library: str, interpreter: Any) -> CancellationHook | None:
        """Install a hook, or return None where the library exports none (LiteRT) or the ABI is not known."""
        if not sys.platform.startswith("linux"):
            return None
        set_function = getattr(ctypes.CDLL(library), _SET_FUNCTION, None)
        return None if set_function is None else cls(set_function, interpreter._native_handle())  # noqa: SLF001 - made for extensions like this

    @property
    def requested(self) -> bool:
        """Whether a cancellation was asked for since the last reset."""
        return self._flag.raw[0] != 0

    def request(self) -> None:
        """Make every node from now on end the run. Any thread may call this."""
        self._flag[0] = b"x"

    def reset(self) -> None:
        """Let nodes run again."""
        self._flag[0] = b"\0"
