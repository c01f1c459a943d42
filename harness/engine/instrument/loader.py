"""Loads modules instrumented: packages by an import hook, single files by `compile_file`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from harness.engine.instrument.runtime import names
from harness.engine.instrument.transform import mutable_names, transform

__all__ = ["Instrumenter", "active", "refit"]

_LIBRARY = ("queue", "concurrent.futures._base", "concurrent.futures.thread")
"""Modules of the standard library that read shared state without a lock here and there."""
_active: list[Instrumenter] = []


def active() -> Instrumenter | None:
    """The instrumenter of this process, None where code runs as it is."""
    return _active[0] if _active else None


class Instrumenter(MetaPathFinder):
    """Instruments every module of some packages, and of watched folders, as it is imported, and single files on demand.

    `loaded` holds the names of what was. A module of the packages that was imported before is a mistake of the caller:
    `activate` raises RuntimeError, since a search over code that it cannot see would claim too much.
    """

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = tuple(packages)
        self._folders: set[Path] = set()
        self._mutable: set[str] = set()
        self.loaded: set[str] = set()

    def activate(self) -> None:
        """Put the hook in place."""
        for name in sys.modules:
            if self._wanted(name):
                message = f"{name} was imported before it could be instrumented"
                raise RuntimeError(message)
        for package in self._packages:
            self._learn(package)
        for name in _LIBRARY:
            self._mutable |= refit(sys.modules[name])
        sys.meta_path.insert(0, self)
        _active.append(self)

    def watch(self, folder: Path) -> None:
        """Instrument what is imported from this folder from now on: what stands beside a file often works with it."""
        self._folders.add(folder.resolve())

    def _learn(self, package: str) -> None:
        """Collect the mutable attributes of a whole package first: one module stores what another one reads."""
        spec = PathFinder.find_spec(package.rpartition(".")[2], self._parent_path(package))
        origin = Path(spec.origin) if spec is not None and spec.origin is not None else None
        if origin is None:
            message = f"no source to instrument for {package!r}"
            raise RuntimeError(message)
        for file in origin.parent.glob("*.py") if origin.name == "__init__.py" else [origin]:
            self._mutable |= mutable_names(ast.parse(file.read_bytes()))

    @staticmethod
    def _parent_path(package: str) -> Sequence[str] | None:
        parent = package.rpartition(".")[0]
        if not parent:
            return None
        module: Any = __import__(parent, fromlist=["__path__"])
        return module.__path__

    def _wanted(self, name: str) -> bool:
        return any(name == package or name.startswith(f"{package}.") for package in self._packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a wanted module and give it a loader that instruments."""
        wanted = self._wanted(fullname)
        if not wanted and not self._folders:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec if wanted else None
        if not wanted and Path(str(spec.origin)).resolve().parent not in self._folders:
            return None
        spec.loader = _Loader(fullname, str(spec.origin), self)
        return spec

    def compile_file(self, source: bytes, path: str) -> CodeType:
        """Compile one file's source, instrumented; exec it in a namespace that `prepare` has seen."""
        tree = ast.parse(source, path)
        self._mutable |= mutable_names(tree)
        return compile(transform(tree, frozenset(self._mutable)), path, "exec", dont_inherit=True)

    def prepare(self, module: ModuleType) -> None:
        """Put the names that instrumented code uses into a module."""
        module.__dict__.update(names())
        self.loaded.add(module.__name__)


def refit(module: ModuleType, more: Iterable[Any] = ()) -> frozenset[str]:
    """Give the functions of an imported module instrumented code, in place: nothing of it runs again.

    `more` are functions of it that it holds under no name of its own.
    They report and do not decide: what they share is guarded by locks, which do, but for a few reads. Returns the names
    of the attributes that they store.
    """
    path = str(module.__file__)
    tree = ast.parse(Path(path).read_bytes(), path)
    mutable = mutable_names(tree)
    code = compile(transform(tree, mutable), path, "exec", dont_inherit=True)
    by_name = {each.co_qualname: each for each in _codes(code)}
    module.__dict__.update(names(decides=False))
    for function in (*_functions(module), *more):
        new = by_name.get(function.__qualname__)
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new
    return mutable


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield from (each for each in vars(value).values() if isinstance(each, FunctionType))


class _Loader(SourceFileLoader):
    """Compiles from source each time: a cached file would hold the plain code."""

    def __init__(self, fullname: str, path: str, instrumenter: Instrumenter) -> None:
        super().__init__(fullname, path)
        self._instrumenter = instrumenter

    def get_code(self, fullname: str) -> CodeType:
        """The instrumented code."""
        path = self.get_filename(fullname)
        return self._instrumenter.compile_file(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run it, with the names that it uses."""
        self._instrumenter.prepare(module)
        super().exec_module(module)
