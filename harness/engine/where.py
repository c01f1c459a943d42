"""Places in the code of whoever uses racegate: their service's and their scenario's, not the library's and not ours."""

from __future__ import annotations

import linecache
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType

__all__ = ["callers", "own_frame", "place_of", "public_path", "text_of"]

_ROOT = Path(__file__).resolve().parents[2]
_OURS = (_ROOT / "harness", _ROOT / "adapters")
_LIBRARY = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
_INSTALLED = {"site-packages", "dist-packages"}


def own_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that runs their code, None if there is none. The reference service counts as theirs."""
    while frame is not None and not _is_theirs(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def callers(frame: FrameType | None) -> list[FrameType]:
    """The frames of the library and of ours above their code, innermost first."""
    own = own_frame(frame)
    found: list[FrameType] = []
    while frame is not None and frame is not own:
        found.append(frame)
        frame = frame.f_back
    return found


def place_of(frame: FrameType | None) -> str:
    """File and line of their innermost frame, as all may see it; empty where none of their code runs."""
    own = own_frame(frame)
    return "" if own is None else f"{_public(own.f_code.co_filename)}:{own.f_lineno}"


def text_of(frame: FrameType | None) -> str:
    """The source line of their innermost frame, empty where it cannot be read. For eyes alone: it is never written."""
    own = own_frame(frame)
    return "" if own is None else linecache.getline(own.f_code.co_filename, own.f_lineno, own.f_globals).strip()


def public_path(file: str) -> str:
    """A file of ours or below the working directory by its last folder too; any other by its name alone."""
    path = Path(file).resolve()  # a file beside the working directory has its name in front, and `..` behind it
    ours = any(path.is_relative_to(folder) for folder in (Path(__file__).resolve().parents[2], Path.cwd().resolve()))
    return "/".join(path.parts[-2:] if ours else path.parts[-1:])


@lru_cache(maxsize=1024)
def _public(file: str) -> str:
    return public_path(file)


@lru_cache(maxsize=1024)
def _is_theirs(file: str) -> bool:
    if file.startswith("<"):
        return False
    path = Path(file).resolve()
    if any(path.is_relative_to(folder) for folder in _OURS):
        return path.is_relative_to(_ROOT / "harness" / "service")
    in_library = any(path.is_relative_to(folder) for folder in _LIBRARY)
    return not in_library or bool(_INSTALLED & set(path.parts))
