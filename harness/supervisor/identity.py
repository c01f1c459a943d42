"""What racegate itself is: its version, the digest of its source, and whether that source was changed."""

from __future__ import annotations

import base64
import hashlib
import platform
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from harness.verdict import HarnessRecord

__all__ = ["harness_record", "source_digest", "version"]

_PACKAGES = ("adapters", "harness", "reports", "scenarios")
_ROOT = Path(__file__).parents[2]
_GIT_TIMEOUT_S = 20.0
_COMPILED = {".so", ".pyd"}
"""Endings of modules that Python imports in place of the source beside them."""


@cache
def harness_record() -> HarnessRecord:
    """Describe this racegate. The same all through a process."""
    return HarnessRecord(version(), source_digest(), _dirty(), platform.python_version())


def version() -> str:
    """The installed version, or `0+source` for a tree that nobody installed."""
    try:
        return metadata.version("racegate")
    except metadata.PackageNotFoundError:
        return "0+source"


def source_digest(root: Path = _ROOT) -> str:
    """The sha256 over path and content of every `.py` file of our four packages, in order of path."""
    whole = hashlib.sha256()
    for path in _sources(root):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def _sources(root: Path) -> Iterator[Path]:
    found = (path for package in _PACKAGES for path in (root / package).rglob("*.py"))
    yield from sorted(found, key=lambda path: path.relative_to(root).as_posix())


def _compiled(root: Path) -> Iterator[Path]:
    """The compiled modules in our packages, and that beside the packages which holds their code."""
    found = (path for package in _PACKAGES for path in (root / package).rglob("*"))
    yield from (path for path in (*found, *root.glob("racegate__mypyc*")) if path.suffix in _COMPILED)


def _dirty(root: Path = _ROOT) -> bool | None:
    """Whether what runs differs from what was committed or released; None where neither can be told."""
    if (root / ".git").exists():
        return any(_compiled(root)) or _changed_in_git(root)
    return _changed_since_install(root)


def _changed_in_git(root: Path) -> bool | None:
    command = ["git", "-C", str(root), "status", "--porcelain", "--", *_PACKAGES]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_GIT_TIMEOUT_S)  # noqa: S603 - git on our own tree
    except (OSError, subprocess.TimeoutExpired):
        return None
    return bool(done.stdout.strip()) if done.returncode == 0 else None


def _changed_since_install(root: Path) -> bool | None:
    """Compare an installed tree with the hashes that the installer recorded."""
    try:
        files = metadata.distribution("racegate").files or []
    except metadata.PackageNotFoundError:
        return None
    recorded = {Path(str(file.locate())).resolve(): file.hash for file in files}
    sources = list(_sources(root))
    if not any(path.resolve() in recorded for path in sources):
        return None
    return any(_differs(path, recorded.get(path.resolve())) for path in (*sources, *_compiled(root)))


def _differs(path: Path, recorded: metadata.FileHash | None) -> bool:
    if recorded is None or recorded.mode != "sha256":
        return True
    actual = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
    return actual != recorded.value
